//! From the log to what can be found: after a restart, after a kill, in a new life of a log, and while words still stream.

use std::time::{Duration, Instant};

use switchboard_host::store::{Store as _, Which};
use switchboard_types::{Body, CallId, Role, SearchQuery, Seq, SessionId, Text, ToolCall, ToolStatus};

use super::kit::{Shelves, ended, prompt, rows, said, talk, text};

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

#[test]
fn what_was_said_is_found_by_itself_soon_after_it_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    shelves.write(1, 1, &talk("where is the teapot", "in the kitchen cupboard"));
    eventually("finding the teapot", || shelves.find("teapot") == [(1, 1)]);
    assert_eq!(shelves.find("cupboard"), [(1, 3)]);
    assert_eq!(shelves.find("saucer"), []);
    let wanted = [(1, Role::User, "where is the teapot"), (3, Role::Assistant, "in the kitchen cupboard")];
    assert_eq!(said(folder.path(), 1), wanted.map(|(seq, role, text)| (seq, role, text.to_owned())));
    eventually("catching up", || shelves.library().behind() == 0);
}

#[test]
fn after_a_restart_it_goes_on_at_its_cursor_and_finds_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    shelves.write(1, 1, &talk("alpha", "beta"));
    assert_eq!(shelves.settled("alpha"), [(1, 1)]);
    shelves.close();
    let first = rows(folder.path());
    // While no library looks, as a killed host or an older version leaves it.
    let without = Shelves::without_library(folder.path());
    without.write(1, 2, &talk("gamma", "delta"));
    without.write(2, 1, &talk("alpha again", "epsilon"));
    without.close();
    let shelves = Shelves::open(folder.path());
    assert_eq!(shelves.settled("alpha"), [(2, 1), (1, 1)]);
    assert_eq!((shelves.find("delta"), shelves.find("epsilon")), (vec![(1, 7)], vec![(2, 3)]));
    let all = rows(folder.path());
    assert_eq!((all.len(), all.get(..2)), (6, first.get(..)));
}

#[test]
fn half_a_message_is_found_and_becomes_a_whole_one_not_two() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    shelves.write(1, 1, &[prompt("tell me"), text("once upon ")]);
    eventually("finding what streams", || shelves.find("upon") == [(1, 2)]);
    shelves.write(1, 1, &[text("a time")]);
    assert_eq!(shelves.settled("\"upon a time\""), [(1, 2)]);
    shelves.close();
    // The cursor stands before what streams, so another start derives it as a whole.
    let shelves = Shelves::open(folder.path());
    shelves.write(1, 1, &[text(" there was"), ended()]);
    assert_eq!(shelves.settled("\"a time there\""), [(1, 2)]);
    shelves.close();
    let whole = [(1, Role::User, "tell me"), (2, Role::Assistant, "once upon a time there was")];
    assert_eq!(said(folder.path(), 1), whole.map(|(seq, role, text)| (seq, role, text.to_owned())));
}

#[test]
fn a_new_life_of_a_log_is_derived_anew() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    for turn in 1..40 {
        shelves.write(1, turn, &talk(&format!("question{turn}"), &format!("answer{turn} {}", "padding ".repeat(400))));
    }
    shelves.library().settle().unwrap();
    shelves.close();
    // One damaged byte in the middle of what is packed: those events are lost, and the log has a new epoch.
    let file = folder.path().join("switchboard.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(9).position(|window| window == b"answer20 ").unwrap();
    bytes[at] = b'X';
    std::fs::write(&file, bytes).unwrap();
    let shelves = Shelves::open(folder.path());
    let epoch = || shelves.store.sessions(Which::One(SessionId(1))).unwrap().remove(0).row.epoch;
    // Reading finds the loss; the next look at the log sees the new life.
    let mut after = Seq::START;
    loop {
        let slice = shelves.store.read_after(SessionId(1), after, 64 * 1024).unwrap();
        let Some(last) = slice.page.map(|page| page.last()).or(slice.gap.map(|(_, last)| last)) else { break };
        after = last;
    }
    eventually("a new life", || epoch().0 != 701);
    assert_eq!(shelves.settled("answer20"), []);
    assert_eq!(shelves.settled("question1").len(), 11, "question1 and question10 to question19");
    let found = shelves.search(&SearchQuery { text: "question39".to_owned(), ..SearchQuery::default() });
    assert_eq!(found.sessions[0].messages[0].epoch, epoch());
}

#[test]
fn calls_are_found_by_what_went_in_and_what_came_out() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    let mut call = ToolCall::new(CallId::from("c"), "Read a file", ToolStatus::Running);
    call.input = Some(serde_json::json!({"path": "src/walrus.rs", "note": "line one\nline two"}));
    let mut done = ToolCall::new(CallId::from("c"), "Read a file", ToolStatus::Completed);
    done.output = Some(serde_json::json!({"content": "fn tusks() {}"}));
    let bodies = [prompt("look"), Body::ToolCall { call }, Body::ToolCallUpdate { call: done }, text("seen"), ended()];
    shelves.write(1, 1, &bodies);
    for words in ["walrus", "\"line two\"", "tusks", "\"read a file\"", "src/walrus.rs"] {
        assert_eq!(shelves.settled(words), [(1, 2)], "{words}");
    }
}

#[test]
fn a_commit_never_waits_for_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    shelves.write(1, 1, &talk("x", "y"));
    // Somebody else holds the library's file for writing; what is said goes on.
    let blocker = rusqlite::Connection::open(folder.path().join("library.db")).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let long = Body::Text { text: Text::from_plain(&"word ".repeat(10_000)) };
    for _ in 0..200 {
        shelves.write(1, 1, std::slice::from_ref(&long));
    }
    assert!(shelves.library().behind() > 0);
    blocker.execute_batch("COMMIT").unwrap();
    drop(blocker);
    assert_eq!(shelves.settled("zebra"), []);
    assert!(!shelves.find("word").is_empty());
}
