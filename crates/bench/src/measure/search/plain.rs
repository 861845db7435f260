//! The limit of the search: a plain FTS5 table of the same messages, in the same process. Knows no sessions, no filters and no
//! beginnings of words.

use std::path::Path;

use anyhow::{Result, ensure};
use rusqlite::{Connection, params};
use switchboard_types::SearchOrder;

use super::{LIMIT, TOGETHER};

/// The table.
pub(super) struct Plain(Connection);

impl Plain {
    pub(super) fn fill(path: &Path, messages: impl Iterator<Item = Result<String>>) -> Result<Self> {
        let mut conn = Connection::open(path)?;
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        conn.pragma_update(None, "synchronous", "NORMAL")?;
        conn.pragma_update(None, "cache_size", -8192)?;
        conn.execute_batch(
            "CREATE TABLE message (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
             CREATE VIRTUAL TABLE plain USING fts5(
                 text, content='message', content_rowid='id', tokenize='unicode61 remove_diacritics 2');",
        )?;
        let (mut messages, mut number) = (messages.peekable(), 0);
        while messages.peek().is_some() {
            let tx = conn.transaction()?;
            for text in messages.by_ref().take(TOGETHER) {
                insert(&tx, number, &text?)?;
                number += 1;
            }
            tx.commit()?;
        }
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(Self(conn))
    }

    /// Adds one message, and finds it by its last word.
    pub(super) fn add(&mut self, number: u64, text: &str, word: &str) -> Result<()> {
        let tx = self.0.transaction()?;
        insert(&tx, number, text)?;
        tx.commit()?;
        ensure!(
            self.ask(&format!("\"{word}\""), SearchOrder::Newest)? == [number],
            "`{word}` was added and is not found"
        );
        Ok(())
    }

    /// The numbers of what is found, with snippets as others make them.
    pub(super) fn ask(&self, question: &str, order: SearchOrder) -> Result<Vec<u64>> {
        let order = match order {
            SearchOrder::Newest => "rowid DESC",
            SearchOrder::Ranked => "rank",
        };
        let mut find = self.0.prepare_cached(&format!(
            "SELECT rowid, snippet(plain, 0, '[', ']', '…', 24) FROM plain WHERE plain MATCH ?1 ORDER BY {order} LIMIT {LIMIT}"
        ))?;
        let found = find.query_map([question], |row| {
            let _snippet: String = row.get(1)?;
            row.get::<_, i64>(0)
        })?;
        Ok(found.map(|id| id.map(|id| id as u64)).collect::<rusqlite::Result<_>>()?)
    }
}

fn insert(conn: &Connection, number: u64, text: &str) -> Result<()> {
    let id = i64::try_from(number)?;
    conn.prepare_cached("INSERT INTO message VALUES (?1, ?2)")?.execute(params![id, text])?;
    conn.prepare_cached("INSERT INTO plain (rowid, text) VALUES (?1, ?2)")?.execute(params![id, text])?;
    Ok(())
}
