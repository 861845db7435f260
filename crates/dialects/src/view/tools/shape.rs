//! The shapes of the dialect's messages, for writing them and for their JSON Schema. Holds no behaviour.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;
use switchboard_types::{
    ApprovalKind, CallId, Containment, Decision, FileDiff, Finding, Resolution, Severity, ToolCode, ToolDefinition,
    ToolName,
};

/// The JSON Schemas of both directions: `{"viewToHost": …, "hostToView": …}`.
#[must_use]
pub fn schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let mut unasked = Unasked::json_schema(&mut generator).to_value();
    let mut shapes = answers(&mut generator);
    shapes.extend(unasked["oneOf"].as_array_mut().map(std::mem::take).unwrap_or_default());
    let mut to_view = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ToView",
        "description": "What the host says to a view.",
        "oneOf": shapes,
    });
    to_view["$defs"] = Value::Object(generator.take_definitions(true));
    serde_json::json!({ "viewToHost": schemars::schema_for!(ToHost), "hostToView": to_view })
}

/// What every request gets, by what was asked.
fn answers(generator: &mut SchemaGenerator) -> Vec<Value> {
    let titled = |asked: &str, schema: Schema| {
        let mut schema = schema.to_value();
        if let Some(members) = schema.as_object_mut() {
            members.insert("title".to_owned(), format!("answer to {asked}").into());
        }
        let id = request_id(&mut SchemaGenerator::default()).to_value();
        schema["properties"]["requestId"] = id;
        schema
    };
    vec![
        titled("GET_TOOLS", ToolsAnswer::json_schema(generator)),
        titled("EXECUTE_TOOL", ResultAnswer::json_schema(generator)),
        titled("CANCEL_EXECUTION", CancelledAnswer::json_schema(generator)),
        titled("GET_TOOL_HISTORY", HistoryAnswer::json_schema(generator)),
        titled("BATCH_EXECUTE", ResultsAnswer::json_schema(generator)),
        titled("SUBSCRIBE_APPROVALS", SubscribedAnswer::json_schema(generator)),
        titled("APPROVAL_RESPONSE", DecidedAnswer::json_schema(generator)),
        titled("REGISTER_TOOLS", RegisteredAnswer::json_schema(generator)),
        titled("anything", ErrorAnswer::json_schema(generator)),
    ]
}

fn request_id(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["string", "number", "null"],
        "description": "Your name for the request, of up to 128 bytes; its answer repeats it.",
    })
}

/// What a view says to the host. Reading is by hand, so that an answer names all that is wrong; the tests hold the two
/// together.
#[derive(JsonSchema)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
#[expect(dead_code, reason = "it is only there for its schema")]
enum ToHost {
    /// Asks for the tools that there are.
    GetTools {
        #[serde(default)]
        #[schemars(schema_with = "request_id")]
        request_id: Option<Value>,
    },
    /// Calls a tool.
    ExecuteTool {
        #[serde(default)]
        #[schemars(schema_with = "request_id")]
        request_id: Option<Value>,
        request: CallShape,
    },
    /// Cancels a call, whoever asked for it; its own answer comes as ever.
    CancelExecution {
        #[serde(default)]
        #[schemars(schema_with = "request_id")]
        request_id: Option<Value>,
        /// The call's name.
        execution_id: CallId,
    },
    /// Asks for calls of the past, the newest first.
    GetToolHistory {
        #[serde(default)]
        #[schemars(schema_with = "request_id")]
        request_id: Option<Value>,
        /// Only those of this tool.
        tool_name: Option<ToolName>,
        /// At most so many: 1 to 200, 50 if absent.
        #[schemars(range(min = 1, max = 200))]
        limit: Option<u64>,
        /// The `before` of the last answer, for those that follow it.
        before: Option<String>,
    },
    /// Calls several tools.
    BatchExecute {
        #[serde(default)]
        #[schemars(schema_with = "request_id")]
        request_id: Option<Value>,
        /// 1 to 1,024 of them.
        requests: Vec<CallShape>,
        /// All at once if absent.
        mode: Option<ModeShape>,
        /// In order, those after the first that fails are cancelled. All at once, nothing is left to stop.
        stop_on_error: Option<bool>,
    },
    /// Asks to be told of questions for a person, open ones and new ones.
    SubscribeApprovals {
        #[serde(default)]
        #[schemars(schema_with = "request_id")]
        request_id: Option<Value>,
    },
    /// Answers a question; the first answer wins.
    ApprovalResponse {
        #[serde(default)]
        #[schemars(schema_with = "request_id")]
        request_id: Option<Value>,
        /// As the question names it.
        approval_id: String,
        decision: Decision,
        /// The command as the person edited it; it is judged again.
        command: Option<String>,
    },
    /// Lends tools for as long as this link lives; all of them or none.
    RegisterTools {
        #[serde(default)]
        #[schemars(schema_with = "request_id")]
        request_id: Option<Value>,
        /// 1 to 256 of them.
        tools: Vec<LentShape>,
    },
    /// What came of a `TOOL_CALL`. It is no request and gets no answer.
    ToolResult {
        #[serde(default)]
        #[schemars(schema_with = "request_id")]
        request_id: Option<Value>,
        /// As the call names it.
        call_id: String,
        /// Whether the tool gave a result.
        success: bool,
        /// What it gave.
        data: Option<Value>,
        /// Why it gave nothing: words, or `{code?, message, details?}`.
        error: Option<Value>,
    },
}

/// One call.
#[derive(JsonSchema)]
#[schemars(rename = "ToolRequest")]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is only there for its schema")]
struct CallShape {
    /// Which tool.
    tool_name: ToolName,
    /// What goes in, as the tool's schema says; `{}` if absent.
    parameters: Option<std::collections::BTreeMap<String, Value>>,
    /// The session that it is for, by its number; the workspace's bench if absent.
    session_id: Option<String>,
    /// Your own name for the turn; it is not looked at.
    turn_id: Option<String>,
    /// How long it may take from its start, in milliseconds: 1 to 600,000, 30,000 if absent.
    #[schemars(range(min = 1, max = 600_000))]
    timeout: Option<u64>,
    /// Your name for the call, to cancel it by; the host makes one if it is absent.
    execution_id: Option<CallId>,
    /// The workspace whose bench it is, by its absolute path; the host's own if absent.
    workspace: Option<String>,
}

/// How the calls of a batch go.
#[derive(JsonSchema)]
#[schemars(rename = "BatchMode")]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "it is only there for its schema")]
enum ModeShape {
    /// All at once.
    Parallel,
    /// One after the other.
    Sequential,
}

/// A tool to lend: a `ToolDefinition`, and whether it only reads.
#[derive(JsonSchema)]
#[schemars(rename = "LentTool")]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is only there for its schema")]
struct LentShape {
    /// One of `function`, `custom`, `local_shell`, `web_search`.
    #[serde(rename = "type")]
    sort: String,
    /// All about a function.
    function: Option<switchboard_types::FunctionTool>,
    /// All about a tool that takes text.
    custom: Option<switchboard_types::CustomTool>,
    /// Whether a call of it changes nothing.
    read_only: Option<bool>,
    /// The same in other words: `{readOnlyHint}`.
    annotations: Option<Annotations>,
}

/// What a lender says of its tool.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is only there for its schema")]
struct Annotations {
    /// Whether a call of it changes nothing.
    read_only_hint: Option<bool>,
}

/// The tools that there are, by name.
#[derive(Serialize, JsonSchema)]
pub(super) struct ToolsAnswer<'a> {
    pub(super) tools: Vec<&'a ToolDefinition>,
}

/// What came of the call.
#[derive(Serialize, JsonSchema)]
pub(super) struct ResultAnswer<'a> {
    pub(super) result: ResultShape<'a>,
}

/// What came of the calls, in the order of the request.
#[derive(Serialize, JsonSchema)]
pub(super) struct ResultsAnswer<'a> {
    pub(super) results: Vec<ResultShape<'a>>,
}

/// What came of a call.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolResult")]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultShape<'a> {
    /// Whether the tool gave a result.
    pub(super) success: bool,
    /// What it gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<&'a Value>,
    /// Why it gave nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<ErrorShape<'a>>,
    /// From its start to its end, in milliseconds; 0 if it never started.
    pub(super) duration: u64,
    /// Whatever else is worth knowing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<&'a Value>,
    /// The call's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) execution_id: Option<&'a CallId>,
}

/// Why there is no result.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolError")]
pub(super) struct ErrorShape<'a> {
    pub(super) code: ToolCode,
    /// For people and models: what to do.
    pub(super) message: &'a str,
    /// More; of a `VALIDATION_ERROR` every finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "details")]
    pub(super) details: Option<Details<'a>>,
}

/// More about an error, from wherever it comes.
pub(super) enum Details<'a> {
    /// As the host has it.
    Given(&'a Value),
    /// What is wrong with a message.
    Findings(&'a [Finding]),
}

impl Serialize for Details<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Given(value) => value.serialize(serializer),
            Self::Findings(findings) => findings.serialize(serializer),
        }
    }
}

fn details(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "description": "More; of a `VALIDATION_ERROR` a list of `{parameter, message, code}`, every finding.",
    })
}

/// Whether there was something to cancel.
#[derive(Serialize, JsonSchema)]
pub(super) struct CancelledAnswer {
    /// Whether the call was open.
    pub(super) cancelled: bool,
}

/// Calls of the past.
#[derive(Serialize, JsonSchema)]
pub(super) struct HistoryAnswer {
    /// The newest first.
    pub(super) history: Vec<PastShape>,
    /// Where the next ones are; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<String>,
}

/// A call of the past, or one that is open.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PastCall")]
#[serde(rename_all = "camelCase")]
pub(super) struct PastShape {
    pub(super) execution_id: CallId,
    pub(super) tool_name: ToolName,
    /// What went in; as text where it is cut.
    pub(super) parameters: Value,
    /// Whose call it is.
    pub(super) session_id: String,
    /// When it was asked for, in milliseconds since 1970.
    pub(super) started_at: u64,
    pub(super) status: PastStatus,
    /// Whether the tool gave a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) success: Option<bool>,
    /// What it gave; as text where it is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Value>,
    /// Why it gave nothing: `{code, message, details?}`; as text where it is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Value>,
    /// From its start to its end, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration: Option<u64>,
    /// Whether something of it is cut: of each, 64 KiB are kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) truncated: bool,
}

/// Whether a call is over.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PastStatus {
    /// It waits or runs.
    Open,
    /// It is over.
    Done,
}

/// From now on questions come.
#[derive(Serialize, JsonSchema)]
pub(super) struct SubscribedAnswer {
    /// Always true.
    pub(super) subscribed: bool,
}

/// How the question came to its end.
#[derive(Serialize, JsonSchema)]
pub(super) struct DecidedAnswer {
    pub(super) status: DecidedStatus,
    /// What counts.
    pub(super) decision: Resolution,
}

/// Whose answer counts.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum DecidedStatus {
    /// Yours.
    Applied,
    /// Somebody's before yours.
    AlreadyResolved,
}

/// The tools are lent.
#[derive(Serialize, JsonSchema)]
pub(super) struct RegisteredAnswer<'a> {
    /// The names that they are called by.
    pub(super) registered: &'a [ToolName],
}

/// What was asked is no call that could have a result: an unknown type, a malformed message, a registry that is not ready.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorAnswer<'a> {
    pub(super) error: ErrorShape<'a>,
    /// Where a `TOOL_RESULT` was malformed: the call that it was for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<&'a str>,
}

/// What comes unasked.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub(super) enum Unasked<'a> {
    /// A person must answer before something runs.
    ApprovalRequest {
        /// To be repeated in the answer.
        approval_id: String,
        /// Whose question it is.
        session_id: String,
        /// The call that waits for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        execution_id: Option<&'a CallId>,
        kind: ApprovalKind,
        /// For people: what would happen.
        title: &'a str,
        /// What would run.
        #[serde(skip_serializing_if = "Option::is_none")]
        command: Option<&'a str>,
        /// Where it would run.
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<&'a str>,
        /// The file that would change.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<&'a str>,
        /// How it would change, as text.
        #[serde(skip_serializing_if = "Option::is_none")]
        diff: Option<&'a str>,
        /// The same line by line.
        #[serde(skip_serializing_if = "Option::is_none")]
        change: Option<&'a FileDiff>,
        /// The same as escaped HTML with classes only.
        #[serde(skip_serializing_if = "Option::is_none")]
        diff_html: Option<String>,
        severity: Severity,
        /// Why a person is asked.
        reason: &'a str,
        /// Whether the command may be edited before it is allowed.
        editable: bool,
        /// How the command would be held in.
        #[serde(skip_serializing_if = "Option::is_none")]
        containment: Option<&'a Containment>,
        /// What `allow_rule` would allow from now on; absent if no rule can.
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// When it is over if nobody has answered, in milliseconds since 1970.
        #[serde(skip_serializing_if = "Option::is_none")]
        expires_at: Option<u64>,
    },
    /// Somebody calls a tool that you lend; answer with `TOOL_RESULT`.
    ToolCall {
        /// To be repeated in the result.
        call_id: String,
        tool_name: &'a ToolName,
        /// What goes in; the host has checked it by the tool's schema.
        parameters: &'a Value,
    },
}
