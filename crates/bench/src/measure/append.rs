//! Durable append of 64 sessions: each has one event of 200 bytes on its way to the disk and sends the next when it is
//! there. Ours is the store by itself; the limit appends to a file that was made beforehand, one fdatasync for all that
//! waits.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::fs::{FallocateFlags, fallocate, fdatasync};
use switchboard_host::store::{Durability, Options, SqliteStore, Store as _};
use switchboard_types::{
    Body, Change, Commit, CommitDone, Entry, Epoch, PageBuilder, Seq, SessionId, SessionRow, Text, Ticket, Time, TurnId,
};

use super::{Bench, Findings, progress};
use crate::row::{Against, Bound, Row, Unit};
use crate::stats::percentile;

const SESSIONS: u64 = 64;
const EVENT_BYTES: usize = 200;
/// What the packed event has besides its text.
const HEAD_BYTES: usize = 17;

/// Somewhere to append to. Each batch has a number, and its number comes back when it is durable.
trait Log {
    fn append(&mut self, number: u64, sessions: &[u64]) -> Result<()>;
    fn done(&mut self) -> Result<u64>;
    fn done_already(&mut self) -> Option<u64>;
}

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let events = bench.extent.pick(5_000, 400_000);
    let recorded = Against::Recorded { name: "Redis always", times_limit: 88.0 / 462.0 };
    let mut rate = Row::new("durable append, 64 sessions, FULL", Unit::PerSecond)
        .goal(Against::Limit, Bound::AtLeast(0.6))
        .goal(recorded, Bound::AtLeast(2.0));
    let mut normal = Row::new("append, 64 sessions, NORMAL", Unit::PerSecond);
    let mut middle = Row::new("durable append p50, 64 sessions, FULL", Unit::Micros);
    let mut tail = Row::new("durable append p99, 64 sessions, FULL", Unit::Micros);
    for round in 0..bench.rounds {
        progress(&format!("durable append, round {}", round + 1));
        let folder = bench.places.data.join(format!("append-{round}"));
        std::fs::create_dir_all(&folder)?;
        let mut limit = Preallocated::open(&folder.join("raw"), events)?;
        let (raw, raw_times) = drive(&mut limit, events)?;
        let mut full = Sqlite::open(&folder.join("full"), Durability::Full)?;
        let (ours, times) = drive(&mut full, events)?;
        let mut relaxed = Sqlite::open(&folder.join("normal"), Durability::Normal)?;
        let (relaxed, _) = drive(&mut relaxed, events)?;
        rate.ours.push(ours);
        rate.limit.push(raw);
        normal.ours.push(relaxed);
        for (row, share) in [(&mut middle, 0.5), (&mut tail, 0.99)] {
            row.ours.extend(percentile(&times, share));
            row.limit.extend(percentile(&raw_times, share));
        }
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(Findings { rows: vec![rate, normal, middle, tail], ..Findings::default() })
}

/// Keeps one event of each session on its way; events a second, and microseconds of each.
fn drive(log: &mut dyn Log, events: u64) -> Result<(f64, Vec<f64>)> {
    let mut waiting: HashMap<u64, (Instant, Vec<u64>)> = HashMap::new();
    let (mut number, mut sent, mut times) = (0, 0, Vec::new());
    let mut ready: Vec<u64> = (1..=SESSIONS).collect();
    let start = Instant::now();
    loop {
        if sent < events && !ready.is_empty() {
            number += 1;
            sent += ready.len() as u64;
            log.append(number, &ready)?;
            waiting.insert(number, (Instant::now(), std::mem::take(&mut ready)));
        }
        if waiting.is_empty() {
            break;
        }
        let mut done = Some(log.done()?);
        while let Some(number) = done {
            let (since, sessions) = waiting.remove(&number).context("a batch came back that was not sent")?;
            times.extend(std::iter::repeat_n(since.elapsed().as_secs_f64() * 1e6, sessions.len()));
            ready.extend(sessions);
            done = log.done_already();
        }
    }
    Ok((times.len() as f64 / start.elapsed().as_secs_f64(), times))
}

/// Our store.
struct Sqlite {
    store: SqliteStore,
    done: Receiver<CommitDone>,
    heads: Vec<PageBuilder>,
    body: Body,
}

impl Sqlite {
    fn open(folder: &Path, durability: Durability) -> Result<Self> {
        let (sender, done) = sync_channel(1024);
        let options = Options { durability, ..Options::default() };
        let (store, _) = SqliteStore::open(folder, options, move |done| drop(sender.send(done)))?;
        let text = "x".repeat(EVENT_BYTES - HEAD_BYTES);
        let body = Body::Text { text: Text::from_plain(&text) };
        let mut log = Self { store, done, heads: (0..SESSIONS).map(|_| PageBuilder::new(Seq(1))).collect(), body };
        let entries: Result<Vec<Entry>> = (1..=SESSIONS).map(|session| log.first(session)).collect();
        let entries = entries?;
        log.store.commit(Commit { ticket: Ticket(0), entries, changes: Vec::new() });
        log.done()?;
        Ok(log)
    }

    /// A session's first event, with its row.
    fn first(&mut self, session: u64) -> Result<Entry> {
        let row = SessionRow {
            session: SessionId(session),
            epoch: Epoch(session),
            workspace: "/".into(),
            agent: "load".into(),
            title: String::new(),
            tab: None,
            agent_session: None,
            keeps: switchboard_types::SessionKeeps::default(),
            created: Time(1),
            updated: Time(1),
        };
        let mut entry = self.entry(session)?;
        entry.changes.push(Change::Session(row));
        Ok(entry)
    }

    fn entry(&mut self, session: u64) -> Result<Entry> {
        let at = usize::try_from(session - 1)?;
        let head = self.heads.get_mut(at).context("there is no such session")?;
        head.push(Time(1), Some(TurnId(1)), &self.body);
        let page = Arc::new(head.take().context("a page has what was added to it")?);
        Ok(Entry { session: SessionId(session), page, changes: Vec::new() })
    }

    fn number(done: CommitDone) -> Result<u64> {
        ensure!(done.failed.is_empty(), "a commit failed: {:?}", done.failed);
        Ok(done.ticket.0)
    }
}

impl Log for Sqlite {
    fn append(&mut self, number: u64, sessions: &[u64]) -> Result<()> {
        let entries: Result<Vec<Entry>> = sessions.iter().map(|session| self.entry(*session)).collect();
        self.store.commit(Commit { ticket: Ticket(number), entries: entries?, changes: Vec::new() });
        Ok(())
    }

    fn done(&mut self) -> Result<u64> {
        Self::number(self.done.recv().context("the store is gone")?)
    }

    fn done_already(&mut self) -> Option<u64> {
        self.done.try_recv().ok().map(|done| done.ticket.0)
    }
}

/// The limit: a file whose blocks are there already, and a thread that writes what waits.
struct Preallocated {
    batches: Option<SyncSender<(u64, Vec<u8>)>>,
    done: Receiver<u64>,
    writer: Option<JoinHandle<std::io::Result<()>>>,
}

impl Preallocated {
    fn open(path: &Path, events: u64) -> Result<Self> {
        let file = OpenOptions::new().create(true).truncate(true).write(true).open(path)?;
        let bytes = (events + SESSIONS) * EVENT_BYTES as u64;
        fallocate(&file, FallocateFlags::empty(), 0, bytes)?;
        // Blocks that were never written cost a change of the file's map at their first write.
        let zeros = vec![0; 1024 * 1024];
        let mut at = 0;
        while at < bytes {
            file.write_all_at(&zeros, at)?;
            at += zeros.len() as u64;
        }
        fdatasync(&file)?;
        let (batches, waiting) = sync_channel::<(u64, Vec<u8>)>(1024);
        let (answers, done) = sync_channel(1024);
        let writer = std::thread::spawn(move || write(&file, &waiting, &answers));
        Ok(Self { batches: Some(batches), done, writer: Some(writer) })
    }
}

fn write(file: &File, waiting: &Receiver<(u64, Vec<u8>)>, answers: &SyncSender<u64>) -> std::io::Result<()> {
    let (mut at, mut bytes, mut numbers) = (0, Vec::new(), Vec::new());
    while let Ok((number, batch)) = waiting.recv() {
        numbers.push(number);
        bytes.extend_from_slice(&batch);
        while let Ok((number, batch)) = waiting.try_recv() {
            numbers.push(number);
            bytes.extend_from_slice(&batch);
        }
        file.write_all_at(&bytes, at)?;
        fdatasync(file)?;
        at += bytes.len() as u64;
        bytes.clear();
        for number in numbers.drain(..) {
            // Nobody waits any more only if the drive has failed, and it says why.
            let _ = answers.send(number);
        }
    }
    Ok(())
}

impl Log for Preallocated {
    fn append(&mut self, number: u64, sessions: &[u64]) -> Result<()> {
        let mut bytes = Vec::with_capacity(sessions.len() * EVENT_BYTES);
        for session in sessions {
            bytes.extend_from_slice(&session.to_le_bytes());
            bytes.resize(bytes.len() + EVENT_BYTES - 8, b'x');
        }
        let Some(batches) = &self.batches else { bail!("the file is closed") };
        batches.send((number, bytes)).ok().context("the writer is gone")
    }

    fn done(&mut self) -> Result<u64> {
        self.done.recv().context("the writer is gone")
    }

    fn done_already(&mut self) -> Option<u64> {
        self.done.try_recv().ok()
    }
}

impl Drop for Preallocated {
    fn drop(&mut self) {
        self.batches = None;
        if let Some(Ok(Err(error))) = self.writer.take().map(JoinHandle::join) {
            eprintln!("bench: the raw file could not be written: {error}");
        }
    }
}
