//! The SQLite store: opening, closing, and its side of [`Store`]. Never writes by itself; that is the writer's.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, params};
use switchboard_types::{
    CallPlace, CallRow, Commit, CommitDone, History, HistoryPlace, Rule, Seq, SessionId, ToolName, TurnRow,
    WorkspaceRow,
};

use super::check::{self, Sound};
use super::index::Index;
use super::kept;
use super::notes::Notes;
use super::reader::{Readers, Reading};
use super::rows::{self, Sealed, db};
use super::salvage;
use super::writer::{OnDone, Order, Tail, Writer, answer};
use super::{Calls, Shrunk, Slice, Store, StoreError, StoredSession, Which};

/// The database's name in its folder.
pub const FILE_NAME: &str = "switchboard.db";
/// Commits that wait for the writer. Whoever commits bounds their bytes; this only keeps the queue itself small.
const QUEUE_COMMITS: usize = 1024;
/// How long a locked file is waited for.
pub(crate) const BUSY: Duration = Duration::from_millis(1000);

/// What a commit survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A power loss: one fsync a commit.
    #[default]
    Full,
    /// The end of the process; a power loss may take the last moments, but never the order.
    Normal,
    /// Nothing but the end of the process. For tests that must see a loss.
    Off,
}

impl Durability {
    pub(crate) fn pragma(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Normal => "NORMAL",
            Self::Off => "OFF",
        }
    }
}

/// When the tail is packed, and into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Rows of the tail beyond which an idle writer packs.
    pub soft_rows: usize,
    /// The same in bytes.
    pub soft_bytes: usize,
    /// Rows of the tail beyond which a busy writer packs too.
    pub hard_rows: usize,
    /// The same in bytes.
    pub hard_bytes: usize,
    /// Bytes of a segment; a single larger event stands alone.
    pub segment_bytes: usize,
    /// Pages in the write-ahead log beyond which it is written back into the file.
    pub checkpoint_pages: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            soft_rows: 2048,
            soft_bytes: 1024 * 1024,
            hard_rows: 256 * 1024,
            hard_bytes: 64 * 1024 * 1024,
            segment_bytes: 64 * 1024,
            checkpoint_pages: 1000,
        }
    }
}

/// How a store is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What a commit survives.
    pub durability: Durability,
    /// When the tail is packed.
    pub bounds: Bounds,
    /// The engine's way to the disk, by its registered name; for tests.
    pub vfs: Option<String>,
    /// Where it is noted which sessions have changed.
    pub notes: Notes,
}

/// What happened while a store was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenReport {
    /// Names these data, whatever folder they lie in.
    pub data: u64,
    /// Where a damaged file lies now, with its log beside it.
    pub set_aside: Option<PathBuf>,
    /// What was done about it, for a person; empty if all was well.
    pub notes: Vec<String>,
}

/// Logs and metadata in one SQLite file. Any thread may call it.
pub struct SqliteStore {
    path: PathBuf,
    index: Arc<Index>,
    readers: Readers,
    orders: Option<SyncSender<Order>>,
    writer: Option<JoinHandle<Result<(), StoreError>>>,
    on_done: OnDone,
    next_session: Arc<AtomicU64>,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Opens a connection; nothing is written yet.
pub(crate) fn connect(path: &Path, options: &Options, access: Access) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX
        | match access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
    let conn = match &options.vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs.as_str())?,
        None => Connection::open_with_flags(path, flags)?,
    };
    conn.busy_timeout(BUSY)?;
    conn.set_prepared_statement_cache_capacity(32);
    // A damaged page is to be an error, not a wrong answer.
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    Ok(conn)
}

impl SqliteStore {
    /// Opens or makes the store in a folder. A damaged file is set aside and all that is readable is saved into a new one.
    ///
    /// `on_done` runs on the writer's thread and must not block for long: it hears of every commit, in order.
    pub fn open(
        folder: &Path,
        options: Options,
        on_done: impl Fn(CommitDone) + Send + 'static,
    ) -> Result<(Self, OpenReport), StoreError> {
        let path = folder.join(FILE_NAME);
        std::fs::create_dir_all(folder).map_err(|error| StoreError::from_io(folder, error))?;
        let mut report = OpenReport::default();
        if check::marked(&path).is_some() {
            salvage::salvage(&path, &options, "damage was found while it was in use", &mut report)?;
        }
        let sound = match check::examine(&path, &options) {
            Err(StoreError::Damaged { what, .. }) if report.set_aside.is_none() => {
                salvage::salvage(&path, &options, &what, &mut report)?;
                check::examine(&path, &options)?
            }
            other => other?,
        };
        report.data = sound.data;
        Ok((Self::start(path, options, sound, Box::new(on_done)), report))
    }

    fn start(path: PathBuf, options: Options, sound: Sound, on_done: Box<dyn Fn(CommitDone) + Send>) -> Self {
        let (sender, orders) = sync_channel(QUEUE_COMMITS);
        let index = Arc::new(Index::default());
        let next_session = Arc::new(AtomicU64::new(sound.next_session));
        let on_done: OnDone = Arc::new(Mutex::new(on_done));
        let tail = Tail {
            rows: sound.runs.len(),
            bytes: sound.runs.iter().map(|(_, run)| run.bytes).sum(),
            order: sound.runs.iter().map(|(session, run)| (run.id, *session)).collect(),
        };
        let next_id = tail.order.back().map_or(1, |(id, _)| id + 1);
        index.add(sound.runs);
        let writer = Writer {
            conn: sound.conn,
            path: path.clone(),
            index: index.clone(),
            tail,
            bounds: options.bounds,
            notes: options.notes.clone(),
            shrinking: VecDeque::new(),
            orders,
            on_done: on_done.clone(),
            next_session: next_session.clone(),
            next_id,
            last_rev: 0,
            packing_rests_until: None,
            wal_pages: 0,
        };
        let writer = std::thread::Builder::new().name("store-writer".to_owned()).spawn(move || writer.run());
        let readers = Readers::new(path.clone(), options);
        // Without its thread the store answers every commit with a failure.
        Self { path, index, readers, orders: Some(sender), writer: writer.ok(), on_done, next_session }
    }

    /// Writes and answers all that waits, then closes the file. Dropping does the same, but tells nobody of errors.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        // The writer's connection must be the last: it tidies the file up.
        self.readers.close();
        self.orders = None;
        match self.writer.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(StoreError::Closed),
            None => Ok(()),
        }
    }

    fn snapshot<T>(&self, read: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let result = self.readers.snapshot(read);
        if let Err(StoreError::Damaged { .. }) = &result {
            check::mark(&self.path);
        }
        result
    }

    fn tell_lost(&self, session: SessionId, lost: Vec<(Seq, Seq)>) {
        let Some(orders) = &self.orders else { return };
        for (first, last) in lost {
            // If the queue is full, the next read finds the same and tells it again.
            let _ = orders.try_send(Order::Lost { session, first, last });
        }
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        if let Err(error) = self.finish() {
            tracing::error!(%error, "closing the store failed; what was acknowledged is on the disk");
        }
    }
}

impl Store for SqliteStore {
    fn commit(&self, commit: Commit) {
        let refused = match &self.orders {
            Some(orders) => orders.send(Order::Commit(commit)).err().map(|error| error.0),
            None => Some(Order::Commit(commit)),
        };
        if let Some(Order::Commit(commit)) = refused {
            let why = StoreError::Closed.to_string();
            let failed = commit.entries.iter().map(|entry| (entry.session, why.clone())).collect();
            let changes_failed = (!commit.changes.is_empty()).then_some(why);
            answer(&self.on_done, CommitDone { ticket: commit.ticket, failed, changes_failed });
        }
    }

    fn read_after(&self, session: SessionId, after: Seq, max_bytes: usize) -> Result<Slice, StoreError> {
        let (mut cursor, mut gap) = (after, None);
        loop {
            let plan = self.index.plan(session, cursor, max_bytes);
            let head = plan.head;
            if head.is_some_and(|head| cursor >= head) {
                return Ok(Slice { gap, page: None });
            }
            let (slice, lost) = self.snapshot(|tx| Reading { tx, session, plan }.slice(cursor, max_bytes))?;
            self.tell_lost(session, lost);
            if let Some((begin, end)) = slice.gap {
                gap = Some((gap.map_or(begin, |(begin, _)| begin), end));
            }
            match slice.gap {
                // The plan ended within the gap: go on behind it.
                Some((_, end)) if slice.page.is_none() && head.is_some_and(|head| end < head) => cursor = end,
                _ => return Ok(Slice { gap, page: slice.page }),
            }
        }
    }

    fn sessions(&self, which: Which) -> Result<Vec<StoredSession>, StoreError> {
        // First the heads, then the snapshot: what is packed between the two is in the snapshot.
        let heads = match which {
            Which::One(session) => self.index.head(session).map(|head| (session, head)).into_iter().collect(),
            Which::WithTab | Which::All => self.index.heads(),
        };
        self.snapshot(|tx| read_sessions(tx, which, &heads))
    }

    fn history(&self, before: Option<HistoryPlace>, limit: usize) -> Result<History, StoreError> {
        let before = before.map_or((i64::MAX, i64::MAX), |place| (db(place.updated.0), db(place.session.0)));
        // One more than asked for says whether there is more.
        let wanted = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
        let rows = self.snapshot(|tx| {
            let mut statement = tx.prepare_cached(
                "SELECT * FROM session WHERE (updated, session) < (?1, ?2) ORDER BY updated DESC, session DESC LIMIT ?3",
            )?;
            let found = statement.query_map([before.0, before.1, wanted], rows::sealed_row)?;
            found
                .filter_map(|row| match row {
                    Ok(Sealed::Session { row, .. }) => Some(Ok(row)),
                    Ok(_) => None,
                    Err(error) => Some(Err(error)),
                })
                .collect()
        })?;
        Ok(History::cut(rows, limit))
    }

    fn turns(&self, session: SessionId) -> Result<Vec<TurnRow>, StoreError> {
        self.snapshot(|tx| {
            let mut statement = tx.prepare_cached("SELECT * FROM turn WHERE session = ?1 ORDER BY turn")?;
            let found = statement.query_map([db(session.0)], rows::sealed_row)?;
            found
                .filter_map(|row| match row {
                    Ok(Sealed::Turn { row, .. }) => Some(Ok(row)),
                    Ok(_) => None,
                    Err(error) => Some(Err(error)),
                })
                .collect()
        })
    }

    fn workspaces(&self) -> Result<Vec<WorkspaceRow>, StoreError> {
        self.snapshot(|tx| {
            let mut statement = tx.prepare_cached("SELECT * FROM workspace ORDER BY root")?;
            let found = statement.query_map([], rows::sealed_row)?;
            found
                .filter_map(|row| match row {
                    Ok(Sealed::Workspace { row, .. }) => Some(Ok(row)),
                    Ok(_) => None,
                    Err(error) => Some(Err(error)),
                })
                .collect()
        })
    }

    fn rules(&self) -> Result<Vec<Rule>, StoreError> {
        self.snapshot(|tx| kept::rules(tx))
    }

    fn calls(&self, tool: Option<&ToolName>, before: Option<CallPlace>, limit: usize) -> Result<Calls, StoreError> {
        // One more than asked for says whether there is more.
        let wanted = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
        let calls = self.snapshot(|tx| kept::calls(tx, tool, before, wanted))?;
        Ok(Calls::cut(calls, limit))
    }

    fn open_calls(&self, session: SessionId) -> Result<Vec<CallRow>, StoreError> {
        self.snapshot(|tx| kept::open_calls(tx, session))
    }

    fn next_session(&self) -> Result<SessionId, StoreError> {
        Ok(SessionId(self.next_session.load(Ordering::Acquire)))
    }

    fn shrink(&self) -> Result<Shrunk, StoreError> {
        let (answer, answered) = sync_channel(1);
        let orders = self.orders.as_ref().ok_or(StoreError::Closed)?;
        orders.send(Order::Shrink(answer)).map_err(|_| StoreError::Closed)?;
        answered.recv().map_err(|_| StoreError::Closed)?.map_err(|error| StoreError::from_engine(&self.path, error))
    }
}

fn read_sessions(
    tx: &Transaction<'_>,
    which: Which,
    heads: &HashMap<SessionId, Seq>,
) -> rusqlite::Result<Vec<StoredSession>> {
    let (filter, one) = match which {
        Which::WithTab => ("tab IS NOT NULL", 0),
        Which::All => ("1", 0),
        Which::One(session) => ("session = ?1", db(session.0)),
    };
    let mut statement =
        tx.prepare_cached(&format!("SELECT * FROM session WHERE ({filter}) AND ?1 IS NOT NULL ORDER BY session"))?;
    let mut found = statement.query(params![one])?;
    let mut sessions = Vec::new();
    while let Some(row) = found.next()? {
        let Sealed::Session { mut row, .. } = rows::sealed_row(row)? else { continue };
        row.agent_session = rows::agent_session(tx, row.session)?;
        row.keeps = kept::keeps(tx, row.session)?;
        let lost = rows::lost(tx, row.session)?;
        let last_lost = lost.iter().map(|(_, last)| *last).max().unwrap_or_default();
        let known = heads.get(&row.session).copied().unwrap_or_default();
        let head = known.max(last_lost).max(rows::last_packed(tx, row.session)?);
        sessions.push(StoredSession { row, head, lost });
    }
    Ok(sessions)
}
