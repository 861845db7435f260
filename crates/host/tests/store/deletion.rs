//! Deleted sessions: gone from the file, from a restart and from a salvage; their room is used again. Never looks at what the
//! conformance suite shows of every store.

use std::path::Path;
use std::time::Duration;

use switchboard_host::store::{Options, Store, Which};
use switchboard_types::{Change, Commit, Seq, SessionId, Ticket};

use super::kit::{Opened, commit, count, early_packing, entry, no_packing, open, read_all, well};

const DB: &str = "switchboard.db";
const WAL: &str = "switchboard.db-wal";
/// Stands in every page of session 1 and of no other: see `kit::body`.
const TRACE: &[u8] = b"1:9 ";

fn write(opened: &Opened, commit: Commit) {
    let ticket = commit.ticket.0;
    opened.store.commit(commit);
    assert_eq!(opened.done.recv_timeout(Duration::from_secs(20)).unwrap(), well(ticket));
}

fn fill(opened: &Opened, session: u64, events: u64) {
    for first in (1..=events).step_by(4) {
        write(opened, commit(first, vec![entry(session, first, 4, 400)]));
    }
}

fn delete(opened: &Opened, session: u64) {
    let changes = vec![Change::DeleteSession(SessionId(session))];
    write(opened, Commit { ticket: Ticket(9999), entries: Vec::new(), changes });
}

fn ids(opened: &Opened) -> Vec<u64> {
    opened.store.sessions(Which::All).unwrap().iter().map(|one| one.row.session.0).collect()
}

fn holds(file: &Path, needle: &[u8]) -> bool {
    let bytes = std::fs::read(file).unwrap_or_default();
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[test]
fn a_deleted_session_stays_deleted_after_a_restart_and_its_id_is_not_used_again() {
    for options in [early_packing(), no_packing()] {
        let folder = tempfile::tempdir().unwrap();
        let opened = open(folder.path(), options.clone());
        fill(&opened, 1, 40);
        fill(&opened, 2, 40);
        delete(&opened, 2);
        opened.store.close().unwrap();
        let opened = open(folder.path(), options);
        assert_eq!((ids(&opened), opened.store.next_session().unwrap()), (vec![1], SessionId(3)));
        assert_eq!(read_all(&opened.store, 1, 5000).head(), 40);
        opened.store.commit(commit(1, vec![entry(2, 1, 1, 10)]));
        assert_eq!(opened.done.recv().unwrap().failed, vec![(SessionId(2), "session 2 was deleted".to_owned())]);
    }
}

#[test]
fn what_was_deleted_is_wiped_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path(), no_packing());
    fill(&opened, 1, 40);
    fill(&opened, 2, 8);
    delete(&opened, 1);
    opened.store.close().unwrap();
    assert!(!holds(&folder.path().join(DB), TRACE) && !holds(&folder.path().join(WAL), TRACE));
    assert!(holds(&folder.path().join(DB), b"2:8 "));
}

#[test]
fn the_room_of_a_deleted_session_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let pages = || std::fs::metadata(folder.path().join(DB)).unwrap().len();
    let mut sizes = Vec::new();
    for session in 1..=6 {
        let opened = open(folder.path(), early_packing());
        fill(&opened, session, 200);
        delete(&opened, session);
        opened.store.close().unwrap();
        sizes.push(pages());
    }
    assert_eq!(sizes[1..].iter().max(), sizes[1..].iter().min(), "the file grows no more: {sizes:?}");
    for table in ["tail", "segment", "turn", "session"] {
        assert_eq!(count(folder.path(), table), 0, "{table}");
    }
    assert_eq!(count(folder.path(), "deleted"), 6);
}

/// As `kill -9` leaves the files, with the pages of the deletion in the log only and the old ones still in the database.
#[test]
fn a_salvage_brings_no_deleted_session_back() {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path(), Options::default());
    fill(&opened, 1, 60);
    fill(&opened, 2, 60);
    opened.store.close().unwrap();
    let opened = open(folder.path(), no_packing());
    delete(&opened, 1);
    // A last commit may be none, so what is to be believed stands before it.
    write(&opened, commit(2, vec![entry(2, 61, 1, 400)]));
    let killed = tempfile::tempdir().unwrap();
    for name in [DB, WAL] {
        std::fs::copy(folder.path().join(name), killed.path().join(name)).unwrap();
    }
    assert!(holds(&killed.path().join(DB), TRACE), "the remains of the deleted session are there to be found");
    std::fs::write(killed.path().join("switchboard.db.salvage"), "1").unwrap();

    let salvaged = open(killed.path(), Options::default());
    assert!(salvaged.report.set_aside.is_some());
    assert_eq!((ids(&salvaged), salvaged.store.next_session().unwrap()), (vec![2], SessionId(3)));
    assert_eq!(read_all(&salvaged.store, 1, 5000).head(), 0);
    assert_eq!(read_all(&salvaged.store, 2, 5000).head(), 61);
    salvaged.store.commit(commit(1, vec![entry(1, 1, 1, 10)]));
    assert_eq!(salvaged.done.recv().unwrap().failed.len(), 1);
}

#[test]
fn a_reader_on_its_way_finds_the_end_and_no_loss() {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path(), early_packing());
    fill(&opened, 1, 400);
    let head = opened.store.sessions(super::one(1)).unwrap().remove(0).head;
    std::thread::scope(|scope| {
        let store = &opened.store;
        let readers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(move || {
                    let mut reads = 0_u32;
                    loop {
                        let slice = store.read_after(SessionId(1), Seq(200), 4000).unwrap();
                        assert_eq!(slice.gap, None, "after {reads} reads");
                        reads += 1;
                        if slice.page.is_none() {
                            return;
                        }
                    }
                })
            })
            .collect();
        delete(&opened, 1);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    assert_eq!((head, count(folder.path(), "lost")), (Seq(400), 0));
}
