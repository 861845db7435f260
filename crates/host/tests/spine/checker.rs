//! An independent checker: reads the log straight from the database file, with its own reader of the packed records, and
//! holds views' journals against it. Uses nothing of the program.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// One record of the log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) seq: u64,
    pub(crate) turn: u32,
    /// `text`, `thought`, or the type that the body's JSON names.
    pub(crate) kind: String,
    /// The escaped text, or the body's JSON.
    pub(crate) body: String,
}

/// The same from the files that a dead host left. Reads a copy, so that the next host finds them as they were.
pub(crate) fn dead_log_of_tab(database: &Path, tab: &str) -> Vec<Record> {
    let copy = tempfile::TempDir::new().unwrap();
    for file in ["switchboard.db", "switchboard.db-wal"] {
        let from = database.with_file_name(file);
        if from.exists() {
            std::fs::copy(from, copy.path().join(file)).unwrap();
        }
    }
    log_of_tab(&copy.path().join("switchboard.db"), tab)
}

/// The log of the session that shows a tab, from the file alone.
pub(crate) fn log_of_tab(database: &Path, tab: &str) -> Vec<Record> {
    let mut file = rusqlite::Connection::open(database).unwrap();
    // One snapshot: a running host moves pages from one table to the other.
    let file = file.transaction().unwrap();
    let session: i64 = file.query_row("SELECT session FROM session WHERE tab = ?1", [tab], |row| row.get(0)).unwrap();
    let mut records = BTreeMap::new();
    for table in ["segment", "tail"] {
        let sql = format!("SELECT first_seq, last_seq, records FROM {table} WHERE session = ?1");
        let mut rows = file.prepare(&sql).unwrap();
        let pages = rows.query_map([session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        for page in pages {
            let (first, last, bytes): (i64, i64, Vec<u8>) = page.unwrap();
            let unpacked = unpack(first as u64, &bytes);
            assert_eq!(unpacked.last().unwrap().seq, last as u64, "a page says what it holds");
            for record in unpacked {
                assert!(records.insert(record.seq, record).is_none(), "no event is stored twice");
            }
        }
    }
    let records: Vec<Record> = records.into_values().collect();
    for (at, record) in records.iter().enumerate() {
        assert_eq!(record.seq, at as u64 + 1, "the log is dense");
    }
    records
}

fn unpack(first: u64, bytes: &[u8]) -> Vec<Record> {
    let (mut at, mut seq, mut records) = (0, first, Vec::new());
    while at < bytes.len() {
        let len = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let turn = u32::from_le_bytes(bytes[at + 12..at + 16].try_into().unwrap());
        let body = String::from_utf8(bytes[at + 17..at + 4 + len].to_vec()).unwrap();
        let kind = match bytes[at + 16] {
            1 => "text".to_owned(),
            2 => "thought".to_owned(),
            _ => serde_json::from_str::<Value>(&body).unwrap()["type"].as_str().unwrap().to_owned(),
        };
        records.push(Record { seq, turn, kind, body });
        at += 4 + len;
        seq += 1;
    }
    records
}

/// Holds a journal (indexed messages of one tab, in the order in which they were shown) against the log: each message is
/// the event of its index, in order, once; nothing between the first and the last is left out that a view must see.
pub(crate) fn check(log: &[Record], journal: &[Value]) {
    let mut expected = log.iter().filter(|record| is_shown(record)).peekable();
    let first = journal.first().map_or(u64::MAX, |message| message["index"].as_u64().unwrap());
    while expected.next_if(|record| record.seq < first).is_some() {}
    for message in journal {
        let record = expected.next().unwrap_or_else(|| panic!("shown but not in the log: {message}"));
        assert_eq!(message["index"].as_u64().unwrap(), record.seq, "shown: {message}, in the log: {record:?}");
        assert_same(record, message);
    }
}

/// The same, and the journal has everything to the end of the log.
pub(crate) fn check_whole(log: &[Record], journal: &[Value]) {
    check(log, journal);
    let last = log.iter().rfind(|record| is_shown(record)).unwrap();
    assert_eq!(journal.last().unwrap()["index"].as_u64().unwrap(), last.seq, "the journal reaches the end");
}

fn is_shown(record: &Record) -> bool {
    !matches!(record.kind.as_str(), "cancelAsked" | "unknown")
}

fn assert_same(record: &Record, message: &Value) {
    let kind = match record.kind.as_str() {
        "text" => "response-chunk",
        "thought" => "thought-chunk",
        "sessionOpened" => "tab-opened",
        "titleChanged" => "tab-title",
        "promptQueued" => "prompt-queued",
        "turnStarted" => "prompt-started",
        "turnEnded" => "response-complete",
        "toolCall" => "tool-call",
        "toolCallUpdate" => "tool-call-update",
        "approvalAsked" => "approval-request",
        "approvalResolved" => "approval-resolved",
        "agentExited" => "agent-exited",
        "agentRestarted" => "agent-restarted",
        "sessionClosed" => "tab-closed",
        other => other,
    };
    assert_eq!(message["type"], kind, "at {}", record.seq);
    if let "text" | "thought" = record.kind.as_str() {
        let stored: Value = serde_json::from_str(&format!("\"{}\"", record.body)).unwrap();
        assert_eq!(message["chunk"], stored, "at {}", record.seq);
    }
    if let "promptQueued" = record.kind.as_str() {
        let stored: Value = serde_json::from_str(&record.body).unwrap();
        assert_eq!(message["text"], stored["prompt"]["text"]);
        assert_eq!(message["messageId"], stored["name"]);
    }
}
