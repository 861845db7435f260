/** What a turn looks like once its events are folded. Plain data; knows no DOM and no clock. */
import type {
  Approval,
  ContextItem,
  Detail,
  Execution,
  ExecutionEnd,
  Outcome,
  PlanEntry,
  Resolution,
  ToolCall,
} from "../wire";
import type { Output } from "./output";
import type { Spent } from "./spent";

/** A run of the answer's words, uninterrupted by anything else. */
export type TextPiece = { kind: "text"; text: string; seq: number };
/** A run of thinking. `startMs` and `endMs` are the times of its first and last word. */
export type ThoughtPiece = { kind: "thought"; text: string; seq: number; startMs: number; endMs: number };
/** A run of code, where the agent tells code from words. */
export type CodePiece = { kind: "code"; text: string; seq: number };
/** A call is never changed in place: a new one stands for what is known then. */
export type ToolPiece = { kind: "tool"; call: ToolCall };
/** What the host itself ran or wrote for the agent. `version` grows with every change. */
export type ExecutionPiece = {
  kind: "execution";
  execution: Execution;
  output: Output;
  end: ExecutionEnd | null;
  startMs: number;
  endMs: number | null;
  version: number;
};
/**
 * `option` is the one of the agent's own answers that was chosen, `edited` the command as the person changed it, `rule` the
 * name of the rule that was stored with the answer.
 */
export type ApprovalPiece = {
  kind: "approval";
  approval: Approval;
  resolution: Resolution | null;
  option: string | null;
  edited: string | null;
  rule: string | null;
};
/** Where the plan stands in the flow; its entries are the turn's. */
export type PlanPiece = { kind: "plan" };
/** What no version of this page knows: kept and shown as it came. */
export type UnknownPiece = { kind: "unknown"; name: string; raw: string };
export type Piece =
  | TextPiece
  | ThoughtPiece
  | CodePiece
  | ToolPiece
  | ExecutionPiece
  | ApprovalPiece
  | PlanPiece
  | UnknownPiece;

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
  /** For each piece the place in the log by which it is found: its last word's, or, for what is no words, its first event's. */
  marks: number[];
  /** What the turn has used, as far as the agent says. */
  used: Spent | null;
  /** The tool calls among them, by the agent's names for them. */
  calls: Map<string, ToolPiece>;
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
  what: "gap" | "exited" | "restarted" | "restored" | "closed" | "reopened" | "status" | "unknown";
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
    marks: [],
    used: null,
    calls: new Map(),
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

/** The piece in which an event of the turn stands; -1 if it has none. */
export function pieceAt(turn: Turn, seq: number): number {
  const at = turn.marks.findIndex((mark) => mark >= seq);
  return at < 0 ? turn.pieces.length - 1 : at;
}
