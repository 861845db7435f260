//! The words that an agent says. Plain data.

use crate::body::{
    AgentOption, Approval, Cost, Detail, LogLevel, Memory, Outcome, PlanEntry, Prompt, Resolution, SignInMethod,
    SlashCommand, ToolCall,
};
use crate::desk::SessionAnswer;
use crate::errand::Errand;
use crate::ids::{AgentRequest, AgentSession, ApprovalId, CallId, ErrandName, SessionId, TurnName};
use crate::library::Tokens;
use crate::reject::Reject;
use crate::source::{AgentSessionInfo, Connection, Source};
use crate::text::Text;

/// What an agent says.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// The agent session is open.
    SessionOpened {
        /// The host's session.
        session: SessionId,
        /// What the agent calls it, if it can be taken up again in a later life.
        agent_session: Option<AgentSession>,
        /// What the agent still knows, if an earlier one was to be taken up; none for a new session.
        memory: Option<Memory>,
    },
    /// The agent wants a person to sign in before it opens a session.
    SignInNeeded {
        /// The host's session.
        session: SessionId,
        /// What it says.
        message: String,
        /// The ways to do so.
        methods: Vec<SignInMethod>,
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
    /// A piece of code in the answer.
    Code {
        /// The host's session.
        session: SessionId,
        /// The turn, if the agent names it.
        name: Option<TurnName>,
        /// The piece.
        text: Text,
    },
    /// The agent repeats what a person said.
    Echo {
        /// The host's session.
        session: SessionId,
        /// The piece.
        text: Text,
    },
    /// A line of the agent's log.
    Log {
        /// The host's session.
        session: SessionId,
        /// How much it matters.
        level: LogLevel,
        /// What it says.
        message: String,
    },
    /// The session has a title.
    Title {
        /// The host's session.
        session: SessionId,
        /// The title.
        title: String,
    },
    /// What a person may type after a slash.
    Commands {
        /// The host's session.
        session: SessionId,
        /// All of them.
        commands: Vec<SlashCommand>,
    },
    /// What a person may set.
    Options {
        /// The host's session.
        session: SessionId,
        /// All of them.
        options: Vec<AgentOption>,
    },
    /// How full the context is.
    Usage {
        /// The host's session.
        session: SessionId,
        /// Tokens in use.
        used: u64,
        /// Tokens that fit.
        size: u64,
        /// What the session has cost so far.
        cost: Option<Cost>,
    },
    /// What the turn that runs has used.
    TurnUsed {
        /// The host's session.
        session: SessionId,
        /// Tokens of this turn.
        tokens: Tokens,
        /// What it has cost.
        cost: Option<Cost>,
    },
    /// The agent calls a tool of its own.
    OwnToolCall {
        /// The host's session.
        session: SessionId,
        /// The call, or what changed of it.
        call: ToolCall,
        /// Which of the two.
        told: Telling,
    },
    /// The agent asks the host to do something for it.
    Errand {
        /// The host's session.
        session: SessionId,
        /// The agent's name for it.
        errand: ErrandName,
        /// What.
        what: Errand,
    },
    /// The agent no longer wants what it asked the host to do.
    ErrandDropped {
        /// The host's session.
        session: SessionId,
        /// The agent's name for it.
        errand: ErrandName,
    },
    /// The agent has said what it is and what it can do.
    Introduced {
        /// All of it.
        about: Box<About>,
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
        /// How it ended, as the agent says.
        outcome: Outcome,
        /// More on that.
        detail: Option<Detail>,
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
    /// An event of a log that the agent keeps elsewhere. It becomes exactly one event of ours that names its source, and more
    /// without one if it means more; events of one session come in the order of that log, each once.
    Sourced {
        /// The host's session.
        session: SessionId,
        /// Where it comes from.
        source: Source,
        /// What it means.
        said: Said,
    },
    /// Somebody else has asked an agent elsewhere: a turn that no view of ours has begun. It runs.
    PromptedElsewhere {
        /// The host's session.
        session: SessionId,
        /// Its name.
        name: TurnName,
        /// What was asked.
        prompt: Prompt,
    },
    /// An agent elsewhere has taken the prompt of the turn that runs.
    PromptTaken {
        /// The host's session.
        session: SessionId,
    },
    /// A question of an agent elsewhere was answered there.
    ApprovalSettled {
        /// The host's session.
        session: SessionId,
        /// Which question; its id is the agent's.
        approval: ApprovalId,
        /// The answer.
        resolution: Resolution,
    },
    /// How the way to an agent elsewhere is now. Not for the log.
    Connection {
        /// The host's session.
        session: SessionId,
        /// All of it.
        connection: Connection,
    },
    /// Events of an agent elsewhere are lost. The cursor into its log is forgotten.
    Gap {
        /// The host's session.
        session: SessionId,
        /// The first that is lost, by its number there.
        from: Option<u64>,
        /// The last that is lost.
        to: Option<u64>,
        /// For people: what that means.
        message: String,
    },
    /// The sessions that an agent elsewhere has.
    Sessions {
        /// The last used first.
        sessions: Vec<AgentSessionInfo>,
    },
    /// The answer to [`Ask::Wish`].
    Replied {
        /// The host's session.
        session: SessionId,
        /// Whose answer.
        request: AgentRequest,
        /// What came of it, or why nothing did.
        result: Result<Box<SessionAnswer>, Reject>,
    },
    /// An error that is about the agent as a whole.
    Trouble {
        /// What it says.
        message: String,
    },
}

/// What an event of a foreign log means.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A piece of the answer.
    Text(Text),
    /// A piece of thinking.
    Thought(Text),
    /// Anything else that we know.
    Word(Box<Word>),
    /// Nothing that we know; it is kept and shown.
    Nothing,
}

/// Whether something is told for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// It is.
    First,
    /// It is told again, with what has changed.
    Again,
}

/// What an agent says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its name, as it says.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of the protocol that both will speak.
    pub protocol: String,
    /// What it can do, each in a few words for a person.
    pub abilities: Vec<String>,
    /// The ways to sign in that it knows.
    pub sign_in: Vec<SignInMethod>,
}

impl Word {
    /// The turn is done, and there is no more to say of it.
    #[must_use]
    pub fn turn_done(session: SessionId, name: Option<TurnName>) -> Self {
        Self::TurnDone { session, name, outcome: Outcome::Completed, detail: None }
    }

    /// A new agent session is open that cannot be taken up again.
    #[must_use]
    pub fn opened(session: SessionId) -> Self {
        Self::SessionOpened { session, agent_session: None, memory: None }
    }

    /// The session that the word is for.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::SessionOpened { session, .. }
            | Self::SignInNeeded { session, .. }
            | Self::Code { session, .. }
            | Self::Echo { session, .. }
            | Self::Log { session, .. }
            | Self::Title { session, .. }
            | Self::Commands { session, .. }
            | Self::Options { session, .. }
            | Self::Usage { session, .. }
            | Self::TurnUsed { session, .. }
            | Self::OwnToolCall { session, .. }
            | Self::Errand { session, .. }
            | Self::ErrandDropped { session, .. }
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
            | Self::Sourced { session, .. }
            | Self::PromptedElsewhere { session, .. }
            | Self::PromptTaken { session }
            | Self::ApprovalSettled { session, .. }
            | Self::Connection { session, .. }
            | Self::Gap { session, .. }
            | Self::Replied { session, .. }
            | Self::Unknown { session, .. } => Some(*session),
            Self::Trouble { .. } | Self::Introduced { .. } | Self::Sessions { .. } => None,
        }
    }
}
