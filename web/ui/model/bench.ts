/**
 * The tool bench: which tools there are, what was typed for each, what runs, what came of it, what was run before, and the
 * questions that calls bring about. Asks by a function that it is given; knows no DOM, no socket and no clock.
 */
import type { Resolution } from "../wire";
import type { Answer } from "./answers";
import {
  askOf,
  type BenchAsk,
  decidedOf,
  failureOf,
  type Finding,
  findingsOf,
  type Outcome,
  outcomeOf,
  type PastCall,
  pastOf,
  type ToolInfo,
  toolsOf,
} from "./benchtypes";
import { isObject, parametersOf, type Problem, rawParameters, valuesOf } from "./schema";

/** What was typed for one tool. */
export type Form = {
  values: Map<string, string>;
  /** The parameters as JSON, where they are typed as that; null while the form is used. */
  raw: string | null;
  /** Milliseconds; empty for what the host takes if nobody says. */
  timeout: string;
  /** What the host found wrong with the last call. */
  findings: Finding[];
};

/** A call from here. */
export type Run = {
  id: string;
  tool: string;
  parameters: Record<string, unknown>;
  startedMs: number;
  outcome: Outcome | null;
  /** Why nobody here knows what came of it. */
  trouble: string | null;
  cancelAsked: boolean;
};

/** A question with its end, as far as this window knows it. */
export type OpenAsk = BenchAsk & { resolution: Resolution | null; mine: boolean; answering: boolean };

export type BenchAround = {
  ask: (message: { type: string } & Record<string, unknown>) => Promise<Record<string, unknown>>;
  now: () => number;
  newId: () => string;
  later: (run: () => void, ms: number) => () => void;
  /** The folder whose bench it is; empty for the host's own. */
  workspace: () => string;
  changed: () => void;
};

const MAX_RUNS = 50;
const HISTORY_PAGE = 25;
/** The tools are asked for again after this, while the host is not ready. */
const NOT_READY_MS = 500;
/** How long an answered question stays to be read. */
const ASK_STAYS_MS = 6_000;
/** The log may say who has answered a question a little after its call is over. */
const LOG_WITHIN_MS = 2_000;
const MAX_TIMEOUT_MS = 600_000;

export class Bench {
  tools: ToolInfo[] = [];
  /** Null until the first list. */
  trouble: string | null = null;
  listed = false;
  query = "";
  selected: string | null = null;
  runs: Run[] = [];
  history: PastCall[] = [];
  historyNext: string | null = null;
  historyRead = false;
  historyLoading = false;
  historyTrouble: string | null = null;
  asks: OpenAsk[] = [];
  private readonly forms = new Map<string, Form>();

  constructor(private readonly around: BenchAround) {}

  /** A fresh link: everything is asked for again. What ran over the last one is in the history. */
  async connected(): Promise<void> {
    this.asks = [];
    void this.around.ask({ type: "SUBSCRIBE_APPROVALS" }).catch(() => undefined);
    await Promise.all([this.readTools(), this.readHistory()]);
  }

  async readTools(): Promise<void> {
    try {
      const answer = await this.around.ask({ type: "GET_TOOLS" });
      if (answer["error"] !== undefined) {
        const { code, message } = failureOf(answer["error"]);
        this.trouble = message;
        if (code === "REGISTRY_NOT_READY") this.around.later(() => void this.readTools(), NOT_READY_MS);
      } else {
        this.tools = toolsOf(answer["tools"]);
        this.listed = true;
        this.trouble = null;
        if (this.tool === null && this.tools.length > 0) this.selected = this.tools[0]?.name ?? null;
      }
    } catch (error) {
      this.trouble = words(error);
    }
    this.around.changed();
  }

  /** The tools that match what is searched for. */
  found(): ToolInfo[] {
    const query = this.query.trim().toLowerCase();
    return this.tools.filter(
      ({ name, description }) =>
        name.toLowerCase().includes(query) || description.toLowerCase().includes(query),
    );
  }

  get tool(): ToolInfo | null {
    return this.tools.find(({ name }) => name === this.selected) ?? null;
  }

  form(tool: ToolInfo): Form {
    let form = this.forms.get(tool.name);
    if (!form) {
      form = { values: new Map(), raw: tool.fields === null ? "" : null, timeout: "", findings: [] };
      this.forms.set(tool.name, form);
    }
    return form;
  }

  type(tool: ToolInfo, path: string, typed: string): void {
    const form = this.form(tool);
    form.values.set(path, typed);
    form.findings = [];
    this.around.changed();
  }

  typeRaw(tool: ToolInfo, typed: string): void {
    const form = this.form(tool);
    form.raw = typed;
    form.findings = [];
    this.around.changed();
  }

  /** From the form to JSON and back; back only if the form has a place for everything. */
  turnRaw(tool: ToolInfo): boolean {
    const form = this.form(tool);
    const { parameters, problems } = this.parameters(tool);
    if (form.raw === null) form.raw = JSON.stringify(parameters, null, 2);
    else {
      const values = problems.length === 0 && tool.fields ? valuesOf(tool.fields, parameters) : null;
      if (!values) return false;
      form.values = values;
      form.raw = null;
    }
    this.around.changed();
    return true;
  }

  parameters(tool: ToolInfo): { parameters: Record<string, unknown>; problems: Problem[] } {
    const form = this.form(tool);
    return form.raw === null ? parametersOf(tool.fields ?? [], form.values) : rawParameters(form.raw);
  }

  /** What is wrong with the time that was typed; null if nothing is. */
  timeoutProblem(tool: ToolInfo): string | null {
    const { timeout } = this.form(tool);
    if (timeout.trim() === "") return null;
    const ms = Number(timeout);
    return Number.isInteger(ms) && ms >= 1 && ms <= MAX_TIMEOUT_MS
      ? null
      : `A whole number from 1 to ${MAX_TIMEOUT_MS.toLocaleString()}.`;
  }

  /** The message that a run sends, but for its names. */
  request(tool: ToolInfo): Record<string, unknown> {
    const timeout = this.form(tool).timeout.trim();
    return {
      type: "EXECUTE_TOOL",
      request: {
        toolName: tool.name,
        parameters: this.parameters(tool).parameters,
        ...(timeout === "" || this.timeoutProblem(tool) ? {} : { timeout: Number(timeout) }),
      },
    };
  }

  /** Why it cannot be run now; null if it can. */
  blocked(tool: ToolInfo): string | null {
    if (this.parameters(tool).problems.length > 0) return "Something typed above is not what it must be.";
    if (this.timeoutProblem(tool)) return "The time is not what it must be.";
    return this.running(tool.name) ? "It runs." : null;
  }

  running(tool: string): Run | null {
    const run = this.runs.find((each) => each.tool === tool);
    return run && run.outcome === null && run.trouble === null ? run : null;
  }

  /** The last run of a tool. */
  lastRun(tool: string): Run | null {
    return this.runs.find((run) => run.tool === tool) ?? null;
  }

  async run(tool: ToolInfo): Promise<void> {
    if (this.blocked(tool) !== null) return;
    const message = this.request(tool);
    const request = message["request"] as Record<string, unknown>;
    const run: Run = {
      id: this.around.newId(),
      tool: tool.name,
      parameters: this.parameters(tool).parameters,
      startedMs: this.around.now(),
      outcome: null,
      trouble: null,
      cancelAsked: false,
    };
    this.form(tool).findings = [];
    this.runs = [run, ...this.runs].slice(0, MAX_RUNS);
    this.around.changed();
    const workspace = this.around.workspace();
    const where = workspace === "" ? {} : { workspace };
    try {
      const answer = await this.around.ask({
        type: "EXECUTE_TOOL",
        request: { ...request, ...where, executionId: run.id },
      });
      run.outcome =
        answer["error"] === undefined
          ? outcomeOf(answer["result"])
          : { success: false, data: undefined, error: failureOf(answer["error"]), durationMs: 0 };
      this.form(tool).findings = findingsOf(run.outcome.error);
    } catch (error) {
      run.trouble = `${words(error)}. It may have gone on without this page; the history knows.`;
    }
    this.around.changed();
    this.settleAsks(run.id);
    void this.readHistory();
  }

  /** A call that is over asks nothing any more. The log says who has answered; it may need a moment. */
  private settleAsks(call: string): void {
    const left = this.asks.filter((ask) => ask.call === call && ask.resolution === null);
    if (left.length === 0) return;
    this.around.later(() => {
      for (const { id } of left) this.resolved(id, "expired", false);
    }, LOG_WITHIN_MS);
  }

  /** Whether a run waits for a person. */
  asked(run: Run): boolean {
    return this.asks.some(
      ({ call, resolution }) => resolution === null && (call === null || call === run.id),
    );
  }

  async cancel(run: Run): Promise<void> {
    run.cancelAsked = true;
    this.around.changed();
    try {
      await this.around.ask({ type: "CANCEL_EXECUTION", executionId: run.id });
    } catch {
      run.cancelAsked = false;
      this.around.changed();
    }
  }

  /** The newest calls, or, with `more`, those after what is shown. */
  async readHistory(more = false): Promise<void> {
    const before = more ? this.historyNext : null;
    if (this.historyLoading || (more && before === null)) return;
    this.historyLoading = true;
    this.around.changed();
    try {
      const answer = await this.around.ask({
        type: "GET_TOOL_HISTORY",
        limit: HISTORY_PAGE,
        ...(before === null ? {} : { before }),
      });
      if (answer["error"] !== undefined) this.historyTrouble = failureOf(answer["error"]).message;
      else {
        const calls = pastOf(answer["history"]);
        this.history = more ? [...this.history, ...calls] : calls;
        this.historyNext = typeof answer["before"] === "string" ? answer["before"] : null;
        this.historyTrouble = null;
        this.historyRead = true;
      }
    } catch (error) {
      this.historyTrouble = words(error);
    }
    this.historyLoading = false;
    this.around.changed();
  }

  /** Fills the form with what a call of the past had. False if its tool is gone or not all of it was kept. */
  fill(call: PastCall): boolean {
    const tool = this.tools.find(({ name }) => name === call.tool);
    if (!tool || !isObject(call.parameters)) return false;
    const form = this.form(tool);
    const values = tool.fields ? valuesOf(tool.fields, call.parameters) : null;
    form.values = values ?? new Map();
    form.raw = values ? null : JSON.stringify(call.parameters, null, 2);
    form.findings = [];
    this.selected = tool.name;
    this.around.changed();
    return true;
  }

  async again(call: PastCall): Promise<boolean> {
    if (!this.fill(call)) return false;
    const { tool } = this;
    if (tool) await this.run(tool);
    return true;
  }

  // Questions.

  /** Something came that nobody asked for. */
  take(message: Record<string, unknown>): void {
    if (message["type"] !== "APPROVAL_REQUEST") return;
    const ask = askOf(message);
    if (!ask || this.asks.some(({ id }) => id === ask.id)) return;
    this.asks = [...this.asks, { ...ask, resolution: null, mine: false, answering: false }];
    this.around.changed();
  }

  async answer(id: string, { decision, command }: Answer): Promise<void> {
    const ask = this.asks.find((each) => each.id === id);
    if (!ask || ask.resolution !== null || ask.answering) return;
    ask.answering = true;
    try {
      const answer = await this.around.ask({
        type: "APPROVAL_RESPONSE",
        approvalId: id,
        decision,
        ...(command === undefined ? {} : { command }),
      });
      ask.answering = false;
      // A question that the host does not know any more is over, however it ended.
      if (answer["error"] !== undefined) this.resolved(id, "expired", false);
      else {
        const { resolution, mine } = decidedOf(answer, decision);
        this.resolved(id, resolution, mine);
      }
    } catch {
      ask.answering = false;
      this.around.changed();
    }
  }

  /** A question came to its end. The first word holds; it stays a moment to be read. */
  resolved(id: string, resolution: Resolution, mine: boolean): void {
    const ask = this.asks.find((each) => each.id === id);
    if (!ask || ask.resolution !== null) return;
    ask.resolution = resolution;
    ask.mine = mine;
    this.around.later(
      () => {
        this.asks = this.asks.filter((each) => each !== ask);
        this.around.changed();
      },
      mine ? 0 : ASK_STAYS_MS,
    );
    this.around.changed();
  }
}

function words(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  return said.slice(0, 1).toUpperCase() + said.slice(1);
}
