//! What an event says. Plain data; the numbering and the turn stand in the event around it.

mod agent;
mod approval;
mod tool;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::{AgentName, ApprovalId, ExecutionId, RuleId, TurnName, WorkspaceRoot};
use crate::library::Tokens;
use crate::policy::SessionPolicy;
use crate::text::Text;

pub use agent::{AgentOption, Cost, LogLevel, Memory, OptionChoice, SignInBy, SignInMethod, SlashCommand};
pub use approval::{
    Approval, ApprovalKind, ApprovalOption, Decision, Execution, ExecutionEnd, OptionKind, Resolution, Severity,
};
pub use tool::{Location, ToolCall, ToolContent, ToolError, ToolStatus};

/// Who gave a session its title. A person's stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TitleBy {
    /// The host, from the first prompt, or the agent.
    #[default]
    Host,
    /// A person.
    Person,
}

impl TitleBy {
    fn is_host(&self) -> bool {
        *self == Self::Host
    }
}

/// The content of an event. What belongs to a turn names it in the event, not here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Body {
    /// The first event of every log.
    SessionOpened {
        /// Which agent does the work.
        agent: AgentName,
        /// Where it works.
        workspace: WorkspaceRoot,
    },
    /// The session has a new title.
    TitleChanged {
        /// The new title.
        title: String,
        /// Whose it is.
        #[serde(default, skip_serializing_if = "TitleBy::is_host")]
        #[ts(optional, as = "Option<TitleBy>")]
        by: TitleBy,
    },
    /// A prompt was accepted and waits for its turn.
    PromptQueued {
        /// The view's name for the turn.
        name: TurnName,
        /// What was asked.
        prompt: Prompt,
        /// How many turns are ahead of it; 0 starts now.
        position: u32,
    },
    /// The prompt goes to the agent. Durable before the agent hears of it, so it is never sent twice.
    TurnStarted {},
    /// A piece of the answer.
    Text {
        /// The piece; what came before is not repeated.
        text: Text,
    },
    /// A piece of the agent's thinking.
    Thought {
        /// The piece; what came before is not repeated.
        text: Text,
    },
    /// A piece of code in the answer, where the agent tells code from text.
    Code {
        /// The piece; what came before is not repeated.
        text: Text,
    },
    /// The agent repeats what a person said.
    Echo {
        /// The piece; what came before is not repeated.
        text: Text,
    },
    /// A line of the agent's own log.
    Log {
        /// How much it matters.
        level: LogLevel,
        /// What it says.
        message: String,
    },
    /// The agent's plan as it stands now; replaces the one before.
    Plan {
        /// All entries, in order.
        entries: Vec<PlanEntry>,
    },
    /// A word on what goes on.
    Status {
        /// For a person to read.
        message: String,
        /// From 0 to 1, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        progress: Option<f64>,
    },
    /// Somebody asked for the turn to be cancelled.
    CancelAsked {},
    /// The turn is over; every queued prompt gets exactly one of these.
    TurnEnded {
        /// How it ended.
        outcome: Outcome,
        /// Why, where there is more to say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        detail: Option<Detail>,
    },
    /// The agent calls a tool.
    ToolCall {
        /// The call.
        call: ToolCall,
    },
    /// More is known of a call; fields that are absent stay as they were.
    ToolCallUpdate {
        /// What changed.
        call: ToolCall,
    },
    /// A person must answer before something runs.
    ApprovalAsked {
        /// The question.
        approval: Approval,
    },
    /// The question is answered; the first answer wins.
    ApprovalResolved {
        /// Which question.
        approval: ApprovalId,
        /// The answer.
        resolution: Resolution,
        /// Which of the agent's own answers it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        option: Option<String>,
        /// The command as the person edited it; it is judged anew.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        command: Option<String>,
        /// The rule that was stored with the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        rule: Option<RuleId>,
    },
    /// A person has set what the session's agent may do unasked.
    PolicyChanged {
        /// All of it as it is now.
        policy: SessionPolicy,
    },
    /// Something that was allowed runs or is written now. Durable before it happens, so it never happens twice.
    ExecutionStarted {
        /// What exactly.
        execution: Box<Execution>,
    },
    /// A piece of what a command writes.
    ExecutionOutput {
        /// Which one.
        execution: ExecutionId,
        /// The piece; what came before is not repeated.
        text: String,
    },
    /// It is over; every execution gets exactly one of these.
    ExecutionEnded {
        /// Which one.
        execution: ExecutionId,
        /// For people: what it was.
        title: String,
        /// How it ended.
        end: ExecutionEnd,
        /// The last of what a command wrote, for whoever did not follow it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        output: Option<String>,
    },
    /// What a person may type after a slash; replaces the list before.
    CommandsChanged {
        /// All of them.
        commands: Vec<SlashCommand>,
    },
    /// What a person may set of the agent, and how it is set; replaces the list before.
    OptionsChanged {
        /// All of them.
        options: Vec<AgentOption>,
    },
    /// How full the agent's context is, and what it has cost.
    Usage {
        /// Tokens in use.
        used: u64,
        /// Tokens that fit.
        size: u64,
        /// What the session has cost so far.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        cost: Option<Cost>,
    },
    /// What a turn has used.
    TurnUsed {
        /// Tokens of this turn.
        tokens: Tokens,
        /// What it has cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        cost: Option<Cost>,
    },
    /// The agent wants a person to sign in before it works.
    SignInNeeded {
        /// What it says.
        message: String,
        /// The ways to do so.
        methods: Vec<SignInMethod>,
    },
    /// The agent works on in a session that it had left or lost.
    AgentSessionRestored {
        /// What it still knows.
        memory: Memory,
    },
    /// The agent's process has ended.
    AgentExited {
        /// Why, and what to do.
        message: String,
    },
    /// The agent runs again after an exit.
    AgentRestarted {},
    /// An agent elsewhere has taken the turn's prompt; it goes on whatever becomes of the host.
    PromptTaken {},
    /// Events of an agent elsewhere are lost, or may be. What it still has of them follows.
    SourceGap {
        /// The first that is lost, by its number there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "number")]
        from: Option<u64>,
        /// The last that is lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "number")]
        to: Option<u64>,
        /// For people: what that means.
        message: String,
    },
    /// The tab was closed; the log stays in history.
    SessionClosed {},
    /// The session was taken out of history and has a tab again.
    SessionReopened {},
    /// Foreign JSON that we do not know: kept and shown, never dropped.
    Unknown {
        /// What the peer calls it.
        name: String,
        /// The JSON text as it came.
        raw: String,
    },
}

/// What a person asks of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// The words.
    pub text: String,
    /// Files and excerpts that go with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<ContextItem>>")]
    pub context: Vec<ContextItem>,
}

impl Prompt {
    /// Bytes that the prompt holds in memory.
    #[must_use]
    pub fn size(&self) -> usize {
        let context: usize = self.context.iter().map(ContextItem::size).sum();
        self.text.len() + context
    }
}

/// One file or excerpt that goes with a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ContextItem {
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub content: Option<String>,
    /// A picture, instead of words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub image: Option<Image>,
}

impl ContextItem {
    fn size(&self) -> usize {
        let (path, content) = (self.path.as_deref(), self.content.as_deref());
        let image = self.image.as_ref().map(|image| image.data.as_str());
        [path, content, image].into_iter().flatten().map(str::len).sum()
    }
}

/// A picture that goes with a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// What sort of picture: `image/png`, …
    pub mime: String,
    /// Its bytes in Base64.
    pub data: String,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: PlanStatus,
    /// How much it matters, as the agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub priority: Option<String>,
}

/// How far a step of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent said that it is done.
    Completed,
    /// A person stopped it.
    Cancelled,
    /// It could not be finished; the detail says why.
    Failed,
}

/// Why something ended as it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Detail {
    /// For programs: `agent_exited`, `agent_error`, `agent_unavailable`, `host_restarted`, …
    pub code: String,
    /// For people: what happened and what to do.
    pub message: String,
}

impl Detail {
    /// A detail from its two parts.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}
