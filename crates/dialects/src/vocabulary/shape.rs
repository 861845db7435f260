//! The shapes of the payloads, for their JSON and their schemas. Holds no behaviour.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;
use switchboard_types::{
    ApprovalKind, ApprovalOption, Body, Detail, Outcome, RuleWhat, Severity, Time, ToolCall, ToolStatus,
};

use super::name;

/// Nothing more than that it happened.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "NothingMore")]
pub(super) struct Nothing {}

/// A prompt was accepted.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct UserMessage<'a> {
    /// The name of the turn.
    pub(super) message_id: &'a str,
    /// The words.
    pub(super) text: &'a str,
    /// How many turns are ahead of it; 0 starts now.
    pub(super) position: u32,
}

/// A piece of what the agent says or thinks; what came before is not repeated.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Delta<'a> {
    /// The name of the turn.
    pub(super) message_id: Cow<'a, str>,
    /// The piece.
    pub(super) text: String,
    /// `code` where the agent tells code from text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<&'static str>,
}

/// The agent calls a tool.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ToolCalled<'a> {
    /// The agent's name for the call.
    pub(super) call_id: &'a str,
    /// Which tool, or what sort of thing the agent does by itself.
    pub(super) tool: &'a str,
    /// All that is known of it.
    pub(super) call: &'a ToolCall,
}

/// A call is over.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ToolResult<'a> {
    /// The agent's name for the call.
    pub(super) call_id: &'a str,
    /// How it ended.
    pub(super) status: ToolStatus,
    /// Whether it failed or was refused.
    pub(super) error: bool,
    /// What came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<&'a Value>,
    /// What else changed of it.
    pub(super) call: ToolCall,
}

/// A person must answer before something runs.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PermissionRequest<'a> {
    /// Its name within the session.
    pub(super) request_id: &'a str,
    /// Which tool would be called, or what sort of thing would happen.
    pub(super) tool: &'a str,
    /// What sort of thing would happen.
    pub(super) kind: ApprovalKind,
    /// For people: what would happen.
    pub(super) summary: &'a str,
    /// The command that would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<&'a str>,
    /// Where it would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cwd: Option<&'a str>,
    /// The file that would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<&'a str>,
    /// How it would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<&'a str>,
    /// How bad it could be.
    pub(super) severity: Severity,
    /// Why a person is asked, in plain words.
    pub(super) reason: &'a str,
    /// The rule that `allow-always` would store; absent if none can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule_suggestion: Option<&'a RuleWhat>,
    /// The tool call that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<&'a str>,
    /// The answers that the agent itself offers.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) options: &'a [ApprovalOption],
    /// Whether the command may be edited before it is allowed.
    pub(super) editable: bool,
    /// When it is over if nobody has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at_ms: Option<Time>,
}

/// A question is answered, or nobody will.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PermissionResponse<'a> {
    /// Which question.
    pub(super) request_id: &'a str,
    /// `allow-once`, `allow-session`, `allow-always`, `deny-once`, `deny-stop` or `expired`.
    pub(super) decision: &'static str,
    /// Which of the agent's own answers it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) option: Option<&'a str>,
    /// The command as the person edited it; it is judged anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<&'a str>,
    /// The rule that was stored with the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<&'a str>,
}

/// Something may be wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Warning<'a> {
    /// For people.
    pub(super) message: &'a str,
}

/// Something is wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AgentError<'a> {
    /// For programs: `agent_error`, `agent_exited`.
    pub(super) code: &'static str,
    /// For people: what happened and what to do.
    pub(super) message: &'a str,
}

/// Events of whoever works elsewhere are lost, or may be; what is left of them follows.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Gap<'a> {
    /// The first that is lost, by its number there; null if that is not known.
    pub(super) from: Option<u64>,
    /// The last that is lost; null if that is not known.
    pub(super) to: Option<u64>,
    /// For people: what that means.
    pub(super) message: &'a str,
}

/// A turn is over.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunFinished<'a> {
    /// The name of the turn.
    pub(super) message_id: Cow<'a, str>,
    /// How it ended.
    pub(super) reason: Outcome,
    /// Why, where there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<&'a Detail>,
}

/// The sort of thing that would happen, in the word that its JSON has.
pub(super) fn kind_word(kind: ApprovalKind) -> &'static str {
    match kind {
        ApprovalKind::Command => "command",
        ApprovalKind::Edit => "edit",
        ApprovalKind::Tool => "tool",
    }
}

/// The JSON Schema of every payload of our own events, by the event's name. An event that comes from a foreign log has the
/// payload that it has there, whatever its name.
#[must_use]
pub fn schema() -> BTreeMap<String, Value> {
    let mut all = own_bodies();
    let ours: [(&str, Value); 12] = [
        (name::USER_MESSAGE, of::<UserMessage<'_>>()),
        (name::TURN_START, of::<Nothing>()),
        (name::ASSISTANT_DELTA, of::<Delta<'_>>()),
        (name::REASONING_DELTA, of::<Delta<'_>>()),
        (name::TOOL_CALL, of::<ToolCalled<'_>>()),
        (name::TOOL_RESULT, of::<ToolResult<'_>>()),
        (name::PERMISSION_REQUEST, of::<PermissionRequest<'_>>()),
        (name::PERMISSION_RESPONSE, of::<PermissionResponse<'_>>()),
        (name::WARNING, of::<Warning<'_>>()),
        (name::ERROR, of::<AgentError<'_>>()),
        (name::STREAM_GAP, of::<Gap<'_>>()),
        (name::RUN_FINISHED, of::<RunFinished<'_>>()),
    ];
    all.extend(ours.into_iter().map(|(name, schema)| (name.to_owned(), schema)));
    all.insert(name::UNREADABLE.to_owned(), of::<Nothing>());
    all
}

fn of<T: JsonSchema>() -> Value {
    SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
}

/// The bodies that have no other word, each without its tag.
fn own_bodies() -> BTreeMap<String, Value> {
    /// What has a word of its own, whatever it says.
    const WORDED: [&str; 11] = [
        "promptQueued",
        "turnStarted",
        "text",
        "thought",
        "code",
        "toolCall",
        "approvalAsked",
        "approvalResolved",
        "agentExited",
        "sourceGap",
        "turnEnded",
    ];
    let mut whole = of::<Body>();
    let variants = whole.get_mut("oneOf").map(Value::take).unwrap_or_default();
    let shared = whole.get_mut("$defs").map(Value::take).unwrap_or_default();
    let mut all = BTreeMap::new();
    for mut variant in variants.as_array().cloned().unwrap_or_default() {
        let tag = variant.pointer("/properties/type/const").and_then(Value::as_str).unwrap_or_default().to_owned();
        if WORDED.contains(&tag.as_str()) {
            continue;
        }
        if let Some(fields) = variant.get_mut("properties").and_then(Value::as_object_mut) {
            fields.remove("type");
        }
        if let Some(required) = variant.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|field| field != "type");
        }
        if let Some(variant) = variant.as_object_mut() {
            variant.insert("$defs".to_owned(), shared.clone());
        }
        all.insert(format!("switchboard.{}", snake(&tag)), variant);
    }
    all
}

fn snake(camel: &str) -> String {
    let mut snake = String::with_capacity(camel.len() + 4);
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
