//! The library as the others see it: questions are answered on the caller's thread, what changes the file is done by the
//! library's own. All calls block on the disk: call them where that is fine.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::thread::JoinHandle;

use rusqlite::{Connection, OpenFlags};
use switchboard_types::{Found, Kept, Rebuilt, SearchQuery, SessionId, UsageBy, UsageQuery, UsageRow};

use super::error::LibraryError;
use super::indexer::{Indexer, Order};
use super::shelf::{self, FILE_NAME};
use super::{search, usage};
use crate::store::{Notes, Store, Which};

/// Orders that wait for the thread.
const MAX_ORDERS: usize = 16;
/// Openings for reading that are kept.
const KEPT_READERS: usize = 2;

/// Openings of the file for reading.
pub(super) struct Readers {
    path: PathBuf,
    /// Set once the thread has opened the file, or could not.
    opened: OnceLock<()>,
    /// Held for reading while somebody reads, so that the file can be exchanged when nobody does.
    reading: RwLock<()>,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    fn new(path: PathBuf) -> Self {
        Self { path, opened: OnceLock::new(), reading: RwLock::new(()), idle: Mutex::new(Vec::new()) }
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, LibraryError>) -> Result<T, LibraryError> {
        self.opened.wait();
        let _reading = self.reading.read().unwrap_or_else(PoisonError::into_inner);
        let named = LibraryError::file(&self.path);
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut conn = match idle {
            Some(conn) => conn,
            None => shelf::connect(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(&named)?,
        };
        // One snapshot, so that what was found is still there when it is shown.
        let tx = conn.transaction().map_err(&named)?;
        let result = read(&tx);
        drop(tx);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT_READERS {
            idle.push(conn);
        }
        result
    }

    /// The file is there, if it can be.
    pub(super) fn open(&self) {
        let _ = self.opened.set(());
    }

    /// Does something while nobody has the file open for reading.
    pub(super) fn apart<T>(&self, work: impl FnOnce() -> T) -> T {
        let _alone = self.reading.write().unwrap_or_else(PoisonError::into_inner);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        work()
    }
}

/// Messages, search and usage of all sessions of a store.
pub struct Library {
    readers: Arc<Readers>,
    notes: Notes,
    orders: SyncSender<Order>,
    behind: Arc<AtomicU64>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Library {
    /// Follows the store from now on; `notes` are those that the store was opened with. Returns before the file is open, so
    /// that nobody's start waits for it; questions do.
    pub fn start(folder: &Path, store: Weak<dyn Store>, notes: Notes) -> Result<Self, LibraryError> {
        let path = folder.join(FILE_NAME);
        let readers = Arc::new(Readers::new(path.clone()));
        let behind = Arc::new(AtomicU64::new(0));
        let (orders, taken) = sync_channel(MAX_ORDERS);
        let indexer = Indexer {
            folder: folder.to_owned(),
            shelf: None,
            store,
            notes: notes.clone(),
            orders: taken,
            readers: Arc::clone(&readers),
            behind: Arc::clone(&behind),
            waiting: Default::default(),
            remembered: Default::default(),
        };
        let thread = std::thread::Builder::new().name("library".to_owned()).spawn(move || indexer.run());
        let thread = Mutex::new(Some(thread.map_err(LibraryError::disk(&path))?));
        Ok(Self { readers, notes, orders, behind, thread })
    }

    /// Looks for words.
    pub fn search(&self, store: &dyn Store, query: &SearchQuery) -> Result<Found, LibraryError> {
        let stored = |session| Ok(store.sessions(Which::One(session))?.pop().map(|stored| stored.row));
        let named = LibraryError::file(&self.readers.path);
        let mut found = self.readers.read(|conn| search::search(conn, query, stored, named))?;
        found.behind = self.behind();
        Ok(found)
    }

    /// Sessions whose last words are not in the index yet.
    #[must_use]
    pub fn behind(&self) -> u64 {
        self.behind.load(Ordering::Relaxed).max(self.notes.waiting() as u64)
    }

    /// What was used, the newest first.
    pub fn usage(&self, query: &UsageQuery) -> Result<Vec<UsageRow>, LibraryError> {
        self.readers.read(|conn| usage::usage(conn, query).map_err(LibraryError::file(&self.readers.path)))
    }

    /// What was used in these sessions, one row each; what is not known of one is nothing.
    pub fn usage_of(&self, sessions: &[SessionId]) -> Result<Vec<Option<UsageRow>>, LibraryError> {
        let one = |session: &SessionId| {
            let query = UsageQuery { by: UsageBy::Session, session: Some(*session), since: None };
            Ok(self.usage(&query)?.pop())
        };
        sessions.iter().map(one).collect()
    }

    /// Waits until all that is committed now can be found.
    pub fn settle(&self) -> Result<(), LibraryError> {
        self.order(Order::Settle)
    }

    /// Takes out what belongs to no session, and gives space back to the disk.
    pub fn upkeep(&self) -> Result<Kept, LibraryError> {
        self.order(Order::Upkeep)?
    }

    /// Sets the file aside and derives everything anew; hears how far it is.
    pub fn rebuild(&self, news: impl Fn(u64, u64) + Send + 'static) -> Result<Rebuilt, LibraryError> {
        self.order(|answer| Order::Rebuild(Box::new(news), answer))?
    }

    fn order<T>(&self, order: impl FnOnce(SyncSender<T>) -> Order) -> Result<T, LibraryError> {
        let (answer, answered) = sync_channel(1);
        self.orders.try_send(order(answer)).map_err(|refused| match refused {
            TrySendError::Full(_) => LibraryError::Busy,
            TrySendError::Disconnected(_) => LibraryError::Stopping,
        })?;
        self.notes.call();
        answered.recv().map_err(|_| LibraryError::Stopping)
    }

    /// Ends the thread; what it has not taken in is at the next start.
    pub fn stop(&self) {
        self.notes.end();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the library's thread ended badly; nothing that was said is lost by it");
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        self.stop();
    }
}
