//! What was said in a session, in short, for an agent that has lost it. Reads the log and nothing else.

use std::collections::BTreeMap;

use switchboard_types::limits::{MAX_RECAP_BYTES, READ_PAGE_BYTES};
use switchboard_types::record::Peek;
use switchboard_types::{Body, EventRef, Outcome, Seq, SessionId, Text, TurnId};

use crate::store::{Store, StoreError};

/// Bytes of one prompt that are told again.
const MAX_PROMPT_BYTES: usize = 4 * 1024;
/// Bytes of one answer that are told again: its end says more than its beginning.
const MAX_ANSWER_BYTES: usize = 6 * 1024;
/// Calls of one turn that are named.
const MAX_CALLS: usize = 20;

/// One turn, as far as it is told again.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    prompt: String,
    answer: String,
    calls: Vec<String>,
    more_calls: usize,
    outcome: Option<Outcome>,
}

/// Sums up a session.
pub(super) fn of(store: &dyn Store, session: SessionId) -> Result<String, StoreError> {
    let mut turns = BTreeMap::new();
    let mut after = Seq::START;
    loop {
        let slice = store.read_after(session, after, READ_PAGE_BYTES)?;
        let Some(page) = slice.page else { return Ok(compose(&turns)) };
        page.events().for_each(|event| note(&mut turns, &event));
        after = page.last();
    }
}

fn note(turns: &mut BTreeMap<TurnId, Told>, event: &EventRef<'_>) {
    let Some(turn) = event.turn else { return };
    let told = turns.entry(turn).or_default();
    if let Peek::Thought(_) = event.peek() {
        return;
    }
    match event.body() {
        Ok(Body::Text { text } | Body::Code { text }) => told.hear(&text),
        Ok(Body::PromptQueued { prompt, .. }) => told.prompt = head(&prompt.text, MAX_PROMPT_BYTES),
        Ok(Body::ToolCall { call }) => told.call(call.title),
        Ok(Body::ExecutionStarted { execution }) => told.call(execution.title),
        Ok(Body::TurnEnded { outcome, .. }) => told.outcome = Some(outcome),
        Ok(_) | Err(_) => {}
    }
}

impl Told {
    fn hear(&mut self, text: &Text) {
        self.answer.push_str(&text.to_plain());
        if self.answer.len() > 4 * MAX_ANSWER_BYTES {
            self.answer = tail(&self.answer, MAX_ANSWER_BYTES);
        }
    }

    fn call(&mut self, title: String) {
        if self.calls.len() < MAX_CALLS {
            self.calls.push(head(&title, 200));
        } else {
            self.more_calls += 1;
        }
    }

    fn write(&self) -> String {
        let mut lines = vec![format!("Person: {}", self.prompt)];
        if !self.calls.is_empty() {
            let more = if self.more_calls > 0 { format!(" and {} more", self.more_calls) } else { String::new() };
            lines.push(format!("You used tools: {}{more}", self.calls.join("; ")));
        }
        if !self.answer.is_empty() {
            lines.push(format!("You: {}", tail(&self.answer, MAX_ANSWER_BYTES)));
        }
        match self.outcome {
            Some(Outcome::Cancelled) => lines.push("(The person stopped this.)".to_owned()),
            Some(Outcome::Failed) => lines.push("(This failed.)".to_owned()),
            Some(Outcome::Completed) | None => {}
        }
        lines.join("\n")
    }
}

/// The newest turns as far as they fit, in order; the one that waits for the agent is not among them.
fn compose(turns: &BTreeMap<TurnId, Told>) -> String {
    let (mut kept, mut room) = (Vec::new(), MAX_RECAP_BYTES);
    let over = turns.values().filter(|told| told.outcome.is_some());
    let all = over.clone().count();
    for told in over.rev() {
        let text = told.write();
        let Some(left) = room.checked_sub(text.len() + 2) else { break };
        room = left;
        kept.push(text);
    }
    kept.reverse();
    let left_out = all - kept.len();
    let head = if left_out > 0 { format!("({left_out} earlier turns are left out.)\n\n") } else { String::new() };
    format!("{head}{}", kept.join("\n\n"))
}

fn head(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes);
    format!("{} …", text.get(..end).unwrap_or_default())
}

fn tail(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let from = text.ceil_char_boundary(text.len() - bytes);
    format!("… {}", text.get(from..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(prompt: &str, answer: &str, outcome: Option<Outcome>) -> Told {
        Told { prompt: prompt.to_owned(), answer: answer.to_owned(), outcome, ..Told::default() }
    }

    #[test]
    fn turns_that_are_over_are_told_in_order() {
        let mut turns = BTreeMap::new();
        turns.insert(TurnId(1), told("hello", "hi", Some(Outcome::Completed)));
        turns.insert(TurnId(2), told("more", "", Some(Outcome::Cancelled)));
        turns.insert(TurnId(3), told("waits", "", None));
        assert_eq!(compose(&turns), "Person: hello\nYou: hi\n\nPerson: more\n(The person stopped this.)");
    }

    #[test]
    fn what_does_not_fit_is_left_out_from_the_start_and_said() {
        let turns: BTreeMap<_, _> = (1..=100)
            .map(|n| (TurnId(n), told(&format!("turn {n}"), &"é".repeat(5000), Some(Outcome::Completed))))
            .collect();
        let recap = compose(&turns);
        assert!(recap.len() < MAX_RECAP_BYTES + 100, "{}", recap.len());
        assert!(recap.starts_with('(') && recap.contains("earlier turns are left out"), "{}", head(&recap, 80));
        assert!(recap.contains("Person: turn 100") && !recap.contains("turn 1\n"));
    }
}
