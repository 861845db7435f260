// The dialect between page and host. A draft by hand until `cargo xtask codegen` writes it from the Rust types.

// page → host
export type FromView =
  | { type: "hello"; version: string; seats: Seat[] }          // first message of a link. Answer: welcome, then events of the seats
  | { type: "openTab"; tab: string; agent?: string; workspace?: string; session?: number; seen?: Seen }
      // known tab: attach. `session`: reopen that conversation from history under this tab (if it has a tab already, that one is attached
      // and the session's own tab name is what events carry: the page looks it up in `session.tab`). Neither: a new session.
  | { type: "leaveTab"; tab: string }                           // stop following; nothing is closed
  | { type: "prompt"; tab: string; name: string; text: string; context?: ContextItem[] }   // name: page-made unique id; a repeated name is not run twice, so resending after a reconnect is safe
  | { type: "cancel"; tab: string; name: string }               // running or queued turn, by its name
  | { type: "closeTab"; tab: string }
  | { type: "visibility"; visible: boolean }
  | { type: "decide"; tab: string; approval: string; decision: Decision; command?: string }
  | { type: "restartAgent"; tab: string }
  | { type: "trust"; workspace: string; trusted: boolean }
  | { type: "history"; before?: HistoryPlace; limit?: number }  // sessions newest first, closed ones included; answer: history
  | { type: "deleteSession"; session: number }                  // answer to every watching page: sessionGone
  | { type: "ping"; n: number };                                // answer: pong, at once

export type Seat = { tab: string; seen: Seen };
export type Seen = { epoch: string; seq: number };              // last event applied

// host → page
export type ToView =
  | { type: "welcome"; version: string; home: string; workspaces: Workspace[]; sessions: Session[] }   // sessions: those with a tab, in order of opening
  | { type: "events"; tab: string; epoch: string; after: number; to: number; events: Event[] }
      // the log from after+1 to `to`, contiguous: the page's cursor for the tab must equal `after`, else it has a bug (or must re-seat). Consecutive text (or thought)
      // pieces of one turn come merged into ONE Event whose seq is the last piece's.
  | { type: "gap"; tab: string; from: number; to: number }     // lost events; cursor becomes `to`; show it
  | { type: "reset"; tab: string }                              // what the page has of this tab is not this log's: forget it; everything comes anew from after=0
  | { type: "session"; session: Session }                      // opened or changed (title, status, agent state, queue …); replaces the former of the same id
  | { type: "sessionGone"; session: number }                   // deleted
  | { type: "workspace"; workspace: Workspace }                // known or changed (trust)
  | { type: "history"; sessions: Session[]; next?: HistoryPlace }
  | { type: "refused"; code: RejectCode; message: string; tab?: string; turn?: string }   // turn: the prompt's name
  | { type: "pong"; n: number };

export type Session = { session: number; epoch: string; tab: string | null /* null: closed */; title: string /* may be "" */; agent: string; workspace: string;
  status: "idle" | "queued" | "running" | "awaiting_approval"; agentState: "none" | "starting" | "slow" | "ready" | "exited";
  queued: number; approvals: number; createdMs: number; updatedMs: number };
export type Workspace = { root: string; trusted: boolean; agents: string[]; defaultAgent: string };   // "demo" is always available, listed or not
export type HistoryPlace = { updatedMs: number; session: number };
export type RejectCode = "bad_json"|"bad_message"|"unknown_type"|"unknown_tab"|"too_large"|"workspace_untrusted"|"agent_unavailable"|"internal";

export type Event = { seq: number; time: number /* ms since 1970 */; turn?: number; body: Body };
export type Body =                                              // crates/types/src/body.rs, serde tag "type", camelCase
  | { type: "sessionOpened"; agent: string; workspace: string } | { type: "titleChanged"; title: string }
  | { type: "promptQueued"; name: string; prompt: { text: string; context?: ContextItem[] }; position: number }   // event.turn = the turn's number
  | { type: "turnStarted" } | { type: "text"; text: string } | { type: "thought"; text: string }
  | { type: "plan"; entries: { content: string; status: "pending"|"in_progress"|"completed" }[] }
  | { type: "status"; message: string; progress?: number } | { type: "cancelAsked" }
  | { type: "turnEnded"; outcome: "completed"|"cancelled"|"failed"; detail?: { code: string; message: string } }
  | { type: "toolCall"; call: ToolCall } | { type: "toolCallUpdate"; call: ToolCall }
  | { type: "approvalAsked"; approval: Approval } | { type: "approvalResolved"; approval: string; resolution: Decision | "expired" }
  | { type: "agentExited"; message: string } | { type: "agentRestarted" } | { type: "sessionClosed" } | { type: "sessionReopened" }
  | { type: "unknown"; name: string; raw: string };
export type ContextItem = { path?: string; content?: string };
export type ToolCall = { id: string; title: string; kind?: string; status: "pending"|"running"|"completed"|"failed"; input?: unknown; output?: unknown };
export type Approval = { id: string; kind: "command"|"edit"|"tool"; title: string; command?: string; cwd?: string; path?: string; diff?: string; severity: "low"|"medium"|"high"|"critical"; reason: string };
export type Decision = "allow_once"|"allow_session"|"allow_rule"|"deny"|"deny_stop";
