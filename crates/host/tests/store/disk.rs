//! A disk that is full or fails: commits fail in words, nothing that was acknowledged is touched, and it goes on by itself.

use std::sync::atomic::Ordering;
use std::time::Duration;

use switchboard_host::store::{Options, Store, StoreError};
use switchboard_types::{Change, Commit, CommitDone, SessionId, Ticket, WorkspaceRow};

use super::kit::{Opened, assert_genuine, commit, early_packing, entry, open, read_all, well};
use super::vfs;

fn write(opened: &Opened, commit: Commit) -> CommitDone {
    opened.store.commit(commit);
    opened.done.recv_timeout(Duration::from_secs(20)).unwrap()
}

#[test]
fn a_full_disk_fails_every_session_of_the_commit_and_writing_goes_on_once_there_is_room() {
    let disk = vfs::register("disk-full");
    let folder = tempfile::tempdir().unwrap();
    let options = Options { vfs: Some("disk-full".to_owned()), ..early_packing() };
    let opened = open(folder.path(), options);
    assert_eq!(write(&opened, commit(1, vec![entry(1, 1, 5, 100), entry(2, 1, 5, 100)])), well(1));
    disk.full.store(true, Ordering::Release);
    let workspace = Change::Workspace(WorkspaceRow { root: "/x".into(), trusted: None });
    let entries = vec![entry(1, 6, 5, 100), entry(2, 6, 1, 100)];
    let done = write(&opened, Commit { ticket: Ticket(2), entries, changes: vec![workspace] });
    let path = folder.path().join("switchboard.db");
    let why = StoreError::DiskFull { path }.to_string();
    assert_eq!(done.failed, vec![(SessionId(1), why.clone()), (SessionId(2), why.clone())]);
    assert_eq!(done.changes_failed, Some(why));
    disk.full.store(false, Ordering::Release);
    // What would leave a hole is refused; what follows the disk is not.
    assert_eq!(write(&opened, commit(3, vec![entry(1, 11, 1, 100)])).failed.len(), 1);
    assert_eq!(write(&opened, commit(4, vec![entry(1, 6, 1, 100), entry(2, 6, 1, 100)])), well(4));
    for session in [1, 2] {
        let whole = read_all(&opened.store, session, 1000);
        assert_eq!((whole.head(), whole.gaps.len()), (6, 0));
        assert_genuine(session, &whole, 100);
    }
}

#[test]
fn a_full_disk_stops_no_reader_and_loses_nothing() {
    let disk = vfs::register("disk-pack");
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path(), Options { vfs: Some("disk-pack".to_owned()), ..early_packing() });
    for ticket in 1..=30 {
        assert_eq!(write(&opened, commit(ticket, vec![entry(1, ticket, 1, 900)])), well(ticket));
    }
    disk.full.store(true, Ordering::Release);
    let whole = read_all(&opened.store, 1, 2000);
    assert_eq!((whole.head(), whole.gaps.len()), (30, 0));
    disk.full.store(false, Ordering::Release);
    opened.store.close().unwrap();
    assert_eq!(read_all(&open(folder.path(), early_packing()).store, 1, 2000), whole);
}

#[test]
fn a_sync_that_fails_is_a_commit_that_failed() {
    let disk = vfs::register("disk-sync");
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path(), Options { vfs: Some("disk-sync".to_owned()), ..early_packing() });
    assert_eq!(write(&opened, commit(1, vec![entry(1, 1, 5, 100)])), well(1));
    disk.sync_fails.store(true, Ordering::Release);
    let done = write(&opened, commit(2, vec![entry(1, 6, 5, 5000)]));
    assert!(done.failed[0].1.contains("check the disk"), "{done:?}");
    assert_eq!(read_all(&opened.store, 1, 1000).head(), 5);
    disk.sync_fails.store(false, Ordering::Release);
    assert_eq!(write(&opened, commit(3, vec![entry(1, 6, 1, 100)])), well(3));
    // Killed now: the failed commit's bytes are still behind the good ones in the write-ahead log.
    let copy = tempfile::tempdir().unwrap();
    for name in ["switchboard.db", "switchboard.db-wal"] {
        std::fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    let again = open(copy.path(), early_packing());
    let whole = read_all(&again.store, 1, 1000);
    assert!(whole.head() >= 6 && whole.gaps.is_empty(), "{whole:?}");
    let kept = whole.events.into_iter().filter(|(seq, _)| *seq <= 6).collect();
    assert_genuine(1, &super::kit::Whole { events: kept, gaps: vec![] }, 100);
}
