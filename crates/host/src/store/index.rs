//! Where the tail's rows are and how long each log is, in memory, shared by the writer and the readers. Never does I/O; its
//! lock is held for look-ups only.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard_types::{Seq, SessionId};

/// One row of the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) id: i64,
    pub(crate) first: Seq,
    pub(crate) last: Seq,
    pub(crate) bytes: usize,
}

#[derive(Debug, Default)]
struct Log {
    head: Seq,
    tail: VecDeque<Run>,
}

/// The logs that were written to since opening, or that have rows in the tail.
#[derive(Debug, Default)]
pub(crate) struct Index {
    logs: Mutex<BTreeMap<SessionId, Log>>,
}

/// What a reader takes along before its snapshot begins.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The last durable event, if the log is known here.
    pub(crate) head: Option<Seq>,
    /// Rows of the tail from the cursor on, enough for the page.
    pub(crate) runs: Vec<Run>,
    /// The last event that the plan speaks of: the head, or the end of the last row that was taken along.
    pub(crate) horizon: Option<Seq>,
}

impl Index {
    fn logs(&self) -> MutexGuard<'_, BTreeMap<SessionId, Log>> {
        // Nothing here can panic halfway through a change.
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn head(&self, session: SessionId) -> Option<Seq> {
        self.logs().get(&session).map(|log| log.head)
    }

    pub(crate) fn heads(&self) -> HashMap<SessionId, Seq> {
        self.logs().iter().map(|(session, log)| (*session, log.head)).collect()
    }

    /// Notes how long a log is that was not known here.
    pub(crate) fn learn(&self, session: SessionId, head: Seq) {
        let mut logs = self.logs();
        let log = logs.entry(session).or_default();
        log.head = log.head.max(head);
    }

    /// Rows of the tail are durable.
    pub(crate) fn add(&self, runs: impl IntoIterator<Item = (SessionId, Run)>) {
        let mut logs = self.logs();
        for (session, run) in runs {
            let log = logs.entry(session).or_default();
            log.head = log.head.max(run.last);
            log.tail.push_back(run);
        }
    }

    /// The oldest rows of a session's tail, at most `max_bytes` of them but at least one.
    pub(crate) fn oldest(&self, session: SessionId, max_bytes: usize) -> Vec<Run> {
        let logs = self.logs();
        let Some(log) = logs.get(&session) else { return Vec::new() };
        let mut bytes = 0;
        let fits = |run: &&Run| {
            let first = bytes == 0;
            bytes += run.bytes;
            first || bytes <= max_bytes
        };
        log.tail.iter().take_while(fits).copied().collect()
    }

    /// The rows of a session's tail up to this one are elsewhere now.
    pub(crate) fn remove_through(&self, session: SessionId, id: i64) {
        let mut logs = self.logs();
        let Some(log) = logs.get_mut(&session) else { return };
        while log.tail.front().is_some_and(|run| run.id <= id) {
            log.tail.pop_front();
        }
    }

    /// A session is gone; returns the rows that it had in the tail.
    pub(crate) fn forget(&self, session: SessionId) -> Vec<Run> {
        self.logs().remove(&session).map(|log| log.tail.into()).unwrap_or_default()
    }

    /// The first row of a session's tail.
    pub(crate) fn front(&self, session: SessionId) -> Option<i64> {
        self.logs().get(&session)?.tail.front().map(|run| run.id)
    }

    /// What a reader needs to know of the tail.
    pub(crate) fn plan(&self, session: SessionId, after: Seq, max_bytes: usize) -> Plan {
        let logs = self.logs();
        let Some(log) = logs.get(&session) else { return Plan::default() };
        let from = log.tail.partition_point(|run| run.last <= after);
        let mut bytes = 0;
        let enough = |run: &&Run| {
            // The first row may begin before the cursor, so its bytes count for nothing yet.
            let more = bytes <= max_bytes;
            if run.first > after {
                bytes += run.bytes;
            }
            more
        };
        let runs: Vec<Run> = log.tail.range(from..).take_while(enough).copied().collect();
        let all = from + runs.len() == log.tail.len();
        let horizon = if all { Some(log.head) } else { runs.last().map(|run| run.last) };
        Plan { head: Some(log.head), runs, horizon }
    }
}
