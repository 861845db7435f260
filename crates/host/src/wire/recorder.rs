//! The bounded queue before the files and the one thread behind it. Whoever speaks never waits: what does not fit is
//! left out and counted, and the record says how much.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bytes::Bytes;
use switchboard_types::{SessionId, Time};
use tokio::sync::{mpsc, watch};

use super::entry::{Direction, Entry, Events, Side, Verdict};
use super::files::{End, MAX_FILE_BYTES, WireFolder};
use super::secrets::Secrets;
use super::{LOOK_AHEAD_BYTES, MAX_RAW_BYTES, name};
use crate::clock::Clock;

/// Entries that wait for the disk.
const MAX_WAITING: usize = 4096;
/// Places among them that are kept for what is no entry.
const RESERVED: usize = 256;
/// Bytes of messages that wait for the disk.
const MAX_WAITING_BYTES: usize = 16 * 1024 * 1024;
/// Entries taken at once; readers are told after each such batch.
const BATCH: usize = 256;

/// A message as it was seen, before anything is taken out of it.
#[derive(Clone, Debug)]
pub struct Draft {
    /// When.
    pub at: Time,
    /// Whose wire.
    pub side: Side,
    /// Who is at its other end.
    pub peer: String,
    /// Which way.
    pub dir: Direction,
    /// The vocabulary.
    pub dialect: &'static str,
    /// Its name, for what is no message of a vocabulary; empty to have it found.
    pub name: &'static str,
    /// Bytes of the whole message.
    pub bytes: usize,
    /// What the host made of it.
    pub verdict: Verdict,
    /// Why.
    pub why: Option<String>,
    /// The events that it became, or that it carries.
    pub events: Option<Events>,
    /// Its beginning, as [`head`] cuts it; none where it may speak of another session.
    pub raw: Option<Bytes>,
}

/// As much of a message as a record may need.
#[must_use]
pub fn head(message: &Bytes) -> Bytes {
    // A copy, since a piece of a large buffer would keep all of it.
    Bytes::copy_from_slice(message.get(..MAX_RAW_BYTES + LOOK_AHEAD_BYTES).unwrap_or(message))
}

enum Job {
    Begin(SessionId, Time),
    End(SessionId, Time),
    Forget(SessionId),
    Hide(Vec<String>),
    Keep(SessionId, Box<Draft>),
    Stop,
}

/// The way to the record, for everybody who sees a message.
#[derive(Clone)]
pub struct Recorder {
    jobs: mpsc::Sender<Job>,
    shared: Arc<Shared>,
}

struct Shared {
    any: AtomicBool,
    waiting_bytes: AtomicUsize,
    // Held for one step in a small map, never over a wait.
    left_out: Mutex<BTreeMap<SessionId, u64>>,
    written: watch::Sender<u64>,
    folder: WireFolder,
    clock: Clock,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

/// The thread that writes.
#[derive(Debug)]
pub struct Writer {
    recorder: Recorder,
    thread: JoinHandle<()>,
}

impl Writer {
    /// Starts it. Nothing is made on the disk before something is to be kept.
    pub fn start(folder: WireFolder, clock: Clock) -> io::Result<Self> {
        Self::start_with(folder, clock, MAX_FILE_BYTES)
    }

    fn start_with(folder: WireFolder, clock: Clock, max_file: u64) -> io::Result<Self> {
        let (jobs, waiting) = mpsc::channel(MAX_WAITING);
        let shared = Shared {
            any: AtomicBool::new(false),
            waiting_bytes: AtomicUsize::new(0),
            left_out: Mutex::default(),
            written: watch::Sender::new(0),
            folder,
            clock,
        };
        let shared = Arc::new(shared);
        let pen = Pen { shared: Arc::clone(&shared), secrets: Secrets::default(), ends: HashMap::new(), max_file };
        let thread = std::thread::Builder::new().name("wire".to_owned()).spawn(move || pen.write(waiting))?;
        Ok(Self { recorder: Recorder { jobs, shared }, thread })
    }

    /// The way to it.
    #[must_use]
    pub fn recorder(&self) -> Recorder {
        self.recorder.clone()
    }

    /// Writes what waits, and ends. Waits for the disk.
    pub fn finish(self) {
        let Self { recorder, thread } = self;
        // A queue that is full of entries empties by itself; one that is closed has no thread behind it.
        if recorder.jobs.blocking_send(Job::Stop).is_ok() && thread.join().is_err() {
            tracing::error!("the writer of the wire ended badly");
        }
    }
}

impl Recorder {
    /// Whether any session is, or could soon be, recorded. The one branch that everybody else pays.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.shared.any.load(Ordering::Relaxed)
    }

    /// Says whether any session is, or could soon be, recorded.
    pub fn set_on(&self, any: bool) {
        self.shared.any.store(any, Ordering::Relaxed);
    }

    /// The time now, for whoever sees a message and has no clock.
    #[must_use]
    pub fn now(&self) -> Time {
        self.shared.clock.now()
    }

    /// Where the records lie.
    #[must_use]
    pub fn folder(&self) -> &WireFolder {
        &self.shared.folder
    }

    /// Counts up whenever something was written.
    #[must_use]
    pub fn written(&self) -> watch::Receiver<u64> {
        self.shared.written.subscribe()
    }

    /// A session's record begins, or goes on.
    pub fn begin(&self, session: SessionId, now: Time) {
        self.must(Job::Begin(session, now));
    }

    /// Nothing more of the session is kept.
    pub fn end(&self, session: SessionId, now: Time) {
        self.must(Job::End(session, now));
    }

    /// The session is deleted, and its record with it.
    pub fn forget(&self, session: SessionId) {
        self.must(Job::Forget(session));
    }

    /// Values that must never be stored.
    pub fn hide(&self, values: Vec<String>) {
        if !values.is_empty() {
            self.must(Job::Hide(values));
        }
    }

    /// Keeps a message of a session whose record has begun.
    pub fn keep(&self, session: SessionId, draft: Draft) {
        let size = draft.raw.as_ref().map_or(0, Bytes::len);
        let waiting = self.shared.waiting_bytes.load(Ordering::Relaxed);
        if self.jobs.capacity() <= RESERVED || waiting + size > MAX_WAITING_BYTES {
            return self.leave_out(session, 1);
        }
        self.shared.waiting_bytes.fetch_add(size, Ordering::Relaxed);
        if self.jobs.try_send(Job::Keep(session, Box::new(draft))).is_err() {
            self.shared.waiting_bytes.fetch_sub(size, Ordering::Relaxed);
            self.leave_out(session, 1);
        }
    }

    /// Messages of a session that could not be kept.
    pub fn leave_out(&self, session: SessionId, count: u64) {
        *self.shared.left_out().entry(session).or_default() += count;
    }

    fn must(&self, job: Job) {
        if let Err(error) = self.jobs.try_send(job) {
            tracing::error!(%error, "the writer of the wire takes nothing more");
        }
    }
}

impl Shared {
    fn left_out(&self) -> MutexGuard<'_, BTreeMap<SessionId, u64>> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread holds.
struct Pen {
    shared: Arc<Shared>,
    secrets: Secrets,
    /// The records that have begun; none of one that could not be opened.
    ends: HashMap<SessionId, Option<End>>,
    max_file: u64,
}

impl Pen {
    fn write(mut self, mut waiting: mpsc::Receiver<Job>) {
        while let Some(job) = waiting.blocking_recv() {
            let mut next = Some(job);
            for _ in 0..BATCH {
                match next.take() {
                    Some(Job::Stop) => {
                        self.say_left_out();
                        return;
                    }
                    Some(job) => self.take(job),
                    None => break,
                }
                next = waiting.try_recv().ok();
            }
            if let Some(job) = next {
                if matches!(job, Job::Stop) {
                    return self.say_left_out();
                }
                self.take(job);
            }
            self.say_left_out();
            self.shared.written.send_modify(|count| *count += 1);
        }
    }

    fn take(&mut self, job: Job) {
        match job {
            Job::Begin(session, now) => self.begin(session, now),
            Job::End(session, now) => {
                self.note(session, now, "recording off", None);
                self.ends.remove(&session);
            }
            Job::Forget(session) => {
                self.ends.remove(&session);
                self.shared.left_out().remove(&session);
                if let Err(error) = self.shared.folder.forget(session) {
                    tracing::error!(%session, %error, "the wire of a deleted session could not be deleted");
                }
            }
            Job::Hide(values) => self.secrets.know(values),
            Job::Keep(session, draft) => {
                let size = draft.raw.as_ref().map_or(0, Bytes::len);
                self.shared.waiting_bytes.fetch_sub(size, Ordering::Relaxed);
                self.keep(session, *draft);
            }
            // Taken care of before.
            Job::Stop => {}
        }
    }

    fn begin(&mut self, session: SessionId, now: Time) {
        if matches!(self.ends.get(&session), Some(Some(_))) {
            return;
        }
        let end = End::open(&self.shared.folder, session, self.max_file);
        if let Err(error) = &end {
            tracing::error!(%session, %error, "the wire cannot be recorded");
        }
        self.ends.insert(session, end.ok());
        self.note(session, now, "recording on", None);
    }

    fn note(&mut self, session: SessionId, at: Time, name: &'static str, why: Option<String>) {
        let (side, dir, verdict) = (Side::Host, Direction::Note, Verdict::Ok);
        let peer = String::new();
        let note = Draft { at, side, peer, dir, dialect: "", name, bytes: 0, verdict, why, events: None, raw: None };
        self.keep(session, note);
    }

    fn keep(&mut self, session: SessionId, draft: Draft) {
        // Late ones of a record that has ended, or of a session that is deleted, are for nobody.
        let Some(Some(end)) = self.ends.get_mut(&session) else { return };
        let line = self.secrets.entry(end.next(), draft).line();
        if let Err(error) = end.add(&line) {
            tracing::error!(%session, %error, "the wire is not recorded any further");
            self.ends.insert(session, None);
        }
    }

    fn say_left_out(&mut self) {
        let counts = std::mem::take(&mut *self.shared.left_out());
        for (session, count) in counts {
            let why = format!("{count} messages came faster than they could be written and are left out");
            self.note(session, self.shared.clock.now(), "left out", Some(why));
        }
    }
}

impl Secrets {
    /// The entry that is stored.
    fn entry(&self, n: u64, draft: Draft) -> Entry {
        let Draft { at, side, peer, dir, dialect, name: given, bytes, verdict, why, events, raw } = draft;
        let text = raw.map(|raw| self.remove(&String::from_utf8_lossy(&raw)));
        let name = if given.is_empty() { text.as_deref().map(name::of).unwrap_or_default() } else { given.to_owned() };
        let (raw, cut) = match text {
            Some(text) => {
                let whole = bytes <= MAX_RAW_BYTES;
                let kept = if whole {
                    text
                } else {
                    text.get(..text.floor_char_boundary(MAX_RAW_BYTES)).unwrap_or_default().to_owned()
                };
                (Some(kept), !whole)
            }
            None => (None, false),
        };
        let why = why.map(|why| self.remove(&why));
        Entry {
            n,
            at_ms: at,
            side,
            peer,
            dir,
            dialect: dialect.to_owned(),
            name,
            bytes,
            verdict,
            why,
            events,
            raw,
            cut,
        }
    }
}

#[cfg(test)]
mod tests;
