//! What a host of our own sort says beside an engine's vocabulary: our own bodies, by their own names.

use std::collections::BTreeMap;

use serde_json::Value;
use switchboard_types::{Body, OptionId, SessionId, Telling, Word};

use super::super::field::value;

/// The bodies that a word stands for, by their name without regard to how it is written.
const KINDS: [(&str, &str); 13] = [
    ("plan", "plan"),
    ("status", "status"),
    ("title", "titleChanged"),
    ("titlechanged", "titleChanged"),
    ("code", "code"),
    ("echo", "echo"),
    ("log", "log"),
    ("usage", "usage"),
    ("turnused", "turnUsed"),
    ("commandschanged", "commandsChanged"),
    ("optionschanged", "optionsChanged"),
    ("toolcall", "toolCall"),
    ("toolcallupdate", "toolCallUpdate"),
];

/// The word for such an event; none if ours has no word for it.
pub(super) fn word(
    session: SessionId,
    kind: &str,
    payload: &str,
    categories: &mut BTreeMap<OptionId, String>,
) -> Option<Word> {
    let kind: String = kind.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let (_, tag) = KINDS.into_iter().find(|(known, _)| *known == kind)?;
    let Value::Object(mut fields) = value(payload)? else { return None };
    fields.insert("type".to_owned(), Value::String(tag.to_owned()));
    match serde_json::from_value::<Body>(Value::Object(fields)).ok()? {
        Body::Plan { entries } => Some(Word::Plan { session, entries }),
        Body::Status { message, progress } => Some(Word::Status { session, message, progress }),
        Body::TitleChanged { title, .. } => Some(Word::Title { session, title }),
        Body::Code { text } => Some(Word::Code { session, name: None, text }),
        Body::Echo { text } => Some(Word::Echo { session, text }),
        Body::Log { level, message } => Some(Word::Log { session, level, message }),
        Body::Usage { used, size, cost } => Some(Word::Usage { session, used, size, cost }),
        Body::TurnUsed { tokens, cost } => Some(Word::TurnUsed { session, tokens, cost }),
        Body::CommandsChanged { commands } => Some(Word::Commands { session, commands }),
        Body::OptionsChanged { options } => {
            let about = |option: &switchboard_types::AgentOption| Some((option.id.clone(), option.category.clone()?));
            *categories = options.iter().filter_map(about).collect();
            Some(Word::Options { session, options })
        }
        Body::ToolCall { call } => Some(Word::OwnToolCall { session, call, told: Telling::First }),
        Body::ToolCallUpdate { call } => Some(Word::OwnToolCall { session, call, told: Telling::Again }),
        _ => None,
    }
}
