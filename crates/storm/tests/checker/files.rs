//! Files that are wrong, written by the tests themselves as the format is described.

use rusqlite::{Connection, params};
use switchboard_storm::check::{Body, Finding, Read, read_dead};
use tempfile::TempDir;

/// The rows of a right file, with checksums that another program computed (`crc32` of zlib).
const SETUP: &str = "
    CREATE TABLE session (session INTEGER PRIMARY KEY, epoch INTEGER, workspace TEXT, agent TEXT, title TEXT, tab TEXT,
        created INTEGER, updated INTEGER, rev INTEGER, crc INTEGER);
    CREATE TABLE turn (session INTEGER, turn INTEGER, name TEXT, digest INTEGER, queued INTEGER, phase INTEGER,
        rev INTEGER, crc INTEGER);
    CREATE TABLE tail (id INTEGER PRIMARY KEY, session INTEGER, first_seq INTEGER, last_seq INTEGER, crc INTEGER,
        records BLOB);
    CREATE TABLE segment (id INTEGER PRIMARY KEY, session INTEGER, first_seq INTEGER, last_seq INTEGER, crc INTEGER,
        records BLOB);
    CREATE TABLE lost (session INTEGER);
    CREATE TABLE damaged (id INTEGER);
    INSERT INTO session VALUES (1, 5, '/w', 'demo', '', 'tab', 10, 11, 1, SESSION_CRC);
";
const SESSION_CRC: u32 = 0xE147_599F;
const FIRST_CRC: u32 = 0xE2DC_B5AB;
const SECOND_CRC: u32 = 0x8391_F1EE;
const FIRST_AGAIN_CRC: u32 = 0x2EF4_E375;

fn record(at: u64, turn: u32, kind: u8, body: &str) -> Vec<u8> {
    let mut bytes = (13 + body.len() as u32).to_le_bytes().to_vec();
    bytes.extend(at.to_le_bytes());
    bytes.extend(turn.to_le_bytes());
    bytes.push(kind);
    bytes.extend(body.as_bytes());
    bytes
}

fn first() -> Vec<u8> {
    [record(10, 0, 0, r#"{"type":"sessionOpened"}"#), record(11, 1, 1, "one ")].concat()
}

fn second() -> Vec<u8> {
    record(12, 1, 1, "two ")
}

fn read(change: impl FnOnce(&Connection)) -> Read {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("switchboard.db");
    let file = Connection::open(&path).unwrap();
    file.execute_batch(&SETUP.replace("SESSION_CRC", &SESSION_CRC.to_string())).unwrap();
    let insert = |table: &str, first: u64, last: u64, crc: u32, records: Vec<u8>| {
        let sql =
            format!("INSERT INTO {table} (session, first_seq, last_seq, crc, records) VALUES (1, ?1, ?2, ?3, ?4)");
        file.execute(&sql, params![first as i64, last as i64, crc, records]).unwrap();
    };
    insert("segment", 1, 2, FIRST_CRC, first());
    insert("tail", 3, 3, SECOND_CRC, second());
    change(&file);
    drop(file);
    read_dead(&path).unwrap()
}

fn after(sql: &str) -> Read {
    read(|file| file.execute_batch(sql).unwrap())
}

fn wrong(what: &str) -> Vec<Finding> {
    vec![Finding::File { what: what.to_owned() }]
}

#[test]
fn a_right_file_is_read_from_both_tables() {
    let read = read(|_| {});
    assert_eq!(read.findings, vec![]);
    let log = read.of_tab("tab").unwrap();
    let texts: Vec<&Body> = log.records.iter().skip(1).map(|record| &record.body).collect();
    assert_eq!(texts, vec![&Body::Text("one ".to_owned()), &Body::Text("two ".to_owned())]);
    assert_eq!((log.head(), log.epoch, read.segments), (3, 5, 1));
}

#[test]
fn a_file_that_is_not_there_or_has_no_tables_yet_is_empty() {
    let folder = TempDir::new().unwrap();
    assert_eq!(read_dead(&folder.path().join("switchboard.db")).unwrap(), Read::default());
    std::fs::write(folder.path().join("switchboard.db"), "").unwrap();
    assert_eq!(read_dead(&folder.path().join("switchboard.db")).unwrap(), Read::default());
}

#[test]
fn a_row_whose_bytes_are_not_what_its_checksum_says_is_found() {
    let changed = after("UPDATE tail SET records = CAST(replace(records, 'w', 'W') AS BLOB)");
    assert_eq!(changed.findings, wrong("`tail`, session 1, 3 to 3: the checksum is wrong"));
    let moved = after("UPDATE tail SET first_seq = 4, last_seq = 4");
    assert_eq!(moved.findings, wrong("`tail`, session 1, 4 to 4: the checksum is wrong"));
    let renamed = after("UPDATE session SET epoch = 6");
    assert!(matches!(renamed.findings.as_slice(), [Finding::File { what }, ..] if what.contains("`session`")));
}

#[test]
fn a_hole_and_an_event_that_is_stored_twice_are_found() {
    let hole = after("DELETE FROM segment");
    assert_eq!(hole.findings, wrong("session 1: there is a hole in the log before 3"));
    let twice = read(|file| {
        let sql = "INSERT INTO tail (session, first_seq, last_seq, crc, records) VALUES (1, 2, 2, ?1, ?2)";
        file.execute(sql, params![FIRST_AGAIN_CRC, record(11, 1, 1, "one ")]).unwrap();
    });
    assert_eq!(twice.findings, wrong("`tail`, session 1, 2 to 2: event 2 is stored twice"));
}

#[test]
fn a_loss_that_the_program_has_noted_is_found() {
    let lost = after("INSERT INTO lost VALUES (1)");
    assert_eq!(lost.findings, wrong("the table `lost` has 1 rows"));
}
