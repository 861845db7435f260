//! What a view is told: results, errors and topics, as they are written and as their schemas say. Holds no behaviour.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use switchboard_types::Status;

/// Who is there.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitResult {
    /// The version of the envelope: 1.
    pub(super) protocol_version: u32,
    /// The version of the host.
    pub(super) host_version: &'static str,
    /// The agents that are configured.
    pub(super) agents: Vec<AgentShape>,
    /// Where sessions are opened.
    pub(super) workspace: WorkspaceShape,
    /// The last used first, 200 at most.
    pub(super) sessions: Vec<SessionShape>,
    /// The session that is selected on this link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) active_session_id: Option<String>,
}

/// An agent that is configured.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Agent")]
pub(super) struct AgentShape {
    /// To be named in `bb.createSession`.
    pub(super) name: String,
    /// As the configuration calls it.
    pub(super) kind: String,
}

/// Where sessions are opened.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Workspace")]
pub(super) struct WorkspaceShape {
    /// Its folder.
    pub(super) root: String,
    /// Whether a person trusts it; if not, only the demo agent works.
    pub(super) trusted: bool,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Session")]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionShape {
    /// Its name in every request.
    pub(super) session_id: String,
    /// For people; absent until there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    /// What goes on in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<Status>,
    /// When a turn last began or ended, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) updated_at: Option<u64>,
    /// Who works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
}

/// The session that was opened, or selected.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionResult {
    /// Its name in every request.
    pub(super) session_id: String,
}

/// Sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionsResult {
    /// The last used first, 200 at most.
    pub(super) sessions: Vec<SessionShape>,
}

/// The session is gone.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DeletedResult {
    /// Always true.
    pub(super) deleted: bool,
}

/// The prompt is taken, and on the disk.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SentResult {
    /// The turn's name: the `message_id` of its events.
    pub(super) turn_id: String,
    /// Whether it waits for others.
    pub(super) queued: bool,
}

/// What came of a stop.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StoppedResult {
    /// Whether a turn ran.
    pub(super) stopped: bool,
}

/// What came of a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CommandResult {
    /// In one word: `accepted`; of a `permission_decision` also `already_resolved`; of an engine's own command what the engine says.
    pub(super) status: String,
    /// More on that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<Value>,
}

/// What came of an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ApprovedResult {
    /// Whether it counts, or somebody was faster.
    pub(super) status: ApprovedStatus,
}

/// Whose answer counts.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ApprovedStatus {
    /// Yours.
    Applied,
    /// Somebody's before yours.
    AlreadyResolved,
}

/// What a folder holds.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FilesResult {
    /// Folders first, by name.
    pub(super) entries: Vec<EntryShape>,
    /// Whether there are more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub(super) truncated: bool,
}

/// One entry of a folder.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub(super) struct EntryShape {
    /// Its name in the folder.
    pub(super) name: String,
    /// Relative to the workspace, with slashes.
    pub(super) path: String,
    /// What it is.
    pub(super) kind: EntryKind,
    /// Bytes, of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) size: Option<u64>,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Directory,
    /// A link; where it leads is not looked at.
    Symlink,
    /// Something else.
    Other,
}

/// The beginning and the end of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SnippetResult {
    /// Relative to the workspace.
    pub(super) path: String,
    /// What is shown of it; empty for what is no text.
    pub(super) content: String,
    /// Whether something is left out.
    pub(super) truncated: bool,
    /// Bytes of all of it.
    pub(super) total_bytes: u64,
    /// Lines of all of it.
    pub(super) total_lines: u64,
    /// Whether it is no text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub(super) binary: bool,
}

/// How a file has changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DiffResult {
    /// As a unified diff; empty if nothing has changed.
    pub(super) diff: String,
    /// Whether an editor shows it.
    pub(super) opened: bool,
}

/// Something that can be fetched.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ArtifactResult {
    /// What to call the file.
    pub(super) name: String,
    /// What sort of thing it is.
    pub(super) mime: String,
    /// Its bytes.
    pub(super) size: u64,
    /// Where it can be fetched for a short while, relative to the host's address.
    pub(super) url: String,
}

/// Why there is no result.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RpcError")]
pub(super) struct ErrorShape {
    /// For programs.
    pub(super) code: ErrorCode,
    /// For people: what to do.
    pub(super) message: String,
    /// More: of a `bad_request` every finding, or the versions that are spoken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<Value>,
}

/// The sorts of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ErrorCode {
    /// The request is not what it must be.
    BadRequest,
    /// There is no such method.
    MethodNotFound,
    /// There is no such session, question, file or artifact.
    NotFound,
    /// A person must trust the workspace first.
    WorkspaceUntrusted,
    /// It cannot be done as things are now.
    Conflict,
    /// It is over one of the limits.
    TooLarge,
    /// The agent is not there, or cannot be started.
    AgentUnavailable,
    /// The host could not do what it should.
    InternalError,
}

/// One thing that is wrong with a request.
#[derive(Debug, Serialize)]
pub(super) struct FindingShape {
    /// Where, as a JSON pointer into the request.
    pub(super) path: String,
    /// What.
    pub(super) message: String,
}

/// How the way to the selected session's agent is. Comes when a session is selected, and on every change.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConnectionShape {
    /// In one word.
    pub(super) status: ConnectionWord,
    /// Which session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_id: Option<String>,
    /// How often it was tried again since it last stood; only where the agent works elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_count: Option<u32>,
    /// Why it does not stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_error: Option<String>,
    /// Whether events were lost, or may have been; what there is comes after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gap_detected: Option<bool>,
}

/// How the way to an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ConnectionStatus")]
#[serde(rename_all = "snake_case")]
pub(super) enum ConnectionWord {
    /// It is being tried, or the agent starts.
    Connecting,
    /// It stands, or nobody has needed it yet.
    Connected,
    /// It is broken, or the agent has ended.
    Error,
}

/// All sessions, and the selected one. Comes on every change of it, at most every 40 ms.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StateShape {
    /// The last used first, 200 at most.
    pub(super) sessions: Vec<SessionShape>,
    /// The session that is selected on this link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) active_session_id: Option<String>,
    /// Whether a turn runs in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) running: Option<bool>,
    /// Questions in it that wait for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pending_permission_count: Option<u64>,
}

/// Events of the selected session, in order: those of 40 ms, 256 at most.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "events are written by hand; it is only there for its schema")]
pub(super) struct EventsShape {
    /// Which session.
    session_id: String,
    /// In the order of the log.
    events: Vec<EventShape>,
}

/// One event.
#[derive(JsonSchema)]
#[schemars(rename = "Event")]
#[expect(dead_code, reason = "events are written by hand; it is only there for its schema")]
pub(super) struct EventShape {
    /// To go on after it: the `afterId` of `bb.selectSession`. Nothing else is to be read from it.
    id: String,
    /// What it is; show one that you do not know as it is.
    #[serde(rename = "type")]
    name: String,
    /// The turn that it belongs to, counted from 1.
    turn: Option<u32>,
    /// When, in milliseconds since 1970.
    ts: Option<u64>,
    /// What it says. With `truncated: true` it is cut, and `full` is the `artifactPath` of the whole event.
    payload: Map<String, Value>,
}
