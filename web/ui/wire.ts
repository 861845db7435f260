/** The dialect `switchboard` as the page speaks it. Types only; nothing here runs. */

export type FromView =
  | { type: "hello"; version: string; seats: Seat[] }
  | { type: "openTab"; tab: string; agent?: string; workspace?: string; session?: number; seen?: Seen }
  | { type: "leaveTab"; tab: string }
  | { type: "prompt"; tab: string; name: string; text: string; context?: ContextItem[] }
  | { type: "cancel"; tab: string; name: string }
  | { type: "closeTab"; tab: string }
  | { type: "visibility"; visible: boolean }
  | { type: "decide"; tab: string; approval: string; decision: Decision; command?: string }
  | { type: "restartAgent"; tab: string }
  | { type: "trust"; workspace: string; trusted: boolean }
  | { type: "history"; before?: HistoryPlace; limit?: number }
  | { type: "deleteSession"; session: number }
  | { type: "ping"; n: number };

export type Seat = { tab: string; seen: Seen };
export type Seen = { epoch: string; seq: number };

export type ToView =
  | { type: "welcome"; version: string; home: string; workspaces: Workspace[]; sessions: Session[] }
  | { type: "events"; tab: string; epoch: string; after: number; to: number; events: Event[] }
  | { type: "gap"; tab: string; from: number; to: number }
  | { type: "reset"; tab: string }
  | { type: "session"; session: Session }
  | { type: "sessionGone"; session: number }
  | { type: "workspace"; workspace: Workspace }
  | { type: "history"; sessions: Session[]; next?: HistoryPlace }
  | { type: "refused"; code: RejectCode; message: string; tab?: string; turn?: string }
  | { type: "pong"; n: number };

export type SessionStatus = "idle" | "queued" | "running" | "awaiting_approval";
export type AgentState = "none" | "starting" | "slow" | "ready" | "exited";
export type Session = {
  session: number;
  epoch: string;
  tab: string | null;
  title: string;
  agent: string;
  workspace: string;
  status: SessionStatus;
  agentState: AgentState;
  queued: number;
  approvals: number;
  createdMs: number;
  updatedMs: number;
};
export type Workspace = { root: string; trusted: boolean; agents: string[]; defaultAgent: string };
export type HistoryPlace = { updatedMs: number; session: number };
export type RejectCode =
  | "bad_json"
  | "bad_message"
  | "unknown_type"
  | "unknown_tab"
  | "too_large"
  | "workspace_untrusted"
  | "agent_unavailable"
  | "internal";

export type Event = { seq: number; time: number; turn?: number; body: Body };
export type Outcome = "completed" | "cancelled" | "failed";
export type Detail = { code: string; message: string };
export type PlanEntry = { content: string; status: "pending" | "in_progress" | "completed" };
export type Prompt = { text: string; context?: ContextItem[] };
export type Body =
  | { type: "sessionOpened"; agent: string; workspace: string }
  | { type: "titleChanged"; title: string }
  | { type: "promptQueued"; name: string; prompt: Prompt; position: number }
  | { type: "turnStarted" }
  | { type: "text"; text: string }
  | { type: "thought"; text: string }
  | { type: "plan"; entries: PlanEntry[] }
  | { type: "status"; message: string; progress?: number }
  | { type: "cancelAsked" }
  | { type: "turnEnded"; outcome: Outcome; detail?: Detail }
  | { type: "toolCall"; call: ToolCall }
  | { type: "toolCallUpdate"; call: ToolCall }
  | { type: "approvalAsked"; approval: Approval }
  | { type: "approvalResolved"; approval: string; resolution: Resolution }
  | { type: "agentExited"; message: string }
  | { type: "agentRestarted" }
  | { type: "sessionClosed" }
  | { type: "sessionReopened" }
  | { type: "unknown"; name: string; raw: string };
export type ContextItem = { path?: string; content?: string };
export type ToolCall = {
  id: string;
  title: string;
  kind?: string;
  status: "pending" | "running" | "completed" | "failed";
  input?: unknown;
  output?: unknown;
};
export type Severity = "low" | "medium" | "high" | "critical";
export type Approval = {
  id: string;
  kind: "command" | "edit" | "tool";
  title: string;
  command?: string;
  cwd?: string;
  path?: string;
  diff?: string;
  severity: Severity;
  reason: string;
};
export type Decision = "allow_once" | "allow_session" | "allow_rule" | "deny" | "deny_stop";
export type Resolution = Decision | "expired";
