//! Reads the database file: both tables of the log, with their checksums, and the rows of sessions and turns. Never changes
//! it, and knows its format from its description alone.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, OpenFlags};
use thiserror::Error;

use super::crc::{self, Row};
use super::{Body, Finding, Log, Record, TurnRow};

/// Bytes of a record before its body: length, time, turn, kind.
const HEAD_BYTES: usize = 4 + 8 + 4 + 1;

/// Why the file could not be looked at, which says nothing of what is in it.
#[derive(Debug, Error)]
pub enum FileError {
    /// The copy could not be made.
    #[error("the database could not be copied")]
    Io(#[from] std::io::Error),
    /// The engine refused.
    #[error("the database could not be read")]
    Engine(#[from] rusqlite::Error),
}

/// All logs of a file by their session, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// The logs.
    pub logs: BTreeMap<u64, Log>,
    /// Broken promises of the file itself.
    pub findings: Vec<Finding>,
    /// How many rows hold packed runs of events.
    pub segments: u64,
}

/// Reads what a dead host left. Reads a copy, so that the next host finds the files as they were.
pub fn read_dead(database: &Path) -> Result<Read, FileError> {
    if !database.exists() {
        return Ok(Read::default());
    }
    let copy = tempfile::TempDir::new()?;
    for suffix in ["", "-wal"] {
        let from = with_suffix(database, suffix);
        if from.exists() {
            std::fs::copy(from, copy.path().join(format!("copy{suffix}")))?;
        }
    }
    let mut file = Connection::open(copy.path().join("copy"))?;
    read(&mut file)
}

/// Reads the file of a host that runs, as one snapshot.
pub fn read_live(database: &Path) -> Result<Read, FileError> {
    let mut file = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    file.busy_timeout(std::time::Duration::from_secs(10))?;
    read(&mut file)
}

fn with_suffix(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn read(file: &mut Connection) -> Result<Read, FileError> {
    // A running host moves pages from one table to the other, so all is read at one instant.
    let file = file.transaction()?;
    let mut found = Read::default();
    let tables: i64 = file.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(found);
    }
    read_sessions(&file, &mut found)?;
    read_turns(&file, &mut found)?;
    read_records(&file, &mut found)?;
    for table in ["lost", "damaged"] {
        let rows: i64 = file.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
        if rows > 0 {
            found.wrong(format!("the table `{table}` has {rows} rows"));
        }
    }
    Ok(found)
}

impl Read {
    fn wrong(&mut self, what: String) {
        self.findings.push(Finding::File { what });
    }

    /// The log that a tab shows.
    #[must_use]
    pub fn of_tab(&self, tab: &str) -> Option<&Log> {
        self.logs.values().find(|log| log.tab.as_deref() == Some(tab))
    }
}

/// All rows of a table whose last cell is the checksum of the others; those that lie are noted.
fn sealed_rows(file: &Connection, found: &mut Read, table: &str, row: Row) -> Result<Vec<Vec<Cell>>, FileError> {
    let mut statement = file.prepare(&format!("SELECT * FROM {table}"))?;
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect())?;
    let mut kept = Vec::new();
    for cells in rows {
        let mut cells: Vec<Cell> = cells?;
        if cells.pop() == Some(Cell::Integer(crc::of_cells(row, &cells))) {
            kept.push(cells);
        } else {
            found.wrong(format!("the checksum of a row of `{table}` is wrong: {cells:?}"));
        }
    }
    Ok(kept)
}

fn read_sessions(file: &Connection, found: &mut Read) -> Result<(), FileError> {
    for cells in sealed_rows(file, found, "session", Row::Session)? {
        let [Cell::Integer(session), Cell::Integer(epoch), _, _, _, tab, ..] = cells.as_slice() else {
            found.wrong(format!("a row of `session` has other cells than it should: {cells:?}"));
            continue;
        };
        let tab = if let Cell::Text(tab) = tab { Some(tab.clone()) } else { None };
        let log = Log { session: *session as u64, epoch: *epoch, tab, ..Log::default() };
        found.logs.insert(log.session, log);
    }
    Ok(())
}

fn read_turns(file: &Connection, found: &mut Read) -> Result<(), FileError> {
    for cells in sealed_rows(file, found, "turn", Row::Turn)? {
        let [Cell::Integer(session), Cell::Integer(turn), Cell::Text(name), _, Cell::Integer(queued), rest @ ..] =
            cells.as_slice()
        else {
            found.wrong(format!("a row of `turn` has other cells than it should: {cells:?}"));
            continue;
        };
        let (Some(log), Some(Cell::Integer(phase))) = (found.logs.get_mut(&(*session as u64)), rest.first()) else {
            found.wrong(format!("a row of `turn` belongs to no session: {cells:?}"));
            continue;
        };
        let turn = u32::try_from(*turn).unwrap_or(u32::MAX);
        log.turns.push(TurnRow { turn, name: name.clone(), queued: *queued as u64, phase: *phase });
    }
    Ok(())
}

fn read_records(file: &Connection, found: &mut Read) -> Result<(), FileError> {
    let mut records: BTreeMap<u64, BTreeMap<u64, Record>> = BTreeMap::new();
    for table in ["segment", "tail"] {
        let mut statement = file.prepare(&format!("SELECT session, first_seq, last_seq, crc, records FROM {table}"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (session, first, last): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let (sum, bytes): (i64, Vec<u8>) = (row.get(3)?, row.get(4)?);
            let place = format!("`{table}`, session {session}, {first} to {last}");
            if sum != crc::of_log(session, first, last, &bytes) {
                found.wrong(format!("{place}: the checksum is wrong"));
                continue;
            }
            let page = unpack(first as u64, &bytes);
            if page.as_ref().and_then(|page| page.last()).map(|record| record.seq) != Some(last as u64) {
                found.wrong(format!("{place}: the row does not hold what it says"));
            }
            found.segments += u64::from(table == "segment");
            let log = records.entry(session as u64).or_default();
            for record in page.into_iter().flatten() {
                let seq = record.seq;
                if log.insert(seq, record).is_some() {
                    found.wrong(format!("{place}: event {seq} is stored twice"));
                }
            }
        }
    }
    for (session, records) in records {
        if let Some((_, hole)) = (1..).zip(records.keys()).find(|(due, seq)| due != *seq) {
            found.wrong(format!("session {session}: there is a hole in the log before {hole}"));
        }
        match found.logs.get_mut(&session) {
            Some(log) => log.records = records.into_values().collect(),
            None => found.wrong(format!("session {session} has events but no row")),
        }
    }
    Ok(())
}

/// The records of a page; none if the bytes are no records.
fn unpack(first: u64, mut bytes: &[u8]) -> Option<Vec<Record>> {
    let mut records = Vec::new();
    for seq in first.. {
        if bytes.is_empty() {
            break;
        }
        let len = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        let at = u64::from_le_bytes(bytes.get(4..12)?.try_into().ok()?);
        let turn = u32::from_le_bytes(bytes.get(12..16)?.try_into().ok()?);
        let text = std::str::from_utf8(bytes.get(HEAD_BYTES..4 + len)?).ok()?;
        let body = match bytes.get(16)? {
            0 => Body::Json(serde_json::from_str(text).ok()?),
            1 => Body::Text(text.to_owned()),
            2 => Body::Thought(text.to_owned()),
            _ => return None,
        };
        records.push(Record { seq, at, turn, body });
        bytes = bytes.get(4 + len..)?;
    }
    Some(records)
}
