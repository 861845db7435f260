//! Where a conversation is cut when its oldest part is replaced by a summary, and what stands there then. The last prompt and the newest
//! rounds stay as they are.

use super::{Budget, SUMMARY_MARK, size, tokens, weight};
use crate::talk::{Arguments, Message, Part};
use crate::tools::bounded;

/// How much of the window the newest rounds may keep, in hundredths.
const KEPT_ROUNDS: u64 = 25;

/// Where the conversation is cut: all before `tail` is replaced, but for the last prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    tail: usize,
    prompt: Option<usize>,
}

/// The last words of the person.
pub(crate) fn last_prompt(messages: &[Message]) -> Option<usize> {
    messages.iter().rposition(|message| matches!(message, Message::User { .. }))
}

/// Where the newest round begins: the last answer with its results. What is before it may be folded.
pub(crate) fn newest_round(messages: &[Message]) -> usize {
    messages.iter().rposition(|message| !matches!(message, Message::Tool { .. })).unwrap_or(messages.len())
}

/// Where to cut, if more than `least` tokens are before the last prompt and the newest rounds.
pub(crate) fn cut(messages: &[Message], budget: &Budget, least: u64) -> Option<Cut> {
    let prompt = last_prompt(messages);
    let first = prompt.map_or(0, |prompt| prompt + 1);
    let mut tail = newest_round(messages).max(first);
    let mut kept: u64 = messages.iter().skip(tail).map(tokens).sum();
    let room = budget.window() * KEPT_ROUNDS / 100;
    while tail > first {
        // The round before: back over its results to its answer.
        let Some(start) = messages.iter().take(tail).rposition(|message| matches!(message, Message::Assistant { .. }))
        else {
            break;
        };
        let more: u64 = messages.iter().take(tail).skip(start).map(tokens).sum();
        if start < first || budget.corrected(kept + more) > room {
            break;
        }
        tail = start;
        kept += more;
    }
    let replaced = messages.iter().enumerate().take(tail).filter(|(at, _)| Some(*at) != prompt);
    let replaced: u64 = replaced.map(|(_, message)| tokens(message)).sum();
    (budget.corrected(replaced) > least).then_some(Cut { tail, prompt })
}

/// What is to be replaced, as one text for whoever makes the summary, within a limit: the oldest words and the newest ones stay.
pub(crate) fn transcript(messages: &[Message], cut: Cut, limit: usize) -> String {
    let piece = (limit / 8).clamp(400, 4_000);
    let mut text = String::new();
    for message in messages.iter().take(cut.tail) {
        match message {
            Message::System { .. } => {}
            Message::User { parts } => {
                for part in parts {
                    match part {
                        Part::Text { text: said } => text.push_str(&format!("PERSON: {}\n", bounded(said, piece))),
                        Part::Image { .. } => text.push_str("PERSON: [a picture]\n"),
                    }
                }
            }
            Message::Assistant { text: said, calls, .. } => {
                if !said.trim().is_empty() {
                    text.push_str(&format!("AGENT: {}\n", bounded(said, piece)));
                }
                for call in calls {
                    let with = match &call.arguments {
                        Arguments::Object(object) => serde_json::to_string(object).unwrap_or_default(),
                        Arguments::Broken(text) => text.clone(),
                    };
                    text.push_str(&format!("AGENT calls {} {}\n", call.name, bounded(&with, piece / 4)));
                }
            }
            Message::Tool { name, text: gave, .. } => {
                text.push_str(&format!("RESULT of {name}: {}\n", bounded(gave, piece / 4)));
            }
        }
    }
    bounded(&text, limit)
}

/// Puts a summary in the place of what is before the cut.
pub(crate) fn put_summary(messages: &mut Vec<Message>, cut: Cut, summary: &str) {
    put(messages, cut, format!("{SUMMARY_MARK}\n{summary}"));
}

/// How many bytes a summary may have so that it can be sent with all that stays.
pub(crate) fn summary_room(messages: &[Message], cut: Cut, beside: u64, budget: &Budget) -> usize {
    let mut stays = messages.to_vec();
    put_summary(&mut stays, cut, "");
    // Room for the words that say what was left out.
    budget.free_bytes(size(&stays, beside).tokens).saturating_sub(200)
}

/// Leaves out what is before the cut, and says so.
pub(crate) fn drop_prefix(messages: &mut Vec<Message>, cut: Cut) {
    let left: usize = messages.iter().take(cut.tail).map(weight).sum();
    let asked: Vec<String> = messages
        .iter()
        .enumerate()
        .take(cut.tail)
        .filter(|(at, _)| Some(*at) != cut.prompt)
        .filter_map(|(_, message)| match message {
            Message::User { parts } => parts.iter().find_map(|part| match part {
                Part::Text { text } => Some(format!("- {}", crate::tools::one_line(text))),
                Part::Image { .. } => None,
            }),
            Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
        })
        .collect();
    let skip = asked.len().saturating_sub(5);
    let asked: Vec<String> = asked.into_iter().skip(skip).collect();
    let text =
        format!("{SUMMARY_MARK}\n{left} bytes were left out to save room. The person had said:\n{}", asked.join("\n"));
    put(messages, cut, text);
}

fn put(messages: &mut Vec<Message>, cut: Cut, text: String) {
    let tail = messages.split_off(cut.tail.min(messages.len()));
    let prompt = cut.prompt.filter(|at| *at < messages.len()).map(|at| messages.swap_remove(at));
    messages.clear();
    messages.push(Message::User { parts: vec![Part::Text { text }] });
    messages.extend(prompt);
    messages.extend(tail);
}

/// The least that is left of a result that is made smaller.
const LEAST_RESULT: usize = 400;

/// Makes the newest results smaller, each to its share of what is free. Says whether that changed anything.
pub(crate) fn squeeze(messages: &mut [Message], beside: u64, budget: &Budget) -> bool {
    let newest = newest_round(messages);
    let results: Vec<usize> =
        messages.iter().skip(newest).filter(|m| matches!(m, Message::Tool { .. })).map(weight).collect();
    let used = size(messages, beside).tokens.saturating_sub(results.iter().map(|bytes| *bytes as u64 / 4).sum());
    let share = budget.free_bytes(used) / results.len().max(1);
    // Room for the words that say what was left out.
    let share = share.saturating_sub(200).max(LEAST_RESULT);
    let mut changed = false;
    for message in messages.iter_mut().skip(newest) {
        if let Message::Tool { text, .. } = message
            && text.len() > share + 100
        {
            *text = bounded(text, share);
            changed = true;
        }
    }
    changed
}
