//! What the host asks of an agent, and the words an agent says, in our own terms. What an agent calls its own session is
//! carried only so that the session can be taken up again; no view ever sees it.

use crate::body::{
    AgentOption, Approval, Cost, Detail, LogLevel, Memory, Outcome, PlanEntry, Prompt, Resolution, SignInMethod,
    SlashCommand, ToolCall,
};
use crate::desk::{FileRequest, SessionAnswer};
use crate::errand::{Errand, ErrandFailure, ErrandResult};
use crate::ids::{
    AgentRequest, AgentSession, ApprovalId, CallId, ErrandName, OptionId, SessionId, TurnName, WorkspaceRoot,
};
use crate::reject::Reject;
use crate::source::{AgentSessionInfo, Connection, Setup, Source, Upstream};
use crate::text::Text;
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
