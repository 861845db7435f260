//! The pieces of a conversation: how much they weigh, how they are sent, how a torn conversation is made whole. Changes no meaning.

use crate::talk::{Arguments, Calling, Message, Part, ToolCall};

/// What stands for a picture that the model cannot see.
const UNSEEN: &str = "[a picture, which this model cannot see]";

/// What the model is taken to have said where a turn ended after a result, and the person spoke next. Many templates want the roles in
/// turns, and refuse all that follows otherwise.
const STOPPED: &str = "[The turn was stopped here.]";

/// The result of a call of which nobody knows how it ended.
const UNKNOWN: &str = "unknown: the agent was stopped before this call ended; look before you do it again";

/// How many bytes a message has.
pub(crate) fn weight(message: &Message) -> usize {
    match message {
        Message::System { text } => text.len(),
        Message::User { parts } => parts
            .iter()
            .map(|part| match part {
                Part::Text { text } => text.len(),
                Part::Image { mime, data } => mime.len() + data.len(),
            })
            .sum(),
        Message::Assistant { text, thought, calls } => {
            text.len() + thought.len() + calls.iter().map(call_weight).sum::<usize>()
        }
        Message::Tool { call, name, text, .. } => call.len() + name.len() + text.len(),
    }
}

/// How many bytes a call has, as it is sent.
pub(crate) fn call_weight(call: &ToolCall) -> usize {
    let arguments = match &call.arguments {
        Arguments::Object(object) => serde_json::to_string(object).map_or(0, |text| text.len()),
        Arguments::Broken(text) => text.len(),
    };
    call.id.len() + call.name.len() + arguments
}

/// From which message on thoughts are sent: those of the turn that is going on.
pub(crate) fn thoughts_from(messages: &[Message]) -> usize {
    super::cut::last_prompt(messages).unwrap_or(0)
}

/// The messages as they are sent: a person's words that follow each other are one message and never follow a result (many models know
/// no other order), old thoughts stay here, and pictures only go to who can see them.
pub(crate) fn as_sent(messages: &[Message], pictures: bool) -> Vec<Message> {
    let thoughts = thoughts_from(messages);
    let mut sent: Vec<Message> = Vec::with_capacity(messages.len() + 3);
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::User { parts } => {
                let parts = parts.iter().map(|part| match part {
                    Part::Image { .. } if !pictures => Part::Text { text: UNSEEN.to_owned() },
                    Part::Image { .. } | Part::Text { .. } => part.clone(),
                });
                if matches!(sent.last(), Some(Message::Tool { .. })) {
                    sent.push(stopped());
                }
                add_user(&mut sent, parts);
            }
            Message::Assistant { text, calls, .. } if at < thoughts => {
                sent.push(Message::Assistant { text: text.clone(), thought: String::new(), calls: calls.clone() });
            }
            Message::Assistant { .. } | Message::Tool { .. } => sent.push(message.clone()),
            Message::System { .. } => {}
        }
    }
    sent
}

/// What stands between a result and a person's words.
pub(super) fn stopped() -> Message {
    Message::Assistant { text: STOPPED.to_owned(), thought: String::new(), calls: Vec::new() }
}

/// Adds a hint to what is sent: to the result that is the last word if there is one, else as a person's words.
pub(crate) fn add_hint(sent: &mut Vec<Message>, hint: &str, calling: Calling) {
    match (sent.last_mut(), calling) {
        (Some(Message::Tool { text, .. }), Calling::Native) => text.push_str(&format!("\n\n{hint}")),
        // In text a result is a person's message, and the hint becomes a part of it.
        (_, Calling::Native | Calling::Text) => {
            add_user(sent, std::iter::once(Part::Text { text: hint.to_owned() }));
        }
    }
}

/// Adds a person's words to the last message if it is theirs too.
fn add_user(sent: &mut Vec<Message>, parts: impl Iterator<Item = Part>) {
    if let Some(Message::User { parts: last }) = sent.last_mut() {
        last.extend(parts);
    } else {
        sent.push(Message::User { parts: parts.collect() });
    }
}

/// A conversation in which each call has exactly one result right after it. What is missing is said to be unknown; results of no call and
/// messages of the system are left out.
pub(crate) fn repaired(messages: Vec<Message>) -> Vec<Message> {
    let mut whole = Vec::with_capacity(messages.len());
    let mut messages = messages.into_iter().peekable();
    while let Some(message) = messages.next() {
        match message {
            Message::System { .. } | Message::Tool { .. } => {}
            Message::User { .. } => whole.push(message),
            Message::Assistant { ref calls, .. } => {
                let calls = calls.clone();
                whole.push(message);
                let mut results = Vec::new();
                while let Some(result) = messages.next_if(|next| matches!(next, Message::Tool { .. })) {
                    results.push(result);
                }
                for ToolCall { id, name, .. } in calls {
                    let of_this = |result: &Message| matches!(result, Message::Tool { call, .. } if *call == id);
                    whole.push(match results.iter().position(of_this) {
                        Some(at) => results.swap_remove(at),
                        None => Message::Tool { call: id, name, text: UNKNOWN.to_owned(), failed: true },
                    });
                }
            }
        }
    }
    whole
}
