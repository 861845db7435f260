//! Readers while the writer appends and packs: nothing is missed or doubled between tail and segments. Never measures.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use switchboard_host::store::{Store, Which};
use switchboard_types::{Seq, SessionId};

use super::kit::{Rng, assert_genuine, commit, count, early_packing, entry, open, read_all, wait_until};

const SESSIONS: u64 = 5;

#[test]
fn readers_see_every_event_once_while_rows_move_from_the_tail_to_segments() {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path(), early_packing());
    let store = &opened.store;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..3 {
            let stop = &stop;
            scope.spawn(move || follow(store, reader, stop));
        }
        let mut heads = [0; SESSIONS as usize];
        let mut rng = Rng(1);
        for ticket in 1..=1500 {
            let session = rng.below(SESSIONS);
            let size = if rng.below(50) == 0 { 9000 } else { 100 };
            let events = 1 + rng.below(3);
            let head = &mut heads[session as usize];
            let entry = entry(session + 1, *head + 1, events, size);
            *head += events;
            store.commit(commit(ticket, vec![entry]));
            let done = opened.done.recv_timeout(Duration::from_secs(20)).unwrap();
            assert_eq!(done.failed, vec![]);
            // What is answered is there, at once and for everybody.
            let slice = store.read_after(SessionId(session + 1), Seq(*head - 1), 100).unwrap();
            assert_eq!(slice.page.unwrap().last(), Seq(*head));
            if ticket % 300 == 0 {
                wait_until("packing", || count(folder.path(), "tail") <= 8);
            }
        }
        stop.store(true, Ordering::Release);
        let stored = store.sessions(Which::All).unwrap();
        assert_eq!(stored.iter().map(|one| one.head.0).collect::<Vec<_>>(), heads.to_vec());
    });
    assert!(count(folder.path(), "segment") > 20);
    opened.store.close().unwrap();
}

/// Reads from random cursors and along the log; every slice must begin right after its cursor and have no gap.
fn follow(store: &dyn Store, seed: u64, stop: &AtomicBool) {
    let mut rng = Rng(seed + 100);
    let mut heads = [0; SESSIONS as usize];
    while !stop.load(Ordering::Acquire) {
        let session = rng.below(SESSIONS);
        let head = &mut heads[session as usize];
        let from = if rng.below(4) == 0 { rng.below(*head + 1) } else { *head };
        let slice = store.read_after(SessionId(session + 1), Seq(from), 1 + rng.below(20_000) as usize).unwrap();
        assert_eq!(slice.gap, None);
        match slice.page {
            Some(page) => {
                assert_eq!(page.first(), Seq(from + 1));
                *head = (*head).max(page.last().0);
            }
            None => assert_eq!(from, *head, "what was seen once is never gone"),
        }
    }
}

#[test]
fn a_reopened_store_has_every_event_wherever_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    let mut head = 0;
    for round in 0..4 {
        let opened = open(folder.path(), early_packing());
        assert_eq!(opened.report.notes, Vec::<String>::new());
        for ticket in 1..=40 {
            opened.store.commit(commit(ticket, vec![entry(1, head + 1, 2, 300)]));
            head += 2;
        }
        // Closing answers all that waits, and packing may be anywhere.
        if round % 2 == 0 {
            wait_until("packing", || count(folder.path(), "tail") <= 8);
        }
        opened.store.close().unwrap();
        assert_eq!(opened.done.iter().filter(|done| done.failed.is_empty()).count(), 40);
    }
    let opened = open(folder.path(), early_packing());
    let whole = read_all(&opened.store, 1, 10_000);
    assert_eq!((whole.head(), whole.gaps.len()), (320, 0));
    assert_genuine(1, &whole, 300);
    assert_eq!(opened.store.next_session().unwrap(), SessionId(2));
}
