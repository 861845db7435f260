/** What a turn looks like once its events are folded. Plain data; knows no DOM and no clock. */
import type { Approval, ContextItem, Detail, Outcome, PlanEntry, Resolution, ToolCall } from "../wire";

/** A run of the answer's words, uninterrupted by anything else. */
export type TextPiece = { kind: "text"; text: string; seq: number };
/** A run of thinking. `startMs` and `endMs` are the times of its first and last word. */
export type ThoughtPiece = { kind: "thought"; text: string; seq: number; startMs: number; endMs: number };
export type ToolPiece = { kind: "tool"; call: ToolCall };
export type ApprovalPiece = { kind: "approval"; approval: Approval; resolution: Resolution | null };
/** Where the plan stands in the flow; its entries are the turn's. */
export type PlanPiece = { kind: "plan" };
/** What no version of this page knows: kept and shown as it came. */
export type UnknownPiece = { kind: "unknown"; name: string; raw: string };
export type Piece = TextPiece | ThoughtPiece | ToolPiece | ApprovalPiece | PlanPiece | UnknownPiece;

export type TurnState = "queued" | "running" | "ended";

export type Turn = {
  kind: "turn";
  number: number;
  /** The prompt's name, by which it is cancelled; empty if its beginning was lost. */
  name: string;
  prompt: string;
  context: ContextItem[];
  state: TurnState;
  cancelAsked: boolean;
  queuedMs: number;
  startMs: number | null;
  endMs: number | null;
  pieces: Piece[];
  plan: PlanEntry[];
  status: { message: string; progress: number | null } | null;
  outcome: Outcome | null;
  detail: Detail | null;
  /** Grows with every change, so that a drawn turn knows when it is old. */
  version: number;
};

/** What belongs to no turn: shown between turns, in its place. */
export type Notice = {
  kind: "notice";
  id: string;
  what: "gap" | "exited" | "restarted" | "closed" | "reopened" | "status" | "unknown";
  text: string;
  raw: string;
  timeMs: number;
  version: number;
};

export type Entry = Turn | Notice;

export function newTurn(number: number, timeMs: number): Turn {
  return {
    kind: "turn",
    number,
    name: "",
    prompt: "",
    context: [],
    state: "queued",
    cancelAsked: false,
    queuedMs: timeMs,
    startMs: null,
    endMs: null,
    pieces: [],
    plan: [],
    status: null,
    outcome: null,
    detail: null,
    version: 1,
  };
}

/** The words of the answer, without what came between them. */
export function answerOf(turn: Turn): string {
  return turn.pieces.map((piece) => (piece.kind === "text" ? piece.text : "")).join("");
}

/** Whether a person is asked for something in this turn now. */
export function asksFor(turn: Turn): ApprovalPiece[] {
  return turn.pieces.filter(
    (piece): piece is ApprovalPiece => piece.kind === "approval" && piece.resolution === null,
  );
}
