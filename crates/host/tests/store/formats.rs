//! Files of other versions, of other programs and of other processes. Never touches what is not ours to touch.

use rusqlite::Connection;
use switchboard_host::store::{OpenReport, Options, SqliteStore, Store, StoreError, Which};
use switchboard_types::{Body, Epoch, Seq, SessionId, Time};

use super::kit::{Opened, commit, entry, open, read_all};

fn refuse(folder: &std::path::Path) -> StoreError {
    match SqliteStore::open(folder, Options::default(), |_| {}) {
        Ok(_) => panic!("the file must be refused"),
        Err(error) => error,
    }
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), Options::default()).store.close().unwrap();
    let path = folder.path().join("switchboard.db");
    let conn = Connection::open(&path).unwrap();
    // The row's own checksum is right, as a newer version would write it.
    let crc = seal_meta("format", 99);
    conn.execute("UPDATE meta SET value = 99, crc = ?1 WHERE key = 'format'", [crc]).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    conn.close().unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = refuse(folder.path());
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    assert!(error.to_string().contains("newer switchboard"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

fn seal_meta(key: &str, value: i64) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[5, 2]);
    hasher.update(&(key.len() as u64).to_le_bytes());
    hasher.update(key.as_bytes());
    hasher.update(&[1]);
    hasher.update(&value.to_le_bytes());
    hasher.finalize()
}

#[test]
fn a_file_of_format_1_is_read_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let conn = Connection::open(folder.path().join("switchboard.db")).unwrap();
    conn.execute_batch(include_str!("format_1.sql")).unwrap();
    conn.close().unwrap();
    let opened = open(folder.path(), Options::default());
    assert_eq!(opened.report, OpenReport { data: 77, ..OpenReport::default() });
    let whole = read_all(&opened.store, 5, 1000);
    assert_eq!((whole.head(), whole.events[&2].body.clone()), (2, Body::Text { text: "hello".into() }));
    let stored = opened.store.sessions(Which::WithTab).unwrap().remove(0);
    assert_eq!((stored.row.title.as_str(), stored.row.epoch, stored.head), ("old", Epoch(6), Seq(2)));
    assert_eq!(opened.store.turns(SessionId(5)).unwrap()[0].digest, u64::MAX - 1);
    assert_eq!(opened.store.workspaces().unwrap()[0].trusted, Some(Time(1000)));
    assert_eq!(opened.store.next_session().unwrap(), SessionId(9));
    opened.store.commit(commit(1, vec![entry(5, 3, 1, 10)]));
    assert_eq!(opened.done.recv().unwrap().failed, vec![]);
}

#[test]
fn a_database_of_another_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let conn = Connection::open(folder.path().join("switchboard.db")).unwrap();
    conn.execute_batch("CREATE TABLE recipe (name TEXT); INSERT INTO recipe VALUES ('soup')").unwrap();
    conn.close().unwrap();
    assert!(matches!(refuse(folder.path()), StoreError::Foreign { .. }));
    let conn = Connection::open(folder.path().join("switchboard.db")).unwrap();
    let name: String = conn.query_row("SELECT name FROM recipe", [], |row| row.get(0)).unwrap();
    assert_eq!(name, "soup");
}

#[test]
fn a_file_that_another_process_writes_to_is_locked() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), Options::default()).store.close().unwrap();
    let other = Connection::open(folder.path().join("switchboard.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = refuse(folder.path());
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    other.execute_batch("COMMIT").unwrap();
    let Opened { store, done, .. } = open(folder.path(), Options::default());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    store.commit(commit(1, vec![entry(1, 1, 1, 10)]));
    let why = done.recv().unwrap().failed.remove(0).1;
    assert!(why.contains("locked by another process"), "{why}");
    other.execute_batch("COMMIT").unwrap();
    store.commit(commit(2, vec![entry(1, 1, 1, 10)]));
    assert_eq!(done.recv().unwrap().failed, vec![]);
}
