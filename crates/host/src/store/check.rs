//! What is looked at before a file is used, so that damage is found at the start and not by a reader. Never repairs.
//!
//! It is cheap for large files: the write-ahead log's checksums, the tables, the tail's rows (which are few), the index of the
//! segments and the sessions that a tab shows. Segments prove themselves when they are read.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use switchboard_types::{Seq, SessionId, WorkspaceRow};

use super::error::StoreError;
use super::index::Run;
use super::rows::{self, MetaKey, Sealed};
use super::schema::{self, Format, STEPS};
use super::sqlite::{Access, Durability, FILE_NAME, Options, connect};
use super::wal;

/// How much longer the write-ahead log may grow while the writer is never idle, as a multiple of where it is copied when it
/// is: copying waits for the disk, and whoever waits for a commit meanwhile waits with it.
const BUSY_FACTOR: u32 = 8;

/// A file that can be used, and what its tail holds.
#[derive(Debug)]
pub(crate) struct Sound {
    pub(crate) conn: Connection,
    pub(crate) runs: Vec<(SessionId, Run)>,
    pub(crate) next_session: u64,
    pub(crate) data: u64,
}

/// The name of a file beside the database.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Notes that the file must be salvaged at the next start. If even that fails, the next start finds the damage by itself.
pub(crate) fn mark(path: &Path) -> Option<u64> {
    if let Some(stamp) = marked(path) {
        return Some(stamp);
    }
    let mut stamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // An earlier salvage of the same second, or of a clock set back since, keeps its name.
    while beside(path, &format!(".damaged-{stamp}")).exists() {
        stamp += 1;
    }
    let written = File::create(beside(path, ".salvage")).and_then(|mut file| {
        write!(file, "{stamp}")?;
        file.sync_all()?;
        sync_folder(path)
    });
    written.ok().map(|()| stamp)
}

/// The mark of [`mark`], if there is one.
pub(crate) fn marked(path: &Path) -> Option<u64> {
    fs::read_to_string(beside(path, ".salvage")).ok()?.trim().parse().ok()
}

/// Makes the names in the file's folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Makes an empty file that only its owner may read; the engine gives its companions the same rights.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    File::options().write(true).create(true).truncate(false).mode(0o600).open(path).map(drop)
}

/// Opens the file, makes its tables or takes them to the newest format, and looks at what must be right.
pub(crate) fn examine(path: &Path, options: &Options) -> Result<Sound, StoreError> {
    look_at_log(path, options.durability)?;
    let named = |error| StoreError::from_engine(path, error);
    create_private(path).map_err(|error| StoreError::from_io(path, error))?;
    let mut conn = connect(path, options, Access::Write).map_err(named)?;
    let known = STEPS.len() as i64;
    let from = match schema::format(&conn).map_err(named)? {
        Format::Foreign => return Err(StoreError::Foreign { path: path.to_owned() }),
        Format::Ours(found) if found > known => {
            return Err(StoreError::Newer { path: path.to_owned(), found, known });
        }
        Format::Ours(found) => usize::try_from(found).unwrap_or_default(),
        Format::Empty => 0,
    };
    prepare(&mut conn, options, from).map_err(named)?;
    let runs = scan_tail(&conn).map_err(named)?;
    scan_rows(&conn).map_err(named)?;
    let next_session = first_free_session(&conn).map_err(named)?;
    let data = rows::read_meta(&conn, MetaKey::Data).map_err(named)?;
    let data = data.ok_or_else(|| named(rows::damage("the table `meta` lacks a row")))? as u64;
    Ok(Sound { conn, runs, next_session, data })
}

/// What can be said of a store that nobody uses, without changing it.
#[derive(Debug)]
pub struct CheckUp {
    /// Sessions in it.
    pub sessions: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// The workspaces that it knows.
    pub workspaces: Vec<WorkspaceRow>,
    /// What is damaged, if anything is.
    pub damage: Option<String>,
    /// Damaged files that were set aside before.
    pub set_aside: usize,
}

/// Looks at every page of a store that nobody uses; none if there is no store yet.
pub fn check_up(folder: &Path) -> Result<Option<CheckUp>, StoreError> {
    let path = folder.join(FILE_NAME);
    if !path.exists() {
        return Ok(None);
    }
    let named = |error| StoreError::from_engine(&path, error);
    let size = |suffix: &str| fs::metadata(beside(&path, suffix)).map_or(0, |found| found.len());
    let names = fs::read_dir(folder).map_err(|error| StoreError::from_io(folder, error))?;
    let is_aside = |name: &str| name.starts_with(&format!("{FILE_NAME}.damaged-")) && !name.ends_with("-wal");
    let set_aside = names.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_aside)).count();
    let mut found =
        CheckUp { sessions: 0, bytes: size("") + size("-wal"), workspaces: Vec::new(), damage: None, set_aside };
    let looked = look_at_log(&path, Durability::Full).and_then(|()| {
        let conn = connect(&path, &Options::default(), Access::Read).map_err(named)?;
        match schema::format(&conn).map_err(named)? {
            Format::Foreign => return Err(StoreError::Foreign { path: path.clone() }),
            Format::Ours(version) if version > STEPS.len() as i64 => {
                return Err(StoreError::Newer { path: path.clone(), found: version, known: STEPS.len() as i64 });
            }
            Format::Empty => return Ok(()),
            Format::Ours(_) => {}
        }
        look_at_rows(&conn, &mut found).map_err(named)
    });
    match looked {
        Err(StoreError::Damaged { what, .. }) => found.damage = Some(what),
        other => other?,
    }
    if marked(&path).is_some() {
        found.damage.get_or_insert_with(|| "damage was found while it was in use".to_owned());
    }
    Ok(Some(found))
}

fn look_at_rows(conn: &Connection, found: &mut CheckUp) -> rusqlite::Result<()> {
    let verdict: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(rows::damage(&verdict));
    }
    found.sessions = conn.query_row("SELECT count(*) FROM session", [], |row| row.get::<_, i64>(0))? as u64;
    let mut statement = conn.prepare("SELECT * FROM workspace ORDER BY root")?;
    let mut listed = statement.query([])?;
    while let Some(row) = listed.next()? {
        if let Sealed::Workspace { row, .. } = rows::sealed_row(row)? {
            found.workspaces.push(row);
        }
    }
    Ok(())
}

/// The engine would drop what follows a wrong checksum, and the whole log if the file is empty.
fn look_at_log(path: &Path, durability: Durability) -> Result<(), StoreError> {
    let damaged = |what: &str| Err(StoreError::Damaged { path: path.to_owned(), what: what.to_owned() });
    let wal = wal::read(&beside(path, "-wal")).map_err(|error| StoreError::from_io(path, error))?;
    let Some(wal) = wal else { return Ok(()) };
    if wal.damaged && durability == Durability::Full {
        return damaged("its write-ahead log is broken before its end");
    }
    let bytes = fs::metadata(path).map_or(0, |data| data.len());
    if bytes == 0 && !wal.frames.is_empty() {
        return damaged("it is empty, but its write-ahead log is not");
    }
    Ok(())
}

fn prepare(conn: &mut Connection, options: &Options, from: usize) -> rusqlite::Result<()> {
    if from == 0 {
        // So that room can be given back a little at a time; only an empty file takes it.
        conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
    }
    let mode: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR),
            Some("this file system cannot share memory between openings; choose a local folder".to_owned()),
        ));
    }
    conn.pragma_update(None, "synchronous", options.durability.pragma())?;
    // The writer looks after the write-ahead log when it is idle; this is for when it never is.
    conn.pragma_update(None, "wal_autocheckpoint", options.bounds.checkpoint_pages.saturating_mul(BUSY_FACTOR))?;
    // A burst must not leave a huge file behind for good.
    conn.query_row("PRAGMA journal_size_limit = 67108864", [], |_| Ok(()))?;
    schema::migrate(conn, STEPS, from)?;
    // Whoever else writes shows here and not at the first commit.
    conn.execute_batch("BEGIN IMMEDIATE; COMMIT")
}

fn scan_tail(conn: &Connection) -> rusqlite::Result<Vec<(SessionId, Run)>> {
    let mut statement = conn.prepare("SELECT id, session, first_seq, last_seq, crc, records FROM tail ORDER BY id")?;
    let mut found = statement.query([])?;
    let mut runs = Vec::new();
    let mut heads: std::collections::HashMap<SessionId, Seq> = std::collections::HashMap::new();
    while let Some(row) = found.next()? {
        let id = row.get(0)?;
        let Sealed::Log { session, page } = rows::sealed_row(row)? else {
            return Err(rows::damage("a row of the tail is none"));
        };
        if heads.insert(session, page.last()).is_some_and(|head| page.first() <= head) {
            return Err(rows::damage("rows of the tail overlap"));
        }
        runs.push((session, Run { id, first: page.first(), last: page.last(), bytes: page.bytes() }));
    }
    Ok(runs)
}

/// Whatever is read at every start is read here, so that a start either works or salvages; and the small index that leads to
/// all segments.
fn scan_rows(conn: &Connection) -> rusqlite::Result<()> {
    conn.query_row("SELECT count(*) FROM segment INDEXED BY segment_place", [], |_| Ok(()))?;
    conn.query_row("SELECT max(length(name)) FROM agent_session", [], |_| Ok(()))?;
    for query in [
        "SELECT * FROM session WHERE tab IS NOT NULL",
        "SELECT * FROM workspace",
        "SELECT * FROM lost",
        "SELECT * FROM rule",
        "SELECT * FROM session_keeps",
        "SELECT * FROM call WHERE ended IS NULL",
    ] {
        let mut statement = conn.prepare(query)?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            if let Sealed::Session { row, .. } = rows::sealed_row(row)? {
                rows::last_packed(conn, row.session)?;
            }
        }
    }
    Ok(())
}

fn first_free_session(conn: &Connection) -> rusqlite::Result<u64> {
    let noted = rows::read_meta(conn, MetaKey::NextSession)?.unwrap_or(1);
    let used: i64 = conn.query_row(
        "SELECT max(ifnull((SELECT max(session) FROM session), 0), ifnull((SELECT max(session) FROM segment), 0),
                    ifnull((SELECT max(session) FROM tail), 0), ifnull((SELECT max(session) FROM deleted), 0))",
        [],
        |row| row.get(0),
    )?;
    Ok(noted.max(used + 1) as u64)
}
