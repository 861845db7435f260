/**
 * A turn as it is drawn: what belongs to one tool call stands with it, and long runs of calls are kept together so that they
 * can be folded. Draws nothing.
 */
import type { ToolCall, ToolContent } from "../wire";
import { type Diff, diffOf } from "./diff";
import type { ApprovalPiece, ExecutionPiece, Piece, ToolPiece, Turn } from "./turn";

/** A call with what the host did for it and what was answered about it. */
export type Call = {
  piece: ToolPiece;
  executions: ExecutionPiece[];
  answers: ApprovalPiece[];
};

export type FlowItem =
  | { kind: "piece"; piece: Exclude<Piece, ToolPiece>; at: number }
  | { kind: "call"; call: Call; at: number }
  /** A run of calls and what stands between them; `fold` of them, from the first, are out of the way. */
  | { kind: "run"; items: RunItem[]; fold: number; at: number };
export type RunItem = Exclude<FlowItem, { kind: "run" }>;

/** A run of so many calls is folded, but for the last ones while the turn runs. */
export const FOLD_CALLS = 6;
const SHOWN_WHILE_RUNNING = 3;

export function flowOf(turn: Turn): FlowItem[] {
  const { calls, inside } = joined(turn);
  const flow: FlowItem[] = [];
  let run: RunItem[] = [];
  const settle = (last: boolean) => {
    const count = run.filter((item) => item.kind === "call" || item.piece.kind === "execution").length;
    if (count < FOLD_CALLS) flow.push(...run);
    else {
      const live = last && turn.state === "running";
      const fold = live ? run.length - SHOWN_WHILE_RUNNING : run.length;
      flow.push({ kind: "run", items: run, fold, at: run[0]?.at ?? 0 });
    }
    run = [];
  };
  for (const [at, piece] of turn.pieces.entries()) {
    if (inside.has(piece)) continue;
    if (piece.kind === "tool") {
      const call = calls.get(piece.call.id) ?? { piece, executions: [], answers: [] };
      run.push({ kind: "call", call, at });
    } else if (isQuiet(piece)) run.push({ kind: "piece", piece, at });
    else {
      settle(false);
      flow.push({ kind: "piece", piece, at });
    }
  }
  settle(true);
  return flow;
}

/** What may be folded together with calls: nothing that is said to the person, and nothing that waits for them. */
function isQuiet(piece: Piece): boolean {
  return (
    piece.kind === "execution" ||
    piece.kind === "thought" ||
    (piece.kind === "approval" && piece.resolution !== null)
  );
}

/** Which executions and answers belong to which call: by its terminal, by the question about it, or by the file. */
function joined(turn: Turn): { calls: Map<string, Call>; inside: Set<Piece> } {
  const calls = new Map<string, Call>();
  const inside = new Set<Piece>();
  const terminals = new Map<string, string>();
  const files: [string, string][] = [];
  for (const [id, piece] of turn.calls) {
    calls.set(id, { piece, executions: [], answers: [] });
    for (const content of piece.call.content ?? []) {
      if (content.type === "terminal") terminals.set(content.terminal, id);
      if (content.type === "diff") files.push([content.path, id]);
    }
  }
  const asked = new Map<string, string>();
  for (const piece of turn.pieces) {
    if (piece.kind === "approval" && piece.approval.call !== undefined) {
      asked.set(piece.approval.id, piece.approval.call);
      const call = calls.get(piece.approval.call);
      if (!call || piece.resolution === null) continue;
      call.answers.push(piece);
      inside.add(piece);
    }
    if (piece.kind !== "execution") continue;
    const { id, approval, path } = piece.execution;
    const owner =
      terminals.get(id) ??
      asked.get(approval ?? "") ??
      (path === undefined ? undefined : files.findLast(([file]) => sameFile(file, path))?.[1]);
    const call = owner === undefined ? undefined : calls.get(owner);
    if (!call) continue;
    call.executions.push(piece);
    inside.add(piece);
  }
  return { calls, inside };
}

/** One may be told from the workspace, the other from the root. */
function sameFile(one: string, other: string): boolean {
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
}

const diffs = new WeakMap<object, Diff>();

/** The difference that a call shows, found once. */
export function contentDiff(content: Extract<ToolContent, { type: "diff" }>): Diff {
  let diff = diffs.get(content);
  if (!diff) {
    diff = diffOf(content.old ?? null, content.new);
    diffs.set(content, diff);
  }
  return diff;
}

/** Lines that a call adds and removes; null if it changes no file. */
export function changeOf(call: ToolCall): { added: number; removed: number } | null {
  const shown = (call.content ?? []).filter((content) => content.type === "diff").map(contentDiff);
  if (shown.length === 0) return null;
  return {
    added: shown.reduce((sum, { added }) => sum + added, 0),
    removed: shown.reduce((sum, { removed }) => sum + removed, 0),
  };
}

/** What sort of call it is, in the words of ACP; whatever else an agent says is looked at for the same. */
export type CallKind =
  "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other";

const KINDS: [CallKind, RegExp][] = [
  ["execute", /exec|command|terminal|shell|bash/],
  ["delete", /delete|remove/],
  ["move", /move|rename/],
  ["edit", /edit|write|create|patch/],
  ["search", /search|find|grep|glob/],
  ["fetch", /fetch|web|http/],
  ["read", /read|file|view/],
  ["think", /think/],
];

export function callKind(kind: string | undefined): CallKind {
  if (kind === undefined) return "other";
  return KINDS.find(([, words]) => words.test(kind.toLowerCase()))?.[0] ?? "other";
}

const DONE: Record<CallKind, [string, string]> = {
  read: ["read", "reads"],
  edit: ["edit", "edits"],
  delete: ["deletion", "deletions"],
  move: ["move", "moves"],
  search: ["search", "searches"],
  execute: ["command", "commands"],
  think: ["thought", "thoughts"],
  fetch: ["fetch", "fetches"],
  other: ["call", "calls"],
};

/** A run in a few words: what was done, how often, and what failed. */
export function runWords(items: readonly RunItem[]): string[] {
  const counts = new Map<CallKind, number>();
  let failed = 0;
  for (const item of items) {
    let kind: CallKind | null = null;
    if (item.kind === "call") {
      kind = callKind(item.call.piece.call.kind);
      if (item.call.piece.call.status === "failed") failed += 1;
    } else if (item.piece.kind === "execution") {
      kind = item.piece.execution.kind === "edit" ? "edit" : "execute";
      if (item.piece.end && !wentWell(item.piece)) failed += 1;
    }
    if (kind) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const words = [...counts].map(([kind, count]) => `${String(count)} ${DONE[kind][count === 1 ? 0 : 1]}`);
  return failed > 0 ? [...words, `${String(failed)} failed`] : words;
}

export function wentWell({ end }: ExecutionPiece): boolean {
  return (
    end !== null &&
    (end.type === "written" || end.type === "returned" || (end.type === "exited" && end.code === 0))
  );
}

/** How an execution ended, for people. */
export function endWords({ end }: ExecutionPiece): string {
  switch (end?.type) {
    case undefined:
      return "runs";
    case "exited":
      return end.code === 0 ? "done" : `exit ${String(end.code)}`;
    case "signalled":
      return `ended by ${end.signal}`;
    case "written":
      return "written";
    case "returned":
      return "done";
    case "failed":
      return "failed";
    case "unknown":
      return "unknown";
  }
}
