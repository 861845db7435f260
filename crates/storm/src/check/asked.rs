//! What agents were asked, by their own account: each prompt once, and none that the log does not know as started.

use std::collections::{BTreeMap, BTreeSet};

use super::{Body, Finding, Log};

/// How prompts for an agent that keeps accounts begin.
const TELLER: [&str; 2] = ["tell ", "order "];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    started: bool,
    completed: bool,
}

/// Holds an agent's own list of prompts, in the order in which it got them, against all logs.
#[must_use]
pub fn asked<'a>(logs: impl IntoIterator<Item = &'a Log>, list: &str) -> Vec<Finding> {
    let mut known: BTreeMap<&str, Known> = BTreeMap::new();
    for log in logs {
        let mut names: BTreeMap<u32, &str> = BTreeMap::new();
        for record in &log.records {
            let Body::Json(json) = &record.body else { continue };
            let kind = json["type"].as_str().unwrap_or_default();
            let is_told =
                json["prompt"]["text"].as_str().is_some_and(|text| TELLER.iter().any(|word| text.starts_with(word)));
            if let ("promptQueued", true, Some(name)) = (kind, is_told, json["name"].as_str()) {
                names.insert(record.turn, name);
                known.insert(name, Known::default());
            }
            let Some(state) = names.get(&record.turn).and_then(|name| known.get_mut(name)) else { continue };
            state.started |= kind == "turnStarted";
            state.completed |= kind == "turnEnded" && json["outcome"] == "completed";
        }
    }
    let mut findings = Vec::new();
    let mut wrong = |name: &str, what: &str| {
        findings.push(Finding::Asked { name: name.to_owned(), what: what.to_owned() });
    };
    let mut heard = BTreeSet::new();
    for name in list.lines() {
        if !heard.insert(name) {
            wrong(name, "it was asked twice");
        }
        match known.get(name) {
            None => wrong(name, "it was asked, but the file knows no such prompt"),
            Some(state) if !state.started => wrong(name, "it was asked before its start was durable"),
            Some(_) => {}
        }
    }
    for (name, state) in known {
        if state.completed && !heard.contains(name) {
            wrong(name, "it is completed, but the agent was never asked");
        }
    }
    findings
}
