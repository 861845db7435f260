//! What a view of the dialect `tabs` must be shown for each event, from the dialect's public description alone.

use serde_json::{Map, Value, json};

use super::{Body, Record};

/// What an event is for a view.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// This message, and no other.
    Message(Value),
    /// Nothing: the dialect has no word for it.
    None,
    /// The checker has never heard of such an event.
    Unheard,
}

/// The message of an event; `name` is the turn's.
pub(super) fn of(tab: &str, record: &Record, name: Option<&str>) -> Shape {
    let name = name.map_or_else(|| record.turn.to_string(), str::to_owned);
    let fields = match &record.body {
        Body::Text(escaped) => json!({"type": "response-chunk", "messageId": name, "chunk": unescape(escaped)}),
        Body::Thought(escaped) => json!({"type": "thought-chunk", "messageId": name, "chunk": unescape(escaped)}),
        Body::Json(body) => match of_json(body, &name, record.turn) {
            Shape::Message(fields) => fields,
            other => return other,
        },
    };
    let said = if let Value::Object(fields) = fields { fields } else { Map::new() };
    // In the order in which a view reads them.
    let mut fields = Map::new();
    fields.insert("type".to_owned(), said.get("type").cloned().unwrap_or_default());
    fields.insert("tabId".to_owned(), json!(tab));
    fields.insert("index".to_owned(), json!(record.seq));
    fields.extend(said.into_iter().filter(|(name, _)| name != "type"));
    // What is absent in the log is absent for the view.
    fields.retain(|_, value| !value.is_null());
    Shape::Message(Value::Object(fields))
}

fn of_json(body: &Value, name: &str, turn: u32) -> Shape {
    Shape::Message(match body["type"].as_str().unwrap_or_default() {
        "sessionOpened" => json!({"type": "tab-opened"}),
        "titleChanged" => json!({"type": "tab-title", "title": body["title"]}),
        "promptQueued" => json!({
            "type": "prompt-queued", "messageId": body["name"], "text": body["prompt"]["text"], "position": body["position"]
        }),
        "turnStarted" => json!({"type": "prompt-started", "messageId": name}),
        "plan" => json!({"type": "plan", "messageId": name, "entries": body["entries"]}),
        "code" => json!({"type": "response-chunk", "messageId": name, "chunk": body["text"]}),
        "log" if body["level"] == "error" => json!({"type": "status", "message": body["message"]}),
        "status" => json!({"type": "status", "message": body["message"], "progress": body["progress"]}),
        "turnEnded" => json!({
            "type": "response-complete", "messageId": name, "reason": body["outcome"], "detail": body["detail"]
        }),
        "toolCall" => json!({"type": "tool-call", "messageId": name, "toolCall": body["call"]}),
        "toolCallUpdate" => json!({"type": "tool-call-update", "messageId": name, "toolCall": body["call"]}),
        "approvalAsked" => approval(&body["approval"], (turn != 0).then_some(name)),
        "approvalResolved" => json!({
            "type": "approval-resolved", "approvalId": body["approval"], "decision": body["resolution"]
        }),
        "executionStarted" => json!({"type": "tool-call", "messageId": name, "toolCall": started(&body["execution"])}),
        "executionEnded" => json!({"type": "tool-call-update", "messageId": name, "toolCall": ended(body)}),
        "agentExited" => json!({"type": "agent-exited", "message": body["message"]}),
        "agentRestarted" => json!({"type": "agent-restarted"}),
        "agentSessionRestored" => json!({"type": "status", "message": restored(&body["memory"])}),
        "sessionClosed" => json!({"type": "tab-closed"}),
        "cancelAsked" | "policyChanged" | "unknown" | "sessionReopened" | "echo" | "log" | "executionOutput"
        | "commandsChanged" | "optionsChanged" | "usage" => return Shape::None,
        _ => return Shape::Unheard,
    })
}

/// What a view is told of an agent's memory.
fn restored(memory: &Value) -> &'static str {
    match memory.as_str().unwrap_or_default() {
        "resumed" => "the agent goes on where it was",
        "loaded" => "the agent has read the conversation again and goes on",
        _ => "the agent has lost the conversation; it gets a summary of it with the next prompt",
    }
}

fn approval(approval: &Value, name: Option<&str>) -> Value {
    let told = ["kind", "title", "command", "cwd", "path", "diff", "severity", "reason", "options"];
    let told = told.into_iter().map(|field| (field.to_owned(), approval[field].clone()));
    let mut fields: Map<String, Value> = told.filter(|(_, value)| !value.is_null()).collect();
    fields.extend([
        ("type".to_owned(), json!("approval-request")),
        ("approvalId".to_owned(), approval["id"].clone()),
        ("messageId".to_owned(), json!(name)),
    ]);
    Value::Object(fields)
}

/// What the host itself does is shown as a tool call.
fn started(execution: &Value) -> Value {
    let kind = match execution["kind"].as_str().unwrap_or_default() {
        "command" => "execute",
        "edit" => "edit",
        _ => "other",
    };
    let input = ["command", "cwd", "path", "diff"].into_iter();
    let input = input.map(|field| (field.to_owned(), execution[field].clone()));
    let input: Map<String, Value> = input.filter(|(_, value)| !value.is_null()).collect();
    json!({"id": execution["id"], "title": execution["title"], "kind": kind, "status": "running", "input": input})
}

fn ended(body: &Value) -> Value {
    let end = &body["end"];
    let good = match end["type"].as_str().unwrap_or_default() {
        "exited" => end["code"] == 0,
        "written" | "returned" => true,
        _ => false,
    };
    let mut output = end.clone();
    if let (Some(output), Some(last)) = (output.as_object_mut(), body.get("output")) {
        output.insert("output".to_owned(), last.clone());
    }
    let status = if good { "completed" } else { "failed" };
    json!({"id": body["execution"], "title": body["title"], "status": status, "output": output})
}

/// The text behind the inside of a JSON string.
pub(super) fn unescape(escaped: &str) -> Value {
    serde_json::from_str(&format!("\"{escaped}\"")).unwrap_or(Value::Null)
}
