//! Deleting, upkeep and beginning anew: what is gone is gone from the files, and what is derived can be derived again.

use std::sync::{Arc, Mutex};

use switchboard_host::store::{Store as _, Which};
use switchboard_types::{Body, SearchQuery, Text};

use super::kit::{Shelves, holds, rows, talk};

#[test]
fn a_deleted_session_is_found_no_more_and_leaves_no_word_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    for session in 1..=30 {
        let secret = if session == 7 { "xylophonist" } else { "ordinary" };
        shelves.write(session, 1, &talk(&format!("question about {secret}"), &format!("the {secret} plays")));
    }
    assert_eq!(shelves.settled("xylophonist"), [(7, 3), (7, 1)]);
    let file = folder.path().join("library.db");
    shelves.delete(7);
    // At once, whether the library has heard of it or not.
    assert_eq!(shelves.find("xylophonist"), []);
    shelves.library().settle().unwrap();
    let kept = shelves.library().upkeep().unwrap();
    assert_eq!((kept.sessions, kept.messages), (0, 0), "the deletion itself left nothing");
    for suffix in ["", "-wal"] {
        let mut name = file.clone().into_os_string();
        name.push(suffix);
        for word in ["xylophonist", "xylophon", "xyl"] {
            assert!(!holds(name.as_ref(), word), "{word} in {}", name.display());
        }
    }
    assert_eq!(shelves.find("ordinary").len(), 50);
}

#[test]
fn what_a_deletion_left_while_nobody_looked_goes_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    shelves.write(1, 1, &talk("narwhal", "narwhal"));
    shelves.write(2, 1, &talk("other", "other"));
    assert_eq!(shelves.settled("narwhal").len(), 2);
    shelves.close();
    let without = Shelves::without_library(folder.path());
    without.delete(1);
    without.close();
    let shelves = Shelves::open(folder.path());
    assert_eq!(shelves.settled("narwhal"), []);
    shelves.close();
    assert!(!holds(&folder.path().join("library.db"), "narwhal"));
    assert_eq!(rows(folder.path()).len(), 2);
}

#[test]
fn upkeep_makes_the_files_smaller_and_says_by_how_much() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    let noise =
        |from: u64| (0..8000).map(|n| format!("{:x} ", (from + n).wrapping_mul(0x9e37_79b9))).collect::<String>();
    for session in 1..=20 {
        for turn in 0..4 {
            shelves.write(session, 1 + turn, &talk("fill", &noise(session * 100_000 + u64::from(turn) * 8000)));
        }
    }
    shelves.library().settle().unwrap();
    (1..=19).for_each(|session| shelves.delete(session));
    shelves.library().settle().unwrap();
    let kept = shelves.library().upkeep().unwrap();
    let size = |name: &str| std::fs::metadata(folder.path().join(name)).map_or(0, |found| found.len());
    let now = ["switchboard.db", "switchboard.db-wal", "library.db", "library.db-wal"].map(size).iter().sum::<u64>();
    assert_eq!(kept.bytes_after, now);
    assert!(kept.bytes_after * 2 < kept.bytes_before, "{kept:?}");
    let left = shelves.store.sessions(Which::All).unwrap();
    assert_eq!((left.len(), left[0].head.0), (1, 16));
    assert_eq!(shelves.find("fill").len(), 4);
}

#[test]
fn commits_go_on_while_space_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    let long = Body::Text { text: Text::from_plain(&"word ".repeat(100_000)) };
    for session in 1..=8 {
        shelves.write(session, 1, &vec![long.clone(); 4]);
    }
    (1..=7).for_each(|session| shelves.delete(session));
    std::thread::scope(|scope| {
        let upkeep = scope.spawn(|| shelves.store.shrink().unwrap());
        (0..50).for_each(|turn| shelves.write(8, 2 + turn, &talk("still", "here")));
        let shrunk = upkeep.join().unwrap();
        assert!(shrunk.after < shrunk.before, "{shrunk:?}");
    });
    assert_eq!(shelves.settled("still").len(), 50);
}

#[test]
fn beginning_anew_gives_the_same_rows_and_keeps_the_last_two_copies() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    for session in 1..=12 {
        shelves.write(session, 1, &talk(&format!("question {session}"), "an answer"));
        shelves.write(session, 2, &[Body::Thought { text: "half a thought".into() }]);
    }
    shelves.library().settle().unwrap();
    let before = rows(folder.path());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    let rebuilt = shelves.library().rebuild(move |done, all| hear.lock().unwrap().push((done, all))).unwrap();
    assert_eq!((rebuilt.sessions, rebuilt.messages), (12, before.len() as u64));
    assert!(std::path::Path::new(&rebuilt.backup).exists());
    assert_eq!(rows(folder.path()), before);
    assert_eq!(*heard.lock().unwrap(), (1..=12).map(|done| (done, 12)).collect::<Vec<_>>());
    assert_eq!(shelves.find("answer").len(), 12);
    (0..3).for_each(|_| drop(shelves.library().rebuild(|_, _| {}).unwrap()));
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let copies = names.filter(|name| name.to_str().unwrap().contains(".bak-")).count();
    assert_eq!(copies, 2);
    assert_eq!(rows(folder.path()), before);
}

#[test]
fn a_damaged_file_is_made_anew_from_the_logs() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    shelves.write(1, 1, &talk("walrus", "tusk"));
    shelves.library().settle().unwrap();
    shelves.close();
    for garbage in [b"no database at all".to_vec(), vec![0xff; 8192]] {
        std::fs::write(folder.path().join("library.db"), garbage).unwrap();
        let shelves = Shelves::open(folder.path());
        assert_eq!(shelves.settled("walrus"), [(1, 1)]);
        shelves.close();
    }
}

#[test]
fn a_search_goes_on_while_everything_is_derived_anew() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    for session in 1..=40 {
        shelves.write(session, 1, &talk("walrus", &"tusk ".repeat(2000)));
    }
    shelves.library().settle().unwrap();
    std::thread::scope(|scope| {
        let anew = scope.spawn(|| shelves.library().rebuild(|_, _| {}).unwrap());
        while !anew.is_finished() {
            let found = shelves.search(&SearchQuery { text: "walrus".to_owned(), ..SearchQuery::default() });
            assert!(found.sessions.len() <= 40);
        }
    });
    assert_eq!(shelves.find("walrus").len(), 40);
}
