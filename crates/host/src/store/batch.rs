//! What one transaction writes: which entries of the waiting commits fit, as which rows, and what each commit is answered.
//! Never opens a transaction and never changes what others see.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use rusqlite::{Connection, Statement};
use switchboard_types::{CallRow, Change, Commit, CommitDone, Page, Seq, SessionId, SessionRow, TurnRow};

use super::error::is_damage;
use super::index::Run;
use super::kept;
use super::rows::{self, MetaKey, db, log_crc};

/// Rows that one statement adds to the tail: what a statement costs by itself is shared by them.
const ROWS_AT_ONCE: usize = 16;
/// Columns of the tail.
const TAIL_COLUMNS: usize = 6;

/// One row of the tail to be: pages of one session that follow each other.
#[derive(Debug)]
struct TailRow {
    session: SessionId,
    pages: Vec<Arc<Page>>,
    bytes: usize,
}

impl TailRow {
    /// Makes the row the `at`th of a statement.
    fn bind(&self, insert: &mut Statement<'_>, at: usize, id: i64) -> rusqlite::Result<(SessionId, Run)> {
        let joined: Vec<u8>;
        let records: &[u8] = match self.pages.as_slice() {
            [only] => only.records(),
            several => {
                joined = several.iter().map(|page| page.records().as_ref()).collect::<Vec<_>>().concat();
                &joined
            }
        };
        let first = self.pages.first().map_or(Seq::START, |page| page.first());
        let last = self.pages.last().map_or(Seq::START, |page| page.last());
        let crc = log_crc(self.session, first, last, records);
        let column = at * TAIL_COLUMNS;
        insert.raw_bind_parameter(column + 1, id)?;
        insert.raw_bind_parameter(column + 2, db(self.session.0))?;
        insert.raw_bind_parameter(column + 3, db(first.0))?;
        insert.raw_bind_parameter(column + 4, db(last.0))?;
        insert.raw_bind_parameter(column + 5, crc)?;
        insert.raw_bind_parameter(column + 6, records)?;
        Ok((self.session, Run { id, first, last, bytes: self.bytes }))
    }
}

/// A statement that adds so many rows to the tail.
fn insert_rows(rows: usize) -> String {
    let mut text = "INSERT INTO tail VALUES (?, ?, ?, ?, ?, ?)".to_owned();
    (1..rows).for_each(|_| text.push_str(", (?, ?, ?, ?, ?, ?)"));
    text
}

#[derive(Debug)]
struct Answer {
    done: CommitDone,
    accepted: Vec<SessionId>,
    has_changes: bool,
}

/// The waiting commits, sorted out.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    rows: Vec<TailRow>,
    changes: Vec<Change>,
    answers: Vec<Answer>,
    heads: BTreeMap<SessionId, Seq>,
    open_rows: BTreeMap<SessionId, usize>,
    deleted: HashSet<SessionId>,
    highest: Option<SessionId>,
}

/// Numbers that the transaction takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// The id of the first row of the tail.
    pub(crate) first_id: i64,
    /// The version of every row of the metadata.
    pub(crate) rev: i64,
    /// The first session id that was never used.
    pub(crate) next_session: u64,
}

impl Batch {
    /// Adds a commit. An entry that does not follow its log is refused, alone.
    pub(crate) fn add(
        &mut self,
        commit: Commit,
        row_bytes: usize,
        mut head_of: impl FnMut(SessionId) -> Result<Seq, String>,
    ) {
        let mut answer = Answer {
            done: CommitDone { ticket: commit.ticket, failed: Vec::new(), changes_failed: None },
            accepted: Vec::new(),
            has_changes: !commit.changes.is_empty(),
        };
        for entry in commit.entries {
            match self.place(entry.session, &entry.page, &mut head_of) {
                Ok(()) => {
                    self.add_page(entry.session, entry.page, row_bytes);
                    entry.changes.into_iter().for_each(|change| self.add_change(change));
                    answer.accepted.push(entry.session);
                }
                Err(why) => answer.done.failed.push((entry.session, why)),
            }
        }
        commit.changes.into_iter().for_each(|change| self.add_change(change));
        self.answers.push(answer);
    }

    /// What is deleted takes along what the same transaction would have written of it before, and refuses what comes after.
    fn add_change(&mut self, change: Change) {
        match &change {
            Change::Session(SessionRow { session, .. })
            | Change::Turn(TurnRow { session, .. })
            | Change::Call(CallRow { session, .. }) => {
                if self.deleted.contains(session) {
                    return;
                }
                self.highest = self.highest.max(Some(*session));
            }
            Change::Workspace(_) | Change::Rule(_) | Change::DropRule(_) => {}
            Change::DeleteSession(session) => {
                self.rows.iter_mut().filter(|row| row.session == *session).for_each(|row| row.pages.clear());
                self.open_rows.remove(session);
                self.changes.retain(|earlier| owner(earlier) != Some(*session));
                self.deleted.insert(*session);
            }
        }
        self.changes.push(change);
    }

    fn place(
        &mut self,
        session: SessionId,
        page: &Page,
        head_of: &mut impl FnMut(SessionId) -> Result<Seq, String>,
    ) -> Result<(), String> {
        if self.deleted.contains(&session) {
            return Err(was_deleted(session));
        }
        let head = match self.heads.get(&session) {
            Some(head) => *head,
            None => head_of(session)?,
        };
        if page.first() != head.next() {
            return Err(format!(
                "event {} does not follow event {head}, the last one on the disk; an earlier write of this session failed",
                page.first()
            ));
        }
        self.heads.insert(session, page.last());
        self.highest = self.highest.max(Some(session));
        Ok(())
    }

    fn add_page(&mut self, session: SessionId, page: Arc<Page>, row_bytes: usize) {
        let bytes = page.bytes();
        if let Some(row) = self.open_rows.get(&session).and_then(|at| self.rows.get_mut(*at))
            && row.bytes + bytes <= row_bytes
        {
            row.bytes += bytes;
            row.pages.push(page);
            return;
        }
        self.open_rows.insert(session, self.rows.len());
        self.rows.push(TailRow { session, pages: vec![page], bytes });
    }

    /// Whether there is anything to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.changes.is_empty()
    }

    /// The sessions that have new events, or are gone, once the batch is written.
    pub(crate) fn changed(&self) -> impl Iterator<Item = SessionId> {
        self.heads.keys().copied().chain(self.deleted())
    }

    /// The sessions that are gone once the batch is written.
    pub(crate) fn deleted(&self) -> impl Iterator<Item = SessionId> {
        self.deleted.iter().copied()
    }

    /// The first session id that is free once the batch is written.
    pub(crate) fn next_session(&self, so_far: u64) -> u64 {
        self.highest.map_or(so_far, |session| so_far.max(session.0 + 1))
    }

    /// Writes everything and returns the tail's new rows.
    pub(crate) fn write(&self, conn: &Connection, numbers: Numbers) -> rusqlite::Result<Vec<(SessionId, Run)>> {
        let runs = self.insert_tail(conn, numbers.first_id)?;
        let next_session = self.next_session(numbers.next_session);
        for change in &self.changes {
            write_change(conn, change, numbers.rev, next_session)?;
        }
        if next_session > numbers.next_session {
            rows::write_meta(conn, MetaKey::NextSession, db(next_session))?;
        }
        Ok(runs)
    }

    fn insert_tail(&self, conn: &Connection, first_id: i64) -> rusqlite::Result<Vec<(SessionId, Run)>> {
        let mut runs = Vec::with_capacity(self.rows.len());
        let ids = (first_id..).step_by(ROWS_AT_ONCE);
        for (together, id) in self.rows.chunks(ROWS_AT_ONCE).zip(ids) {
            if together.len() == ROWS_AT_ONCE {
                let mut insert = conn.prepare_cached(&insert_rows(ROWS_AT_ONCE))?;
                for (at, (row, id)) in together.iter().zip(id..).enumerate() {
                    runs.push(row.bind(&mut insert, at, id)?);
                }
                insert.raw_execute()?;
            } else {
                let mut insert = conn.prepare_cached(&insert_rows(1))?;
                for (row, id) in together.iter().zip(id..) {
                    runs.push(row.bind(&mut insert, 0, id)?);
                    insert.raw_execute()?;
                }
            }
        }
        Ok(runs)
    }

    /// The answers if all of it is on the disk.
    pub(crate) fn done(self) -> impl Iterator<Item = CommitDone> {
        self.answers.into_iter().map(|answer| answer.done)
    }

    /// The answers if nothing of it is on the disk.
    pub(crate) fn failed(self, why: &str) -> impl Iterator<Item = CommitDone> {
        self.answers.into_iter().map(move |answer| {
            let mut done = answer.done;
            done.failed.extend(answer.accepted.into_iter().map(|session| (session, why.to_owned())));
            done.changes_failed = answer.has_changes.then(|| why.to_owned());
            done
        })
    }
}

/// Why nothing more is written of a session.
pub(crate) fn was_deleted(session: SessionId) -> String {
    format!("session {session} was deleted")
}

/// Whose row a change is.
fn owner(change: &Change) -> Option<SessionId> {
    match change {
        Change::Session(row) => Some(row.session),
        Change::Turn(row) => Some(row.session),
        Change::Call(row) => Some(row.session),
        Change::Workspace(_) | Change::Rule(_) | Change::DropRule(_) | Change::DeleteSession(_) => None,
    }
}

fn write_change(conn: &Connection, change: &Change, rev: i64, next_session: u64) -> rusqlite::Result<()> {
    match change {
        Change::Session(row) if rows::is_deleted(conn, row.session)? => Ok(()),
        Change::Session(row) => rows::write_session(conn, &with_stored_epoch(conn, row)?, rev),
        // An id that was never given out is not used up by being named.
        Change::DeleteSession(session) if session.0 >= next_session => Ok(()),
        Change::DeleteSession(session) => rows::delete_session(conn, *session, rev),
        Change::Turn(row) => rows::write_turn(conn, row, rev),
        Change::Workspace(row) => rows::write_workspace(conn, row, rev),
        Change::Call(row) => kept::write_call(conn, row, rev),
        Change::Rule(rule) => kept::write_rule(conn, rule, rev),
        Change::DropRule(rule) => kept::drop_rule(conn, rule),
    }
}

/// Only the store knows when history was lost, so from a session's first row on the epoch is the store's.
fn with_stored_epoch(conn: &Connection, row: &SessionRow) -> rusqlite::Result<SessionRow> {
    match rows::read_session(conn, row.session) {
        Ok(Some((stored, _))) => Ok(SessionRow { epoch: stored.epoch, ..row.clone() }),
        Ok(None) => Ok(row.clone()),
        Err(error) if is_damage(&error) => Ok(SessionRow { epoch: rows::new_epoch(), ..row.clone() }),
        Err(error) => Err(error),
    }
}
