//! What was run, by the traces that it left: each command at most once, none without a durable intent, and no intent without
//! somebody's yes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Body, Ends, Finding, Log};

/// Something that was to be run, as the log tells it.
#[derive(Debug, Default)]
struct Run {
    ends: Vec<String>,
}

/// Holds the traces of commands, each the name of the prompt that it was run for, against all logs.
#[must_use]
pub fn runs<'a>(logs: impl IntoIterator<Item = &'a Log>, traces: &str, ends: Ends) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut meant: BTreeMap<&str, Vec<Run>> = BTreeMap::new();
    for log in logs {
        of_log(log, ends, &mut meant, &mut findings);
    }
    let mut wrong = |name: &str, what: &str| {
        findings.push(Finding::Run { name: name.to_owned(), what: what.to_owned() });
    };
    let mut left = BTreeSet::new();
    for name in traces.lines() {
        if !left.insert(name) {
            wrong(name, "it was run twice");
        }
        if !meant.contains_key(name) {
            wrong(name, "it was run, but the file knows no such intent");
        }
    }
    for (name, runs) in &meant {
        let is_done = |run: &Run| run.ends.iter().any(|end| end == "exited 0");
        if runs.iter().any(is_done) && !left.contains(name) {
            wrong(name, "it is said to have been run, but has left no trace");
        }
        if runs.len() > 1 {
            wrong(name, &format!("it was meant to be run {} times", runs.len()));
        }
    }
    findings
}

fn of_log<'a>(log: &'a Log, ends: Ends, meant: &mut BTreeMap<&'a str, Vec<Run>>, findings: &mut Vec<Finding>) {
    let mut open: BTreeMap<&str, (u32, Run)> = BTreeMap::new();
    let mut allowed: BTreeSet<&str> = BTreeSet::new();
    let mut wrong = |name: &str, what: String| findings.push(Finding::Run { name: name.to_owned(), what });
    for record in &log.records {
        let Body::Json(json) = &record.body else { continue };
        match json["type"].as_str().unwrap_or_default() {
            "approvalResolved" if word(&json["resolution"]).starts_with("allow") => {
                allowed.insert(word(&json["approval"]));
            }
            "executionStarted" => {
                let execution = &json["execution"];
                let (id, approval) = (word(&execution["id"]), word(&execution["approval"]));
                // An answer is good for one run.
                if !allowed.remove(approval) {
                    wrong(id, format!("it is started by event {} without an answer that allows it", record.seq));
                }
                if open.insert(id, (record.turn, Run::default())).is_some() {
                    wrong(id, format!("it is started again by event {}", record.seq));
                }
            }
            "executionEnded" => match open.get_mut(word(&json["execution"])) {
                Some((_, run)) => run.ends.push(end(&json["end"])),
                None => wrong(word(&json["execution"]), format!("event {} ends what never began", record.seq)),
            },
            _ => {}
        }
    }
    for (id, (turn, run)) in open {
        if run.ends.len() > 1 {
            wrong(id, format!("it ended {} times", run.ends.len()));
        }
        if run.ends.is_empty() && ends == Ends::ExactlyOnce {
            wrong(id, "it never ended".to_owned());
        }
        if let Some(name) = log.turn_name(turn) {
            meant.entry(name).or_default().push(run);
        }
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn end(end: &Value) -> String {
    let code = end["code"].as_i64().map(|code| format!(" {code}")).unwrap_or_default();
    format!("{}{code}", word(&end["type"]))
}
