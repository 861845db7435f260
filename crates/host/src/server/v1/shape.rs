//! Requests and answers of the HTTP door as JSON, for reading, writing and for what describes the door. Holds no behaviour
//! but the way from our types to these. Fields that are not known are left alone: whoever calls may know more than we do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchboard_types::{
    AgentState, Connection, ConnectionStatus, FileEntry, FileEntryKind, SessionId, SessionSummary, Status,
};

/// Whether the host is there, and what it speaks.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Health {
    /// `ok`.
    pub(crate) status: String,
    /// The version of this API.
    pub(crate) protocol_version: String,
    /// The version of the program.
    pub(crate) engine_version: String,
    /// What this host can do beyond the API's first form.
    pub(crate) features: Features,
}

/// What a host can do beyond the API's first form.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Features {
    /// Whether an input that is sent again with the same `message_id` is not run again.
    pub(crate) message_id: bool,
}

/// Why a request is refused.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(crate) struct Refusal {
    /// For programs.
    pub(crate) code: String,
    /// For people: what is wrong and what to do.
    pub(crate) message: String,
    /// More, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Value>,
    /// With `resume_window_exceeded`: the number of the first event that there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_seq: Option<u64>,
    /// With `resume_window_exceeded`: the number of the last event that there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_seq: Option<u64>,
}

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Session {
    /// Its id.
    pub(crate) session_id: String,
    /// Its title; empty until there is one.
    pub(crate) title: String,
    /// What goes on in it.
    pub(crate) status: SessionStatus,
    /// When a turn last began or ended, in milliseconds since 1970.
    pub(crate) updated_at_ms: u64,
    /// When it was opened.
    pub(crate) created_at_ms: u64,
    /// Who works.
    pub(crate) agent: String,
    /// Where.
    pub(crate) workspace: String,
    /// Prompts that wait.
    pub(crate) queued: usize,
    /// Questions that wait for a person.
    pub(crate) pending_permissions: usize,
    /// Whether it is in history only; following it or sending to it takes it out again.
    pub(crate) closed: bool,
    /// How the way to its agent is, if that works elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connection: Option<Way>,
}

/// What goes on in a session, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SessionStatus {
    /// Its agent starts.
    Starting,
    /// Nothing runs and nothing waits.
    Idle,
    /// Prompts wait, none runs.
    Queued,
    /// A turn runs.
    Running,
    /// A turn runs and waits for a person.
    AwaitingApproval,
}

/// How the way to an agent elsewhere is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Way {
    /// In one word.
    pub(crate) status: ConnectionStatus,
    /// How often it was tried again since it last stood.
    pub(crate) retry_count: u32,
    /// Why it does not stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_error: Option<String>,
    /// Whether events were lost on the way, or may have been.
    pub(crate) gap_detected: bool,
}

/// Sessions, the last used first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Sessions {
    /// Up to `limit` of them.
    pub(crate) sessions: Vec<Session>,
    /// What to give as `before` for the next ones; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// A session to be opened. Every field may be left out.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CreateSession {
    /// Which agent; the workspace's default if absent.
    pub(crate) agent: Option<String>,
    /// Where, as an absolute path; the host's own workspace if absent.
    pub(crate) workspace: Option<String>,
    /// The agent's own configuration, by its path there; only for agents that work elsewhere.
    pub(crate) config_path: Option<String>,
    /// What it begins with.
    pub(crate) task: Option<String>,
    /// Which model.
    pub(crate) model: Option<String>,
    /// `ask` (also `prompt`, `interactive`) or `auto` (also `auto_allow`).
    pub(crate) permission_mode: Option<String>,
}

/// A session that was opened.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Created {
    /// Its id.
    pub(crate) session_id: String,
    /// What goes on in it.
    pub(crate) status: SessionStatus,
}

/// Something that a person asks.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The words.
    pub(crate) content: String,
    /// What was uploaded for it, by id.
    #[serde(default)]
    pub(crate) attachments: Option<Vec<String>>,
    /// A name for the turn. One that was seen before is not run again and gets the same answer, so sending it twice is safe.
    #[serde(default)]
    pub(crate) message_id: Option<String>,
}

/// It is queued, and on the disk.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Accepted {
    /// The name of its turn: `message_id` of its events.
    pub(crate) turn_id: String,
    /// The number of its turn: `turn` of its events.
    pub(crate) turn: u32,
    /// Whether it waits for turns before it.
    pub(crate) queued: bool,
    /// How many turns are ahead of it; 0 starts now.
    pub(crate) position: u32,
    /// The same as `turn_id`, by the name that an input gives it.
    pub(crate) message_id: String,
}

/// Something else than a prompt.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Order {
    /// `stop`, `set_model {model}`, `set_mode {mode}`, `permission_decision {request_id, decision, command?, rule?}`; for
    /// agents that work elsewhere also whatever those know.
    pub(crate) command: String,
    /// What goes with it.
    #[serde(default)]
    pub(crate) payload: Option<Map<String, Value>>,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ordered {
    /// `accepted`, `applied`, `already_resolved`, or what an agent elsewhere says.
    pub(crate) status: String,
    /// More on that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<Value>,
}

/// What was uploaded.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Uploaded {
    /// In the order in which they came.
    pub(crate) attachments: Vec<Attachment>,
}

/// Something that was uploaded.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Attachment {
    /// Its id, for `attachments` of an input.
    pub(crate) id: String,
    /// What it is called.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) size: u64,
}

/// What a folder holds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Entries {
    /// Folders first, by name.
    pub(crate) entries: Vec<Entry>,
    /// Whether there are more.
    pub(crate) truncated: bool,
}

/// Something in a folder.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) name: String,
    /// Its path from the workspace.
    pub(crate) path: String,
    /// What it is.
    pub(crate) kind: EntryKind,
    /// Its bytes, if it is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
}

/// What something in a folder is.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EntryKind {
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
pub(crate) struct Content {
    /// Its path from the workspace.
    pub(crate) path: String,
    /// What is shown of it; empty for what is no text.
    pub(crate) content: String,
    /// Whether something is left out.
    pub(crate) truncated: bool,
    /// Bytes of all of it.
    pub(crate) total_bytes: u64,
    /// Lines of all of it; 0 for what is no text.
    pub(crate) total_lines: u64,
    /// Whether it is no text.
    pub(crate) binary: bool,
}

/// One event of a session, as it stands after `data:`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Event {
    /// What to resume after: the life of the log and the event's number in it. The same as `id:`.
    id: String,
    /// Its place in the log: 1, 2, 3, … without holes.
    seq: u64,
    /// What it is called. One that is not known to whoever reads is to be shown or left alone.
    #[serde(rename = "type")]
    kind: String,
    /// Whose event.
    session_id: String,
    /// The turn that it belongs to, counted from 1; null if it belongs to none.
    turn: Option<u32>,
    /// When the host took note of it, in milliseconds since 1970.
    timestamp_ms: u64,
    /// The version of this API.
    protocol_version: String,
    /// What it says; see `x-payloads`.
    payload: Map<String, Value>,
}

impl From<&SessionSummary> for Session {
    fn from(session: &SessionSummary) -> Self {
        Self {
            session_id: id(session.session),
            title: session.title.clone(),
            status: status(session.status, session.agent_state),
            updated_at_ms: session.updated.0,
            created_at_ms: session.created.0,
            agent: session.agent.to_string(),
            workspace: session.workspace.to_string(),
            queued: session.queued,
            pending_permissions: session.approvals,
            closed: session.tab.is_none(),
            connection: session.connection.as_ref().map(Way::from),
        }
    }
}

impl From<&Connection> for Way {
    fn from(way: &Connection) -> Self {
        Self { status: way.status, retry_count: way.retries, last_error: way.last_error.clone(), gap_detected: way.gap }
    }
}

impl From<FileEntry> for Entry {
    fn from(entry: FileEntry) -> Self {
        let kind = match entry.kind {
            FileEntryKind::File => EntryKind::File,
            FileEntryKind::Directory => EntryKind::Directory,
            FileEntryKind::Symlink => EntryKind::Symlink,
            FileEntryKind::Other => EntryKind::Other,
        };
        Self { name: entry.name, path: entry.path, kind, size: entry.size }
    }
}

/// A session's id outside.
pub(crate) fn id(session: SessionId) -> String {
    session.to_string()
}

fn status(status: Status, agent: AgentState) -> SessionStatus {
    match (status, agent) {
        (Status::Idle, AgentState::Starting | AgentState::Slow) => SessionStatus::Starting,
        (
            Status::Idle,
            AgentState::None | AgentState::Ready | AgentState::Stalled | AgentState::Asleep | AgentState::Exited,
        ) => SessionStatus::Idle,
        (Status::Queued, _) => SessionStatus::Queued,
        (Status::Running, _) => SessionStatus::Running,
        (Status::AwaitingApproval, _) => SessionStatus::AwaitingApproval,
    }
}
