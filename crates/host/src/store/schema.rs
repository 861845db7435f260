//! Tables and migrations. Never touches a file that a newer version wrote.
//!
//! The log lies in two places. `tail` takes every commit in arrival order and has no index, so an append writes one page;
//! `segment` holds what was packed, about 64 KiB a row. A segment's row is found by a small index beside the table, not by a
//! `WITHOUT ROWID` key: its blobs are then appended at the end of the table, and the index alone is walked to find a place.
//!
//! Every row carries a checksum over all its cells, so a row proves itself wherever it is found: see [`super::carve`].

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::rows::{self, MetaKey};

/// Each step takes a file from its place in this list to the next. Never edit one that was released; add one.
pub(crate) const STEPS: &[&str] = &[
    "
    CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE tail (
        id INTEGER PRIMARY KEY, session INTEGER NOT NULL, first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL,
        crc INTEGER NOT NULL, records BLOB NOT NULL);
    CREATE TABLE segment (
        id INTEGER PRIMARY KEY, session INTEGER NOT NULL, first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL,
        crc INTEGER NOT NULL, records BLOB NOT NULL);
    CREATE UNIQUE INDEX segment_place ON segment (session, first_seq);
    CREATE TABLE damaged (
        id INTEGER PRIMARY KEY, session INTEGER NOT NULL, first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL,
        crc INTEGER NOT NULL, records BLOB NOT NULL);
    CREATE TABLE lost (
        session INTEGER NOT NULL, first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL, crc INTEGER NOT NULL);
    CREATE INDEX lost_place ON lost (session, first_seq);
    CREATE TABLE session (
        session INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, workspace TEXT NOT NULL, agent TEXT NOT NULL,
        title TEXT NOT NULL, tab TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL, rev INTEGER NOT NULL,
        crc INTEGER NOT NULL);
    CREATE INDEX session_tab ON session (session) WHERE tab IS NOT NULL;
    CREATE TABLE turn (
        session INTEGER NOT NULL, turn INTEGER NOT NULL, name TEXT NOT NULL, digest INTEGER NOT NULL,
        queued INTEGER NOT NULL, phase INTEGER NOT NULL, rev INTEGER NOT NULL, crc INTEGER NOT NULL);
    CREATE UNIQUE INDEX turn_place ON turn (session, turn);
    CREATE TABLE workspace (
        root TEXT NOT NULL PRIMARY KEY, trusted INTEGER, rev INTEGER NOT NULL, crc INTEGER NOT NULL);
",
    "
    CREATE TABLE deleted (session INTEGER PRIMARY KEY, rev INTEGER NOT NULL, crc INTEGER NOT NULL);
    CREATE INDEX session_used ON session (updated, session);
",
    "
    CREATE TABLE agent_session (session INTEGER PRIMARY KEY, name TEXT NOT NULL, crc INTEGER NOT NULL);
",
    "
    CREATE TABLE session_keeps (
        session INTEGER PRIMARY KEY, keeps TEXT NOT NULL, rev INTEGER NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE rule (id TEXT NOT NULL PRIMARY KEY, rule TEXT NOT NULL, rev INTEGER NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE call (
        session INTEGER NOT NULL, asked_at INTEGER NOT NULL, call TEXT NOT NULL, tool TEXT NOT NULL,
        parameters TEXT NOT NULL, asked INTEGER NOT NULL, ended INTEGER, duration INTEGER NOT NULL,
        success INTEGER NOT NULL, result TEXT NOT NULL, rev INTEGER NOT NULL, crc INTEGER NOT NULL);
    CREATE UNIQUE INDEX call_place ON call (session, asked_at);
    CREATE INDEX call_time ON call (asked, session, asked_at);
    CREATE INDEX call_tool ON call (tool, asked, session, asked_at);
    CREATE INDEX call_open ON call (session, asked_at) WHERE ended IS NULL;
",
    // Records may say where they come from, which an older version would take for records that it cannot read; and what a
    // session keeps may say how far a foreign log was taken, which an older version would forget.
    "",
];

/// What a file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Nothing is in it yet.
    Empty,
    /// One of ours.
    Ours(i64),
    /// A database of another program.
    Foreign,
}

/// Reads which format a file has; an error of the kind "damaged" if it is ours but cannot be.
pub(crate) fn format(conn: &Connection) -> rusqlite::Result<Format> {
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let stamp: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if tables == 0 && stamp == 0 {
        return Ok(Format::Empty);
    }
    let has_meta = conn
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'", [], |_| Ok(()))
        .optional()?;
    if has_meta.is_none() {
        return Ok(Format::Foreign);
    }
    match rows::read_meta(conn, MetaKey::Format) {
        Ok(Some(version)) if version == stamp => Ok(Format::Ours(version)),
        Err(error) if !super::error::is_damage(&error) && stamp == 0 => Ok(Format::Foreign),
        Err(error) => Err(error),
        Ok(_) => Err(rows::damage("the format in the header and in the table `meta` differ")),
    }
}

/// Takes a file to the newest format, one transaction a step.
pub(crate) fn migrate(conn: &mut Connection, steps: &[&str], from: usize) -> rusqlite::Result<()> {
    for (at, step) in steps.iter().enumerate().skip(from) {
        let version = at as i64 + 1;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute_batch(step)?;
        if at == 0 {
            first_rows(&tx)?;
        }
        rows::write_meta(&tx, MetaKey::Format, version)?;
        tx.pragma_update(None, "user_version", version)?;
        tx.commit()?;
    }
    Ok(())
}

fn first_rows(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    rows::write_meta(tx, MetaKey::Data, rows::random_u64() as i64)?;
    rows::write_meta(tx, MetaKey::NextSession, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_an_older_format_is_taken_forward_step_by_step_and_keeps_its_rows() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, STEPS, 0).unwrap();
        conn.execute("INSERT INTO lost VALUES (1, 2, 3, 4)", []).unwrap();
        let next = ["ALTER TABLE lost ADD COLUMN why TEXT", "CREATE TABLE note (id INTEGER PRIMARY KEY)"];
        let later: Vec<&str> = STEPS.iter().copied().chain(next).collect();
        migrate(&mut conn, &later, STEPS.len()).unwrap();
        assert_eq!(format(&conn).unwrap(), Format::Ours(later.len() as i64));
        let kept: (i64, Option<String>) =
            conn.query_row("SELECT last_seq, why FROM lost", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(kept, (3, None));
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_at_the_step_before() {
        let mut conn = Connection::open_in_memory().unwrap();
        let broken = [STEPS[0], "CREATE TABLE half (id INTEGER PRIMARY KEY); CREATE TABLE meta (x)"];
        assert!(migrate(&mut conn, &broken, 0).is_err());
        assert_eq!(format(&conn).unwrap(), Format::Ours(1));
        assert!(conn.prepare("SELECT * FROM half").is_err());
    }
}
