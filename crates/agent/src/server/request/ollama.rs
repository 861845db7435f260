//! A question as Ollama's `/api/chat` wants it.

use serde_json::{Map, Value, json};

use super::{is_nothing, name, object, words};
use crate::talk::{Ask, Message, Part, ToolCall};

pub(super) fn body(ask: &Ask, messages: &[Message], tools: Vec<Value>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(ask.model));
    let messages = messages.iter().filter(|message| !is_nothing(message)).map(said).collect();
    body.insert("messages".to_owned(), Value::Array(messages));
    body.insert("stream".to_owned(), json!(true));
    if !tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(tools));
    }
    let mut options = Map::new();
    if let Some(context) = ask.context {
        options.insert("num_ctx".to_owned(), json!(context));
    }
    if let Some(temperature) = ask.temperature {
        options.insert("temperature".to_owned(), json!(temperature));
    }
    if !options.is_empty() {
        body.insert("options".to_owned(), Value::Object(options));
    }
    Value::Object(body)
}

fn said(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({"role": "system", "content": text}),
        Message::User { parts } => user(parts),
        Message::Assistant { text, calls, .. } if calls.is_empty() => json!({"role": "assistant", "content": text}),
        Message::Assistant { text, calls, .. } => {
            json!({"role": "assistant", "content": text, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
        }
        Message::Tool { name, text, .. } => json!({"role": "tool", "tool_name": name, "content": text}),
    }
}

fn user(parts: &[Part]) -> Value {
    let images = parts.iter().filter_map(|part| match part {
        Part::Text { .. } => None,
        Part::Image { data, .. } => Some(data.as_str()),
    });
    let images: Vec<_> = images.collect();
    if images.is_empty() {
        return json!({"role": "user", "content": words(parts)});
    }
    json!({"role": "user", "content": words(parts), "images": images})
}

fn call(call: &ToolCall) -> Value {
    json!({"function": {"name": name(call), "arguments": object(&call.arguments)}})
}
