//! What the file held at earlier looks: a log only grows, and a turn that ran when the host died gets its end and no more
//! words. Keeps digests, not logs.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::file::Read;
use super::{Body, Finding, Log, Record};

/// What is remembered of all logs of a file.
#[derive(Debug, Default)]
pub struct History {
    sessions: BTreeMap<u64, Past>,
}

#[derive(Debug, Default)]
struct Past {
    epoch: i64,
    tab: Option<String>,
    digests: Vec<u64>,
    /// The turn that ran when the host died.
    running: Option<u32>,
}

impl History {
    /// Holds what a host that died has left against what was there before, and remembers it.
    pub fn follow(&mut self, read: &Read) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (session, past) in &self.sessions {
            if !read.logs.contains_key(session) {
                let (session, seq) = (*session, past.digests.len() as u64);
                findings.push(Finding::Rewritten { session, seq, what: "the whole session is gone".to_owned() });
            }
        }
        for log in read.logs.values() {
            let past = self.sessions.entry(log.session).or_default();
            findings.extend(past.hold(log));
            past.remember(log);
        }
        findings
    }

    /// Which session showed a tab, even if the tab is closed since.
    #[must_use]
    pub fn session_of(&self, tab: &str) -> Option<u64> {
        self.sessions.iter().find(|(_, past)| past.tab.as_deref() == Some(tab)).map(|(session, _)| *session)
    }
}

impl Past {
    fn hold(&self, log: &Log) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut wrong = |seq: u64, what: &str| {
            findings.push(Finding::Rewritten { session: log.session, seq, what: what.to_owned() });
        };
        if !self.digests.is_empty() && log.epoch != self.epoch {
            wrong(0, "the log has another epoch");
        }
        for (seq, past) in (1..).zip(&self.digests) {
            match log.record(seq).map(digest) {
                None => return vec![Finding::Rewritten { session: log.session, seq, what: "it is gone".to_owned() }],
                Some(now) if now != *past => wrong(seq, "it has changed"),
                Some(_) => {}
            }
        }
        let Some(running) = self.running else { return findings };
        let mut rest = log.records.iter().skip(self.digests.len()).filter(|record| record.turn == running);
        for record in rest.by_ref() {
            let kind = record.body.kind();
            // Questions, calls and commands of the dead turn are settled beside its end.
            if matches!(kind, "approvalResolved" | "executionEnded" | "toolCallUpdate") {
                continue;
            }
            if !is_host_restarted(record) {
                let what = format!("event {} goes on with a turn that ran when the host died", record.seq);
                findings.push(Finding::Turn { session: log.session, turn: running, what });
            }
        }
        findings
    }

    fn remember(&mut self, log: &Log) {
        self.epoch = log.epoch;
        self.tab = log.tab.clone().or(self.tab.take());
        self.digests.extend(log.records.iter().skip(self.digests.len()).map(digest));
        self.running = None;
        for record in &log.records {
            match record.body.kind() {
                "turnStarted" => self.running = Some(record.turn),
                "turnEnded" if self.running == Some(record.turn) => self.running = None,
                _ => {}
            }
        }
    }
}

fn is_host_restarted(record: &Record) -> bool {
    match &record.body {
        Body::Json(json) => {
            json["type"] == "turnEnded" && json["outcome"] == "failed" && json["detail"]["code"] == "host_restarted"
        }
        Body::Text(_) | Body::Thought(_) => false,
    }
}

fn digest(record: &Record) -> u64 {
    let mut hasher = DefaultHasher::new();
    (record.seq, record.at, record.turn).hash(&mut hasher);
    match &record.body {
        Body::Text(text) => (1, text).hash(&mut hasher),
        Body::Thought(text) => (2, text).hash(&mut hasher),
        Body::Json(json) => (0, json.to_string()).hash(&mut hasher),
    }
    hasher.finish()
}
