//! The thread that follows the logs: it reads what is new after its own cursor and writes what that means, together with the
//! cursor. It reads like any other reader, rests most of the time while others work, and holds up nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rustix::process::setpriority_process;
use switchboard_types::limits::READ_PAGE_BYTES;
use switchboard_types::{Epoch, Kept, Rebuilt, Seq, SessionId};

use super::catalog::Readers;
use super::error::LibraryError;
use super::fold::Fold;
use super::shelf::{Derived, Shelf};
use crate::store::{Notes, Store, StoredSession, Which};

/// How long words are gathered before they are written.
const GATHER: Duration = Duration::from_millis(100);
/// After work the thread rests so many times as long as it has worked, so that whoever speaks has the processors.
const REST_FACTOR: u32 = 3;
/// But no longer than this.
const MAX_REST: Duration = Duration::from_secs(2);
/// What streams is written as far as it has come when nothing came for so long.
const PAUSE: Duration = Duration::from_secs(1);
/// Sessions of which is remembered what streams; of others it is read again.
const MAX_REMEMBERED: usize = 256;
/// Pages of a log whose messages share a transaction.
const PAGES_AT_ONCE: usize = 8;
/// Steps behind everybody else's at a processor.
const NICE: i32 = 10;

/// What somebody wants of the thread.
pub(super) enum Order {
    /// Take in all that is committed, and say so.
    Settle(SyncSender<()>),
    /// Take out what belongs to no session, and give space back.
    Upkeep(SyncSender<Result<Kept, LibraryError>>),
    /// Begin anew.
    Rebuild(News, SyncSender<Result<Rebuilt, LibraryError>>),
}

/// Hears how far something is: so many of so many.
pub(super) type News = Box<dyn Fn(u64, u64) + Send>;

/// A log of which something streams.
struct Remembered {
    fold: Fold,
    epoch: Epoch,
    heard: Instant,
    /// Whether what streams is written as far as it has come.
    shown: bool,
}

/// Whether what streams is written as well.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Streaming {
    HeldBack,
    Written,
}

/// Follows the logs.
pub(super) struct Indexer {
    pub(super) folder: PathBuf,
    pub(super) shelf: Option<Shelf>,
    pub(super) store: Weak<dyn Store>,
    pub(super) notes: Notes,
    pub(super) orders: Receiver<Order>,
    pub(super) readers: Arc<Readers>,
    pub(super) behind: Arc<AtomicU64>,
    pub(super) waiting: BTreeSet<SessionId>,
    pub(super) remembered: Memory,
}

/// What is remembered of logs.
#[derive(Default)]
pub(super) struct Memory(BTreeMap<SessionId, Remembered>);

impl Indexer {
    /// Works until it is told to end; what is not taken in then is at the next start.
    pub(super) fn run(mut self) {
        // Without it the thread is merely as important as others.
        let _ = setpriority_process(None, NICE);
        self.logged("the index of what was said cannot be opened; it is tried again", |this| this.shelf().map(drop));
        self.readers.open();
        self.logged("what changed while nobody looked is not known", Self::compare);
        loop {
            let began = Instant::now();
            self.round();
            let worked = began.elapsed();
            self.tell_behind();
            if self.notes.has_ended() {
                return;
            }
            let patience = if self.waiting.is_empty() { self.next_pause() } else { Some(Duration::ZERO) };
            let noted = self.notes.take(patience);
            let others_work = !noted.changed.is_empty() || noted.everything;
            self.heed(noted.changed, noted.everything);
            self.tell_behind();
            self.obey();
            if others_work && !noted.called {
                self.notes.rest((worked * REST_FACTOR).clamp(GATHER, MAX_REST));
            }
        }
    }

    fn heed(&mut self, changed: BTreeSet<SessionId>, everything: bool) {
        self.waiting.extend(changed);
        if everything {
            self.logged("what changed is not known", Self::compare);
        }
    }

    fn tell_behind(&self) {
        let streaming = self.remembered.0.iter().filter(|(id, one)| !one.shown && !self.waiting.contains(id)).count();
        self.behind.store((self.waiting.len() + streaming) as u64, Ordering::Relaxed);
    }

    fn logged<T>(&mut self, what: &str, work: impl FnOnce(&mut Self) -> Result<T, LibraryError>) -> Option<T> {
        match work(self) {
            Ok(done) => Some(done),
            Err(LibraryError::Stopping) => None,
            Err(error) => {
                tracing::warn!(%error, "{what}");
                None
            }
        }
    }

    fn store(&self) -> Result<Arc<dyn Store>, LibraryError> {
        self.store.upgrade().filter(|_| !self.notes.has_ended()).ok_or(LibraryError::Stopping)
    }

    fn shelf(&mut self) -> Result<&mut Shelf, LibraryError> {
        if self.shelf.is_none() {
            self.shelf = Some(Shelf::open(&self.folder)?);
        }
        self.shelf.as_mut().ok_or(LibraryError::Stopping)
    }

    /// Which logs have more than was taken in, or are another life's, or are gone.
    fn compare(&mut self) -> Result<(), LibraryError> {
        let stored = self.store()?.sessions(Which::All)?;
        let known: BTreeSet<SessionId> = self.shelf()?.sessions()?.into_iter().collect();
        for one in &stored {
            if self.shelf()?.cursor(one.row.session)? != Some((one.row.epoch, one.head)) {
                self.waiting.insert(one.row.session);
            }
        }
        let ids: BTreeSet<SessionId> = stored.iter().map(|one| one.row.session).collect();
        self.waiting.extend(known.difference(&ids));
        Ok(())
    }

    /// Takes in what waits, until it has worked long enough.
    fn round(&mut self) {
        let until = Instant::now() + MAX_REST / REST_FACTOR;
        while let Some(session) = self.waiting.pop_first() {
            self.logged("a session could not be indexed; it is tried again when it goes on", |this| {
                this.follow(session, Streaming::HeldBack)
            });
            if Instant::now() >= until || self.notes.has_ended() {
                return;
            }
        }
        let quiet = |one: &Remembered| !one.shown && one.heard.elapsed() >= PAUSE;
        let due: Vec<SessionId> =
            self.remembered.0.iter().filter(|(_, one)| quiet(one)).map(|(session, _)| *session).collect();
        for session in due {
            self.logged("what streams could not be indexed", |this| this.follow(session, Streaming::Written));
        }
    }

    /// When the next session will have been quiet for long enough.
    fn next_pause(&self) -> Option<Duration> {
        let open = self.remembered.0.values().filter(|one| !one.shown);
        open.map(|one| PAUSE.saturating_sub(one.heard.elapsed())).min()
    }

    /// Takes in what is new in one log.
    fn follow(&mut self, session: SessionId, streaming: Streaming) -> Result<(), LibraryError> {
        let store = self.store()?;
        let Some(stored) = store.sessions(Which::One(session))?.pop() else { return self.forget(session) };
        let known = self.shelf()?.cursor(session)?;
        let epoch = stored.row.epoch;
        let same = known.filter(|(known, cursor)| *known == epoch && *cursor <= stored.head);
        let remembered = self.remembered.0.remove(&session).filter(|one| one.epoch == epoch && same.is_some());
        let mut anew = same.is_none();
        let mut fold = match (remembered, same) {
            (Some(one), _) => one.fold,
            (None, Some((_, cursor))) => Fold::after(cursor),
            (None, None) => Fold::after(Seq::START),
        };
        let (mut items, mut pages) = (Vec::new(), 0);
        loop {
            let slice = store.read_after(session, fold.read(), READ_PAGE_BYTES)?;
            if let Some((_, last)) = slice.gap {
                fold.skip(last, &mut items);
            }
            let Some(page) = slice.page else { break };
            page.events().for_each(|event| fold.take(&event, &mut items));
            pages += 1;
            if pages % PAGES_AT_ONCE == 0 && !items.is_empty() {
                let derived = derived(&stored, &fold, std::mem::take(&mut items), Vec::new(), anew);
                self.shelf()?.write(&[derived])?;
                anew = false;
                self.store()?;
            }
        }
        let so_far = if streaming == Streaming::Written { fold.so_far() } else { Vec::new() };
        let moved = known.is_none_or(|(_, cursor)| cursor != fold.cursor());
        if anew || moved || !items.is_empty() || !so_far.is_empty() {
            self.shelf()?.write(&[derived(&stored, &fold, items, so_far, anew)])?;
        }
        if fold.holds() {
            self.remember(
                session,
                Remembered { fold, epoch, heard: Instant::now(), shown: streaming == Streaming::Written },
            );
        }
        Ok(())
    }

    fn remember(&mut self, session: SessionId, one: Remembered) {
        if self.remembered.0.len() >= MAX_REMEMBERED {
            let oldest = self.remembered.0.iter().min_by_key(|(_, one)| one.heard).map(|(session, _)| *session);
            oldest.and_then(|oldest| self.remembered.0.remove(&oldest));
        }
        self.remembered.0.insert(session, one);
    }

    fn forget(&mut self, session: SessionId) -> Result<(), LibraryError> {
        self.remembered.0.remove(&session);
        let shelf = self.shelf()?;
        shelf.forget(session)?;
        // What was deleted must not stay in the write-ahead log either.
        shelf.checkpoint()
    }

    /// Everything that is committed is taken in, what streams as far as it has come.
    fn settle(&mut self, news: &dyn Fn(u64, u64)) -> Result<(), LibraryError> {
        self.compare()?;
        let streaming: Vec<SessionId> = self.remembered.0.keys().copied().collect();
        self.waiting.extend(streaming);
        let (all, mut done) = (self.waiting.len() as u64, 0);
        while let Some(session) = self.waiting.pop_first() {
            self.tell_behind();
            if let Err(error) = self.follow(session, Streaming::Written) {
                self.waiting.insert(session);
                return Err(error);
            }
            done += 1;
            news(done, all);
        }
        self.tell_behind();
        Ok(())
    }

    fn obey(&mut self) {
        while let Ok(order) = self.orders.try_recv() {
            // Whoever asked may be gone; what was asked is done all the same.
            match order {
                Order::Settle(answer) => {
                    self.logged("not everything could be indexed", |this| this.settle(&|_, _| {}));
                    let _ = answer.send(());
                }
                Order::Upkeep(answer) => {
                    let _ = answer.send(self.upkeep());
                }
                Order::Rebuild(news, answer) => {
                    let _ = answer.send(self.rebuild(&*news));
                }
            }
        }
    }

    fn upkeep(&mut self) -> Result<Kept, LibraryError> {
        let store = self.store()?;
        let before = self.shelf()?.bytes();
        let (mut sessions, mut messages) = (0, 0);
        for session in self.shelf()?.sessions()? {
            if store.sessions(Which::One(session))?.is_empty() {
                self.remembered.0.remove(&session);
                messages += self.shelf()?.forget(session)?;
                sessions += 1;
            }
        }
        self.shelf()?.shrink()?;
        let after = self.shelf()?.bytes();
        let shrunk = store.shrink()?;
        let (bytes_before, bytes_after) = (before + shrunk.before, after + shrunk.after);
        Ok(Kept { sessions, messages, bytes_before, bytes_after })
    }

    fn rebuild(&mut self, news: &dyn Fn(u64, u64)) -> Result<Rebuilt, LibraryError> {
        self.shelf()?;
        let shelf = self.shelf.take().ok_or(LibraryError::Stopping)?;
        self.remembered.0.clear();
        // Nobody may have the file open while it gets another name.
        let (shelf, backup) = self.readers.apart(|| shelf.begin_anew())?;
        self.shelf = Some(shelf);
        self.settle(news)?;
        let sessions = self.shelf()?.sessions()?.len() as u64;
        let messages = self.shelf()?.count()?;
        Ok(Rebuilt { sessions, messages, backup: backup.display().to_string() })
    }
}

fn derived(
    stored: &StoredSession,
    fold: &Fold,
    items: Vec<super::derived::Item>,
    so_far: Vec<super::derived::Item>,
    anew: bool,
) -> Derived {
    Derived {
        session: stored.row.session,
        epoch: stored.row.epoch,
        agent: stored.row.agent.clone(),
        workspace: stored.row.workspace.clone(),
        cursor: fold.cursor(),
        items,
        so_far,
        anew,
    }
}
