//! What the host asks of an agent, and the words an agent says, in our own terms. Agent session ids never appear: the
//! agent's dialect keeps them.

use crate::body::{Approval, PlanEntry, Prompt, Resolution};
use crate::ids::{ApprovalId, CallId, SessionId, TurnName, WorkspaceRoot};
use crate::text::Text;

/// What the host asks of an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Open an agent session for this session.
    OpenSession {
        /// The host's session.
        session: SessionId,
        /// The folder to work in.
        cwd: WorkspaceRoot,
    },
    /// Work on a prompt.
    Prompt {
        /// The host's session.
        session: SessionId,
        /// The turn.
        name: TurnName,
        /// What is asked.
        prompt: Prompt,
    },
    /// Stop working on a prompt.
    Cancel {
        /// The host's session.
        session: SessionId,
        /// The turn.
        name: TurnName,
    },
    /// Forget the agent session.
    CloseSession {
        /// The host's session.
        session: SessionId,
    },
    /// A tool's result.
    ToolResult {
        /// The host's session.
        session: SessionId,
        /// The agent's name for the call.
        call: CallId,
        /// What came of it.
        result: Result<serde_json::Value, ToolFailure>,
    },
    /// An approval's answer.
    ApprovalAnswer {
        /// The host's session.
        session: SessionId,
        /// Which question.
        approval: ApprovalId,
        /// The answer.
        resolution: Resolution,
    },
}

/// Why a tool gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFailure {
    /// For programs: `TOOL_NOT_FOUND`, …
    pub code: String,
    /// For people and models.
    pub message: String,
}

/// What an agent says.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// The agent session is open.
    SessionOpened {
        /// The host's session.
        session: SessionId,
    },
    /// The agent session could not be opened.
    OpenFailed {
        /// The host's session.
        session: SessionId,
        /// Why.
        message: String,
    },
    /// A piece of the answer.
    Text {
        /// The host's session.
        session: SessionId,
        /// The turn, if the agent names it.
        name: Option<TurnName>,
        /// The piece.
        text: Text,
    },
    /// A piece of thinking.
    Thought {
        /// The host's session.
        session: SessionId,
        /// The turn, if the agent names it.
        name: Option<TurnName>,
        /// The piece.
        text: Text,
    },
    /// The plan as it stands now.
    Plan {
        /// The host's session.
        session: SessionId,
        /// All entries.
        entries: Vec<PlanEntry>,
    },
    /// A word on what goes on.
    Status {
        /// The host's session.
        session: SessionId,
        /// For a person.
        message: String,
        /// From 0 to 1.
        progress: Option<f64>,
    },
    /// The turn is done.
    TurnDone {
        /// The host's session.
        session: SessionId,
        /// The turn, if the agent names it.
        name: Option<TurnName>,
    },
    /// The turn failed.
    TurnFailed {
        /// The host's session.
        session: SessionId,
        /// Why.
        message: String,
    },
    /// The agent wants a tool to run.
    ToolCall {
        /// The host's session.
        session: SessionId,
        /// The agent's name for the call.
        call: CallId,
        /// Which tool.
        tool: String,
        /// What goes in.
        parameters: serde_json::Value,
    },
    /// The agent wants a person's consent.
    ApprovalWanted {
        /// The host's session.
        session: SessionId,
        /// The question; its id is the agent's.
        approval: Approval,
    },
    /// The agent has ended its agent session.
    SessionEnded {
        /// The host's session.
        session: SessionId,
        /// Why, if it says.
        reason: Option<String>,
    },
    /// Something for the session that we do not know.
    Unknown {
        /// The host's session.
        session: SessionId,
        /// What the agent calls it.
        name: String,
        /// The JSON text as it came.
        raw: String,
    },
    /// An error that is about the agent as a whole.
    Trouble {
        /// What it says.
        message: String,
    },
}

impl Word {
    /// The session that the word is for.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::SessionOpened { session }
            | Self::OpenFailed { session, .. }
            | Self::Text { session, .. }
            | Self::Thought { session, .. }
            | Self::Plan { session, .. }
            | Self::Status { session, .. }
            | Self::TurnDone { session, .. }
            | Self::TurnFailed { session, .. }
            | Self::ToolCall { session, .. }
            | Self::ApprovalWanted { session, .. }
            | Self::SessionEnded { session, .. }
            | Self::Unknown { session, .. } => Some(*session),
            Self::Trouble { .. } => None,
        }
    }
}
