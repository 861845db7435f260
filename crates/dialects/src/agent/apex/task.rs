//! A task from its prompt to its answer. Knows nothing of JSON-RPC's ids.

use std::collections::VecDeque;

use switchboard_types::{Detail, Outcome, SessionId, Text, TurnName, Word};

use super::{Noise, failed, fault};
use crate::json::{Fields, lossy, shown};
use crate::jsonrpc::{Code, Fault, codes};

/// Tasks of one process whose late words still find their turn.
const MAX_KNOWN_TASKS: usize = 1024;

/// A task that waits for its answer.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) session: SessionId,
    pub(super) name: TurnName,
    /// Whether any of the answer was streamed.
    pub(super) streamed: bool,
    /// The last error that the backend reported of it.
    pub(super) error: Option<String>,
}

impl Task {
    pub(super) fn new(session: SessionId, name: TurnName) -> Self {
        Self { session, name, streamed: false, error: None }
    }

    /// What the backend's result means, and what was wrong with it.
    pub(super) fn finished(self, result: &str) -> (Vec<Word>, Option<Noise>) {
        let (status, message, mut noise) = read_result(result);
        match status.as_deref() {
            Some("error" | "failed") => {
                let silent = || "the backend says that the task failed, but not why".to_owned();
                let message = message.or(self.error).unwrap_or_else(silent);
                return (vec![failed(self.session, self.name, "agent_error", message)], noise);
            }
            Some("completed") | None => {}
            Some(other) => {
                noise = Some(Noise::new(format!("`status` is {}; it counts as \"completed\"", shown(other))));
            }
        }
        let done = Word::turn_done(self.session, Some(self.name.clone()));
        let words = message.filter(|message| !message.is_empty()).map(|message| self.last_word(message));
        (words.into_iter().chain([done]).collect(), noise)
    }

    /// A message that comes with the end is the answer itself, unless that was streamed.
    fn last_word(&self, message: String) -> Word {
        let session = self.session;
        if self.streamed {
            return Word::Status { session, message, progress: None };
        }
        Word::Text { session, name: Some(self.name.clone()), text: Text::from_plain(&message) }
    }

    pub(super) fn failed(self, fault: &Fault<'_>) -> Vec<Word> {
        if fault.code == Code::Number(codes::REQUEST_CANCELLED) {
            let detail = Some(Detail::new("agent_error", fault::in_words(fault)));
            let (session, name) = (self.session, Some(self.name));
            return vec![Word::TurnDone { session, name, outcome: Outcome::Cancelled, detail }];
        }
        vec![failed(self.session, self.name, "agent_error", fault::in_words(fault))]
    }
}

/// The status and the message of a result, whatever it is.
fn read_result(result: &str) -> (Option<String>, Option<String>, Option<Noise>) {
    let odd = |what: &str| Some(Noise::new(format!("the result of a task must be {{status, message?}}, not {what}")));
    if let Some(message) = lossy(result) {
        return (None, Some(message), odd("a string"));
    }
    let Ok(fields) = Fields::read(result, &["status", "message"]) else {
        let noise = if result == "null" { odd("null") } else { odd("something else") };
        return (None, None, noise);
    };
    let (status, message) = (fields.optional_text("status"), fields.optional_text("message"));
    let noise = match (&status, &message) {
        (Ok(Some(_)), Ok(_)) => None,
        (Ok(None), Ok(_)) => odd("one without status"),
        (Err(error), _) | (_, Err(error)) => Some(Noise::new(error.to_string())),
    };
    (status.ok().flatten(), message.ok().flatten(), noise)
}

/// The tasks that this process was given, the oldest forgotten beyond a bound.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: VecDeque<TurnName>,
}

impl Tasks {
    pub(super) fn add(&mut self, name: TurnName) {
        if self.known.len() == MAX_KNOWN_TASKS {
            self.known.pop_back();
        }
        self.known.push_front(name);
    }

    /// The task of this name, the latest first; its words come by the thousand, so the name is shared.
    pub(super) fn named(&self, name: &str) -> Option<TurnName> {
        self.known.iter().find(|known| known.as_str() == name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_remembered_within_a_bound() {
        let mut tasks = Tasks::default();
        (0..=MAX_KNOWN_TASKS).for_each(|number| tasks.add(TurnName::from(format!("t{number}").as_str())));
        assert_eq!(tasks.known.len(), MAX_KNOWN_TASKS);
        assert!(tasks.named("t0").is_none() && tasks.named("t1").is_some());
    }
}
