//! How turns go: queued, started at most once and one at a time, their words between start and end, ended once. And what
//! agents said, as far as the prompt tells what they must say.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Body, Finding, Log, Record, shape};

/// Whether turns may still be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The host died at some instant.
    AtMostOnce,
    /// Everything had its time to end.
    ExactlyOnce,
}

/// One turn as the log tells it.
#[derive(Debug, Default)]
struct Turn<'a> {
    name: &'a str,
    prompt: &'a str,
    queued: u64,
    started: bool,
    outcome: Option<&'a str>,
    text: String,
    /// Commands and edits that have not ended.
    open: i64,
}

impl Turn<'_> {
    fn is_running(&self) -> bool {
        self.started && self.outcome.is_none()
    }
}

/// Looks at all turns of a log.
#[must_use]
pub fn turns(log: &Log, ends: Ends) -> Vec<Finding> {
    let mut told = Told { turns: BTreeMap::new(), names: BTreeSet::new(), log, findings: Vec::new() };
    for record in log.records.iter().filter(|record| record.turn != 0) {
        told.take(record);
    }
    told.hold_rows();
    told.hold_ends(ends);
    told.findings
}

struct Told<'a> {
    turns: BTreeMap<u32, Turn<'a>>,
    names: BTreeSet<&'a str>,
    log: &'a Log,
    findings: Vec<Finding>,
}

impl<'a> Told<'a> {
    fn wrong(&mut self, turn: u32, what: impl Into<String>) {
        self.findings.push(Finding::Turn { session: self.log.session, turn, what: what.into() });
    }

    fn take(&mut self, record: &'a Record) {
        let (seq, turn) = (record.seq, record.turn);
        if let Body::Json(json) = &record.body
            && json["type"] == "promptQueued"
        {
            return self.queued(turn, seq, json);
        }
        if !self.turns.contains_key(&turn) {
            return self.wrong(turn, format!("event {seq} is of a turn that was never queued"));
        }
        match &record.body {
            Body::Text(escaped) => self.said(turn, seq, escaped),
            Body::Thought(_) => self.must_run(turn, seq),
            Body::Json(json) => match json["type"].as_str().unwrap_or_default() {
                "turnStarted" => self.started(turn, seq),
                "turnEnded" => self.ended(turn, seq, json),
                "plan" | "toolCall" | "approvalAsked" | "cancelAsked" => self.must_run(turn, seq),
                "executionStarted" => {
                    self.must_run(turn, seq);
                    self.runs(turn, 1);
                }
                "executionEnded" => self.runs(turn, -1),
                // What is told of a turn from outside may come at any time.
                _ => {}
            },
        }
    }

    fn runs(&mut self, turn: u32, more: i64) {
        if let Some(state) = self.turns.get_mut(&turn) {
            state.open += more;
        }
    }

    fn queued(&mut self, turn: u32, seq: u64, json: &'a Value) {
        let name = json["name"].as_str().unwrap_or_default();
        let prompt = json["prompt"]["text"].as_str().unwrap_or_default();
        if !self.names.insert(name) {
            self.wrong(turn, format!("the prompt `{name}` was queued twice"));
        }
        let fresh = Turn { name, prompt, queued: seq, ..Turn::default() };
        if self.turns.insert(turn, fresh).is_some() {
            self.wrong(turn, format!("event {seq} queues it again"));
        }
    }

    fn started(&mut self, turn: u32, seq: u64) {
        let others: Vec<u32> =
            self.turns.iter().filter(|(_, other)| other.is_running()).map(|(number, _)| *number).collect();
        let ahead = self.turns.range(..turn).any(|(_, earlier)| !earlier.started && earlier.outcome.is_none());
        let Some(state) = self.turns.get_mut(&turn) else { return };
        let again = std::mem::replace(&mut state.started, true) || state.outcome.is_some();
        if again {
            self.wrong(turn, format!("event {seq} starts it again"));
        } else if !others.is_empty() {
            self.wrong(turn, format!("event {seq} starts it while {others:?} ran"));
        } else if ahead {
            self.wrong(turn, format!("event {seq} starts it before one that was queued earlier"));
        }
    }

    fn ended(&mut self, turn: u32, seq: u64, json: &'a Value) {
        let Some(state) = self.turns.get_mut(&turn) else { return };
        let outcome = json["outcome"].as_str().unwrap_or_default();
        let before = state.outcome.replace(outcome);
        if outcome == "completed" && !state.started {
            self.wrong(turn, format!("event {seq} completes it before it was started"));
        }
        if before.is_some() {
            self.wrong(turn, format!("event {seq} ends it again"));
        }
    }

    fn must_run(&mut self, turn: u32, seq: u64) {
        if !self.turns.get(&turn).is_some_and(Turn::is_running) {
            self.wrong(turn, format!("event {seq} is of a turn that does not run"));
        }
    }

    fn said(&mut self, turn: u32, seq: u64, escaped: &str) {
        self.must_run(turn, seq);
        let plain = shape::unescape(escaped);
        match (plain.as_str(), self.turns.get_mut(&turn)) {
            (Some(plain), Some(state)) => state.text += plain,
            (None, _) => self.wrong(turn, format!("event {seq} holds no text")),
            (_, None) => {}
        }
    }

    /// The rows beside the log say the same as the log.
    fn hold_rows(&mut self) {
        // A turn is over for the rows when all that it started is, so that the next start looks for it.
        let phase = |turn: &Turn<'_>| match (turn.outcome, turn.started) {
            (Some(_), _) if turn.open > 0 => 1,
            (Some(_), _) => 2,
            (None, true) => 1,
            (None, false) => 0,
        };
        let logged: BTreeMap<u32, (String, u64, i64)> = self
            .turns
            .iter()
            .map(|(number, turn)| (*number, (turn.name.to_owned(), turn.queued, phase(turn))))
            .collect();
        let rows: BTreeMap<u32, (String, u64, i64)> =
            self.log.turns.iter().map(|row| (row.turn, (row.name.clone(), row.queued, row.phase))).collect();
        let numbers: BTreeSet<u32> = logged.keys().chain(rows.keys()).copied().collect();
        for turn in numbers {
            let (row, log) = (rows.get(&turn), logged.get(&turn));
            if row != log {
                self.wrong(turn, format!("its row says {row:?}, the log says {log:?}"));
            }
        }
    }

    fn hold_ends(&mut self, ends: Ends) {
        let mut wrong = Vec::new();
        for (number, turn) in &self.turns {
            if turn.outcome.is_none() && ends == Ends::ExactlyOnce {
                wrong.push((*number, format!("`{}` never ended", turn.name)));
            }
            wrong.extend(misspoken(turn).map(|what| (*number, what)));
        }
        for (turn, what) in wrong {
            self.wrong(turn, what);
        }
    }
}

/// What is wrong with an answer of which the prompt tells every word.
fn misspoken(turn: &Turn<'_>) -> Option<String> {
    let (counted, prefix) = match turn.prompt.split_once(' ')? {
        ("demo:", rest) => (rest.strip_prefix("fast ")?, String::new()),
        ("tell", rest) => (rest, format!("{}/", turn.name)),
        _ => return None,
    };
    let count: u64 = counted.parse().ok()?;
    let mut words = turn.text.split_inclusive(' ');
    for number in 1..=count {
        match words.next() {
            Some(word) if word.strip_prefix(&prefix) == Some(&format!("{number} ")) => {}
            Some(word) => return Some(format!("its answer has {word:?} where word {number} should be")),
            None if turn.outcome == Some("completed") => {
                return Some(format!("it is completed, but its answer ends before word {number} of {count}"));
            }
            None => return None,
        }
    }
    words.next().map(|word| format!("its answer goes on with {word:?} after its last word"))
}
