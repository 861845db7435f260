//! What every store must do, whatever it is made of. Never asks how.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use switchboard_host::store::{MemoryStore, Options, Slice, SqliteStore, Store, StoredSession, Which};
use switchboard_types::{
    Change, Commit, CommitDone, Epoch, Seq, SessionId, SessionRow, Ticket, Time, TurnPhase, WorkspaceRow,
};
use tempfile::TempDir;

use super::kit::{assert_genuine, commit, early_packing, entry, read_all, row, turn, well};

/// A store to be judged, with its answers.
pub(crate) struct Subject {
    pub(crate) store: Box<dyn Store>,
    done: Receiver<CommitDone>,
    _folder: Option<TempDir>,
}

impl Subject {
    fn answer(&self) -> CommitDone {
        self.done.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    pub(crate) fn write(&self, commit: Commit) {
        let ticket = commit.ticket.0;
        self.store.commit(commit);
        assert_eq!(self.answer(), well(ticket));
    }
}

/// Runs every check on a fresh store each.
pub(crate) fn suite(make: impl Fn() -> Subject) {
    let checks: [fn(&Subject); 13] = [
        events_come_back_in_bounded_pages,
        an_event_larger_than_the_page_comes_alone,
        nothing_follows_the_head_or_an_unknown_session,
        an_entry_that_leaves_a_hole_is_refused_alone_with_its_changes,
        answers_come_in_the_order_of_commits,
        sessions_are_listed_with_their_heads,
        history_is_listed_in_parts_the_last_used_first,
        turns_and_workspaces_are_inserted_and_replaced,
        a_session_id_is_never_free_again,
        an_epoch_is_the_stores_from_the_first_row_on,
        a_deleted_session_is_gone_with_all_that_was_known_of_it,
        what_comes_for_a_deleted_session_is_refused_and_its_id_is_never_free_again,
        a_session_that_was_never_there_can_be_deleted_and_uses_no_id_up,
    ];
    for check in checks.into_iter().chain(super::kept::CHECKS).chain(super::sourced::CHECKS) {
        check(&make());
    }
}

fn events_come_back_in_bounded_pages(subject: &Subject) {
    let mut ticket = 0;
    for first in (1..=600).step_by(4) {
        ticket += 1;
        subject.write(commit(ticket, vec![entry(1, first, 4, 60), entry(2, first, 4, 60)]));
    }
    for max_bytes in [1, 700, 5000, 1_000_000] {
        for session in [1, 2] {
            let whole = read_all(&*subject.store, session, max_bytes);
            assert_eq!((whole.head(), whole.events.len(), whole.gaps.len()), (603 / 4 * 4, 600, 0));
            assert_genuine(session, &whole, 60);
        }
    }
    let page = subject.store.read_after(SessionId(1), Seq(297), 1000).unwrap().page.unwrap();
    assert_eq!(page.first(), Seq(298));
    assert!(page.bytes() <= 1000 && page.count() > 5);
}

fn an_event_larger_than_the_page_comes_alone(subject: &Subject) {
    subject.write(commit(1, vec![entry(1, 1, 4, 10)]));
    subject.write(commit(2, vec![entry(1, 5, 3, 200_000)]));
    let page = subject.store.read_after(SessionId(1), Seq(4), 1000).unwrap().page.unwrap();
    assert_eq!((page.first(), page.last()), (Seq(5), Seq(5)));
    let whole = read_all(&*subject.store, 1, 250_000);
    assert_eq!(whole.head(), 7);
}

fn nothing_follows_the_head_or_an_unknown_session(subject: &Subject) {
    subject.write(commit(1, vec![entry(1, 1, 4, 10)]));
    for (session, after) in [(1, 4), (1, 400), (9, 0)] {
        assert_eq!(subject.store.read_after(SessionId(session), Seq(after), 1000).unwrap(), Slice::default());
    }
    assert_eq!(subject.store.turns(SessionId(9)).unwrap(), vec![]);
    assert_eq!(subject.store.sessions(Which::One(SessionId(9))).unwrap(), vec![]);
}

fn an_entry_that_leaves_a_hole_is_refused_alone_with_its_changes(subject: &Subject) {
    subject.write(commit(1, vec![entry(1, 1, 4, 10)]));
    let mut hole = entry(1, 6, 1, 10);
    hole.changes = vec![Change::Turn(turn(1, 9, TurnPhase::Queued))];
    let mut again = entry(2, 2, 1, 10);
    again.changes = vec![Change::Session(row(2))];
    subject.store.commit(commit(2, vec![hole, entry(3, 1, 2, 10), again]));
    let done = subject.answer();
    assert_eq!(done.failed.iter().map(|(session, _)| session.0).collect::<Vec<_>>(), vec![1, 2]);
    assert_eq!((read_all(&*subject.store, 1, 999).head(), read_all(&*subject.store, 3, 999).head()), (4, 2));
    assert_eq!(subject.store.turns(SessionId(1)).unwrap(), vec![turn(1, 1, TurnPhase::Running)]);
    assert_eq!(subject.store.sessions(Which::One(SessionId(2))).unwrap(), vec![]);
    // A repeated entry does not follow either.
    subject.store.commit(commit(3, vec![entry(1, 4, 1, 10)]));
    assert_eq!(subject.answer().failed.len(), 1);
    subject.write(commit(4, vec![entry(1, 5, 1, 10)]));
}

fn answers_come_in_the_order_of_commits(subject: &Subject) {
    for ticket in 1..=300 {
        subject.store.commit(commit(ticket, vec![entry(ticket % 7, (ticket - 1) / 7 + 1, 1, 20)]));
    }
    // Session 0 begins at its second event here, so what it adds is refused; the others go through.
    for ticket in 1..=300 {
        assert_eq!(subject.answer().ticket, Ticket(ticket));
    }
    assert_eq!(read_all(&*subject.store, 3, 500).head(), 43);
}

fn sessions_are_listed_with_their_heads(subject: &Subject) {
    subject.write(commit(1, vec![entry(1, 1, 4, 10), entry(2, 1, 2, 10), entry(3, 1, 1, 10)]));
    let closed = SessionRow { tab: None, title: "new".to_owned(), updated: Time(9), ..row(2) };
    let mut closing = entry(2, 3, 1, 10);
    closing.changes = vec![Change::Session(closed.clone())];
    subject.write(commit(2, vec![closing]));
    let stored = |row, head| StoredSession { row, head: Seq(head), lost: vec![] };
    let (one, two, three) = (stored(row(1), 4), stored(closed, 3), stored(row(3), 1));
    assert_eq!(subject.store.sessions(Which::WithTab).unwrap(), vec![one.clone(), three.clone()]);
    assert_eq!(subject.store.sessions(Which::All).unwrap(), vec![one, two.clone(), three]);
    assert_eq!(subject.store.sessions(Which::One(SessionId(2))).unwrap(), vec![two]);
}

fn history_is_listed_in_parts_the_last_used_first(subject: &Subject) {
    for (at, (session, updated)) in [(1, 50), (2, 70), (3, 50), (4, 90), (5, 10)].into_iter().enumerate() {
        let mut entry = entry(session, 1, 1, 10);
        entry.changes = vec![Change::Session(SessionRow { updated: Time(updated), ..row(session) })];
        subject.write(commit(at as u64 + 1, vec![entry]));
    }
    for limit in 1..=6 {
        let (mut listed, mut before) = (Vec::new(), None);
        loop {
            let part = subject.store.history(before, limit).unwrap();
            assert!(part.rows.len() <= limit);
            listed.extend(part.rows.iter().map(|row| row.session.0));
            let Some(next) = part.next else { break };
            before = Some(next);
        }
        assert_eq!(listed, vec![4, 2, 3, 1, 5], "by {limit}");
    }
}

fn turns_and_workspaces_are_inserted_and_replaced(subject: &Subject) {
    subject.write(commit(1, vec![entry(1, 1, 1, 10)]));
    let mut next = entry(1, 2, 1, 10);
    next.changes = vec![
        Change::Turn(turn(1, 2, TurnPhase::Queued)),
        Change::Turn(turn(1, 1, TurnPhase::Queued)),
        Change::Turn(turn(1, 1, TurnPhase::Ended)),
    ];
    let space = |root: &str, trusted: Option<u64>| WorkspaceRow { root: root.into(), trusted: trusted.map(Time) };
    let changes =
        vec![space("/b", Some(5)), space("/a", None), space("/b", None)].into_iter().map(Change::Workspace).collect();
    subject.write(Commit { ticket: Ticket(2), entries: vec![next], changes });
    let turns = vec![turn(1, 1, TurnPhase::Ended), turn(1, 2, TurnPhase::Queued)];
    assert_eq!(subject.store.turns(SessionId(1)).unwrap(), turns);
    assert_eq!(subject.store.workspaces().unwrap(), vec![space("/a", None), space("/b", None)]);
}

fn a_session_id_is_never_free_again(subject: &Subject) {
    assert_eq!(subject.store.next_session().unwrap(), SessionId(1));
    subject.write(commit(1, vec![entry(41, 1, 1, 10), entry(3, 1, 1, 10)]));
    assert_eq!(subject.store.next_session().unwrap(), SessionId(42));
}

fn an_epoch_is_the_stores_from_the_first_row_on(subject: &Subject) {
    subject.write(commit(1, vec![entry(1, 1, 1, 10)]));
    let mut other = entry(1, 2, 1, 10);
    other.changes = vec![Change::Session(SessionRow { epoch: Epoch(1), ..row(1) })];
    subject.write(commit(2, vec![other]));
    assert_eq!(subject.store.sessions(Which::All).unwrap()[0].row.epoch, row(1).epoch);
}

fn delete(ticket: u64, session: u64) -> Commit {
    let changes = vec![Change::DeleteSession(SessionId(session))];
    Commit { ticket: Ticket(ticket), entries: Vec::new(), changes }
}

fn is_gone(subject: &Subject, session: u64) -> bool {
    let which = Which::One(SessionId(session));
    subject.store.sessions(which).unwrap().is_empty()
        && subject.store.turns(SessionId(session)).unwrap().is_empty()
        && subject.store.read_after(SessionId(session), Seq::START, 1000).unwrap() == Slice::default()
}

fn a_deleted_session_is_gone_with_all_that_was_known_of_it(subject: &Subject) {
    for (ticket, first) in (1..=400).step_by(4).enumerate() {
        subject.write(commit(ticket as u64, vec![entry(1, first, 4, 60), entry(2, first, 4, 60)]));
    }
    subject.write(delete(900, 1));
    assert!(is_gone(subject, 1));
    let whole = read_all(&*subject.store, 2, 5000);
    assert_eq!(whole.head(), 400);
    assert_genuine(2, &whole, 60);
    let left: Vec<u64> = subject.store.sessions(Which::All).unwrap().iter().map(|one| one.row.session.0).collect();
    assert_eq!(left, vec![2]);
    // The others go on, and a second deletion changes nothing.
    subject.write(delete(901, 1));
    subject.write(commit(902, vec![entry(2, 401, 4, 60)]));
    assert_eq!(read_all(&*subject.store, 2, 5000).head(), 404);
}

fn what_comes_for_a_deleted_session_is_refused_and_its_id_is_never_free_again(subject: &Subject) {
    subject.write(commit(1, vec![entry(7, 1, 4, 10)]));
    // Without waiting for answers, so that all of it may share one transaction.
    subject.store.commit(commit(2, vec![entry(7, 5, 1, 10), entry(8, 1, 1, 10)]));
    subject.store.commit(delete(3, 7));
    subject.store.commit(commit(4, vec![entry(7, 6, 1, 10)]));
    subject.store.commit(commit(5, vec![entry(7, 1, 1, 10), entry(9, 1, 3, 10)]));
    subject.store.commit(delete(6, 9));
    let refused: Vec<Vec<u64>> =
        (2..=6).map(|_| subject.answer().failed.iter().map(|(session, _)| session.0).collect()).collect();
    assert_eq!(refused, vec![vec![], vec![], vec![7], vec![7], vec![]]);
    assert!(is_gone(subject, 7) && is_gone(subject, 9) && !is_gone(subject, 8));
    subject.store.commit(commit(7, vec![entry(9, 1, 1, 10)]));
    assert_eq!(subject.answer().failed, vec![(SessionId(9), "session 9 was deleted".to_owned())]);
    let changes = vec![Change::Session(row(7))];
    subject.write(Commit { ticket: Ticket(8), entries: Vec::new(), changes });
    assert!(is_gone(subject, 7));
    assert_eq!(subject.store.next_session().unwrap(), SessionId(10));
}

fn a_session_that_was_never_there_can_be_deleted_and_uses_no_id_up(subject: &Subject) {
    subject.write(delete(1, 500));
    assert_eq!(subject.store.next_session().unwrap(), SessionId(1));
    subject.write(commit(2, vec![entry(500, 1, 1, 10)]));
    assert_eq!(read_all(&*subject.store, 500, 999).head(), 1);
}

fn sqlite(options: Options) -> Subject {
    let folder = tempfile::tempdir().unwrap();
    let (sender, done) = channel();
    let (store, report) = SqliteStore::open(folder.path(), options, move |done| drop(sender.send(done))).unwrap();
    assert_eq!(report.notes, Vec::<String>::new());
    Subject { store: Box::new(store), done, _folder: Some(folder) }
}

#[test]
fn the_sqlite_store_conforms() {
    suite(|| sqlite(Options::default()));
}

#[test]
fn the_sqlite_store_conforms_while_it_packs() {
    suite(|| sqlite(early_packing()));
}

#[test]
fn the_memory_store_conforms() {
    suite(|| {
        let (sender, done) = channel();
        Subject { store: Box::new(MemoryStore::new(move |done| drop(sender.send(done)))), done, _folder: None }
    });
}

#[test]
fn a_memory_store_that_is_told_to_fails_and_waits() {
    let (sender, done) = channel();
    let store = MemoryStore::new(move |done| drop(sender.send(done)));
    store.hold();
    store.commit(commit(1, vec![entry(1, 1, 1, 10)]));
    store.commit(commit(2, vec![entry(1, 2, 1, 10)]));
    assert!(done.try_recv().is_err());
    store.release_one();
    assert_eq!(done.try_recv().unwrap(), well(1));
    store.fail("no room");
    store.release();
    assert_eq!(done.try_recv().unwrap().failed, vec![(SessionId(1), "no room".to_owned())]);
    store.heal();
    store.commit(commit(3, vec![entry(1, 2, 1, 10)]));
    assert_eq!(done.try_recv().unwrap(), well(3));
}
