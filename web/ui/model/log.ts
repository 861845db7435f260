/**
 * One tab's log as the page has it: events in, turns out, and the cursor that says how far it is.
 * Applies each event once or not at all. Knows no DOM, no clock and no socket.
 */
import type { Event, Seen, ToolCall, ToView } from "../wire";
import { type Entry, newTurn, type Notice, type Piece, type Turn } from "./turn";

/** What became of a frame: applied, dropped as already known, or not fitting, so that the tab must be seated anew. */
export type Taken = "applied" | "repeated" | "misfit";

type Events = Extract<ToView, { type: "events" }>;

export class TabLog {
  readonly entries: Entry[] = [];
  /** Names of prompts that the log holds. */
  readonly names = new Set<string>();
  epoch = "";
  cursor = 0;
  /** What the agent said when it last exited; null while it lives. */
  exitMessage: string | null = null;
  /** Grows with every change. */
  version = 1;
  private readonly turns = new Map<number, Turn>();
  private openTurns: Turn[] = [];

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
    for (const event of frame.events) this.apply(event);
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
    this.openTurns = [];
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

  turn(number: number): Turn | undefined {
    return this.turns.get(number);
  }

  lastPrompt(): string {
    return this.entries.findLast((entry): entry is Turn => entry.kind === "turn")?.prompt ?? "";
  }

  private apply(event: Event): void {
    const { body, time } = event;
    switch (body.type) {
      case "sessionOpened":
      case "titleChanged":
        return;
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
        this.turnOf(event).pieces.push({ kind: "approval", approval: body.approval, resolution: null });
        return;
      case "approvalResolved":
        return this.resolve(event, body.approval, body.resolution);
      case "agentExited":
        this.exitMessage = body.message;
        return this.notice(`exited-${String(event.seq)}`, "exited", body.message, time);
      case "agentRestarted":
        this.exitMessage = null;
        return this.notice(`restarted-${String(event.seq)}`, "restarted", "The agent runs again.", time);
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
        return this.unknown(event, body.name, body.raw);
      default: {
        // A newer host knows more than this page: it is shown as it came.
        const foreign = body as { type?: unknown };
        return this.unknown(event, String(foreign.type), JSON.stringify(body));
      }
    }
  }

  private text(event: Event, text: string): void {
    const turn = this.turnOf(event);
    const last = turn.pieces.at(-1);
    if (last?.kind === "text") {
      last.text += text;
      last.seq = event.seq;
    } else turn.pieces.push({ kind: "text", text, seq: event.seq });
  }

  private thought(event: Event, text: string): void {
    const turn = this.turnOf(event);
    const last = turn.pieces.at(-1);
    if (last?.kind === "thought") {
      last.text += text;
      last.seq = event.seq;
      last.endMs = event.time;
    } else
      turn.pieces.push({ kind: "thought", text, seq: event.seq, startMs: event.time, endMs: event.time });
  }

  private tool(event: Event, call: ToolCall): void {
    const turn = this.turnOf(event);
    for (const piece of turn.pieces) {
      if (piece.kind !== "tool" || piece.call.id !== call.id) continue;
      // What an update leaves out stays as it was.
      piece.call = { ...piece.call, ...call, title: call.title || piece.call.title };
      return;
    }
    turn.pieces.push({ kind: "tool", call });
  }

  private resolve(
    event: Event,
    id: string,
    resolution: Extract<Piece, { kind: "approval" }>["resolution"],
  ): void {
    const owner = event.turn === undefined ? this.asker(id) : this.turnOf(event);
    const asked = owner?.pieces.find(
      (piece) => piece.kind === "approval" && piece.approval.id === id && !piece.resolution,
    );
    if (owner && asked?.kind === "approval") {
      asked.resolution = resolution;
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

  /** The turn of an event; one whose beginning was lost begins here. */
  private turnOf(event: Event): Turn {
    const number = event.turn ?? 0;
    let turn = this.turns.get(number);
    if (!turn) {
      turn = newTurn(number, event.time);
      this.turns.set(number, turn);
      this.entries.push(turn);
      this.openTurns.push(turn);
    }
    turn.version += 1;
    return turn;
  }
}
