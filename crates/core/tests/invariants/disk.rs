//! A disk in memory: what was committed survives, can be lost from the front, and is read back as the edges do.

use std::collections::{BTreeMap, BTreeSet};

use switchboard_core::{Recovered, Slice, State, Whose};
use switchboard_types::{
    AgentName, AgentSessionInfo, ApprovalKind, Body, CallId, CallPlace, CallRow, Change, Commit, CommitDone, Event,
    History, HistoryPlace, PageBuilder, Rule, Seq, SessionId, SessionRow, SourceId, TabId, ToolName, ToolStatus,
    TurnName, TurnRow, WorkspaceRoot, WorkspaceRow,
};

use super::view::last;

/// What survives.
#[derive(Default)]
pub(crate) struct Disk {
    pub(crate) sessions: BTreeMap<SessionId, Stored>,
    pub(crate) workspaces: BTreeMap<WorkspaceRoot, WorkspaceRow>,
    /// The oldest first.
    pub(crate) rules: Vec<Rule>,
    /// Calls of lent tools that were ever recorded.
    pub(crate) lent: usize,
    /// Calls whose end was ever recorded.
    pub(crate) ended_calls: BTreeSet<CallId>,
}

#[derive(Default)]
pub(crate) struct Stored {
    pub(crate) row: Option<SessionRow>,
    pub(crate) turns: BTreeMap<u32, TurnRow>,
    /// Calls of tools, by the event that tells them.
    pub(crate) calls: BTreeMap<Seq, CallRow>,
    pub(crate) log: Vec<Event>,
    /// The first events are gone up to here.
    pub(crate) lost_to: Seq,
}

impl Disk {
    pub(crate) fn write(&mut self, commit: &Commit) -> CommitDone {
        let mut failed = Vec::new();
        for entry in &commit.entries {
            let stored = self.sessions.entry(entry.session).or_default();
            if entry.page.first() != last(&stored.log).next() {
                failed.push((entry.session, "there would be a hole".to_owned()));
                if stored.log.is_empty() {
                    self.sessions.remove(&entry.session);
                }
                continue;
            }
            let events: Vec<Event> = entry.page.events().map(|event| event.to_event().expect("readable")).collect();
            let lent = |event: &&Event| match &event.body {
                Body::ExecutionStarted { execution } => execution.kind == ApprovalKind::Tool,
                _ => false,
            };
            self.ended_calls.extend(events.iter().filter_map(|event| match &event.body {
                Body::ToolCallUpdate { call } => {
                    matches!(call.status, ToolStatus::Completed | ToolStatus::Failed).then(|| call.id.clone())
                }
                _ => None,
            }));
            self.lent += events.iter().filter(lent).count();
            stored.log.extend(events);
            for change in &entry.changes {
                match change {
                    Change::Session(row) => stored.row = Some(row.clone()),
                    Change::Turn(row) => drop(stored.turns.insert(row.turn.0, row.clone())),
                    Change::Call(row) => {
                        assert_eq!(row.session, entry.session, "a call is its own session's");
                        stored.calls.insert(row.asked_at, row.clone());
                    }
                    Change::Rule(rule) => self.rules.push(rule.clone()),
                    Change::Workspace(_) | Change::DeleteSession(_) | Change::DropRule(_) => {
                        unreachable!("not a session's")
                    }
                }
            }
        }
        for change in &commit.changes {
            match change {
                Change::Workspace(row) => drop(self.workspaces.insert(row.root.clone(), row.clone())),
                Change::DeleteSession(session) => drop(self.sessions.remove(session)),
                Change::DropRule(rule) => self.rules.retain(|stored| stored.id != *rule),
                Change::Session(_) | Change::Turn(_) | Change::Call(_) | Change::Rule(_) => {
                    unreachable!("not the host's")
                }
            }
        }
        CommitDone { ticket: commit.ticket, failed, changes_failed: None }
    }

    pub(crate) fn read_after(&self, session: SessionId, after: Seq, max_bytes: usize) -> Slice {
        let stored = &self.sessions[&session];
        let gap = (after < stored.lost_to).then(|| (after.next(), stored.lost_to));
        let from = after.max(stored.lost_to);
        let mut page = PageBuilder::new(from.next());
        for event in stored.log.iter().filter(|event| event.seq > from) {
            if !page.is_empty() && page.cost() >= max_bytes {
                break;
            }
            page.push_from(event.at, event.turn, &event.body, event.source.as_ref());
        }
        Slice { gap, page: page.take() }
    }

    pub(crate) fn history(&self, before: Option<HistoryPlace>, limit: usize) -> History {
        let place = |row: &SessionRow| (row.updated, row.session);
        let mut rows: Vec<SessionRow> = self.sessions.values().filter_map(|stored| stored.row.clone()).collect();
        rows.retain(|row| before.is_none_or(|before| place(row) < (before.updated, before.session)));
        rows.sort_by_key(|row| std::cmp::Reverse(place(row)));
        History::cut(rows, limit)
    }

    /// The place of an event by its name in the log that it comes from.
    pub(crate) fn find_source(&self, session: SessionId, source: &SourceId) -> Option<Seq> {
        let of = |event: &&Event| event.source.as_ref().is_some_and(|from| from.id == *source);
        self.sessions.get(&session)?.log.iter().rev().find(of).map(|event| event.seq)
    }

    /// Those sessions of an agent that no session here stands for.
    pub(crate) fn unknown(&self, agent: &AgentName, mut sessions: Vec<AgentSessionInfo>) -> Vec<AgentSessionInfo> {
        let rows = || self.sessions.values().filter_map(|stored| stored.row.as_ref());
        let is_known = |info: &AgentSessionInfo| {
            rows().any(|row| row.agent == *agent && row.agent_session.as_ref() == Some(&info.agent_session))
        };
        sessions.retain(|info| !is_known(info));
        sessions
    }

    /// Calls, the newest first.
    pub(crate) fn calls(
        &self,
        tool: Option<&ToolName>,
        before: Option<CallPlace>,
        limit: usize,
    ) -> (Vec<CallRow>, Option<CallPlace>) {
        let place = |place: CallPlace| (place.asked, place.session, place.asked_at);
        let all = self.sessions.values().flat_map(|stored| stored.calls.values());
        let mut rows: Vec<CallRow> = all.filter(|row| tool.is_none_or(|tool| *tool == row.tool)).cloned().collect();
        rows.retain(|row| before.is_none_or(|before| place(row.place()) < place(before)));
        rows.sort_by_key(|row| std::cmp::Reverse(place(row.place())));
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(CallRow::place);
        (rows, next)
    }

    /// What the edges do at start-up: rows, then the fold of what is not settled.
    pub(crate) fn recover(&self, id: SessionId) -> Recovered {
        let stored = &self.sessions[&id];
        let row = stored.row.clone().expect("a session has a row");
        let turns: Vec<TurnRow> = stored.turns.values().cloned().collect();
        let head = last(&stored.log);
        let calls: Vec<CallRow> = stored.calls.values().filter(|row| row.end.is_none()).cloned().collect();
        let (mut state, mut from) = State::from_rows(&row, &turns, head);
        // What a call asked for may belong to no turn, or to one that is over.
        if let Some(first) = calls.first() {
            from = from.min(Seq(first.asked_at.0 - 1));
        }
        for event in stored.log.iter().filter(|event| event.seq > from) {
            let whose = if event.source.is_some() { Whose::Theirs } else { Whose::Ours };
            state.apply_from(event.seq, event.turn, &event.body, whose);
        }
        Recovered { row, head, state, calls }
    }

    pub(crate) fn of_tab(&self, tab: &TabId) -> Option<&Stored> {
        self.sessions.values().find(|stored| stored.row.as_ref().is_some_and(|row| row.tab.as_ref() == Some(tab)))
    }

    pub(crate) fn assert_started(&self, session: SessionId, name: &TurnName) {
        let log = &self.sessions[&session].log;
        let queued = log.iter().find(|event| matches!(&event.body, Body::PromptQueued { name: n, .. } if n == name));
        let turn = queued.expect("the prompt is durable before it is sent").turn;
        let started = log.iter().any(|event| event.turn == turn && event.body == Body::TurnStarted {});
        assert!(started, "the start of {name} is durable before it is sent");
    }
}
