//! Damaged files: nothing readable is lost, what is lost is told, the damaged file is kept, and the rest serves on.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use switchboard_host::store::{Options, Store, StoreError, StoredSession, Which};
use switchboard_types::{Change, Commit, Epoch, SessionId, Ticket, TurnPhase, WorkspaceRow};

use super::kit::{
    Opened, Rng, Whole, assert_genuine, commit, count, early_packing, entry, no_packing, open, read_all, row,
    try_read_all, turn, wait_until, well,
};

const SESSIONS: u64 = 4;
const EVENTS: u64 = 60;
const BYTES: usize = 400;
const DB: &str = "switchboard.db";
const WAL: &str = "switchboard.db-wal";

/// Fills a store: every session has all its events.
fn fill(folder: &Path, options: Options) -> Opened {
    let opened = open(folder, options);
    let workspace = Change::Workspace(WorkspaceRow { root: "/work".into(), trusted: None });
    for (ticket, first) in (1..=EVENTS).step_by(2).enumerate() {
        let ticket = ticket as u64;
        let entries = (1..=SESSIONS).map(|session| entry(session, first, 2, BYTES)).collect();
        opened.store.commit(Commit { ticket: Ticket(ticket), entries, changes: vec![workspace.clone()] });
        assert_eq!(opened.done.recv_timeout(Duration::from_secs(20)).unwrap(), well(ticket));
    }
    opened
}

/// A closed file, packed but for a short tail.
fn packed(folder: &Path) -> Vec<u8> {
    let opened = fill(folder, early_packing());
    wait_until("packing", || count(folder, "tail") <= 8);
    assert!(count(folder, "tail") > 0 && count(folder, "segment") > 8);
    opened.store.close().unwrap();
    std::fs::read(folder.join(DB)).unwrap()
}

/// A file and its log as `kill -9` leaves them.
fn killed(folder: &Path) -> (Vec<u8>, Vec<u8>) {
    let opened = fill(folder, no_packing());
    let files = (std::fs::read(folder.join(DB)).unwrap(), std::fs::read(folder.join(WAL)).unwrap());
    opened.store.close().unwrap();
    files
}

/// What a damaged file gave.
struct Looked {
    wholes: Vec<Whole>,
    sessions: Vec<StoredSession>,
    notes: Vec<String>,
    set_aside: bool,
}

impl Looked {
    fn lost(&self) -> u64 {
        let saved = self.wholes.iter().map(|whole| whole.events.range(..=EVENTS).count() as u64).sum::<u64>();
        SESSIONS * EVENTS - saved
    }
}

/// Opens a damaged file and checks all that must hold however it is damaged.
fn look(db: Option<&[u8]>, wal: Option<&[u8]>) -> Looked {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [(DB, db), (WAL, wal)] {
        bytes.into_iter().for_each(|bytes| std::fs::write(folder.path().join(name), bytes).unwrap());
    }
    let opened = open(folder.path(), early_packing());
    if let Some(aside) = &opened.report.set_aside {
        assert_eq!(std::fs::read(aside).ok().as_deref(), db, "what is set aside stays as it was");
    }
    let (opened, wholes) = match try_out(&opened) {
        Some(wholes) => (opened, wholes),
        None => {
            // The store said that it cannot use the file as it is, and may say so again; the next start salvages it.
            drop(opened.store.close());
            let opened = open(folder.path(), early_packing());
            assert!(opened.report.set_aside.is_some());
            let wholes = try_out(&opened).unwrap();
            (opened, wholes)
        }
    };
    let sessions = opened.store.sessions(Which::All).unwrap();
    for (session, whole) in (1..).zip(&wholes) {
        let stored = sessions.iter().find(|stored| stored.row.session == SessionId(session));
        let Some(stored) = stored else {
            assert!(whole.events.is_empty(), "session {session} has events but no row");
            continue;
        };
        // Of a session that left nothing, nobody knows anything: it began anew above.
        let complete = whole.head() == 0 || (whole.gaps.is_empty() && whole.head() >= EVENTS);
        assert!(complete || stored.row.epoch != row(session).epoch, "session {session} lost events but not its epoch");
        assert_eq!(stored.head.0, whole.head() + 1);
    }
    assert!(opened.store.next_session().unwrap() > sessions.last().map_or(SessionId(0), |last| last.row.session));
    // It is salvaged once, not at every start.
    opened.store.close().unwrap();
    let again = open(folder.path(), early_packing());
    assert_eq!(again.report.set_aside, None);
    for (session, whole) in (1..).zip(&wholes) {
        assert_eq!(read_all(&again.store, session, 3000).gaps, whole.gaps);
    }
    let set_aside = opened.report.set_aside.is_some();
    Looked { wholes, sessions, notes: opened.report.notes, set_aside }
}

/// Reads and appends to every session; none if the store finds that the file is damaged beyond working around.
fn try_out(opened: &Opened) -> Option<Vec<Whole>> {
    let mut wholes = Vec::new();
    for session in 1..=SESSIONS {
        match try_read_all(&opened.store, session, 3000) {
            Ok(whole) => wholes.push(whole),
            Err(StoreError::Damaged { .. }) => return None,
            Err(error) => panic!("{error}"),
        }
    }
    // Reading may have found losses; the writer has noted them by the time that a commit is answered.
    for (session, whole) in (1..).zip(&wholes) {
        assert_genuine(session, whole, BYTES);
        opened.store.commit(commit(session, vec![entry(session, whole.head() + 1, 1, BYTES)]));
        let done = opened.done.recv_timeout(Duration::from_secs(20)).unwrap();
        match done.failed.first() {
            None => {}
            Some((_, why)) if why.contains("restart switchboard") => return None,
            Some((_, why)) => panic!("session {session}: {why}"),
        }
    }
    Some(wholes)
}

#[test]
fn a_sound_file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let db = packed(folder.path());
    let looked = look(Some(&db), None);
    assert_eq!((looked.lost(), looked.set_aside, looked.notes.len()), (0, false, 0));
    let folder = tempfile::tempdir().unwrap();
    let (db, wal) = killed(folder.path());
    let looked = look(Some(&db), Some(&wal));
    assert_eq!((looked.lost(), looked.set_aside, looked.notes.len()), (0, false, 0));
}

#[test]
fn a_file_of_garbage_is_set_aside_and_a_new_one_begun() {
    let mut rng = Rng(3);
    let garbage: Vec<u8> = (0..50_000).map(|_| rng.next() as u8).collect();
    let looked = look(Some(&garbage), None);
    assert!(looked.set_aside && looked.notes[0].contains("set aside"), "{:?}", looked.notes);
}

#[test]
fn without_its_first_page_every_event_and_row_is_still_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = packed(folder.path());
    db[..4096].fill(0);
    let looked = look(Some(&db), None);
    assert_eq!((looked.lost(), looked.set_aside), (0, true));
    let titles: Vec<String> = looked.sessions.iter().map(|stored| stored.row.title.clone()).collect();
    assert_eq!(titles, ["title 1", "title 2", "title 3", "title 4"]);
}

#[test]
fn a_file_cut_in_half_gives_what_its_half_holds() {
    let folder = tempfile::tempdir().unwrap();
    let db = packed(folder.path());
    for part in [4096 + 100, db.len() / 3, db.len() / 2, db.len() - 4096, db.len() - 1] {
        let looked = look(Some(&db[..part]), None);
        assert!(looked.set_aside || part == db.len() - 1, "cut at {part}");
        // The first pages hold tables that have no events.
        let share = SESSIONS * EVENTS * part.saturating_sub(28 * 4096) as u64 / db.len() as u64;
        assert!(looked.lost() <= SESSIONS * EVENTS - share / 2, "cut at {part}: {} lost", looked.lost());
    }
}

#[test]
fn a_damaged_page_loses_what_it_holds_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let db = packed(folder.path());
    let mut rng = Rng(5);
    let mut damaged = 0;
    for page in 0..db.len() / 4096 {
        let mut bytes = db.clone();
        let at = page * 4096 + rng.below(4000) as usize;
        for byte in &mut bytes[at..at + 16] {
            *byte ^= 0x55;
        }
        let looked = look(Some(&bytes), None);
        // A page holds at most a segment's share or some rows of the tail; a row may span a few pages.
        assert!(looked.lost() <= 24, "page {page} at {at}: {} lost, {:?}", looked.lost(), looked.notes);
        damaged += u64::from(looked.lost() > 0);
    }
    assert!(damaged > 5, "only {damaged} pages mattered");
}

#[test]
fn a_wiped_page_loses_what_it_holds_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let db = packed(folder.path());
    for page in 0..db.len() / 4096 {
        let mut bytes = db.clone();
        bytes[page * 4096..][..4096].fill(0);
        let looked = look(Some(&bytes), None);
        assert!(looked.lost() <= 24, "page {page}: {} lost, {:?}", looked.lost(), looked.notes);
    }
}

#[test]
fn a_flipped_byte_in_the_write_ahead_log_is_no_torn_end() {
    let folder = tempfile::tempdir().unwrap();
    let (db, wal) = killed(folder.path());
    let mut rng = Rng(8);
    let frames = wal.len() / 4120;
    for number in 0..60 {
        let mut bytes = wal.clone();
        let at = if number < 4 { number * 9 } else { rng.below((frames * 4120) as u64) as usize };
        bytes[at] ^= 0x10;
        let looked = look(Some(&db), Some(&bytes));
        // Every page of the log was written many times, so nearly all is found in another version of its page.
        assert!(looked.lost() <= 8, "at {at}: {} lost, {:?}", looked.lost(), looked.notes);
    }
}

#[test]
fn an_empty_file_beside_a_full_log_is_not_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (_, wal) = killed(folder.path());
    let looked = look(Some(b""), Some(&wal));
    assert!(looked.set_aside && looked.lost() == 0, "{:?}", looked.notes);
    let looked = look(None, Some(&wal));
    assert!(looked.set_aside && looked.lost() == 0, "{:?}", looked.notes);
}

#[test]
fn a_segment_that_goes_bad_while_in_use_is_a_gap_for_its_session_only() {
    let folder = tempfile::tempdir().unwrap();
    let opened = fill(folder.path(), early_packing());
    wait_until("packing", || count(folder.path(), "tail") <= 8);
    let other = Connection::open(folder.path().join(DB)).unwrap();
    let (first, last): (u64, u64) = other
        .query_row(
            "UPDATE segment SET records = zeroblob(length(records)) WHERE id =
             (SELECT id FROM segment WHERE session = 2 ORDER BY first_seq LIMIT 1 OFFSET 2)
             RETURNING first_seq, last_seq",
            [],
            |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64)),
        )
        .unwrap();
    let whole = read_all(&opened.store, 2, 1000);
    assert_eq!((whole.head(), whole.gaps.as_slice()), (EVENTS, [(first, last)].as_slice()));
    assert_genuine(2, &whole, BYTES);
    assert_eq!(read_all(&opened.store, 1, 1000).gaps, vec![]);
    // It is noted: the log has a new epoch, which a later row of the session does not take back.
    let mut next = entry(2, EVENTS + 1, 1, BYTES);
    next.changes = vec![Change::Session(row(2))];
    opened.store.commit(commit(900, vec![next]));
    assert_eq!(opened.done.recv().unwrap(), well(900));
    let stored = opened.store.sessions(super::one(2)).unwrap().remove(0);
    assert_eq!(stored.lost.iter().map(|gap| (gap.0.0, gap.1.0)).collect::<Vec<_>>(), vec![(first, last)]);
    assert!(stored.row.epoch != row(2).epoch);
    assert_eq!(opened.store.sessions(super::one(1)).unwrap()[0].row.epoch, row(1).epoch);
    drop(other);
    opened.store.close().unwrap();
    let again = open(folder.path(), early_packing());
    assert_eq!(read_all(&again.store, 2, 1000).gaps, vec![(first, last)]);
}

#[test]
fn a_bad_row_of_the_tail_costs_its_session_a_gap_and_the_others_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), no_packing()).store.close().unwrap();
    let conn = Connection::open(folder.path().join(DB)).unwrap();
    let (session, first, last): (u32, u32, u32) = conn
        .query_row(
            "UPDATE tail SET records = zeroblob(length(records)) WHERE id = (SELECT max(id) FROM tail)
             RETURNING session, first_seq, last_seq",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap();
    conn.close().unwrap();
    let opened = open(folder.path(), early_packing());
    assert!(opened.report.set_aside.is_some());
    let note = format!("Session {session} lost its events {first} to {last}; the rest of it is there.");
    assert_eq!(opened.report.notes[1..], [note]);
    for stored in opened.store.sessions(Which::All).unwrap() {
        let (number, lost) = (stored.row.session.0, stored.lost);
        // The end of a log is lost, and still its next event gets a new number.
        assert_eq!(stored.head.0, EVENTS);
        assert_eq!(lost.is_empty(), number != u64::from(session));
        assert_eq!(stored.row.epoch == row(number).epoch, lost.is_empty());
    }
}

#[test]
fn lost_rows_are_made_anew_from_the_log() {
    let folder = tempfile::tempdir().unwrap();
    packed(folder.path());
    let conn = Connection::open(folder.path().join(DB)).unwrap();
    conn.execute_batch("UPDATE session SET crc = crc + 1 WHERE session = 3; UPDATE turn SET crc = 0 WHERE session = 3")
        .unwrap();
    conn.close().unwrap();
    let db = std::fs::read(folder.path().join(DB)).unwrap();
    let looked = look(Some(&db), None);
    assert_eq!((looked.lost(), looked.set_aside), (0, true));
    let third = &looked.sessions[2].row;
    assert_eq!((third.agent.as_str(), third.workspace.as_str(), third.created.0), ("demo", "/work", 1001));
    assert!(third.epoch != Epoch(7003) && third.tab.is_none());

    let aside = tempfile::tempdir().unwrap();
    std::fs::write(aside.path().join(DB), &db).unwrap();
    let opened = open(aside.path(), early_packing());
    let mut wanted = turn(3, 1, TurnPhase::Running);
    wanted.digest = 0;
    assert_eq!(opened.store.turns(SessionId(3)).unwrap(), vec![wanted]);
    assert_eq!(opened.store.turns(SessionId(2)).unwrap(), vec![turn(2, 1, TurnPhase::Running)]);
}

#[test]
fn a_salvage_that_was_interrupted_is_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let (db, mut wal) = killed(folder.path());
    wal[5000] ^= 1;
    let here = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| std::fs::write(here.path().join(name), bytes).unwrap();
    // As if the power went after the file was moved and before its log was, with half a new file made.
    put("switchboard.db.damaged-123", &db);
    put(WAL, &wal);
    put("switchboard.db.new", b"half a file");
    put("switchboard.db.salvage", b"123");
    let opened = open(here.path(), early_packing());
    assert_eq!(opened.report.set_aside, Some(here.path().join("switchboard.db.damaged-123")));
    let lost: u64 =
        (1..=SESSIONS).map(|session| EVENTS - read_all(&opened.store, session, 9000).events.len() as u64).sum();
    assert!(lost <= 8, "{lost} lost: {:?}", opened.report.notes);
    assert_eq!(std::fs::read(here.path().join("switchboard.db.damaged-123-wal")).unwrap(), wal);
    assert!(!here.path().join("switchboard.db.salvage").exists() && !here.path().join("switchboard.db.new").exists());
}
