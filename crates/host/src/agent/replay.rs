//! A session told again from what was kept of it, for a client that loads it. Sends nothing.

use serde_json::{Value, json};
use switchboard_agent::deed::ShownKind;
use switchboard_agent::talk::{Arguments, Message, Part};
use switchboard_agent::worker::Step;

use super::show::{self, Shows};

/// All of it, in order. `number` names the calls, and goes on.
pub(super) fn updates(messages: &[Message], steps: &[Step], number: &mut u64) -> Vec<Value> {
    let (mut all, mut open) = (Vec::new(), Vec::new());
    for message in messages {
        match message {
            Message::System { .. } => {}
            Message::User { parts } => all.extend(parts.iter().map(echo)),
            Message::Assistant { text, thought, calls } => {
                let said = [("agent_thought_chunk", thought), ("agent_message_chunk", text)];
                let said = said.into_iter().filter(|(_, text)| !text.is_empty());
                all.extend(said.map(|(kind, text)| show::chunk(kind, text)));
                for call in calls {
                    *number += 1;
                    let id = name(*number);
                    let input = match &call.arguments {
                        Arguments::Object(object) => Value::Object(object.clone()),
                        Arguments::Broken(text) => Value::from(text.as_str()),
                    };
                    all.push(json!({
                        "sessionUpdate": "tool_call", "toolCallId": id, "title": title(&call.name, &input),
                        "kind": show::kind(kind(&call.name)), "status": "in_progress", "rawInput": input,
                    }));
                    open.push((call.id.clone(), id));
                }
            }
            Message::Tool { call, text, failed, .. } => {
                if let Some(at) = open.iter().position(|(theirs, _)| theirs == call) {
                    let (_, id) = open.swap_remove(at);
                    all.push(show::finished(&id, text, *failed, Shows::Nothing));
                }
            }
        }
    }
    for (_, id) in open {
        all.push(show::finished(&id, "it was not done", true, Shows::Nothing));
    }
    if !steps.is_empty() {
        all.push(show::plan(steps));
    }
    all
}

/// What a call is named towards the client: the model's own names may come again.
pub(super) fn name(number: u64) -> String {
    format!("call-{number}")
}

fn echo(part: &Part) -> Value {
    match part {
        Part::Text { text } => show::chunk("user_message_chunk", text),
        Part::Image { mime, data } => json!({
            "sessionUpdate": "user_message_chunk", "content": {"type": "image", "mimeType": mime, "data": data},
        }),
    }
}

fn kind(tool: &str) -> ShownKind {
    match tool {
        "read_file" | "list_files" => ShownKind::Read,
        "search" => ShownKind::Search,
        "edit_file" | "write_file" => ShownKind::Edit,
        "run_command" => ShownKind::Execute,
        _ => ShownKind::Other,
    }
}

fn title(tool: &str, input: &Value) -> String {
    let about = ["path", "command", "pattern"].iter().find_map(|name| input[*name].as_str());
    match about {
        Some(about) => format!("{tool} {}", about.lines().next().unwrap_or_default()),
        None => tool.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use switchboard_agent::talk::ToolCall;

    use super::*;

    #[test]
    fn a_call_is_told_again_as_it_ended() {
        let call = |id: &str| ToolCall {
            id: id.to_owned(),
            name: "run_command".to_owned(),
            arguments: Arguments::Object(serde_json::Map::new()),
        };
        let result = |call: &str, text: &str, failed| Message::Tool {
            call: call.to_owned(),
            name: "run_command".to_owned(),
            text: text.to_owned(),
            failed,
        };
        let messages = [
            Message::Assistant {
                text: String::new(),
                thought: String::new(),
                calls: vec![call("a"), call("b"), call("c")],
            },
            result("a", "[exit code 0]", false),
            result("b", "The person said no.", true),
        ];
        let mut number = 0;
        let ends: Vec<(Value, Value)> = updates(&messages, &[], &mut number)
            .into_iter()
            .filter(|update| update["sessionUpdate"] == "tool_call_update")
            .map(|update| (update["toolCallId"].clone(), update["status"].clone()))
            .collect();
        let ended = |id: &str, status: &str| (Value::from(id), Value::from(status));
        assert_eq!(ends, [ended("call-1", "completed"), ended("call-2", "failed"), ended("call-3", "failed")]);
    }
}
