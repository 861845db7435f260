//! What an event says. Plain data; the numbering and the turn stand in the event around it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::{AgentName, ApprovalId, CallId, ExecutionId, OptionId, TurnName, WorkspaceRoot};
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
    /// What it shows; replaces what it showed before. Absent in an update if that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub content: Option<Vec<ToolContent>>,
    /// The places that it is at; replace those before. Absent in an update if they stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub locations: Option<Vec<Location>>,
}

impl ToolCall {
    /// A call of which no more is known than this.
    #[must_use]
    pub fn new(id: CallId, title: impl Into<String>, status: ToolStatus) -> Self {
        let title = title.into();
        Self { id, title, kind: None, status, input: None, output: None, content: None, locations: None }
    }
}

/// A piece of what a tool call shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToolContent {
    /// Words, in Markdown.
    Text {
        /// What they say.
        text: String,
    },
    /// A change of a file.
    Diff {
        /// Which file.
        path: String,
        /// What it said before; absent if it is new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        old: Option<String>,
        /// What it says then.
        new: String,
    },
    /// A command's terminal.
    Terminal {
        /// The execution of that name, or one of the agent's own.
        terminal: ExecutionId,
        /// What the agent itself shows of it, where the host has not run it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        output: Option<String>,
    },
    /// A picture.
    Image {
        /// The picture.
        image: Image,
    },
    /// A pointer to something.
    Link {
        /// Where it is.
        uri: String,
        /// What it is called.
        name: String,
    },
    /// Anything else, as it came.
    Other {
        /// The JSON.
        #[ts(type = "unknown")]
        raw: serde_json::Value,
    },
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// Which file.
    pub path: String,
    /// Which line, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub line: Option<u32>,
}

/// How much a line of a log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// For whoever looks.
    Info,
    /// Something may be wrong.
    Warn,
    /// Something is wrong.
    Error,
    /// The agent's process wrote it to its error output.
    Stderr,
}

/// Something that was allowed, exactly as it was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    /// Its name.
    pub id: ExecutionId,
    /// Who allowed it; absent if it was allowed for the whole session before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub approval: Option<ApprovalId>,
    /// What sort of thing it is.
    pub kind: ApprovalKind,
    /// For people: what happens.
    pub title: String,
    /// The command that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub command: Option<String>,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cwd: Option<String>,
    /// The file that changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// How it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub diff: Option<String>,
    /// SHA-256 over the exact bytes: what runs and where, or the file before and after.
    pub digest: String,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ExecutionEnd {
    /// The command ended by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// The command was ended by a signal.
    Signalled {
        /// The signal's name.
        signal: String,
    },
    /// The file is written.
    Written {
        /// Its bytes now.
        bytes: u64,
    },
    /// It could not be done; nothing has changed.
    Failed {
        /// Why.
        message: String,
    },
    /// The host died while it ran: nobody knows, and it is not done again.
    Unknown {},
}

/// What a person may type after a slash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hint: Option<String>,
}

/// Something that a person may set of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentOption {
    /// Its name for programs.
    pub id: OptionId,
    /// Its name for people.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// What it is about: `mode`, `model`, `thought_level`, or what else the agent calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub category: Option<String>,
    /// The choice that holds now.
    pub value: String,
    /// The choices; a switch has `true` and `false`.
    pub choices: Vec<OptionChoice>,
}

/// One choice of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct OptionChoice {
    /// For programs.
    pub value: String,
    /// For people.
    pub name: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// The choices that it belongs with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub group: Option<String>,
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// How much.
    pub amount: f64,
    /// Of what: `USD`, …
    pub currency: String,
}

/// A way to sign in at an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct SignInMethod {
    /// Its name for programs.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// Who does it.
    pub by: SignInBy,
    /// For people: exactly what to do.
    pub todo: String,
}

/// Who carries out a sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum SignInBy {
    /// The agent itself, when it is told to.
    Agent,
    /// A person, in a terminal.
    Terminal,
    /// A person, with a variable in the configuration.
    Variable,
}

/// What an agent still knows of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// Everything: it went on where it was.
    Resumed,
    /// Everything: it read the conversation again.
    Loaded,
    /// Nothing but a summary that the host gives it with the next prompt.
    Summarized,
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
    /// The tool call that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<CallId>,
    /// The answers that the agent itself offers; empty if ours are all there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<ApprovalOption>>")]
    pub options: Vec<ApprovalOption>,
    /// SHA-256 over the exact bytes that are asked about, where the host itself would act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub digest: Option<String>,
}

impl Approval {
    /// A question of which no more is known than this.
    #[must_use]
    pub fn new(id: ApprovalId, kind: ApprovalKind, title: impl Into<String>, severity: Severity) -> Self {
        Self {
            id,
            kind,
            title: title.into(),
            command: None,
            cwd: None,
            path: None,
            diff: None,
            severity,
            reason: String::new(),
            call: None,
            options: Vec::new(),
            digest: None,
        }
    }
}

/// An answer that an agent offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalOption {
    /// The agent's name for it.
    pub id: String,
    /// For people.
    pub name: String,
    /// What it comes to.
    pub kind: OptionKind,
}

/// What an answer that an agent offers comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    /// Yes, this time.
    AllowOnce,
    /// Yes, from now on.
    AllowAlways,
    /// No, this time.
    RejectOnce,
    /// No, from now on.
    RejectAlways,
    /// Something that we do not know; never chosen but by name.
    Other,
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
