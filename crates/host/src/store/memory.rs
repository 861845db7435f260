//! A store without a disk, for tests of what stands on a store. Never pretends to survive anything.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard_types::{
    CallPlace, CallRow, Change, Commit, CommitDone, History, HistoryPlace, Page, Rule, RuleId, Seq, SessionId,
    SessionRow, ToolName, TurnId, TurnRow, WorkspaceRoot, WorkspaceRow,
};

use super::batch::was_deleted;
use super::{Calls, Shrunk, Slice, Store, StoreError, StoredSession, Which, kept};

#[derive(Default)]
struct Held {
    logs: BTreeMap<SessionId, Vec<Page>>,
    sessions: BTreeMap<SessionId, SessionRow>,
    turns: BTreeMap<(SessionId, TurnId), TurnRow>,
    workspaces: BTreeMap<WorkspaceRoot, WorkspaceRow>,
    calls: BTreeMap<(SessionId, Seq), CallRow>,
    rules: BTreeMap<RuleId, Rule>,
    deleted: BTreeSet<SessionId>,
    next_session: u64,
    waiting: VecDeque<Commit>,
    holds: bool,
    failure: Option<String>,
}

/// Logs and metadata in memory. Commits are answered on the caller's thread, before [`Store::commit`] returns, unless held.
pub struct MemoryStore {
    held: Mutex<Held>,
    on_done: Mutex<Box<dyn Fn(CommitDone) + Send>>,
}

impl MemoryStore {
    /// An empty store; `on_done` hears of every commit, in order.
    pub fn new(on_done: impl Fn(CommitDone) + Send + 'static) -> Self {
        let held = Held { next_session: 1, ..Held::default() };
        Self { held: Mutex::new(held), on_done: Mutex::new(Box::new(on_done)) }
    }

    /// From now on every commit fails for this reason.
    pub fn fail(&self, why: &str) {
        self.held().failure = Some(why.to_owned());
    }

    /// Commits work again.
    pub fn heal(&self) {
        self.held().failure = None;
    }

    /// From now on commits wait.
    pub fn hold(&self) {
        self.held().holds = true;
    }

    /// Writes the oldest waiting commit, if there is one.
    pub fn release_one(&self) {
        let commit = self.held().waiting.pop_front();
        commit.into_iter().for_each(|commit| self.write(commit));
    }

    /// Writes all that waits; nothing waits any more.
    pub fn release(&self) {
        self.held().holds = false;
        while let Some(commit) = { self.held().waiting.pop_front() } {
            self.write(commit);
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, commit: Commit) {
        let done = self.held().write(commit);
        (self.on_done.lock().unwrap_or_else(PoisonError::into_inner))(done);
    }
}

impl Held {
    fn head(&self, session: SessionId) -> Seq {
        self.logs.get(&session).and_then(|log| log.last()).map_or(Seq::START, Page::last)
    }

    fn write(&mut self, commit: Commit) -> CommitDone {
        let mut done = CommitDone { ticket: commit.ticket, failed: Vec::new(), changes_failed: None };
        for entry in commit.entries {
            let head = self.head(entry.session);
            if let Some(why) = &self.failure {
                done.failed.push((entry.session, why.clone()));
            } else if self.deleted.contains(&entry.session) {
                done.failed.push((entry.session, was_deleted(entry.session)));
            } else if entry.page.first() != head.next() {
                let why = format!("event {} does not follow event {head}", entry.page.first());
                done.failed.push((entry.session, why));
            } else {
                self.next_session = self.next_session.max(entry.session.0 + 1);
                self.logs.entry(entry.session).or_default().push((*entry.page).clone());
                entry.changes.into_iter().for_each(|change| self.change(change));
            }
        }
        match &self.failure {
            Some(why) if !commit.changes.is_empty() => done.changes_failed = Some(why.clone()),
            Some(_) => {}
            None => commit.changes.into_iter().for_each(|change| self.change(change)),
        }
        done
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Session(SessionRow { session, .. })
            | Change::Turn(TurnRow { session, .. })
            | Change::Call(CallRow { session, .. })
                if self.deleted.contains(&session) => {}
            Change::Session(mut row) => {
                self.next_session = self.next_session.max(row.session.0 + 1);
                if let Some(stored) = self.sessions.get(&row.session) {
                    row.epoch = stored.epoch;
                }
                self.sessions.insert(row.session, row);
            }
            Change::Turn(row) => drop(self.turns.insert((row.session, row.turn), row)),
            Change::Workspace(row) => drop(self.workspaces.insert(row.root.clone(), row)),
            Change::Call(row) => drop(self.calls.insert((row.session, row.asked_at), row)),
            Change::Rule(rule) => drop(self.rules.insert(rule.id.clone(), rule)),
            Change::DropRule(rule) => drop(self.rules.remove(&rule)),
            Change::DeleteSession(session) if session.0 >= self.next_session => {}
            Change::DeleteSession(session) => {
                self.deleted.insert(session);
                self.logs.remove(&session);
                self.sessions.remove(&session);
                self.turns.retain(|(owner, _), _| *owner != session);
                self.calls.retain(|(owner, _), _| *owner != session);
            }
        }
    }
}

impl Store for MemoryStore {
    fn commit(&self, commit: Commit) {
        {
            let mut held = self.held();
            if held.holds {
                held.waiting.push_back(commit);
                return;
            }
        }
        self.write(commit);
    }

    fn read_after(&self, session: SessionId, after: Seq, max_bytes: usize) -> Result<Slice, StoreError> {
        let held = self.held();
        let Some(log) = held.logs.get(&session) else { return Ok(Slice::default()) };
        let from = log.partition_point(|page| page.last() <= after);
        let mut pages = Vec::new();
        let mut bytes = 0;
        for page in log.iter().skip(from).filter_map(|page| page.after(after)) {
            bytes += page.bytes();
            pages.push(page);
            if bytes >= max_bytes {
                break;
            }
        }
        Ok(Slice { gap: None, page: Page::join(pages).map(|page| page.head_within(max_bytes)) })
    }

    fn sessions(&self, which: Which) -> Result<Vec<StoredSession>, StoreError> {
        let held = self.held();
        let wanted = |row: &&SessionRow| match which {
            Which::WithTab => row.tab.is_some(),
            Which::All => true,
            Which::One(session) => row.session == session,
        };
        let stored =
            |row: &SessionRow| StoredSession { row: row.clone(), head: held.head(row.session), lost: Vec::new() };
        Ok(held.sessions.values().filter(wanted).map(stored).collect())
    }

    fn history(&self, before: Option<HistoryPlace>, limit: usize) -> Result<History, StoreError> {
        let place = |row: &SessionRow| (row.updated, row.session);
        let mut rows: Vec<SessionRow> = self.held().sessions.values().cloned().collect();
        rows.retain(|row| before.is_none_or(|before| place(row) < (before.updated, before.session)));
        rows.sort_by_key(|row| std::cmp::Reverse(place(row)));
        Ok(History::cut(rows, limit))
    }

    fn turns(&self, session: SessionId) -> Result<Vec<TurnRow>, StoreError> {
        let held = self.held();
        Ok(held.turns.values().filter(|row| row.session == session).cloned().collect())
    }

    fn workspaces(&self) -> Result<Vec<WorkspaceRow>, StoreError> {
        Ok(self.held().workspaces.values().cloned().collect())
    }

    fn rules(&self) -> Result<Vec<Rule>, StoreError> {
        let mut rules: Vec<Rule> = self.held().rules.values().cloned().collect();
        kept::in_order(&mut rules);
        Ok(rules)
    }

    fn calls(&self, tool: Option<&ToolName>, before: Option<CallPlace>, limit: usize) -> Result<Calls, StoreError> {
        let key = |place: CallPlace| (place.asked, place.session, place.asked_at);
        let mut calls: Vec<CallRow> = self.held().calls.values().cloned().collect();
        calls.retain(|row| tool.is_none_or(|tool| row.tool == *tool));
        calls.retain(|row| before.is_none_or(|before| key(row.place()) < key(before)));
        calls.sort_by_key(|row| std::cmp::Reverse(key(row.place())));
        Ok(Calls::cut(calls, limit))
    }

    fn open_calls(&self, session: SessionId) -> Result<Vec<CallRow>, StoreError> {
        let held = self.held();
        let open = held.calls.values().filter(|row| row.session == session && row.end.is_none());
        Ok(open.cloned().collect())
    }

    fn next_session(&self) -> Result<SessionId, StoreError> {
        Ok(SessionId(self.held().next_session))
    }

    fn shrink(&self) -> Result<Shrunk, StoreError> {
        Ok(Shrunk::default())
    }
}
