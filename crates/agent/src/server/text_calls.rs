//! Calls of tools in a model's text, for models that know no other way: how a model is told to write them, how what was called before
//! is repeated to it, and how its own are found again in what it says.

mod reader;
mod shape;

pub use reader::{Found, Reader};

use serde_json::{Map, Value, json};

use crate::talk::{Arguments, Message, Part, ToolCall, ToolSpec};

/// What begins a call.
const OPENS: &str = "<tool_call>";
/// What ends it.
const CLOSES: &str = "</tool_call>";

/// How tools are called, and which there are: for the system's message.
#[must_use]
pub fn how(tools: &[ToolSpec]) -> String {
    let mut text = String::from(
        "# Tools\n\nYou can call tools. To call one, write exactly this, on lines of its own and not within a code fence:\n\n\
         <tool_call>\n{\"name\": \"NAME OF THE TOOL\", \"arguments\": {\"NAME\": VALUE}}\n</tool_call>\n\n\
         What stands between the two tags is one JSON object: text in double quotes, line breaks within it written as \\n. You may \
         write several calls after each other. Then stop: what each tool gives comes back to you between <tool_result> and \
         </tool_result>. Never write a <tool_result> yourself. When nothing is left to be called, answer in plain text.\n\n\
         The tools, with the JSON Schema of their arguments:\n",
    );
    for ToolSpec { name, description, parameters } in tools {
        text.push_str(&format!("\n## {name}\n{description}\n{parameters}\n"));
    }
    text
}

/// The conversation for a server that is told of no tools: calls and what came of them are text. A result is a person's message here,
/// and those that follow each other are one: templates want the roles in turns.
pub(super) fn in_text(messages: &[Message], tools: &[ToolSpec]) -> Vec<Message> {
    let how = if tools.is_empty() { String::new() } else { how(tools) };
    let told = |message: &Message| matches!(message, Message::System { text } if text.contains(how.trim_end()));
    let mut out: Vec<Message> = Vec::with_capacity(messages.len() + 1);
    let mut owed = !how.is_empty() && !messages.iter().any(told);
    if owed && !matches!(messages.first(), Some(Message::System { .. })) {
        out.push(Message::System { text: how.clone() });
        owed = false;
    }
    for message in messages {
        match message {
            Message::System { text } if std::mem::take(&mut owed) => {
                out.push(Message::System { text: format!("{text}\n\n{how}") });
            }
            Message::System { .. } => out.push(message.clone()),
            Message::User { parts } => add_parts(&mut out, parts.clone()),
            Message::Assistant { text, thought, calls } => {
                let written = calls.iter().map(written).collect::<Vec<_>>().join("\n");
                let both = [text.as_str(), &written].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
                // One that says nothing is not sent, so it keeps nothing apart.
                if !both.is_empty() {
                    out.push(Message::Assistant { text: both.join("\n"), thought: thought.clone(), calls: Vec::new() });
                }
            }
            Message::Tool { name, text, .. } => {
                let result = Part::Text { text: format!("<tool_result name=\"{name}\">\n{text}\n</tool_result>") };
                add_parts(&mut out, vec![result]);
            }
        }
    }
    out
}

fn add_parts(out: &mut Vec<Message>, more: Vec<Part>) {
    match out.last_mut() {
        Some(Message::User { parts }) => parts.extend(more),
        _ => out.push(Message::User { parts: more }),
    }
}

/// A call as the model should have written it; one that could not be read as it did.
fn written(call: &ToolCall) -> String {
    match &call.arguments {
        Arguments::Object(map) => {
            let mut object = Map::new();
            object.insert("name".to_owned(), json!(call.name));
            object.insert("arguments".to_owned(), Value::Object(map.clone()));
            format!("{OPENS}\n{}\n{CLOSES}", Value::Object(object))
        }
        Arguments::Broken(text) => format!("{OPENS}\n{text}\n{CLOSES}"),
    }
}
