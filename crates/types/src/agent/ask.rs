//! What the host asks of an agent. Plain data.

use crate::body::{Prompt, Resolution};
use crate::desk::FileRequest;
use crate::errand::{ErrandFailure, ErrandResult};
use crate::ids::{
    AgentRequest, AgentSession, ApprovalId, CallId, ErrandName, OptionId, SessionId, TurnName, WorkspaceRoot,
};
use crate::source::{Setup, Upstream};
use crate::tool::ToolFailure;

/// What the host asks of an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Open an agent session for this session.
    OpenSession {
        /// The host's session.
        session: SessionId,
        /// The folder to work in.
        cwd: WorkspaceRoot,
        /// The agent session that served it last, to be taken up again if the agent can.
        resume: Option<AgentSession>,
        /// Whether anything was said in it before. If so, and nothing can be taken up again, the agent starts without
        /// memory and the word that the session is open says [`Memory::Summarized`].
        past: Past,
        /// More, for an agent that works elsewhere; none for any other.
        elsewhere: Option<Box<Elsewhere>>,
    },
    /// Work on a prompt.
    Prompt {
        /// The host's session.
        session: SessionId,
        /// The turn.
        name: TurnName,
        /// What is asked.
        prompt: Prompt,
        /// What was said before, for an agent that has lost it.
        recap: Option<String>,
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
        answer: Answer,
    },
    /// Something that the agent asked the host to do is done, or is not.
    ErrandDone {
        /// The host's session.
        session: SessionId,
        /// The agent's name for it.
        errand: ErrandName,
        /// What came of it.
        result: Result<ErrandResult, ErrandFailure>,
    },
    /// Set an option of the agent.
    SetOption {
        /// The host's session.
        session: SessionId,
        /// Which one.
        option: OptionId,
        /// The choice.
        value: String,
    },
    /// Sign in by a method that the agent itself carries out; then open the session again.
    SignIn {
        /// The host's session.
        session: SessionId,
        /// Which method.
        method: String,
    },
    /// The agent's configuration has changed.
    Configure {
        /// All of it.
        config: serde_json::Value,
    },
    /// Do something that only an agent elsewhere can; answered by [`Word::Replied`], exactly once.
    Wish {
        /// The host's session.
        session: SessionId,
        /// Comes back in the answer.
        request: AgentRequest,
        /// What.
        wish: Wish,
    },
}

/// What only an agent elsewhere can do.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// A command of its own vocabulary. Answered by [`SessionAnswer::Ordered`].
    Order {
        /// What it calls it.
        name: String,
        /// What goes with it.
        payload: serde_json::Value,
    },
    /// A look at its files and artifacts. Answered by [`SessionAnswer::Files`].
    Files(FileRequest),
    /// Delete its session, which was deleted here. Answered by [`SessionAnswer::Done`].
    Delete {},
}

/// What an agent elsewhere must know to go on where it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elsewhere {
    /// How a new session is to be set up.
    pub setup: Setup,
    /// How far its log was taken; none if nothing ever was.
    pub upstream: Option<Upstream>,
    /// The turn that runs: it was sent, or was about to be, when the host went away.
    pub running: Option<(TurnName, Prompt)>,
    /// Whether the agent is known to have taken that turn's prompt, so that it is not to be sent again.
    pub taken: bool,
}

impl Ask {
    /// Asks for a new agent session for a session in which nothing was said yet.
    #[must_use]
    pub fn open(session: SessionId, cwd: WorkspaceRoot) -> Self {
        Self::OpenSession { session, cwd, resume: None, past: Past::Blank, elsewhere: None }
    }

    /// The session that is asked for; none if it is about the agent as a whole.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::OpenSession { session, .. }
            | Self::Prompt { session, .. }
            | Self::Cancel { session, .. }
            | Self::CloseSession { session }
            | Self::ToolResult { session, .. }
            | Self::ApprovalAnswer { session, .. }
            | Self::ErrandDone { session, .. }
            | Self::SetOption { session, .. }
            | Self::Wish { session, .. }
            | Self::SignIn { session, .. } => Some(*session),
            Self::Configure { .. } => None,
        }
    }
}

/// Whether a session has a past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// Nothing was said in it yet.
    Blank,
    /// An agent has worked in it.
    Spoken,
}

/// How a question of an agent was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A person, or a rule, has decided.
    Decided {
        /// In our words.
        resolution: Resolution,
        /// The one of the agent's own answers that was chosen, if one was.
        option: Option<String>,
    },
    /// Nobody will: its turn was cancelled or is over.
    Withdrawn {
        /// In our words.
        resolution: Resolution,
    },
}

impl Answer {
    /// The answer in our words.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        match self {
            Self::Decided { resolution, .. } | Self::Withdrawn { resolution } => *resolution,
        }
    }
}
