//! What always holds, checked over everything that a worker does: one question at a time, each call begun and ended once, a
//! conversation that a server understands, within the window, and kept so that it can be taken up again.

use std::collections::{BTreeMap, BTreeSet};

use switchboard_agent::context::estimate;
use switchboard_agent::deed::Deed;
use switchboard_agent::talk::{Ask, Calling, Message};
use switchboard_agent::worker::{Do, Kept, Setup, Worker};

#[derive(Default)]
pub(crate) struct Watch {
    /// Whether a question is open.
    pub(crate) asking: bool,
    /// The calls that are open, and whether a deed of theirs is.
    pub(crate) open: BTreeMap<String, bool>,
    pub(crate) ended: BTreeSet<String>,
    pub(crate) kept: Vec<Kept>,
    pub(crate) ends: usize,
}

impl Watch {
    pub(crate) fn see(&mut self, done: &Do) {
        match done {
            Do::AskModel(ask) => {
                assert!(!self.asking, "a second question while one is open");
                assert!(self.open.is_empty(), "a question while calls are open");
                self.asking = true;
                assert_well_formed(ask);
                if let Some(window) = ask.context {
                    assert!(estimate(ask) <= u64::from(window), "{} tokens for a window of {window}", estimate(ask));
                }
            }
            Do::HangUp => assert!(std::mem::take(&mut self.asking), "hung up without a question"),
            Do::Begin { call, deed, .. } => {
                assert!(!self.ended.contains(call), "{call} was there before");
                assert!(self.open.insert(call.clone(), deed.is_some()).is_none(), "{call} begins twice");
            }
            Do::Then { call, deed } => {
                assert_eq!(self.open.insert(call.clone(), true), Some(false), "{call} goes on before it may");
                assert!(matches!(deed, Deed::Write { .. }));
            }
            Do::Finish { call, .. } => {
                assert_eq!(self.open.remove(call), Some(false), "{call} ends before its deed, or twice");
                self.ended.insert(call.clone());
            }
            Do::Abandon { call } => {
                assert_eq!(self.open.remove(call), Some(true), "{call} is abandoned without a deed");
                self.ended.insert(call.clone());
            }
            Do::Keep(kept) => self.kept.push(kept.clone()),
            Do::EndTurn { .. } => {
                assert!(!self.asking && self.open.is_empty(), "the turn ends with something open");
                self.ends += 1;
            }
            Do::Say(_) | Do::Think(_) | Do::Plan(_) | Do::Note(_) | Do::Filled { .. } => {}
        }
    }

    /// An outcome is about to be told.
    pub(crate) fn outcome(&mut self, call: &str) {
        if let Some(open) = self.open.get_mut(call) {
            *open = false;
        }
    }

    /// What was kept is what there is.
    pub(crate) fn assert_kept(&self, worker: &Worker) {
        let again = Worker::new(Setup { kept: self.kept.clone(), ..Setup::default() });
        assert_eq!(again.messages(), worker.messages());
        assert_eq!(again.plan(), worker.plan());
    }
}

/// The system's message first and only there, no two of a person in a row, each call answered once and at once, and something to answer.
fn assert_well_formed(ask: &Ask) {
    let mut messages = ask.messages.iter().peekable();
    assert!(matches!(messages.next(), Some(Message::System { .. })), "no system's message");
    let mut person = false;
    let mut last_is_answer = true;
    while let Some(message) = messages.next() {
        last_is_answer = matches!(message, Message::Assistant { .. });
        match message {
            Message::System { .. } => panic!("a second system's message"),
            Message::User { parts } => {
                assert!(!person, "two messages of a person in a row");
                assert!(!parts.is_empty());
            }
            Message::Assistant { calls, .. } => {
                for call in calls {
                    let result = messages.next();
                    let of_it = matches!(result, Some(Message::Tool { call: of, name, .. }) if *of == call.id && *name == call.name);
                    assert!(of_it, "{call:?} is followed by {result:?}");
                    last_is_answer = false;
                }
            }
            Message::Tool { .. } => panic!("a result without a call: {message:?}"),
        }
        person = matches!(message, Message::User { .. });
    }
    assert!(!last_is_answer, "there is nothing to answer");
    assert_in_turns(ask);
}

/// As the strictest templates want it: the person and the model in turns, where calls and their results do not count, or, for a model
/// that calls in text, where results are the person's and those in a row are one.
fn assert_in_turns(ask: &Ask) {
    let mut persons: Vec<bool> = Vec::new();
    for message in &ask.messages {
        match (message, ask.calling) {
            (Message::System { .. }, _) | (Message::Tool { .. }, Calling::Native) => {}
            (Message::Assistant { calls, .. }, Calling::Native) if !calls.is_empty() => {}
            (Message::User { .. } | Message::Tool { .. }, Calling::Text) if persons.last() == Some(&true) => {}
            (Message::User { .. } | Message::Tool { .. }, _) => persons.push(true),
            (Message::Assistant { .. }, _) => persons.push(false),
        }
    }
    let in_turns = persons.iter().enumerate().all(|(at, person)| *person == at.is_multiple_of(2));
    assert!(in_turns, "not in turns: {:?}", ask.messages);
}
