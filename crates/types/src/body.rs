//! What an event says. Plain data; the numbering and the turn stand in the event around it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::{AgentName, ApprovalId, CallId, TurnName, WorkspaceRoot};
use crate::text::Text;

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
    },
    /// The agent's process has ended.
    AgentExited {
        /// Why, and what to do.
        message: String,
    },
    /// The agent runs again after an exit.
    AgentRestarted {},
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
        let context: usize = self
            .context
            .iter()
            .map(|item| item.path.as_ref().map_or(0, String::len) + item.content.as_ref().map_or(0, String::len))
            .sum();
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
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: PlanStatus,
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

/// A tool call, or what changed of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The agent's name for the call.
    pub id: CallId,
    /// For people.
    pub title: String,
    /// What sort of tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<String>,
    /// How far it is.
    pub status: ToolStatus,
    /// What goes in, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub input: Option<serde_json::Value>,
    /// What came out, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub output: Option<serde_json::Value>,
}

/// How far a tool call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// Waits, perhaps for an approval.
    Pending,
    /// Runs.
    Running,
    /// Done.
    Completed,
    /// Failed or refused.
    Failed,
}

/// A question that a person (or a rule) must answer before something runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Its name within the session.
    pub id: ApprovalId,
    /// What sort of thing would happen.
    pub kind: ApprovalKind,
    /// For people: what would happen.
    pub title: String,
    /// The command that would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub command: Option<String>,
    /// Where it would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cwd: Option<String>,
    /// The file that would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// How it would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub diff: Option<String>,
    /// How bad it could be.
    pub severity: Severity,
    /// Why a person is asked, in plain words.
    pub reason: String,
}

/// What sort of thing an approval is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    /// A command runs.
    Command,
    /// A file changes.
    Edit,
    /// A tool is called.
    Tool,
}

/// How bad something could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Harmless as far as can be seen.
    Low,
    /// Worth a look.
    Medium,
    /// Could destroy work.
    High,
    /// Always asks.
    Critical,
}

/// What a person can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Yes, this time.
    AllowOnce,
    /// Yes, as long as the session lives.
    AllowSession,
    /// Yes, and by a stored rule from now on.
    AllowRule,
    /// No.
    Deny,
    /// No, and stop the turn.
    DenyStop,
}

/// How an approval came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Yes, this time.
    AllowOnce,
    /// Yes, as long as the session lives.
    AllowSession,
    /// Yes, and by a stored rule from now on.
    AllowRule,
    /// No; also what cancelling the turn answers.
    Deny,
    /// No, and stop the turn.
    DenyStop,
    /// Nobody answered before the turn died with its agent or its host.
    Expired,
}

impl From<Decision> for Resolution {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::AllowOnce => Self::AllowOnce,
            Decision::AllowSession => Self::AllowSession,
            Decision::AllowRule => Self::AllowRule,
            Decision::Deny => Self::Deny,
            Decision::DenyStop => Self::DenyStop,
        }
    }
}
