//! What the client is told, as `session/update` has it. Builds values; sends nothing.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use switchboard_agent::deed::{Deed, Shown, ShownKind};
use switchboard_agent::talk::Used;
use switchboard_agent::worker::{Mode, Step, StepStatus, TurnEnd, commands};

use super::far::Known;
use super::place::Place;

/// Bytes of a result that a client is shown; the model may get more.
const MAX_SHOWN_BYTES: usize = 64 * 1024;

/// Every mode: its id, its name, and what it does.
pub(super) const MODES: [(Mode, &str, &str, &str); 4] = [
    (Mode::Agent, "agent", "Agent", "Reads, changes files and runs commands"),
    (Mode::Plan, "plan", "Plan", "Reads and makes a plan; changes nothing"),
    (Mode::Ask, "ask", "Ask", "Answers questions; reads, and changes nothing"),
    (Mode::Edit, "edit", "Edit", "Reads and changes files; runs nothing"),
];

/// A mode's id.
pub(super) fn id_of(mode: Mode) -> &'static str {
    MODES.iter().find(|(one, ..)| *one == mode).map_or("agent", |(_, id, ..)| id)
}

/// The mode of an id.
pub(super) fn mode_of(id: &str) -> Option<Mode> {
    MODES.iter().find(|(_, one, ..)| *one == id).map(|(mode, ..)| *mode)
}

/// All modes and the one that holds.
pub(super) fn modes(now: Mode) -> Value {
    let all: Vec<_> =
        MODES.iter().map(|(_, id, name, what)| json!({"id": id, "name": name, "description": what})).collect();
    json!({"currentModeId": id_of(now), "availableModes": all})
}

/// What can be set: the model, from what the server has. One that it does not have stands first, if it is the chosen one.
pub(super) fn options(model: &str, known: Option<&Known>) -> Value {
    let models = known.map(|known| known.models.as_slice()).unwrap_or_default();
    let listed = |name: &str| json!({"value": name, "name": name});
    let mut choices: Vec<_> = models.iter().map(|model| listed(&model.name)).collect();
    if !model.is_empty() && !models.iter().any(|one| one.name == model) {
        choices.insert(0, listed(model));
    }
    if choices.is_empty() {
        return json!([]);
    }
    json!([{
        "id": "model", "name": "Model", "description": "The model that answers", "category": "model",
        "type": "select", "currentValue": model, "options": choices,
    }])
}

/// The list of options has changed.
pub(super) fn options_changed(options: Value) -> Value {
    json!({"sessionUpdate": "config_option_update", "configOptions": options})
}

/// The mode has changed.
pub(super) fn mode_changed(mode: Mode) -> Value {
    json!({"sessionUpdate": "current_mode_update", "currentModeId": id_of(mode)})
}

/// What may be typed after a slash.
pub(super) fn slash_commands() -> Value {
    let one = |name: &str, description: &str, hint: Option<&str>| match hint {
        Some(hint) => json!({"name": name, "description": description, "input": {"hint": hint}}),
        None => json!({"name": name, "description": description}),
    };
    let all: Vec<_> = commands().iter().map(|command| one(command.name, command.description, command.hint)).collect();
    json!({"sessionUpdate": "available_commands_update", "availableCommands": all})
}

/// A piece of text.
pub(super) fn chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}

/// A word beside the work: as a notice where the client takes those, else among the thoughts.
pub(super) fn note(text: &str, takes_notices: bool) -> Value {
    if takes_notices {
        json!({"sessionUpdate": "notice", "severity": "info", "title": text})
    } else {
        chunk("agent_thought_chunk", &format!("\n[{text}]\n"))
    }
}

/// The plan.
pub(super) fn plan(steps: &[Step]) -> Value {
    let entry = |step: &Step| {
        let status = match step.status {
            StepStatus::Pending => "pending",
            StepStatus::InProgress => "in_progress",
            StepStatus::Completed => "completed",
        };
        json!({"content": step.content, "priority": "medium", "status": status})
    };
    json!({"sessionUpdate": "plan", "entries": steps.iter().map(entry).collect::<Vec<_>>()})
}

/// How full the context is.
pub(super) fn filled(used: u64, of: u64) -> Value {
    json!({"sessionUpdate": "usage_update", "used": used, "size": of})
}

/// What the session is called.
pub(super) fn title(title: &str, updated: SystemTime) -> Value {
    json!({"sessionUpdate": "session_info_update", "title": title, "updatedAt": date(updated)})
}

/// A call that begins.
pub(super) fn begun(id: &str, shown: &Shown, deed: Option<&Deed>, place: &Place) -> Value {
    let mut update = json!({
        "sessionUpdate": "tool_call", "toolCallId": id, "title": shown.title, "kind": kind(shown.kind),
        "status": if deed.is_some() { "in_progress" } else { "pending" }, "rawInput": shown.input,
    });
    about(&mut update, deed, place);
    update
}

/// More is to be done for a call.
pub(super) fn goes_on(id: &str, deed: &Deed, place: &Place) -> Value {
    let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"});
    about(&mut update, Some(deed), place);
    update
}

fn about(update: &mut Value, deed: Option<&Deed>, place: &Place) {
    let whole = |path: &str| place.whole(path).unwrap_or_else(|_| Path::new(path).to_owned());
    match deed {
        Some(Deed::Read { path, line, .. }) => {
            update["locations"] = match line {
                Some(line) => json!([{"path": whole(path), "line": line}]),
                None => json!([{"path": whole(path)}]),
            };
        }
        Some(Deed::Write { path, before, after }) => {
            update["content"] = json!([diff(&whole(path), before.as_deref(), after)]);
            update["locations"] = json!([{"path": whole(path)}]);
        }
        Some(Deed::ReadWhole { path }) => update["locations"] = json!([{"path": whole(path)}]),
        Some(Deed::List { .. } | Deed::Search { .. } | Deed::Run { .. }) | None => {}
    }
}

/// A change of a file.
pub(super) fn diff(path: &Path, before: Option<&str>, after: &str) -> Value {
    json!({"type": "diff", "path": path, "oldText": before, "newText": after})
}

/// A call that runs in a terminal of the client.
pub(super) fn in_terminal(id: &str, terminal: &str) -> Value {
    json!({
        "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress",
        "content": [{"type": "terminal", "terminalId": terminal}],
    })
}

/// What a call shows already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shows {
    /// Nothing.
    #[default]
    Nothing,
    /// A change, or a terminal: the words of a good end add nothing to it.
    Enough,
}

/// A call that has ended.
pub(super) fn finished(id: &str, text: &str, failed: bool, shows: Shows) -> Value {
    let status = if failed { "failed" } else { "completed" };
    let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status});
    if failed || shows == Shows::Nothing {
        let text = shortened(text);
        update["content"] = json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    }
    update
}

/// A text within bounds, which says what was left out.
pub(super) fn shortened(text: &str) -> String {
    if text.len() <= MAX_SHOWN_BYTES {
        return text.to_owned();
    }
    let mut short = text.to_owned();
    short.truncate(text.floor_char_boundary(MAX_SHOWN_BYTES));
    format!("{short}\n[{} bytes more]", text.len() - short.len())
}

/// What sort of call it is, in ACP's words.
pub(super) fn kind(kind: ShownKind) -> &'static str {
    match kind {
        ShownKind::Read => "read",
        ShownKind::Edit => "edit",
        ShownKind::Search => "search",
        ShownKind::Execute => "execute",
        ShownKind::Other => "other",
    }
}

/// The answer to a prompt; the error is for a person.
pub(super) fn ended(end: TurnEnd, used: Used) -> Result<Value, String> {
    let reason = match end {
        TurnEnd::Done => "end_turn",
        TurnEnd::Cancelled => "cancelled",
        TurnEnd::Cut => "max_tokens",
        TurnEnd::Refused => "refusal",
        TurnEnd::Limit => "max_turn_requests",
        TurnEnd::Failed(message) => return Err(message),
    };
    let usage = json!({
        "totalTokens": used.input.saturating_add(used.output), "inputTokens": used.input, "outputTokens": used.output,
        "cachedReadTokens": used.cached, "thoughtTokens": used.thought,
    });
    Ok(json!({"stopReason": reason, "usage": usage}))
}

/// A time as ISO 8601 has it.
pub(super) fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (year, month, day) = crate::cli::print::civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_beyond_all_counting_are_as_many_as_can_be_counted() {
        let used = Used { input: u64::MAX, output: 7, ..Used::default() };
        let ended = ended(TurnEnd::Done, used).unwrap();
        assert_eq!(ended["usage"]["totalTokens"], u64::MAX);
    }
}
