//! Events that come from foreign logs, and how far those were taken: what every store does with them, and what a damaged file
//! still says. Never looks at what the events mean.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use switchboard_host::store::{Options, Store};
use switchboard_types::{
    Body, Change, Entry, Event, PageBuilder, Seq, SessionId, SessionKeeps, SessionRow, Source, SourceCursor, Text,
    Time, Upstream,
};

use super::conformance::Subject;
use super::kit::{commit, no_packing, open, row, well};

pub(crate) const CHECKS: [fn(&Subject); 1] = [a_source_comes_back_with_its_event_and_the_cursor_with_the_row];

fn source(n: u64) -> Source {
    Source {
        id: format!("e{n}").as_str().into(),
        seq: Some(n),
        name: "assistant_delta".to_owned(),
        rest: format!("{{\"message_id\":\"m{n}\"}}"),
        turn: Some(1),
        at: Some(Time(5)),
    }
}

fn upstream(last: Option<u64>, taken: Option<u64>) -> Upstream {
    let last = last.map(|n| SourceCursor { id: format!("e{n}").as_str().into(), seq: Some(n) });
    Upstream { last, taken }
}

fn far_row(upstream: Upstream) -> SessionRow {
    let keeps = SessionKeeps { upstream: Some(upstream), ..SessionKeeps::default() };
    SessionRow { keeps, agent_session: Some("theirs".into()), ..row(1) }
}

/// An opening, two events of a foreign log, and a word of our own.
fn far_entry() -> Entry {
    let mut page = PageBuilder::new(Seq(1));
    page.push(Time(1), None, &Body::SessionOpened { agent: "far".into(), workspace: "/work".into() });
    page.push_from(Time(2), None, &Body::Text { text: Text::from("x") }, Some(&source(1)));
    let unknown = Body::Unknown { name: "word".to_owned(), raw: "{}".to_owned() };
    page.push_from(Time(3), None, &unknown, Some(&source(2)));
    page.push(Time(4), None, &Body::Status { message: "ours".to_owned(), progress: None });
    let changes = vec![Change::Session(far_row(upstream(Some(2), Some(2))))];
    Entry { session: SessionId(1), page: Arc::new(page.take().unwrap()), changes }
}

fn a_source_comes_back_with_its_event_and_the_cursor_with_the_row(subject: &Subject) {
    subject.write(commit(1, vec![far_entry()]));
    let page = subject.store.read_after(SessionId(1), Seq(0), 1 << 20).unwrap().page.unwrap();
    let events: Vec<Event> = page.events().map(|event| event.to_event().unwrap()).collect();
    let sources: Vec<Option<Source>> = events.into_iter().map(|event| event.source).collect();
    assert_eq!(sources, vec![None, Some(source(1)), Some(source(2)), None]);
    let stored = subject.store.sessions(super::one(1)).unwrap().remove(0);
    assert_eq!(stored.row.keeps.upstream, Some(upstream(Some(2), Some(2))));
}

/// A closed file with a session of an agent elsewhere.
fn filled(folder: &Path, more: Option<Body>) {
    let opened = open(folder, no_packing());
    opened.store.commit(commit(1, vec![far_entry()]));
    assert_eq!(opened.done.recv_timeout(Duration::from_secs(20)).unwrap(), well(1));
    if let Some(body) = more {
        let mut page = PageBuilder::new(Seq(5));
        page.push(Time(5), None, &body);
        let page = Arc::new(page.take().unwrap());
        opened.store.commit(commit(2, vec![Entry { session: SessionId(1), page, changes: Vec::new() }]));
        assert_eq!(opened.done.recv_timeout(Duration::from_secs(20)).unwrap(), well(2));
    }
    opened.store.close().unwrap();
}

fn salvaged(folder: &Path) -> SessionRow {
    std::fs::write(folder.join("switchboard.db.salvage"), "1").unwrap();
    let opened = open(folder, Options::default());
    assert!(opened.report.set_aside.is_some());
    opened.store.sessions(super::one(1)).unwrap().remove(0).row
}

#[test]
fn a_salvage_finds_how_far_a_foreign_log_was_taken_and_leads_back_into_it() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), None);
    let row = salvaged(folder.path());
    assert_eq!(row.keeps.upstream, Some(upstream(Some(2), Some(2))));
    assert_eq!(row.agent_session, Some("theirs".into()));
}

#[test]
fn a_salvage_finds_it_in_the_log_if_the_rows_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), None);
    let conn = Connection::open(folder.path().join("switchboard.db")).unwrap();
    conn.execute_batch("DELETE FROM session_keeps; DELETE FROM session").unwrap();
    conn.close().unwrap();
    assert_eq!(salvaged(folder.path()).keeps.upstream, Some(upstream(Some(2), Some(2))));
}

#[test]
fn a_gap_in_the_foreign_log_is_still_one_after_a_salvage() {
    let gap = |from, to| Body::SourceGap { from, to, message: "lost".to_owned() };
    for (gap, left) in [(gap(Some(3), Some(9)), upstream(None, Some(2))), (gap(None, None), upstream(None, None))] {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path(), Some(gap));
        assert_eq!(salvaged(folder.path()).keeps.upstream, Some(left));
    }
}
