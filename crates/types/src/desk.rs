//! What can be asked about a session by its id, each with exactly one answer: for doors that know sessions and no tabs.
//! Plain data.

use crate::body::Prompt;
use crate::command::{HistoryPlace, Seen};
use crate::diff::FileDiff;
use crate::ids::{AgentName, Epoch, Seq, SessionId, SourceId, TabId, TurnId, TurnName, WorkspaceRoot};
use crate::policy::PolicyChange;
use crate::source::Setup;
use crate::told::SessionSummary;

/// What is asked about a session.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionRequest {
    /// Open a new one. Answered by [`SessionAnswer::Created`].
    Create {
        /// Which agent; the workspace's default if absent.
        agent: Option<AgentName>,
        /// Where; the host's own workspace if absent.
        workspace: Option<WorkspaceRoot>,
        /// How it is set up.
        setup: Setup,
        /// What it begins with.
        task: Option<String>,
    },
    /// List sessions, closed ones included, the last used first; the bench is none. Answered by [`SessionAnswer::Sessions`].
    List {
        /// After this one; from the start if absent.
        before: Option<HistoryPlace>,
        /// At most so many.
        limit: usize,
    },
    /// Look at one. Answered by [`SessionAnswer::Session`].
    Look {
        /// Which one.
        session: SessionId,
    },
    /// Take a seat at one; one without a tab gets one. Answered by [`SessionAnswer::Following`], then its events come.
    Follow {
        /// Which one.
        session: SessionId,
        /// From where on.
        from: FollowFrom,
    },
    /// Leave the seat. Answered by [`SessionAnswer::Done`].
    Leave {
        /// Which one.
        session: SessionId,
    },
    /// Queue a prompt. Answered by [`SessionAnswer::Queued`] once it is durable; a name seen before is not run again and gets
    /// the same answer.
    Send {
        /// Where.
        session: SessionId,
        /// The name of the turn.
        name: TurnName,
        /// What is asked.
        prompt: Prompt,
        /// What was uploaded for it before, by name. The edges turn it into context before the host sees it.
        attachments: Vec<String>,
    },
    /// Stop the turn that runs; what waits goes on. Answered by [`SessionAnswer::Stopped`].
    Stop {
        /// Where.
        session: SessionId,
    },
    /// Set an option of the agent by what it is about: `model`, `mode`. Answered by [`SessionAnswer::Done`].
    Set {
        /// Where.
        session: SessionId,
        /// What it is about.
        category: String,
        /// The choice.
        value: String,
    },
    /// Give it a title that stays. Answered by [`SessionAnswer::Done`] once it is durable.
    Rename {
        /// Which one.
        session: SessionId,
        /// The title, one line.
        title: String,
    },
    /// Change what its agent may do unasked. Answered by [`SessionAnswer::Done`] once it is durable.
    SetPolicy {
        /// Which one.
        session: SessionId,
        /// What changes.
        change: PolicyChange,
    },
    /// Pass a command of the agent's own vocabulary on to an agent elsewhere. Answered by [`SessionAnswer::Ordered`].
    Order {
        /// Where.
        session: SessionId,
        /// What the agent calls it.
        name: String,
        /// What goes with it.
        payload: serde_json::Value,
    },
    /// Stop whatever runs and delete the session. Answered by [`SessionAnswer::Done`] when it is durable.
    Delete {
        /// Which one.
        session: SessionId,
    },
    /// Look at files of its workspace, or at what belongs to its log. Answered by [`SessionAnswer::Files`].
    Files {
        /// Which one.
        session: SessionId,
        /// What.
        what: FileRequest,
    },
}

impl SessionRequest {
    /// The session that it is about, if there must be one.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::Create { .. } | Self::List { .. } => None,
            Self::Look { session }
            | Self::Follow { session, .. }
            | Self::Leave { session }
            | Self::Send { session, .. }
            | Self::Stop { session }
            | Self::Set { session, .. }
            | Self::Rename { session, .. }
            | Self::SetPolicy { session, .. }
            | Self::Order { session, .. }
            | Self::Delete { session }
            | Self::Files { session, .. } => Some(*session),
        }
    }
}

/// From where on a log is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowFrom {
    /// Everything, then what is new.
    Start,
    /// Only what is new.
    Live,
    /// What comes after this event, then what is new.
    After(Seen),
    /// The same, by the event's name in the log that it comes from.
    AfterSource(SourceId),
}

/// What is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionAnswer {
    /// There is a new session.
    Created {
        /// Which one.
        session: SessionId,
    },
    /// Sessions.
    Sessions {
        /// The last used first.
        sessions: Vec<SessionSummary>,
        /// Where the next ones are; none at the end.
        next: Option<HistoryPlace>,
    },
    /// A session.
    Session(Box<SessionSummary>),
    /// The link is seated; what follows comes as events of this tab.
    Following {
        /// Which session.
        session: SessionId,
        /// The name under which its events come.
        tab: TabId,
        /// The life of its log.
        epoch: Epoch,
        /// Its last durable event.
        head: Seq,
    },
    /// The prompt is queued.
    Queued {
        /// Its number.
        turn: TurnId,
        /// How many turns are ahead of it; 0 starts now.
        position: u32,
    },
    /// Whether there was something to stop.
    Stopped {
        /// There was.
        stopped: bool,
    },
    /// What an agent elsewhere said to a command of its own.
    Ordered {
        /// In one word: `accepted`, …
        status: String,
        /// More on that.
        detail: Option<serde_json::Value>,
    },
    /// Files, or what belongs to the log.
    Files(Box<FileAnswer>),
    /// It is done, and there is no more to say.
    Done {},
}

/// What is asked about files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRequest {
    /// What a folder holds.
    List {
        /// Relative to the workspace; empty or `.` is the workspace.
        path: String,
    },
    /// The beginning and the end of a file.
    Read {
        /// Relative to the workspace.
        path: String,
        /// How much of it.
        cut: SnippetCut,
    },
    /// How a file has changed.
    Diff {
        /// Relative to the workspace.
        path: String,
        /// A revision of the repository; what the log says if both are absent, else what is in the index's parent (`HEAD`).
        before: Option<String>,
        /// A revision of the repository; the file as it is now if absent.
        after: Option<String>,
    },
    /// Something that can be fetched as a whole: a payload that was cut, a file, the log.
    Artifact {
        /// Its path, as [`crate::desk::artifact`] names it.
        path: String,
    },
}

/// How much of a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnippetCut {
    /// Lines from the beginning.
    pub head_lines: usize,
    /// Lines from the end.
    pub tail_lines: usize,
    /// Bytes of all of it.
    pub max_bytes: usize,
}

impl Default for SnippetCut {
    fn default() -> Self {
        Self { head_lines: 200, tail_lines: 80, max_bytes: 80_000 }
    }
}

/// What is answered about files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAnswer {
    /// What a folder holds, folders first, by name.
    Entries {
        /// Up to a limit.
        entries: Vec<FileEntry>,
        /// Whether there are more.
        truncated: bool,
    },
    /// The beginning and the end of a file.
    Snippet {
        /// Relative to the workspace.
        path: String,
        /// What is shown of it; empty for what is no text.
        content: String,
        /// Whether something is left out.
        truncated: bool,
        /// Bytes of all of it.
        total_bytes: u64,
        /// Lines of all of it; 0 for what is no text.
        total_lines: u64,
        /// Whether it is no text.
        binary: bool,
    },
    /// How a file has changed.
    Diff {
        /// Relative to the workspace.
        path: String,
        /// Line by line; none where an agent elsewhere says it as text only.
        change: Option<FileDiff>,
        /// As a unified diff.
        diff: String,
        /// Whether an editor shows it.
        opened: bool,
    },
    /// Something that can be fetched.
    Artifact {
        /// What to call the file.
        name: String,
        /// What sort of thing it is.
        mime: String,
        /// Its bytes.
        size: u64,
        /// Where it can be fetched for a short while, relative to the host's address.
        url: String,
    },
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Its name.
    pub name: String,
    /// Relative to the workspace, with slashes.
    pub path: String,
    /// What it is.
    pub kind: FileEntryKind,
    /// Bytes, of a file.
    pub size: Option<u64>,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEntryKind {
    /// A file.
    File,
    /// A folder.
    Directory,
    /// A link; where it leads is not looked at.
    Symlink,
    /// Something else.
    Other,
}

/// The paths of artifacts.
pub mod artifact {
    use crate::ids::Seq;

    /// The whole log, as lines of JSON.
    pub const LOG: &str = "log.jsonl";
    /// The conversation for people, as Markdown.
    pub const CONVERSATION: &str = "conversation.md";
    const EVENTS: &str = "events/";
    const EVENT_END: &str = ".json";
    /// A file of the workspace: this, then its path.
    pub const FILES: &str = "files/";
    /// Something that was uploaded: this, then its name.
    pub const ATTACHMENTS: &str = "attachments/";

    /// One event, whole, as JSON.
    #[must_use]
    pub fn event(seq: Seq) -> String {
        format!("{EVENTS}{seq}{EVENT_END}")
    }

    /// Whether an artifact comes from the log itself, and not from the session's files.
    #[must_use]
    pub fn is_of_log(path: &str) -> bool {
        path == LOG || path == CONVERSATION || (path.starts_with(EVENTS) && path.ends_with(EVENT_END))
    }
}
