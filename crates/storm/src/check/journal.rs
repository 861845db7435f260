//! Holds what one link was shown of one tab against the log. Decides nothing about turns.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::shape::{self, Shape};
use super::{Body, Finding, Log};

/// An indexed message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its number.
    pub index: u64,
    /// The whole text.
    pub raw: String,
}

/// How far a journal must reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Anywhere: the link may have ended at any instant.
    Anywhere,
    /// To the last event that a view is shown.
    End,
}

/// Holds journals of one tab against its log. What was found right is remembered by its text, since most messages are shown
/// on several links.
#[derive(Debug)]
pub struct Judge<'a> {
    tab: &'a str,
    log: &'a Log,
    names: BTreeMap<u32, &'a str>,
    right: HashMap<u64, String>,
}

impl<'a> Judge<'a> {
    /// A judge of all that was shown of a tab.
    #[must_use]
    pub fn new(tab: &'a str, log: &'a Log) -> Self {
        let queued = log.records.iter().filter_map(|record| match &record.body {
            Body::Json(json) if json["type"] == "promptQueued" => Some((record.turn, json["name"].as_str()?)),
            Body::Json(_) | Body::Text(_) | Body::Thought(_) => None,
        });
        Self { tab, log, names: queued.collect(), right: HashMap::new() }
    }

    /// What one link was shown after it had said that it has everything to `after`: each message is the event of its index,
    /// in order, once, and nothing between is left out that a view must see.
    pub fn hold(&mut self, after: u64, shown: &[Shown], reach: Reach) -> Vec<Finding> {
        let tab = || self.tab.to_owned();
        let (mut findings, mut last) = (Vec::new(), after);
        let all: HashSet<u64> = shown.iter().map(|message| message.index).collect();
        let mut seen = HashSet::new();
        for message in shown {
            let index = message.index;
            if index > self.log.head() {
                findings.push(Finding::NotDurable { tab: tab(), index, head: self.log.head() });
                continue;
            }
            if !seen.insert(index) || index <= after {
                findings.push(Finding::Doubled { tab: tab(), index });
                continue;
            }
            if index < last {
                findings.push(Finding::Reordered { tab: tab(), index, after: last });
            } else {
                findings.extend(self.left_out(last + 1, index, &all));
                last = index;
            }
            findings.extend(self.content(message));
        }
        if reach == Reach::End {
            findings.extend(self.left_out(last + 1, self.log.head() + 1, &all));
        }
        findings
    }

    /// Events from `from` up to `to` that a view must see and this one was never shown, those that follow each other as one.
    fn left_out(&self, from: u64, to: u64, all: &HashSet<u64>) -> Vec<Finding> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for seq in (from..to).filter(|seq| !all.contains(seq) && self.expected(*seq) != Some(Shape::None)) {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == seq => *last = seq,
                _ => runs.push((seq, seq)),
            }
        }
        runs.into_iter().map(|(from, to)| Finding::Lost { tab: self.tab.to_owned(), from, to }).collect()
    }

    fn expected(&self, seq: u64) -> Option<Shape> {
        let record = self.log.record(seq)?;
        Some(shape::of(self.tab, record, self.names.get(&record.turn).copied()))
    }

    fn content(&mut self, message: &Shown) -> Option<Finding> {
        if self.right.get(&message.index) == Some(&message.raw) {
            return None;
        }
        let shown: Option<Value> = serde_json::from_str(&message.raw).ok();
        let logged = match self.expected(message.index)? {
            Shape::Message(expected) if shown.as_ref() == Some(&expected) => {
                self.right.insert(message.index, message.raw.clone());
                return None;
            }
            Shape::Message(expected) => expected.to_string(),
            Shape::None => "nothing that a view is shown".to_owned(),
            Shape::Unheard => "an event that the checker does not know; teach it".to_owned(),
        };
        let (tab, index, shown) = (self.tab.to_owned(), message.index, message.raw.clone());
        Some(Finding::Changed { tab, index, shown, logged })
    }
}
