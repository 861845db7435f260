//! What the store's tests share: a store in its own folder, pages whose every byte is known, reading a whole log. Never
//! asserts more than that a log is what was written.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use switchboard_host::store::{Bounds, OpenReport, Options, SqliteStore, Store, StoreError};
use switchboard_types::{
    Body, Change, Commit, CommitDone, Entry, Epoch, Event, Page, PageBuilder, Prompt, Seq, SessionId, SessionRow,
    Ticket, Time, TurnId, TurnPhase, TurnRow,
};

/// A store that is packed early, so that small tests see segments too.
pub(crate) fn early_packing() -> Options {
    let bounds = Bounds {
        soft_rows: 8,
        soft_bytes: 16 * 1024,
        hard_rows: 64,
        hard_bytes: 256 * 1024,
        segment_bytes: 4096,
        checkpoint_pages: 100,
    };
    Options { bounds, ..Options::default() }
}

/// A store that is never packed.
pub(crate) fn no_packing() -> Options {
    let far = usize::MAX / 2;
    let bounds = Bounds { soft_rows: far, soft_bytes: far, hard_rows: far, hard_bytes: far, ..Bounds::default() };
    Options { bounds, ..Options::default() }
}

/// An open store and its answers.
pub(crate) struct Opened {
    pub(crate) store: SqliteStore,
    pub(crate) done: Receiver<CommitDone>,
    pub(crate) report: OpenReport,
}

pub(crate) fn open(folder: &Path, options: Options) -> Opened {
    try_open(folder, options).unwrap()
}

pub(crate) fn try_open(folder: &Path, options: Options) -> Result<Opened, StoreError> {
    let (sender, done) = channel();
    let (store, report) = SqliteStore::open(folder, options, move |done| drop(sender.send(done)))?;
    Ok(Opened { store, done, report })
}

/// The event that a test expects at a place: every byte follows from session and seq.
pub(crate) fn body(session: u64, seq: u64, bytes: usize) -> Body {
    match seq {
        1 => Body::SessionOpened { agent: "demo".into(), workspace: "/work".into() },
        2 => Body::PromptQueued {
            name: format!("m{session}").as_str().into(),
            prompt: Prompt { text: "hello".to_owned(), context: Vec::new() },
            position: 0,
        },
        3 => Body::TurnStarted {},
        _ => {
            let mut text = format!("{session}:{seq} ");
            let mut rng = Rng(session << 32 | seq);
            while text.len() < bytes {
                text.push(char::from(b'a' + (rng.next() % 26) as u8));
            }
            Body::Text { text: text.as_str().into() }
        }
    }
}

fn turn_of(seq: u64) -> Option<TurnId> {
    (seq > 1).then_some(TurnId(1))
}

pub(crate) fn page(session: u64, first: u64, count: u64, bytes: usize) -> Arc<Page> {
    let mut builder = PageBuilder::new(Seq(first));
    for seq in first..first + count {
        builder.push(Time(1000 + seq), turn_of(seq), &body(session, seq, bytes));
    }
    Arc::new(builder.take().unwrap())
}

pub(crate) fn row(session: u64) -> SessionRow {
    SessionRow {
        session: SessionId(session),
        epoch: Epoch(7000 + session),
        workspace: "/work".into(),
        agent: "demo".into(),
        title: format!("title {session}"),
        tab: Some(format!("tab-{session}").as_str().into()),
        agent_session: None,
        keeps: switchboard_types::SessionKeeps::default(),
        created: Time(1001),
        updated: Time(1001),
    }
}

pub(crate) fn turn(session: u64, turn: u32, phase: TurnPhase) -> TurnRow {
    TurnRow {
        session: SessionId(session),
        turn: TurnId(turn),
        name: format!("m{session}").as_str().into(),
        digest: u64::MAX - session,
        queued: Seq(2),
        phase,
    }
}

/// Events of one session; its rows come with the first of them.
pub(crate) fn entry(session: u64, first: u64, count: u64, bytes: usize) -> Entry {
    let mut changes = Vec::new();
    if first == 1 {
        changes.push(Change::Session(row(session)));
    }
    if first <= 2 && first + count > 2 {
        changes.push(Change::Turn(turn(session, 1, TurnPhase::Running)));
    }
    Entry { session: SessionId(session), page: page(session, first, count, bytes), changes }
}

pub(crate) fn commit(ticket: u64, entries: Vec<Entry>) -> Commit {
    Commit { ticket: Ticket(ticket), entries, changes: Vec::new() }
}

pub(crate) fn well(ticket: u64) -> CommitDone {
    CommitDone { ticket: Ticket(ticket), failed: Vec::new(), changes_failed: None }
}

/// What reading a whole log gave: events by seq, and gaps.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Whole {
    pub(crate) events: BTreeMap<u64, Event>,
    pub(crate) gaps: Vec<(u64, u64)>,
}

impl Whole {
    /// The highest place that was spoken of; checks that events and gaps cover everything up to it exactly once.
    pub(crate) fn head(&self) -> u64 {
        let mut places: Vec<(u64, u64)> = self.gaps.clone();
        places.extend(self.events.keys().map(|seq| (*seq, *seq)));
        places.sort_unstable();
        let mut head = 0;
        for (first, last) in places {
            assert_eq!(first, head + 1, "neither holes nor doubles: {:?}", self.gaps);
            head = last;
        }
        head
    }
}

pub(crate) fn read_all(store: &dyn Store, session: u64, max_bytes: usize) -> Whole {
    try_read_all(store, session, max_bytes).unwrap()
}

pub(crate) fn try_read_all(store: &dyn Store, session: u64, max_bytes: usize) -> Result<Whole, StoreError> {
    let mut whole = Whole::default();
    let mut cursor = Seq::START;
    loop {
        let slice = store.read_after(SessionId(session), cursor, max_bytes)?;
        if let Some((first, last)) = slice.gap {
            assert_eq!(first, cursor.next(), "a gap begins at the cursor");
            whole.gaps.push((first.0, last.0));
            cursor = last;
        }
        let Some(page) = slice.page else { return Ok(whole) };
        assert_eq!(page.first(), cursor.next(), "a page follows the cursor");
        assert!(page.bytes() <= max_bytes || page.count() == 1, "a page keeps to its bound");
        cursor = page.last();
        for event in page.events() {
            whole.events.insert(event.seq.0, event.to_event().unwrap());
        }
    }
}

/// Checks that every event is the one that was written.
pub(crate) fn assert_genuine(session: u64, whole: &Whole, bytes: usize) {
    for (seq, event) in &whole.events {
        let wanted = Event {
            seq: Seq(*seq),
            at: Time(1000 + seq),
            turn: turn_of(*seq),
            body: body(session, *seq, bytes),
            source: None,
        };
        assert_eq!(*event, wanted);
    }
}

/// Waits until something that another thread does has happened.
pub(crate) fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(20);
    while !happened() {
        assert!(Instant::now() < limit, "{what} did not happen");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Rows in a table, seen from outside.
pub(crate) fn count(folder: &Path, table: &str) -> i64 {
    let conn = rusqlite::Connection::open_with_flags(
        folder.join("switchboard.db"),
        rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY,
    )
    .unwrap();
    conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

/// Small, seeded, good enough.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}
