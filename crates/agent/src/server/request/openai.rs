//! A question as `/v1/chat/completions` wants it.

use serde_json::{Map, Value, json};

use super::{is_nothing, name, object, words};
use crate::talk::{Ask, Message, Part, ToolCall};

pub(super) fn body(ask: &Ask, messages: &[Message], tools: Vec<Value>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(ask.model));
    let messages = messages.iter().filter(|message| !is_nothing(message)).map(said).collect();
    body.insert("messages".to_owned(), Value::Array(messages));
    body.insert("stream".to_owned(), json!(true));
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    if !tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(tools));
        body.insert("tool_choice".to_owned(), json!("auto"));
    }
    if let Some(temperature) = ask.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    Value::Object(body)
}

fn said(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({"role": "system", "content": text}),
        Message::User { parts } => json!({"role": "user", "content": content(parts)}),
        // An empty text and not `null`: templates join it with others, and some servers refuse `null`.
        Message::Assistant { text, calls, .. } if calls.is_empty() => json!({"role": "assistant", "content": text}),
        Message::Assistant { text, calls, .. } => {
            json!({"role": "assistant", "content": text, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
        }
        Message::Tool { call, text, .. } => json!({"role": "tool", "tool_call_id": call, "content": text}),
    }
}

/// Plain text where there is no picture: many servers take nothing else.
fn content(parts: &[Part]) -> Value {
    let is_image = |part: &Part| matches!(part, Part::Image { .. });
    if !parts.iter().any(is_image) {
        return Value::String(words(parts));
    }
    let parts = parts.iter().map(|part| match part {
        Part::Text { text } => json!({"type": "text", "text": text}),
        Part::Image { mime, data } => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{mime};base64,{data}")}})
        }
    });
    Value::Array(parts.collect())
}

fn call(call: &ToolCall) -> Value {
    let arguments = object(&call.arguments).to_string();
    json!({"id": call.id, "type": "function", "function": {"name": name(call), "arguments": arguments}})
}
