//! What is sent to a server for a question. Never sends what the model thought: no server here wants it back.

mod ollama;
mod openai;

use serde_json::{Value, json};

use super::{Flavor, Post, text_calls};
use crate::talk::{Arguments, Ask, Calling, Message, Part, ToolCall, ToolSpec};

/// What is repeated of arguments that could not be read.
const MAX_BROKEN_BYTES: usize = 2 * 1024;

/// The request for a streamed answer.
#[must_use]
pub fn ask(flavor: Flavor, ask: &Ask) -> Post {
    let messages = match ask.calling {
        Calling::Native => ask.messages.clone(),
        Calling::Text => text_calls::in_text(&ask.messages, &ask.tools),
    };
    let tools = match ask.calling {
        Calling::Native => ask.tools.iter().map(tool).collect::<Vec<_>>(),
        Calling::Text => Vec::new(),
    };
    let (path, body) = match flavor {
        Flavor::OpenAi => ("/v1/chat/completions", openai::body(ask, &messages, tools)),
        Flavor::Ollama => ("/api/chat", ollama::body(ask, &messages, tools)),
    };
    Post { path: path.to_owned(), body: body.to_string().into_bytes() }
}

fn tool(spec: &ToolSpec) -> Value {
    let ToolSpec { name, description, parameters } = spec;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

/// The words of a person's message; a server that takes pictures apart from them gets them so.
fn words(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::Image { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// The arguments as an object: servers put them into templates, and some refuse what is none.
fn object(arguments: &Arguments) -> Value {
    match arguments {
        Arguments::Object(map) => Value::Object(map.clone()),
        Arguments::Broken(text) => {
            let cut = text.floor_char_boundary(MAX_BROKEN_BYTES);
            json!({"unreadable": text.get(..cut).unwrap_or_default()})
        }
    }
}

/// A name that no server stumbles over.
fn name(call: &ToolCall) -> &str {
    if call.name.is_empty() { "unknown" } else { &call.name }
}

/// Whether the model has said nothing that can be sent: some servers refuse an empty message.
fn is_nothing(message: &Message) -> bool {
    match message {
        Message::Assistant { text, calls, .. } => text.is_empty() && calls.is_empty(),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => false,
    }
}
