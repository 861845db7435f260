/** What the dialect `tools` says, read with care: the host is ours, but tools are anybody's. Knows no DOM and no socket. */
import type { Approval, ApprovalKind, Containment, Decision, FileDiff, Resolution, Severity } from "../wire";
import { type Field, fieldsOf, isObject } from "./schema";

export type ToolInfo = {
  name: string;
  type: string;
  description: string;
  /** The schema of its parameters; null if it has none. */
  schema: unknown;
  /** The fields of its form; null if its parameters can only be typed as JSON. */
  fields: Field[] | null;
};

export type Finding = { parameter: string; message: string; code: string };
export type Failure = { code: string; message: string; details: unknown };
export type Outcome = { success: boolean; data: unknown; error: Failure | null; durationMs: number };

/** A call of the past, or one that is open. */
export type PastCall = {
  id: string;
  tool: string;
  parameters: unknown;
  startedMs: number;
  outcome: Outcome | null;
  /** Only a part of it was kept. */
  cut: boolean;
};

/** A question at the bench. `session` and `approval.id` name it together. */
export type BenchAsk = {
  id: string;
  session: number;
  /** The call that brought it about; null if nobody says. */
  call: string | null;
  approval: Approval;
  /** What a rule would allow from now on, in words; null if none can. */
  ruleText: string | null;
};

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The tools of an answer, by name. */
export function toolsOf(answer: unknown): ToolInfo[] {
  if (!Array.isArray(answer)) return [];
  return answer
    .filter(isObject)
    .map(toolOf)
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function toolOf(tool: Record<string, unknown>): ToolInfo {
  const type = text(tool["type"]);
  const inner = tool[type];
  const about = isObject(inner) ? inner : {};
  const name = text(about["name"]) || type;
  const description = text(about["description"]);
  if (type === "custom") {
    const schema = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };
    return { name, type, description, schema: about["format"] ?? null, fields: fieldsOf(schema) };
  }
  const schema = about["parameters"] ?? null;
  return { name, type, description, schema, fields: fieldsOf(schema) };
}

export function failureOf(error: unknown): Failure {
  if (!isObject(error))
    return { code: "EXECUTION_ERROR", message: text(error) || "nobody says why", details: undefined };
  return { code: text(error["code"]), message: text(error["message"]), details: error["details"] };
}

export function outcomeOf(result: unknown): Outcome {
  const about = isObject(result) ? result : {};
  const success = about["success"] === true;
  const { duration } = about;
  return {
    success,
    data: about["data"],
    error: success ? null : failureOf(about["error"]),
    durationMs: typeof duration === "number" ? duration : 0,
  };
}

/** Every finding of a validation. */
export function findingsOf(error: Failure | null): Finding[] {
  if (error?.code !== "VALIDATION_ERROR" || !Array.isArray(error.details)) return [];
  return error.details.filter(isObject).map((finding) => ({
    parameter: text(finding["parameter"]),
    message: text(finding["message"]),
    code: text(finding["code"]),
  }));
}

export function pastOf(answer: unknown): PastCall[] {
  if (!Array.isArray(answer)) return [];
  return answer.filter(isObject).map((call) => ({
    id: text(call["executionId"]),
    tool: text(call["toolName"]),
    parameters: call["parameters"],
    startedMs: typeof call["startedAt"] === "number" ? call["startedAt"] : 0,
    outcome: typeof call["success"] === "boolean" ? outcomeOf(call) : null,
    cut: call["truncated"] === true,
  }));
}

/** A question that came; null if it is none that could be shown. */
export function askOf(message: Record<string, unknown>): BenchAsk | null {
  const id = text(message["approvalId"]);
  const [, session, approval] = /^(\d+):(.+)$/s.exec(id) ?? [];
  if (session === undefined || approval === undefined) return null;
  const some = (name: string) => {
    const value = message[name];
    return typeof value === "string" ? { [name]: value } : {};
  };
  const { expiresAt, change, containment, rule } = message;
  return {
    id,
    session: Number(session),
    call: text(message["executionId"]) || null,
    ruleText: typeof rule === "string" ? rule : null,
    approval: {
      id: approval,
      kind: text(message["kind"]) as ApprovalKind,
      title: text(message["title"]),
      severity: text(message["severity"]) as Severity,
      reason: text(message["reason"]),
      ...some("command"),
      ...some("cwd"),
      ...some("path"),
      ...some("diff"),
      ...(isObject(change) ? { change: change as FileDiff } : {}),
      ...(isObject(containment) ? { containment: containment as Containment } : {}),
      ...(message["editable"] === true ? { editable: true } : {}),
      ...(typeof expiresAt === "number" ? { expires: expiresAt } : {}),
    },
  };
}

/** How a question ended, and by whose answer. */
export type Decided = { resolution: Resolution; mine: boolean };

export function decidedOf(answer: Record<string, unknown>, decision: Decision): Decided {
  const mine = answer["status"] !== "already_resolved";
  return { resolution: (text(answer["decision"]) || decision) as Resolution, mine };
}
