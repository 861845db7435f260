//! The shapes of what a view of `chat` says. Types only; what they come to is asked elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_types::Mode;

use super::shape::SettingsShape;

/// What a view says.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum ToHost {
    /// The view is there. Answered by `init`, `loadSessions` and the session.
    Ready {
        /// The session that it showed before; an idle empty one, or a new one, if absent or gone.
        session_id: Option<String>,
        /// Whether it wants to be asked by `confirmDeletion` before several sessions are deleted.
        confirms: Option<bool>,
    },
    /// A prompt for the current session. While another one is worked on it waits.
    SendMessage {
        /// What is asked.
        text: String,
        /// Files and excerpts that go with it.
        context: Option<Vec<ContextShape>>,
    },
    /// Stops the turn that runs in a session; what waits goes on.
    StopGeneration {
        /// Which session it runs in.
        session_id: String,
    },
    /// Chooses how the current session's agent is meant to work.
    SelectMode {
        /// How it is meant to work.
        mode: ModeWord,
    },
    /// Chooses the model of the current session's agent.
    SelectModel {
        /// Its name, as in `init`.
        model: String,
    },
    /// Opens a new session, or an idle one in which nothing was said.
    NewChat {},
    /// Asks for what is selected in the editor. Answered by `addContextItem`.
    AddContext {},
    /// Makes a session the current one.
    LoadSession {
        /// Which session it is.
        session_id: String,
    },
    /// Stops what runs in a session and deletes it. Answered by `sessionDeleted`.
    DeleteSession {
        /// Which session it is.
        session_id: String,
    },
    /// Deletes several sessions. Answered by `sessionsDeleted`.
    DeleteMultipleSessions {
        /// Which sessions they are.
        session_ids: Vec<String>,
        /// What a person said to `confirmDeletion`; false deletes nothing.
        confirmed: Option<bool>,
    },
    /// What a person said to `confirmDeletion`, for a view that would rather not repeat what it asked for.
    ConfirmDeletion {
        /// Whether they are to be deleted.
        confirmed: bool,
    },
    /// Looks for words in all that was said. Answered by `searchSessionsResult`.
    SearchSessions {
        /// Words, "phrases" and beginnings*; every other sign means nothing.
        query: String,
    },
    /// Stores settings; those that are absent or null stay as they are. Answered by `settingsUpdate`.
    SaveSettings {
        /// The new ones.
        settings: Box<SettingsShape>,
    },
    /// Sees whether the model server answers. Answered by `connectionTestResult`.
    TestConnection {
        /// Another address, which is stored if it works.
        base_url: Option<String>,
    },
    /// Keeps the token for the model server; an empty one is forgotten. Answered by `bearerTokenSaved`.
    SaveBearerToken {
        /// The token; nobody is ever told it again.
        token: String,
        /// Whether the server is tried with it.
        test_after_save: Option<bool>,
        /// The address that it is for; that of the settings if absent.
        base_url: Option<String>,
    },
    /// Asks for the next sessions of the list. Answered by `appendSessions`.
    LoadMoreSessions {
        /// The `nextOffset` of the page before.
        offset: u64,
    },
    /// Takes out what belongs to no session, and gives space back. Answered by `dbMaintenanceResult`.
    RunDbMaintenance {},
    /// Backs up the messages that can be found, and derives them anew from the logs. Answered by `recreateMessagesResult`.
    RecreateMessagesTable {},
    /// Answers a question about a command or a file; the first answer counts.
    ToolApprovalResponse {
        /// The `id` of the question.
        approval_id: String,
        /// Whether it may be done.
        approved: bool,
        /// The command as the person edited it; it is judged anew.
        command: Option<String>,
    },
    /// Sets whether commands run without a question, except those that are high or critical.
    SetAutoApprove {
        /// Which session it holds for.
        session_id: String,
        /// Whether they do.
        enabled: bool,
    },
    /// Sets whether sensitive files are changed without a question, except those that are protected.
    SetAutoApproveSensitiveEdits {
        /// Which session it holds for.
        session_id: String,
        /// Whether they are.
        enabled: bool,
    },
    /// Sets which files are sensitive in a session.
    UpdateSessionSensitivePatterns {
        /// Which session it holds for.
        session_id: String,
        /// An object from glob to boolean as JSON text, `true` = no question, the last match wins; null goes back to the settings.
        patterns: Option<String>,
    },
    /// Shows the change that a question is about in an editor.
    OpenFileDiff {
        /// The `id` of the question.
        approval_id: String,
    },
}

/// A file or an excerpt that goes with a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Context")]
pub(super) struct ContextShape {
    /// Where it comes from.
    pub(super) file_name: String,
    /// What it says.
    pub(super) content: String,
}

/// How an agent is meant to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Mode")]
pub(super) enum ModeWord {
    /// It may ask for anything.
    Agent,
    /// It plans: nothing is written or run.
    Plan,
    /// It answers: nothing is written or run.
    Ask,
    /// It edits: nothing is run.
    Edit,
}

impl ModeWord {
    pub(super) fn mode(self) -> Mode {
        match self {
            Self::Agent => Mode::Agent,
            Self::Plan => Mode::Plan,
            Self::Ask => Mode::Ask,
            Self::Edit => Mode::Edit,
        }
    }

    pub(super) fn of(mode: Mode) -> Self {
        match mode {
            Mode::Agent => Self::Agent,
            Mode::Plan => Self::Plan,
            Mode::Ask => Self::Ask,
            Mode::Edit => Self::Edit,
        }
    }

    /// The same as an agent would call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Edit => "edit",
        }
    }
}

/// The types that a view may send, in the order of their declaration.
pub(super) const TYPES: [&str; 23] = [
    "ready",
    "sendMessage",
    "stopGeneration",
    "selectMode",
    "selectModel",
    "newChat",
    "addContext",
    "loadSession",
    "deleteSession",
    "deleteMultipleSessions",
    "confirmDeletion",
    "searchSessions",
    "saveSettings",
    "testConnection",
    "saveBearerToken",
    "loadMoreSessions",
    "runDbMaintenance",
    "recreateMessagesTable",
    "toolApprovalResponse",
    "setAutoApprove",
    "setAutoApproveSensitiveEdits",
    "updateSessionSensitivePatterns",
    "openFileDiff",
];
