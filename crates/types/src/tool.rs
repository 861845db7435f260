//! Tools: what can be called by name, how it is called, and what comes of it. Plain data.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::ids::{CallId, LinkId, Seq, SessionId, Time, ToolName, WorkspaceRoot};

/// Something that can be called by name with parameters that its schema checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// What callers see of it.
    pub definition: ToolDefinition,
    /// What a call of it can do.
    pub effect: Effect,
    /// Who carries calls of it out.
    pub provider: Provider,
}

impl Tool {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> ToolName {
        self.definition.name()
    }
}

/// A tool as callers see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolDefinition {
    /// A function with a schema for its parameters.
    Function {
        /// All about it.
        function: FunctionTool,
    },
    /// A tool that takes text of its own format.
    Custom {
        /// All about it.
        custom: CustomTool,
    },
    /// Runs a program with arguments.
    LocalShell {},
    /// Searches the web.
    WebSearch {},
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct FunctionTool {
    /// Its name.
    pub name: ToolName,
    /// For people and models: what it does.
    pub description: String,
    /// JSON Schema of its parameters, an object.
    #[ts(type = "unknown")]
    pub parameters: Value,
    /// Whether models are held to the schema; carried, not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub strict: Option<bool>,
}

/// A tool that takes text. Its parameters are `{"input": "…"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CustomTool {
    /// Its name.
    pub name: ToolName,
    /// For people and models: what it does.
    pub description: String,
    /// The format of its text; carried, not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub format: Option<Value>,
}

impl ToolDefinition {
    /// The name that it is called by; the two nameless types are called by their type.
    #[must_use]
    pub fn name(&self) -> ToolName {
        match self {
            Self::Function { function } => function.name.clone(),
            Self::Custom { custom } => custom.name.clone(),
            Self::LocalShell {} => ToolName::new("local_shell"),
            Self::WebSearch {} => ToolName::new("web_search"),
        }
    }
}

/// What a call of a tool can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It only reads.
    Reads,
    /// It changes a file.
    Writes,
    /// It runs a command.
    Runs,
    /// Whatever its lender does with it.
    Acts,
}

/// Who carries out a tool's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// The host.
    Host,
    /// A view that lends it, as long as its link lives.
    View(LinkId),
}

/// What somebody wants of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRequest {
    /// The caller's name for the call; the host makes one if there is none.
    pub call: Option<CallId>,
    /// Which tool.
    pub tool: ToolName,
    /// What goes in.
    pub parameters: Value,
    /// The session that it is for; the workspace's bench if absent.
    pub session: Option<SessionId>,
    /// The workspace whose bench it is; the host's own if absent.
    pub workspace: Option<WorkspaceRoot>,
    /// How long it may take from its start, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// How the calls of a batch go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchMode {
    /// All at once.
    Parallel,
    /// One after the other, whatever becomes of them.
    Sequential,
    /// One after the other until one fails; those after it are cancelled.
    SequentialUntilError,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// The call's name.
    pub call: CallId,
    /// What the tool gave, or why it gave nothing.
    pub result: Result<Value, ToolFailure>,
    /// From its start to its end, in milliseconds; 0 if it never started.
    pub duration_ms: u64,
    /// Whatever else is worth knowing: who allowed it, whether it was contained, …
    pub metadata: Option<Value>,
}

/// Why a tool gave no result.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// For programs.
    pub code: ToolCode,
    /// For people and models.
    pub message: String,
    /// More, for programs: every finding of a validation, …
    pub details: Option<Value>,
}

impl ToolFailure {
    /// A failure without details.
    pub fn new(code: ToolCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None }
    }
}

/// The sorts of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ToolCode {
    /// There is no tool of this name.
    ToolNotFound,
    /// The request or its parameters are not what they must be.
    ValidationError,
    /// It took longer than it may; it was ended.
    Timeout,
    /// The tool failed.
    ExecutionError,
    /// Somebody cancelled it.
    Cancelled,
    /// A person or a rule said no, or nobody can be asked.
    Denied,
    /// Nothing is written or run in a workspace that nobody trusts.
    WorkspaceUntrusted,
    /// The tools are not all known yet.
    RegistryNotReady,
    /// There is no such message.
    UnknownMessageType,
}

impl ToolCode {
    /// As programs know it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolNotFound => "TOOL_NOT_FOUND",
            Self::ValidationError => "VALIDATION_ERROR",
            Self::Timeout => "TIMEOUT",
            Self::ExecutionError => "EXECUTION_ERROR",
            Self::Cancelled => "CANCELLED",
            Self::Denied => "DENIED",
            Self::WorkspaceUntrusted => "WORKSPACE_UNTRUSTED",
            Self::RegistryNotReady => "REGISTRY_NOT_READY",
            Self::UnknownMessageType => "UNKNOWN_MESSAGE_TYPE",
        }
    }
}

/// One finding of a validation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Which parameter: `url`, `items[2].name`, …
    pub parameter: String,
    /// For people and models.
    pub message: String,
    /// For programs.
    pub code: FindingCode,
}

/// What can be wrong with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FindingCode {
    /// It is missing.
    Required,
    /// The tool knows no such parameter.
    UnknownParameter,
    /// It is of another type.
    TypeMismatch,
    /// It is null where it may not be.
    NullValue,
    /// It is none of the values that are allowed.
    EnumMismatch,
    /// It is too small, too large, too short or too long.
    OutOfRange,
    /// It does not look as it must.
    PatternMismatch,
}

/// One call of a tool, as it is kept beside the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// Whose log tells it.
    pub session: SessionId,
    /// The event that tells that it was asked for.
    pub asked_at: Seq,
    /// The call's name.
    pub call: CallId,
    /// Which tool.
    pub tool: ToolName,
    /// What went in, as JSON text, cut to [`crate::limits::MAX_CALL_ROW_BYTES`].
    pub parameters: String,
    /// When it was asked for.
    pub asked: Time,
    /// What came of it; none while nobody knows.
    pub end: Option<CallEnd>,
}

/// How a call ended, as it is kept beside the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEnd {
    /// When.
    pub at: Time,
    /// From its start to its end, in milliseconds.
    pub duration_ms: u64,
    /// Whether the tool gave a result.
    pub success: Success,
    /// What it gave, or `{code, message, details?}`, as JSON text, cut to [`crate::limits::MAX_CALL_ROW_BYTES`].
    pub result: String,
}

/// Whether something worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// It did.
    Yes,
    /// It did not.
    No,
}

/// A place in the list of all calls, the newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallPlace {
    /// When the call there was asked for.
    pub asked: Time,
    /// Whose it is.
    pub session: SessionId,
    /// The event that tells it.
    pub asked_at: Seq,
}

impl CallRow {
    /// Its place in the list.
    #[must_use]
    pub fn place(&self) -> CallPlace {
        CallPlace { asked: self.asked, session: self.session, asked_at: self.asked_at }
    }
}

/// A list of tools that links share.
pub type Tools = Arc<[Arc<Tool>]>;
