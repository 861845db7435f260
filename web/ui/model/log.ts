/**
 * One tab's log as the page has it: events in, turns out, and the cursor that says how far it is.
 * Applies each event once or not at all. Knows no DOM, no clock and no socket.
 */
import type {
  Approval,
  Body,
  Cost,
  Event,
  Execution,
  Memory,
  Resolution,
  Seen,
  ToolCall,
  ToView,
} from "../wire";
import { AgentSide } from "./agentside";
import { addOutput, newOutput } from "./output";
import { addCost, addTokens, nothingSpent } from "./spent";
import { type ApprovalPiece, type Entry, type ExecutionPiece, newTurn, type Notice, type Turn } from "./turn";

/** What became of a frame: applied, dropped as already known, or not fitting, so that the tab must be seated anew. */
export type Taken = "applied" | "repeated" | "misfit";

type Events = Extract<ToView, { type: "events" }>;

const RESTORED: Record<Memory, string> = {
  resumed: "The agent is back and goes on where it was.",
  loaded: "The agent is back; it has read the conversation again.",
  summarized: "The agent is back but has lost the conversation; it gets a summary with your next prompt.",
};

/** What a log elsewhere notes for itself, and what the page shows by other means or knows already. It stays in the log. */
const BOOKKEEPING = new Set([
  "turn_start",
  ...[
    "session_opened",
    "session_closed",
    "session_reopened",
    "title_changed",
    "turn_started",
    "prompt_queued",
    "prompt_taken",
    "policy_changed",
    "cancel_asked",
    "commands_changed",
    "options_changed",
    "usage",
    "agent_restarted",
    "agent_session_restored",
  ].map((kind) => `switchboard.${kind}`),
]);

export class TabLog {
  readonly entries: Entry[] = [];
  /** Names of prompts that the log holds. */
  readonly names = new Set<string>();
  epoch = "";
  cursor = 0;
  /** What the agent said when it last exited; null while it lives. */
  exitMessage: string | null = null;
  /** What the agent has said of itself: its options, its commands, its log. */
  agent = new AgentSide();
  /** What all its turns have used, as far as the agent says. */
  spent = nothingSpent();
  /** Grows with every change. */
  version = 1;
  /** What the agent said last that its session has cost so far. */
  private costSoFar: Cost | null = null;
  private readonly executions = new Map<string, { turn: Turn; piece: ExecutionPiece }>();
  private readonly turns = new Map<number, Turn>();
  private openTurns: Turn[] = [];
  private openAsks: ApprovalPiece[] = [];

  seen(): Seen {
    return { epoch: this.epoch, seq: this.cursor };
  }

  /** Takes a run of the log. Half of a run is never applied. */
  take(frame: Events): Taken {
    if (this.epoch !== "" && frame.epoch !== this.epoch) return "misfit";
    if (frame.to <= this.cursor && frame.to > 0) return "repeated";
    if (frame.after !== this.cursor || frame.to < frame.after) return "misfit";
    let last = frame.after;
    for (const event of frame.events) {
      if (event.seq <= last || event.seq > frame.to) return "misfit";
      last = event.seq;
    }
    this.epoch = frame.epoch;
    for (const event of frame.events) {
      this.apply(event);
      this.mark(event);
    }
    this.cursor = frame.to;
    this.version += 1;
    return "applied";
  }

  /** Events that the log no longer holds: the place is marked, and reading goes on behind it. */
  gap(from: number, to: number): Taken {
    if (to <= this.cursor) return "repeated";
    if (from !== this.cursor + 1) return "misfit";
    this.notice(`gap-${String(to)}`, "gap", `The events ${String(from)} to ${String(to)} are lost.`, 0);
    this.cursor = to;
    this.version += 1;
    return "applied";
  }

  /** What we have is not this log's: forget it. */
  reset(): void {
    this.entries.length = 0;
    this.turns.clear();
    this.executions.clear();
    this.openTurns = [];
    this.openAsks = [];
    this.agent = new AgentSide();
    this.spent = nothingSpent();
    this.costSoFar = null;
    this.names.clear();
    this.epoch = "";
    this.cursor = 0;
    this.exitMessage = null;
    this.version += 1;
  }

  /** Turns that are not over, in order: the running one first, then those that wait. */
  open(): Turn[] {
    return [...this.openTurns];
  }

  running(): Turn | null {
    return this.openTurns.find((turn) => turn.state === "running") ?? null;
  }

  queue(): Turn[] {
    return this.openTurns.filter((turn) => turn.state === "queued");
  }

  /** Questions that wait for a person, the oldest first. */
  asks(): ApprovalPiece[] {
    return [...this.openAsks];
  }

  /** How a question ended; null while it is open or unknown. */
  resolutionOf(approval: string): Resolution | null {
    for (const entry of this.entries.toReversed()) {
      if (entry.kind !== "turn") continue;
      const asked = entry.pieces.findLast(
        (piece) => piece.kind === "approval" && piece.approval.id === approval,
      );
      if (asked?.kind === "approval") return asked.resolution;
    }
    return null;
  }

  /** What the host does for a call. */
  executionOf(call: string): ExecutionPiece | undefined {
    return [...this.executions.values()].findLast(({ piece }) => piece.execution.call === call)?.piece;
  }

  turn(number: number): Turn | undefined {
    return this.turns.get(number);
  }

  lastPrompt(): string {
    return this.lastTurn()?.prompt ?? "";
  }

  private apply(event: Event): void {
    const { body, time } = event;
    this.agent.take(body, time);
    switch (body.type) {
      // The list of sessions has the title; the agent's own side has the rest.
      case "sessionOpened":
      case "titleChanged":
      case "echo":
      case "log":
      case "commandsChanged":
      case "optionsChanged":
      case "signInNeeded":
        return;
      case "usage":
        return this.costRose(event, body.cost ?? null);
      case "turnUsed":
        return this.turnUsed(event, body);
      case "promptQueued": {
        const turn = this.turnOf(event);
        turn.name = body.name;
        turn.prompt = body.prompt.text;
        turn.context = body.prompt.context ?? [];
        this.names.add(body.name);
        return;
      }
      case "turnStarted": {
        const turn = this.turnOf(event);
        turn.state = "running";
        turn.startMs = time;
        return;
      }
      case "text":
        return this.text(event, body.text);
      case "thought":
        return this.thought(event, body.text);
      case "code":
        return this.code(event, body.text);
      case "plan": {
        const turn = this.turnOf(event);
        if (!turn.pieces.some((piece) => piece.kind === "plan")) turn.pieces.push({ kind: "plan" });
        turn.plan = body.entries;
        return;
      }
      case "status":
        if (event.turn === undefined)
          return this.notice(`status-${String(event.seq)}`, "status", body.message, time);
        this.turnOf(event).status = { message: body.message, progress: body.progress ?? null };
        return;
      case "cancelAsked":
        if (event.turn !== undefined) this.turnOf(event).cancelAsked = true;
        return;
      case "turnEnded": {
        const turn = this.turnOf(event);
        turn.state = "ended";
        turn.endMs = time;
        turn.outcome = body.outcome;
        turn.detail = body.detail ?? null;
        turn.status = null;
        this.openTurns = this.openTurns.filter((open) => open !== turn);
        return;
      }
      case "toolCall":
      case "toolCallUpdate":
        return this.tool(event, body.call);
      case "approvalAsked":
        return this.ask(event, body.approval);
      case "approvalResolved":
        return this.resolve(event, body);
      case "executionStarted":
        return this.startExecution(event, body.execution);
      case "executionOutput":
        return this.changeExecution(event, body.execution, "", (piece) => {
          addOutput(piece.output, body.text);
        });
      case "executionEnded":
        return this.changeExecution(event, body.execution, body.title, (piece) => {
          piece.end = body.end;
          piece.endMs = time;
        });
      case "agentSessionRestored":
        return this.notice(`restored-${String(event.seq)}`, "restored", RESTORED[body.memory], time);
      case "agentExited":
        this.exitMessage = body.message;
        return this.notice(`exited-${String(event.seq)}`, "exited", body.message, time);
      case "agentRestarted":
        this.exitMessage = null;
        return this.notice(`restarted-${String(event.seq)}`, "restarted", "The agent runs again.", time);
      case "promptTaken":
        // The turn shows that it runs; nothing more is to be seen.
        return;
      case "sourceGap":
        return this.notice(`lost-${String(event.seq)}`, "gap", lostWords(body), time);
      case "sessionClosed":
        return this.notice(
          `closed-${String(event.seq)}`,
          "closed",
          "The conversation was closed here.",
          time,
        );
      case "sessionReopened":
        return this.notice(
          `reopened-${String(event.seq)}`,
          "reopened",
          "The conversation was opened again.",
          time,
        );
      case "unknown":
        if (!BOOKKEEPING.has(body.name)) this.unknown(event, body.name, body.raw);
        return;
      default: {
        // A newer host knows more than this page: it is shown as it came.
        const foreign = body as { type?: unknown };
        return this.unknown(event, String(foreign.type), JSON.stringify(body));
      }
    }
  }

  /** Every piece is found by its place in the log; words that go on have the place of the last. */
  private mark({ seq, turn: number, body }: Event): void {
    const turn = number === undefined ? this.lastTurn() : this.turns.get(number);
    if (!turn) return;
    const words = body.type === "text" || body.type === "thought" || body.type === "code";
    if (words && turn.marks.length === turn.pieces.length) turn.marks[turn.marks.length - 1] = seq;
    while (turn.marks.length < turn.pieces.length) turn.marks.push(seq);
  }

  /** An agent says what its session has cost so far: what is new of it belongs to the turn. */
  private costRose(event: Event, cost: Cost | null): void {
    if (!cost) return;
    const before = this.costSoFar?.currency === cost.currency ? this.costSoFar.amount : 0;
    this.costSoFar = cost;
    // A new session of the agent begins at nothing.
    const amount = cost.amount >= before ? cost.amount - before : cost.amount;
    if (event.turn === undefined || amount === 0) return;
    const turn = this.turnOf(event);
    turn.used ??= nothingSpent();
    if (turn.used.told.has(cost.currency)) return;
    addCost(turn.used, { ...cost, amount });
    addCost(this.spent, { ...cost, amount });
  }

  private turnUsed(event: Event, { tokens, cost }: Extract<Body, { type: "turnUsed" }>): void {
    const turn = this.turnOf(event);
    turn.used ??= nothingSpent();
    addTokens(turn.used, tokens);
    addTokens(this.spent, tokens);
    if (!cost) return;
    // What the agent says of the turn is better than what was found by subtracting; said several times, it adds up.
    const guessed = turn.used.told.has(cost.currency) ? 0 : (turn.used.costs.get(cost.currency) ?? 0);
    turn.used.told.add(cost.currency);
    addCost(turn.used, { ...cost, amount: cost.amount - guessed });
    addCost(this.spent, { ...cost, amount: cost.amount - guessed });
  }

  private lastTurn(): Turn | undefined {
    return this.entries.findLast((entry): entry is Turn => entry.kind === "turn");
  }

  private text(event: Event, text: string): void {
    const turn = this.spoken(event);
    const last = turn.pieces.at(-1);
    if (last?.kind === "text") {
      last.text += text;
      last.seq = event.seq;
    } else turn.pieces.push({ kind: "text", text, seq: event.seq });
  }

  private thought(event: Event, text: string): void {
    const turn = this.spoken(event);
    const last = turn.pieces.at(-1);
    if (last?.kind === "thought") {
      last.text += text;
      last.seq = event.seq;
      last.endMs = event.time;
    } else
      turn.pieces.push({ kind: "thought", text, seq: event.seq, startMs: event.time, endMs: event.time });
  }

  private code(event: Event, text: string): void {
    const turn = this.spoken(event);
    const last = turn.pieces.at(-1);
    if (last?.kind === "code") {
      last.text += text;
      last.seq = event.seq;
    } else turn.pieces.push({ kind: "code", text, seq: event.seq });
  }

  private tool(event: Event, call: ToolCall): void {
    const turn = this.spoken(event);
    const known = turn.calls.get(call.id);
    // What an update leaves out stays as it was.
    if (known) known.call = { ...known.call, ...call, title: call.title || known.call.title };
    else {
      const piece = { kind: "tool" as const, call };
      turn.calls.set(call.id, piece);
      turn.pieces.push(piece);
    }
  }

  private startExecution(event: Event, execution: Execution): void {
    const turn = this.turnOf(event);
    const piece: ExecutionPiece = {
      kind: "execution",
      execution,
      output: newOutput(),
      end: null,
      startMs: event.time,
      endMs: null,
      version: 1,
    };
    this.executions.set(execution.id, { turn, piece });
    turn.pieces.push(piece);
  }

  /** Its end may come after its turn's, and without a turn; one whose beginning was lost begins here. */
  private changeExecution(
    event: Event,
    id: string,
    title: string,
    change: (piece: ExecutionPiece) => void,
  ): void {
    if (!this.executions.has(id))
      this.startExecution(event, { id, kind: "tool", title: title || id, digest: "" });
    const known = this.executions.get(id);
    if (!known) return;
    change(known.piece);
    known.piece.version += 1;
    known.turn.version += 1;
  }

  private ask(event: Event, approval: Approval): void {
    const piece: ApprovalPiece = {
      kind: "approval",
      approval,
      resolution: null,
      option: null,
      edited: null,
      rule: null,
    };
    this.turnOf(event).pieces.push(piece);
    this.openAsks.push(piece);
  }

  private resolve(event: Event, body: Extract<Body, { type: "approvalResolved" }>): void {
    const id = body.approval;
    const owner = event.turn === undefined ? this.asker(id) : this.turnOf(event);
    const asked = owner?.pieces.find(
      (piece) => piece.kind === "approval" && piece.approval.id === id && !piece.resolution,
    );
    if (owner && asked?.kind === "approval") {
      asked.resolution = body.resolution;
      asked.option = body.option ?? null;
      asked.edited = body.command ?? null;
      asked.rule = body.rule ?? null;
      this.openAsks = this.openAsks.filter((open) => open !== asked);
      owner.version += 1;
    }
  }

  private asker(id: string): Turn | undefined {
    return this.entries.findLast(
      (entry): entry is Turn =>
        entry.kind === "turn" &&
        entry.pieces.some((piece) => piece.kind === "approval" && piece.approval.id === id),
    );
  }

  private unknown(event: Event, name: string, raw: string): void {
    if (event.turn === undefined)
      return this.notice(`unknown-${String(event.seq)}`, "unknown", name, event.time, raw);
    this.turnOf(event).pieces.push({ kind: "unknown", name, raw });
  }

  private notice(id: string, what: Notice["what"], text: string, timeMs: number, raw = ""): void {
    this.entries.push({ kind: "notice", id, what, text, raw, timeMs, version: 1 });
  }

  /** The turn that the agent goes on with: a word on what it waited for is old then, unless it says how far it is. */
  private spoken(event: Event): Turn {
    const turn = this.turnOf(event);
    if (turn.status?.progress === null) turn.status = null;
    return turn;
  }

  /** The turn of an event; one whose beginning was lost begins here. What names none belongs to the last one. */
  private turnOf(event: Event): Turn {
    const number = event.turn ?? this.lastTurn()?.number ?? 0;
    let turn = this.turns.get(number);
    if (!turn) {
      turn = newTurn(number, event.time);
      this.turns.set(number, turn);
      this.entries.push(turn);
      // Nobody will say that it is over.
      if (event.turn === undefined) turn.state = "ended";
      else this.openTurns.push(turn);
    }
    turn.version += 1;
    return turn;
  }
}

/** What an engine no longer has, with its own numbers where it says them. */
function lostWords({ from, to, message }: { from?: number; to?: number; message: string }): string {
  if (from === undefined || to === undefined) return `Events of the engine are lost: ${message}`;
  const which =
    from === to
      ? `Event ${String(from)} of the engine is`
      : `Events ${String(from)}–${String(to)} of the engine are`;
  return `${which} lost: ${message}`;
}
