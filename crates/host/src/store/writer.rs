//! The one thread that writes: takes what waits, writes it in one transaction with one fsync, answers in order. Never reads
//! for others.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, TransactionBehavior};
use switchboard_types::{Commit, CommitDone, Seq, SessionId};

use super::Shrunk;
use super::batch::{Batch, Numbers, was_deleted};
use super::check;
use super::error::{StoreError, is_damage};
use super::index::{Index, Run};
use super::notes::Notes;
use super::rows;
use super::shrink::Shrinking;
use super::sqlite::Bounds;

/// Bytes of events that share one transaction; what is beyond waits for the next.
const GROUP_BYTES: usize = 4 * 1024 * 1024;
/// Commits that share one transaction.
const GROUP_COMMITS: usize = 1024;
/// A page of the file.
const PAGE_BYTES: usize = 4096;
/// Pages that a commit writes besides its events, roughly.
const PAGES_OF_A_COMMIT: usize = 2;
/// Pages that packing a slice of the tail writes, roughly.
const PAGES_OF_A_SLICE: usize = 32;
/// How long nothing must come in before the writer tidies up.
const IDLE: Duration = Duration::from_millis(20);
/// How long the writer leaves packing alone after it failed.
const PACK_PAUSE: Duration = Duration::from_secs(5);

/// Who hears that commits are done. Shared so that a commit is answered even when the writer is gone.
pub(crate) type OnDone = Arc<Mutex<Box<dyn Fn(CommitDone) + Send>>>;

/// Gives one answer.
pub(crate) fn answer(on_done: &OnDone, done: CommitDone) {
    (on_done.lock().unwrap_or_else(PoisonError::into_inner))(done);
}

/// What travels to the writer.
#[derive(Debug)]
pub(crate) enum Order {
    /// Write this.
    Commit(Commit),
    /// A reader found that these events are lost.
    Lost { session: SessionId, first: Seq, last: Seq },
    /// Somebody wants free room given back.
    Shrink(SyncSender<rusqlite::Result<Shrunk>>),
}

/// How much lies in the tail, and whose rows are the oldest.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
    /// Rows in arrival order; those that were packed with an older one are still named.
    pub(crate) order: VecDeque<(i64, SessionId)>,
}

pub(crate) struct Writer {
    pub(crate) conn: Connection,
    pub(crate) path: PathBuf,
    pub(crate) index: Arc<Index>,
    pub(crate) tail: Tail,
    pub(crate) bounds: Bounds,
    pub(crate) notes: Notes,
    /// What is given back, and who waits for it; the first is under way.
    pub(crate) shrinking: VecDeque<Shrinking>,
    pub(crate) orders: Receiver<Order>,
    pub(crate) on_done: OnDone,
    pub(crate) next_session: Arc<AtomicU64>,
    pub(crate) next_id: i64,
    pub(crate) last_rev: i64,
    pub(crate) packing_rests_until: Option<Instant>,
    /// Pages of the write-ahead log since it was last copied into the file, roughly.
    pub(crate) wal_pages: usize,
}

impl Writer {
    /// Works until the store is closed and nothing waits any more.
    pub(crate) fn run(mut self) -> Result<(), StoreError> {
        while let Some(first) = self.next_order() {
            let before = self.next_id;
            let batch = self.gather(first);
            self.write(batch);
            self.keep_bound(self.next_id - before);
        }
        let path = self.path;
        self.conn.close().map_err(|(_, error)| StoreError::from_engine(&path, error))
    }

    /// Over the hard bound, as much is packed as was added, so that the tail and its index stay bounded.
    fn keep_bound(&mut self, added: i64) {
        let goal = self.tail.rows.saturating_sub(usize::try_from(added).unwrap_or(0));
        let over = |tail: &Tail, bounds: &Bounds| tail.rows > bounds.hard_rows || tail.bytes > bounds.hard_bytes;
        while over(&self.tail, &self.bounds) && self.tail.rows > goal && !self.packing_rests() {
            self.pack();
        }
    }

    fn next_order(&mut self) -> Option<Order> {
        loop {
            if !self.shrinking.is_empty() {
                if let Ok(order) = self.orders.try_recv() {
                    return Some(order);
                }
                self.shrink_a_little();
                continue;
            }
            if !self.wants_packing() && !self.wants_checkpoint() {
                return self.orders.recv().ok();
            }
            match self.orders.recv_timeout(IDLE) {
                Ok(order) => return Some(order),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            // One slice after the other, as long as nobody waits.
            while self.wants_packing() {
                self.pack();
                if let Ok(order) = self.orders.try_recv() {
                    return Some(order);
                }
            }
            if self.wants_checkpoint() {
                self.checkpoint();
            }
        }
    }

    fn wants_checkpoint(&self) -> bool {
        self.wal_pages >= self.bounds.checkpoint_pages as usize
    }

    /// Copies the write-ahead log into the file while nobody waits for a commit. What readers still need stays.
    fn checkpoint(&mut self) {
        self.wal_pages = 0;
        let copied = self.conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        if let Err(error) = copied {
            self.notice(&error);
            tracing::warn!(%error, "the write-ahead log is not copied now; nothing is lost by it");
        }
    }

    fn packing_rests(&self) -> bool {
        self.packing_rests_until.is_some_and(|until| Instant::now() < until)
    }

    fn wants_packing(&self) -> bool {
        !self.packing_rests() && (self.tail.rows > self.bounds.soft_rows || self.tail.bytes > self.bounds.soft_bytes)
    }

    fn pack(&mut self) {
        self.packing_rests_until = None;
        self.wal_pages += PAGES_OF_A_SLICE;
        if let Err(error) = self.pack_slice() {
            self.notice(&error);
            let error = StoreError::from_engine(&self.path, error);
            tracing::warn!(%error, "packing the log rests for a while; nothing is lost by it");
            self.packing_rests_until = Some(Instant::now() + PACK_PAUSE);
        }
    }

    /// The first order and all that wait behind it, within bounds.
    fn gather(&mut self, first: Order) -> Batch {
        let mut batch = Batch::default();
        let (mut bytes, mut commits) = (0, 0);
        let mut next = Some(first);
        while let Some(order) = next {
            match order {
                Order::Commit(commit) => {
                    bytes += commit.entries.iter().map(|entry| entry.page.bytes()).sum::<usize>();
                    commits += 1;
                    let (index, conn, path) = (&self.index, &self.conn, &self.path);
                    batch.add(commit, self.bounds.segment_bytes, |session| {
                        let head = head_of(index, conn, session);
                        let head = head.map_err(|error| StoreError::from_engine(path, error).to_string())?;
                        head.ok_or_else(|| was_deleted(session))
                    });
                }
                Order::Lost { session, first, last } => self.note_lost(session, first, last),
                Order::Shrink(answer) => self.shrinking.push_back(Shrinking::new(answer)),
            }
            if bytes >= GROUP_BYTES || commits >= GROUP_COMMITS {
                break;
            }
            next = self.orders.try_recv().ok();
        }
        batch
    }

    fn write(&mut self, batch: Batch) {
        match self.try_write(&batch) {
            Ok(()) => batch.done().for_each(|done| answer(&self.on_done, done)),
            Err(error) => {
                self.notice(&error);
                let why = StoreError::from_engine(&self.path, error).to_string();
                tracing::error!(error = %why, "a commit failed");
                batch.failed(&why).for_each(|done| answer(&self.on_done, done));
            }
        }
    }

    fn try_write(&mut self, batch: &Batch) -> rusqlite::Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let next_session = self.next_session.load(Ordering::Acquire);
        let numbers = Numbers { first_id: self.next_id, rev: self.next_rev(), next_session };
        let runs = write_batch(&mut self.conn, batch, numbers)?;
        self.wal_pages += PAGES_OF_A_COMMIT + runs.iter().map(|(_, run)| run.bytes).sum::<usize>() / PAGE_BYTES;
        // Durable: only now may readers know of it.
        self.next_session.store(batch.next_session(next_session), Ordering::Release);
        for (session, run) in &runs {
            self.tail.rows += 1;
            self.tail.bytes += run.bytes;
            self.tail.order.push_back((run.id, *session));
            self.next_id = run.id + 1;
        }
        self.notes.changed(batch.changed());
        self.index.add(runs);
        for session in batch.deleted() {
            let gone = self.index.forget(session);
            self.tail.rows -= gone.len();
            self.tail.bytes -= gone.iter().map(|run| run.bytes).sum::<usize>();
        }
        Ok(())
    }

    /// Time orders the versions of a row, also across restarts.
    pub(crate) fn next_rev(&mut self) -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.last_rev = (self.last_rev + 1).max(now.as_micros() as i64);
        self.last_rev
    }

    /// Lost events are noted once, and the log begins a new life.
    fn note_lost(&mut self, session: SessionId, first: Seq, last: Seq) {
        let rev = self.next_rev();
        let noted = self.conn.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|tx| {
            lose(&tx, session, first, last, rev)?;
            tx.commit()
        });
        if let Err(error) = noted {
            self.notice(&error);
            tracing::error!(%error, %session, %first, %last, "lost events could not be noted; the next read tries again");
        }
    }

    /// Damage that cannot be worked around is left a mark for the next start.
    pub(crate) fn notice(&self, error: &rusqlite::Error) {
        if is_damage(error) {
            check::mark(&self.path);
        }
    }
}

fn write_batch(conn: &mut Connection, batch: &Batch, numbers: Numbers) -> rusqlite::Result<Vec<(SessionId, Run)>> {
    // What a person deletes is not to be found in the file afterwards; what is merely packed need not be wiped.
    let wipe = if batch.deleted().next().is_some() { "ON" } else { "OFF" };
    conn.prepare_cached(&format!("PRAGMA secure_delete = {wipe}"))?.query_row([], |_| Ok(()))?;
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let runs = batch.write(&tx, numbers)?;
    tx.commit()?;
    Ok(runs)
}

/// Notes lost events and gives the log a new epoch, in the caller's transaction.
pub(crate) fn lose(conn: &Connection, session: SessionId, first: Seq, last: Seq, rev: i64) -> rusqlite::Result<()> {
    // Whoever read while the session was deleted found nothing, but nothing is lost.
    if rows::is_deleted(conn, session)? || !rows::note_lost(conn, session, first, last)? {
        return Ok(());
    }
    tracing::error!(%session, %first, %last, "events are damaged and count as lost from now on");
    if let Some((mut row, _)) = rows::read_session(conn, session)? {
        row.epoch = rows::new_epoch();
        rows::write_session(conn, &row, rev)?;
    }
    Ok(())
}

/// The last event of a log; looked up once, then known. None if the session was deleted.
fn head_of(index: &Index, conn: &Connection, session: SessionId) -> rusqlite::Result<Option<Seq>> {
    if let Some(head) = index.head(session) {
        return Ok(Some(head));
    }
    if rows::is_deleted(conn, session)? {
        return Ok(None);
    }
    let head = rows::last_packed(conn, session)?.max(rows::last_lost(conn, session)?);
    index.learn(session, head);
    Ok(Some(head))
}
