//! The library's file: messages, their index, what was used, and how far each log was taken. All that belongs together is one
//! transaction. Never reads a log.
//!
//! A message's id is made of its time, so that ids grow with time however late a message was derived. What a session, an
//! agent, a workspace and a role are called in the index is a word of its own in the column `marks`, so that a filter costs
//! no more than another word. Rows behind a session's cursor are what streams still; they are replaced when it goes on.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior, params};
use switchboard_types::{AgentName, Epoch, Role, Seq, SessionId, Time, WorkspaceRoot};

use super::derived::{Item, Message, SpentOf, Used};
use super::error::LibraryError;
use super::tokens::spaced;

/// The file's name in the data folder.
pub const FILE_NAME: &str = "library.db";
/// Stands in the file; another one is set aside, and everything is derived anew.
const FORMAT: i64 = 1;
/// Copies of former files that are kept.
const MAX_BACKUPS: usize = 2;
/// Milliseconds that share their ids, as a power of two, and ids of such a moment, likewise.
const MOMENT_BITS: u32 = 6;
const SLOT_BITS: u32 = 8;

const TABLES: &str = "
    CREATE TABLE session (
        session INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, agent INTEGER NOT NULL,
        workspace INTEGER NOT NULL);
    CREATE TABLE name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE message (
        id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL, turn INTEGER NOT NULL,
        role INTEGER NOT NULL, at INTEGER NOT NULL, paths TEXT NOT NULL, text TEXT NOT NULL);
    CREATE INDEX message_place ON message (session, seq);
    CREATE INDEX message_paths ON message (session, turn) WHERE paths != '';
    CREATE TABLE used (
        session INTEGER NOT NULL, seq INTEGER NOT NULL, turn INTEGER NOT NULL, at INTEGER NOT NULL,
        input INTEGER NOT NULL, output INTEGER NOT NULL, cached INTEGER NOT NULL, thought INTEGER NOT NULL,
        turn_micros INTEGER, total_micros INTEGER, since_micros INTEGER, currency TEXT NOT NULL,
        PRIMARY KEY (session, seq)) WITHOUT ROWID;
    CREATE INDEX used_time ON used (at);
    CREATE VIRTUAL TABLE words USING fts5(
        text, paths, marks, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2', prefix='2 3');
    INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
";

/// Which rows of a session are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    All,
    After(Seq),
}

/// What a log gave.
#[derive(Debug)]
pub struct Derived {
    /// Whose log.
    pub session: SessionId,
    /// The life of the log.
    pub epoch: Epoch,
    /// Who worked.
    pub agent: AgentName,
    /// Where.
    pub workspace: WorkspaceRoot,
    /// The last event of all that is whole.
    pub cursor: Seq,
    /// What is whole.
    pub items: Vec<Item>,
    /// What streams still, as far as it has come.
    pub so_far: Vec<Item>,
    /// Whether all that was derived before is wrong.
    pub anew: bool,
}

/// The file, open for writing.
pub struct Shelf {
    conn: Connection,
    path: PathBuf,
    /// Ids from the first up to the second that are known to be taken.
    taken: (i64, i64),
}

/// Opens the file for reading or writing, as it is.
pub(crate) fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(Duration::from_secs(5))?;
    conn.set_prepared_statement_cache_capacity(64);
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "cache_size", -8192)?;
    Ok(conn)
}

/// The first id of a moment.
pub(crate) fn first_id(at: Time) -> i64 {
    let moment = (at.0 >> MOMENT_BITS).min(i64::MAX as u64 >> (SLOT_BITS + 1));
    (moment << SLOT_BITS) as i64
}

pub(crate) fn role_number(role: Role) -> i64 {
    match role {
        Role::User => 0,
        Role::Assistant => 1,
        Role::Thought => 2,
        Role::Tool => 3,
    }
}

pub(crate) fn session_mark(session: SessionId) -> String {
    format!("qxs{session}")
}

pub(crate) fn agent_mark(name: i64) -> String {
    format!("qxa{name}")
}

pub(crate) fn workspace_mark(name: i64) -> String {
    format!("qxw{name}")
}

pub(crate) fn role_mark(role: i64) -> String {
    format!("qxr{role}")
}

impl Shelf {
    /// Opens the file, or makes it. One that is damaged or of another version is set aside: everything in it can be derived.
    pub fn open(folder: &Path) -> Result<Self, LibraryError> {
        let path = folder.join(FILE_NAME);
        match Self::try_open(&path) {
            Ok(Some(conn)) => Ok(Self { conn, path, taken: (0, 0) }),
            Ok(None) => Self::anew(&path),
            Err(error) if crate::store::is_damage(&error) => {
                tracing::warn!(%error, "the index of what was said is damaged; it is made anew from the logs");
                Self::anew(&path)
            }
            Err(error) => Err(LibraryError::file(&path)(error)),
        }
    }

    fn anew(path: &Path) -> Result<Self, LibraryError> {
        set_aside(path)?;
        let conn = Self::try_open(path).map_err(LibraryError::file(path))?;
        let strange =
            || LibraryError::Disk { path: path.to_owned(), source: std::io::Error::other("it cannot be made anew") };
        Ok(Self { conn: conn.ok_or_else(strange)?, path: path.to_owned(), taken: (0, 0) })
    }

    /// None if the file is of another version.
    fn try_open(path: &Path) -> rusqlite::Result<Option<Connection>> {
        // Made by us, so that only its owner may read it; an error shows when it is opened.
        let _ = crate::store::create_private(path);
        let mut conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let format: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if tables == 0 && format == 0 {
            conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
        } else if format != FORMAT {
            return Ok(None);
        }
        conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0))?;
        conn.pragma_update(None, "synchronous", "NORMAL")?;
        conn.query_row("PRAGMA journal_size_limit = 16777216", [], |_| Ok(()))?;
        // What is deleted is not to be found in the file.
        conn.query_row("PRAGMA secure_delete = ON", [], |_| Ok(()))?;
        if tables == 0 {
            let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            tx.execute_batch(TABLES)?;
            tx.pragma_update(None, "user_version", FORMAT)?;
            tx.commit()?;
        }
        Ok(Some(conn))
    }

    /// Closes the file, sets it aside and begins an empty one; where the old one is.
    pub fn begin_anew(self) -> Result<(Self, PathBuf), LibraryError> {
        let Self { conn, path, .. } = self;
        conn.close().map_err(|(_, error)| LibraryError::file(&path)(error))?;
        let backup = set_aside(&path)?;
        Ok((Self::anew(&path)?, backup))
    }

    /// How far a log was taken.
    pub fn cursor(&self, session: SessionId) -> Result<Option<(Epoch, Seq)>, LibraryError> {
        let found =
            self.conn.prepare_cached("SELECT epoch, seq FROM session WHERE session = ?1").and_then(|mut find| {
                let read = |row: &rusqlite::Row<'_>| {
                    Ok((Epoch(row.get::<_, i64>(0)? as u64), Seq(row.get::<_, i64>(1)? as u64)))
                };
                find.query_row([session.0 as i64], read).optional()
            });
        found.map_err(LibraryError::file(&self.path))
    }

    /// All sessions that it has something of.
    pub fn sessions(&self) -> Result<Vec<SessionId>, LibraryError> {
        let read = || {
            let mut find = self.conn.prepare_cached("SELECT session FROM session ORDER BY session")?;
            let found = find.query_map([], |row| row.get::<_, i64>(0).map(|id| SessionId(id as u64)))?;
            found.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(LibraryError::file(&self.path))
    }

    /// Messages that it has.
    pub fn count(&self) -> Result<u64, LibraryError> {
        let count = self.conn.query_row("SELECT count(*) FROM message", [], |row| row.get::<_, i64>(0));
        count.map(|count| count as u64).map_err(LibraryError::file(&self.path))
    }

    /// Writes what logs gave, all together.
    pub fn write(&mut self, derived: &[Derived]) -> Result<(), LibraryError> {
        let named = LibraryError::file(&self.path);
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&named)?;
        let mut write = || {
            for one in derived {
                write_one(&tx, one, &mut self.taken)?;
            }
            Ok(())
        };
        write().map_err(&named)?;
        tx.commit().map_err(&named)
    }

    /// Takes out all that was derived from a log; how many messages that were.
    pub fn forget(&mut self, session: SessionId) -> Result<u64, LibraryError> {
        let named = LibraryError::file(&self.path);
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&named)?;
        let forget = || {
            let gone = take_out(&tx, session, Rows::All)?;
            tx.execute("DELETE FROM session WHERE session = ?1", [session.0 as i64])?;
            Ok(gone)
        };
        let gone = forget().map_err(&named)?;
        tx.commit().map_err(&named)?;
        self.taken = (0, 0);
        Ok(gone)
    }

    /// Copies the write-ahead log into the file, so that nothing that was deleted is left in it.
    pub fn checkpoint(&self) -> Result<(), LibraryError> {
        let done = self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        done.map_err(LibraryError::file(&self.path))
    }

    /// Gives free pages back to the disk.
    pub fn shrink(&self) -> Result<(), LibraryError> {
        let shrink = || {
            // Deleted entries of the index leave gaps, which this closes in bounded steps.
            self.conn.execute("INSERT INTO words (words, rank) VALUES ('merge', 500)", [])?;
            let mut vacuum = self.conn.prepare("PRAGMA incremental_vacuum")?;
            let mut steps = vacuum.query([])?;
            while steps.next()?.is_some() {}
            Ok(())
        };
        shrink().map_err(LibraryError::file(&self.path))?;
        self.checkpoint()
    }

    /// Bytes on the disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.path)
    }
}

/// Bytes of a database and of its write-ahead log.
pub(crate) fn bytes_of(path: &Path) -> u64 {
    let size = |path: PathBuf| fs::metadata(path).map_or(0, |found| found.len());
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    size(path.to_owned()) + size(PathBuf::from(wal))
}

/// Moves a file that nobody has open away, and keeps the last ones only; where it is.
fn set_aside(path: &Path) -> Result<PathBuf, LibraryError> {
    let mut stamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    while beside(&format!(".bak-{stamp}")).exists() {
        stamp += 1;
    }
    let backup = beside(&format!(".bak-{stamp}"));
    match fs::rename(path, &backup) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(LibraryError::disk(path)(error)),
        _ => {}
    }
    // A log of the old file must not be taken for one of the new.
    for suffix in ["-wal", "-shm"] {
        match fs::remove_file(beside(suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(LibraryError::disk(path)(error)),
            _ => {}
        }
    }
    drop_old_backups(path);
    Ok(backup)
}

fn drop_old_backups(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else { return };
    let stamp = |entry: &fs::DirEntry| {
        let found = entry.file_name();
        found.to_str()?.strip_prefix(name)?.strip_prefix(".bak-")?.parse::<u64>().ok()
    };
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut backups: Vec<(u64, PathBuf)> = found.filter_map(|entry| Some((stamp(&entry)?, entry.path()))).collect();
    backups.sort_unstable();
    for (_, old) in backups.iter().rev().skip(MAX_BACKUPS) {
        if let Err(error) = fs::remove_file(old) {
            tracing::warn!(%error, file = %old.display(), "an old copy could not be removed");
        }
    }
}

fn name_id(tx: &Transaction<'_>, name: &str) -> rusqlite::Result<i64> {
    let known = find_name(tx, name)?;
    if let Some(id) = known {
        return Ok(id);
    }
    tx.prepare_cached("INSERT INTO name (name) VALUES (?1)")?.execute([name])?;
    Ok(tx.last_insert_rowid())
}

/// The number of an agent's or a workspace's name.
pub(crate) fn find_name(conn: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT id FROM name WHERE name = ?1")?.query_row([name], |row| row.get(0)).optional()
}

fn write_one(tx: &Transaction<'_>, derived: &Derived, taken: &mut (i64, i64)) -> rusqlite::Result<()> {
    let session = derived.session;
    let known: Option<i64> = tx
        .prepare_cached("SELECT seq FROM session WHERE session = ?1")?
        .query_row([session.0 as i64], |row| row.get(0))
        .optional()?;
    let stale = if derived.anew { Rows::All } else { Rows::After(Seq(known.unwrap_or(0) as u64)) };
    if take_out(tx, session, stale)? > 0 {
        *taken = (0, 0);
    }
    let agent = name_id(tx, derived.agent.as_str())?;
    let workspace = name_id(tx, derived.workspace.as_str())?;
    tx.prepare_cached("INSERT OR REPLACE INTO session VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
        session.0 as i64,
        derived.epoch.0 as i64,
        derived.cursor.0 as i64,
        agent,
        workspace
    ])?;
    let marks = format!("{} {} {}", session_mark(session), agent_mark(agent), workspace_mark(workspace));
    for item in derived.items.iter().chain(&derived.so_far) {
        match item {
            Item::Message(message) => insert(tx, session, message, &marks, taken)?,
            Item::Used(used) => insert_used(tx, session, used)?,
        }
    }
    Ok(())
}

fn insert(
    tx: &Transaction<'_>,
    session: SessionId,
    message: &Message,
    marks: &str,
    taken: &mut (i64, i64),
) -> rusqlite::Result<()> {
    let id = free_id(tx, message.at, taken)?;
    let role = role_number(message.role);
    tx.prepare_cached("INSERT INTO message VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?.execute(params![
        id,
        session.0 as i64,
        message.seq.0 as i64,
        message.turn.map_or(0, |turn| i64::from(turn.0)),
        role,
        message.at.0 as i64,
        message.paths,
        message.text
    ])?;
    let marks = format!("{marks} {}", role_mark(role));
    tx.prepare_cached("INSERT INTO words (rowid, text, paths, marks) VALUES (?1, ?2, ?3, ?4)")?.execute(params![
        id,
        spaced(&message.text),
        spaced(&message.paths),
        marks
    ])?;
    Ok(())
}

/// The first id of the message's moment that is free, or of those after it.
fn free_id(tx: &Transaction<'_>, at: Time, taken: &mut (i64, i64)) -> rusqlite::Result<i64> {
    let first = first_id(at);
    let mut from = first;
    if (taken.0..taken.1).contains(&from) {
        from = taken.1;
    }
    let mut find = tx.prepare_cached("SELECT max(id) FROM message WHERE id >= ?1 AND id < ?2")?;
    let slots = 1 << SLOT_BITS;
    loop {
        let until = (from / slots + 1) * slots;
        let last: Option<i64> = find.query_row([from, until], |row| row.get(0))?;
        let free = last.map_or(from, |last| last + 1);
        if free < until {
            *taken = if (taken.0..=taken.1).contains(&first) { (taken.0, free + 1) } else { (first, free + 1) };
            return Ok(free);
        }
        from = until;
    }
}

fn insert_used(tx: &Transaction<'_>, session: SessionId, used: &Used) -> rusqlite::Result<()> {
    let (turn_micros, total) = match &used.spent {
        Some(spent) if spent.of == SpentOf::Turn => (Some(spent.micros), None),
        Some(spent) => (None, Some(spent.micros)),
        None => (None, None),
    };
    let currency = used.spent.as_ref().map_or("", |spent| spent.currency.as_str());
    let since = match total {
        Some(total) => {
            Some(total - total_before(tx, session, used.seq, currency)?.filter(|before| *before <= total).unwrap_or(0))
        }
        None => None,
    };
    let number = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    tx.prepare_cached("INSERT OR REPLACE INTO used VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")?
        .execute(params![
            session.0 as i64,
            used.seq.0 as i64,
            used.turn.map_or(0, |turn| i64::from(turn.0)),
            used.at.0 as i64,
            number(used.tokens.input),
            number(used.tokens.output),
            number(used.tokens.cached),
            number(used.tokens.thought),
            turn_micros,
            total,
            since,
            currency
        ])?;
    Ok(())
}

/// What an agent session had cost before. A sum that is smaller now is of a new one.
fn total_before(tx: &Transaction<'_>, session: SessionId, seq: Seq, currency: &str) -> rusqlite::Result<Option<i64>> {
    tx.prepare_cached(
        "SELECT total_micros FROM used WHERE session = ?1 AND seq < ?2 AND currency = ?3 AND total_micros IS NOT NULL
         ORDER BY seq DESC LIMIT 1",
    )?
    .query_row(params![session.0 as i64, seq.0 as i64, currency], |row| row.get(0))
    .optional()
}

/// Takes rows of a session out, and their words out of the index.
fn take_out(tx: &Transaction<'_>, session: SessionId, rows: Rows) -> rusqlite::Result<u64> {
    let after = match rows {
        Rows::All => -1,
        Rows::After(seq) => seq.0 as i64,
    };
    let place = [session.0 as i64, after];
    let names: Option<(i64, i64)> = tx
        .prepare_cached("SELECT agent, workspace FROM session WHERE session = ?1")?
        .query_row([session.0 as i64], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((agent, workspace)) = names else { return Ok(0) };
    let mut gone = 0;
    {
        let mut find =
            tx.prepare_cached("SELECT id, role, paths, text FROM message WHERE session = ?1 AND seq > ?2 ORDER BY id")?;
        let mut drop_words = tx
            .prepare_cached("INSERT INTO words (words, rowid, text, paths, marks) VALUES ('delete', ?1, ?2, ?3, ?4)")?;
        let mut found = find.query(place)?;
        while let Some(row) = found.next()? {
            let (id, role): (i64, i64) = (row.get(0)?, row.get(1)?);
            let (paths, text) = (row.get_ref(2)?.as_str()?, row.get_ref(3)?.as_str()?);
            let marks =
                [session_mark(session), agent_mark(agent), workspace_mark(workspace), role_mark(role)].join(" ");
            drop_words.execute(params![id, spaced(text), spaced(paths), marks])?;
            gone += 1;
        }
    }
    tx.prepare_cached("DELETE FROM message WHERE session = ?1 AND seq > ?2")?.execute(place)?;
    tx.prepare_cached("DELETE FROM used WHERE session = ?1 AND seq > ?2")?.execute(place)?;
    Ok(gone)
}
