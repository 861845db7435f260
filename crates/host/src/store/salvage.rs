//! Sets a damaged file aside and saves all that is readable of it into a new one. Never deletes or changes what it set aside.
//!
//! It can be interrupted anywhere: a mark beside the file says that a salvage is under way and under which name the damaged
//! file lies, and the next start begins it again from there.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, params};
use rustix::fs::FlockOperation;
use switchboard_types::{Rule, RuleEffect, Seq, SessionId};

use super::carve::{Carved, Remains};
use super::check::{beside, create_private, mark, sync_folder};
use super::error::StoreError;
use super::kept;
use super::rebuild::Rebuild;
use super::rows::{self, MetaKey, Sealed, db};
use super::schema::{self, STEPS};
use super::sqlite::{OpenReport, Options};
use super::wal;

/// Files of a database that move together.
const PARTS: [&str; 3] = ["", "-wal", "-shm"];
/// Losses that are told one by one; the rest is counted.
const TOLD_LOSSES: usize = 20;

/// Salvages the file and adds to the report what was done.
pub(crate) fn salvage(path: &Path, options: &Options, what: &str, report: &mut OpenReport) -> Result<(), StoreError> {
    let named = |error| StoreError::from_io(path, error);
    nobody_else_has(path)?;
    let stamp = mark(path).ok_or_else(|| named(io::Error::other("its folder cannot be written to")))?;
    let aside = beside(path, &format!(".damaged-{stamp}"));
    set_aside(path, &aside).map_err(named)?;
    tracing::error!(what, aside = %aside.display(), "the database is damaged; saving what is readable");

    let (new, scratch) = (beside(path, ".new"), beside(path, ".scratch"));
    remove(&new).and_then(|()| remove(&scratch)).map_err(named)?;
    create_private(&new).and_then(|()| create_private(&scratch)).map_err(named)?;
    let saved = build(&aside, &new, &scratch, options).map_err(|error| match error {
        BuildError::Engine(error) => StoreError::from_engine(path, error),
        BuildError::Io(error) => named(error),
    })?;
    let placed = File::open(&new).and_then(|file| {
        file.sync_all()?;
        remove(&scratch)?;
        fs::rename(&new, path)?;
        sync_folder(path)?;
        fs::remove_file(beside(path, ".salvage"))?;
        sync_folder(path)
    });
    placed.map_err(named)?;
    report.notes.push(format!(
        "{} was damaged ({what}). It was set aside as {} and a new file was made with {} sessions and {} events.",
        path.display(),
        aside.display(),
        saved.sessions,
        saved.events
    ));
    report.notes.extend(tell(&saved.lost));
    report.notes.extend(saved.rules.note().map(str::to_owned));
    report.set_aside = Some(aside);
    Ok(())
}

fn tell(lost: &[(SessionId, Seq, Seq)]) -> Vec<String> {
    if lost.is_empty() {
        return vec!["No event is known to be lost.".to_owned()];
    }
    let one = |(session, first, last): &(SessionId, Seq, Seq)| {
        format!("Session {session} lost its events {first} to {last}; the rest of it is there.")
    };
    let mut notes: Vec<String> = lost.iter().take(TOLD_LOSSES).map(one).collect();
    if lost.len() > TOLD_LOSSES {
        notes.push(format!("{} further ranges of events are lost.", lost.len() - TOLD_LOSSES));
    }
    notes
}

/// A file that another process has open must not be moved away under it.
fn nobody_else_has(path: &Path) -> Result<(), StoreError> {
    let file = match File::options().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(StoreError::from_io(path, error)),
    };
    // The engine keeps such locks on the file as long as it is open; this one ends with the function.
    match rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) => Err(StoreError::Locked { path: path.to_owned() }),
        Err(error) => Err(StoreError::from_io(path, error.into())),
    }
}

/// Moves the parts that were not moved before an interruption.
fn set_aside(path: &Path, aside: &Path) -> io::Result<()> {
    for part in PARTS {
        let (from, to) = (beside(path, part), beside(aside, part));
        if from.try_exists()? && !to.try_exists()? {
            fs::rename(from, to)?;
        }
    }
    sync_folder(path)
}

fn remove(path: &Path) -> io::Result<()> {
    for part in ["", "-wal", "-shm", "-journal"] {
        match fs::remove_file(beside(path, part)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// What could be saved.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    pub(crate) sessions: u64,
    pub(crate) events: u64,
    pub(crate) lost: Vec<(SessionId, Seq, Seq)>,
    pub(crate) rules: Rules,
}

/// Which rules a salvage keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rules {
    /// All that there were when the file was last used.
    #[default]
    All,
    /// Those that deny, wherever they were found. One that allows could have been taken out since, so none of them is kept.
    Denials,
}

impl Rules {
    fn note(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Denials => Some(
                "Rules that allow something, if there were any, are gone, since nobody can say which of them were taken out again; answer the \
                 next question by rule to have one anew. Rules that deny are kept.",
            ),
        }
    }
}

enum BuildError {
    Engine(rusqlite::Error),
    Io(io::Error),
}

impl From<rusqlite::Error> for BuildError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}

fn build(aside: &Path, new: &Path, scratch: &Path, options: &Options) -> Result<Saved, BuildError> {
    let remains = Remains::open(aside, &beside(aside, "-wal")).map_err(BuildError::Io)?;
    let structure = look_at_structure(aside);
    let scratch = private(scratch)?;
    scratch.execute_batch(
        "CREATE TABLE log (session INTEGER, first_seq INTEGER, last_seq INTEGER, trust INTEGER, records BLOB);
         CREATE TABLE trace (session INTEGER, first_seq INTEGER, last_seq INTEGER);
         BEGIN",
    )?;
    let mut new = private(new)?;
    schema::migrate(&mut new, STEPS, 0)?;
    let tx = new.transaction()?;
    remains.carve(|carved| keep(&tx, &scratch, carved))?;
    let rules = keep_rules(&tx, aside)?;
    scratch.execute_batch("CREATE INDEX log_place ON log (session, trust, first_seq, last_seq)")?;
    let mut saved =
        Rebuild { new: &tx, scratch: &scratch, segment_bytes: options.bounds.segment_bytes, structure }.run()?;
    saved.rules = rules;
    tx.commit()?;
    new.close().map_err(|(_, error)| error)?;
    Ok(saved)
}

/// A file that nobody else sees and that is made again from the start if anything goes wrong.
fn private(path: &Path) -> rusqlite::Result<Connection> {
    let conn = Connection::open(path)?;
    conn.query_row("PRAGMA journal_mode = OFF", [], |_| Ok(()))?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    Ok(conn)
}

/// Whether rows can have vanished without a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Structure {
    /// Every row of every table is reachable: what is lost left a hole or a damaged row.
    Sound,
    /// Whole pages may be gone, and with them the end of any log.
    Broken,
}

fn look_at_structure(aside: &Path) -> Structure {
    let check = || -> rusqlite::Result<bool> {
        let conn = read_only(aside)?;
        let verdict: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok(verdict == "ok")
    };
    if !wal_is_damaged(aside) && check().unwrap_or(false) { Structure::Sound } else { Structure::Broken }
}

fn wal_is_damaged(aside: &Path) -> bool {
    wal::read(&beside(aside, "-wal")).map_or(true, |wal| wal.is_some_and(|wal| wal.damaged))
}

fn read_only(aside: &Path) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(aside, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    // What was set aside stays as it is.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(conn)
}

/// Rules as the engine itself reads them are those that held; what is carved out of pages may have been taken out since.
fn keep_rules(new: &Connection, aside: &Path) -> rusqlite::Result<Rules> {
    let held = || -> rusqlite::Result<Option<Vec<Rule>>> {
        let conn = read_only(aside)?;
        let has_rules = conn
            .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name IN ('session', 'rule') ORDER BY name")?
            .query_map([], |_| Ok(()))?
            .count();
        match has_rules {
            // A file of before there were rules.
            1 => Ok(Some(Vec::new())),
            2 => kept::rules(&conn).map(Some),
            _ => Ok(None),
        }
    };
    let held = if wal_is_damaged(aside) { None } else { held().unwrap_or_default() };
    let Some(held) = held else { return Ok(Rules::Denials) };
    new.execute("DELETE FROM rule", [])?;
    for rule in &held {
        kept::write_rule(new, rule, 0)?;
    }
    Ok(Rules::All)
}

/// Rows of logs wait in the scratch file to be put in order; of the rest the newest version wins at once.
fn keep(new: &Connection, scratch: &Connection, carved: Carved) -> rusqlite::Result<()> {
    let (row, trust) = match carved {
        Carved::Row { row, trust } => (*row, trust),
        Carved::Trace { session, first, last } => {
            scratch.prepare_cached("INSERT INTO trace VALUES (?1, ?2, ?3)")?.execute(params![
                db(session.0),
                db(first.0),
                db(last.0)
            ])?;
            return Ok(());
        }
    };
    match row {
        Sealed::Log { session, page } => {
            let (first, last) = (db(page.first().0), db(page.last().0));
            scratch.prepare_cached("INSERT INTO log VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
                db(session.0),
                first,
                last,
                trust as i64,
                page.records().as_ref()
            ])?;
        }
        Sealed::Session { mut row, rev } => {
            if rows::read_session(new, row.session)?.is_none_or(|(_, kept)| kept < rev) {
                row.keeps = kept::keeps(new, row.session)?;
                row.agent_session = rows::agent_session(new, row.session)?;
                rows::write_session(new, &row, rev)?;
            }
        }
        Sealed::Turn { row, rev } => {
            if rows::read_turn(new, row.session, row.turn)?.is_none_or(|(_, kept)| kept < rev) {
                rows::write_turn(new, &row, rev)?;
            }
        }
        Sealed::Workspace { mut row, rev } => {
            // An older row could outlive the one that took its trust back, so a salvage trusts nobody.
            row.trusted = None;
            if rows::workspace_rev(new, &row.root)?.is_none_or(|kept| kept < rev) {
                rows::write_workspace(new, &row, rev)?;
            }
        }
        Sealed::Lost { session, first, last } => {
            rows::note_lost(new, session, first, last)?;
        }
        Sealed::Deleted { session, rev } => rows::delete_session(new, session, rev)?,
        Sealed::Keeps { session, keeps, rev } => kept::salvage_keeps(new, session, &keeps, rev)?,
        Sealed::Rule { rule, rev } => {
            let newer = kept::rule_rev(new, &rule.id)?.is_none_or(|kept| kept < rev);
            if rule.effect == RuleEffect::Deny && newer {
                kept::write_rule(new, &rule, rev)?;
            }
        }
        Sealed::Call { row, rev } => {
            if kept::call_rev(new, &row)?.is_none_or(|kept| kept < rev) {
                kept::write_call(new, &row, rev)?;
            }
        }
        // Only of use to agents elsewhere; the rebuild forgets all others.
        Sealed::AgentSession { session, name } => rows::salvage_agent_session(new, session, &name)?,
        Sealed::Meta { key: MetaKey::Data, value } => rows::write_meta(new, MetaKey::Data, value)?,
        Sealed::Meta { key: MetaKey::NextSession, value } => {
            let kept = rows::read_meta(new, MetaKey::NextSession)?.unwrap_or(1);
            rows::write_meta(new, MetaKey::NextSession, kept.max(value))?;
        }
        // The new file has the newest format, whatever the old one had.
        Sealed::Meta { key: MetaKey::Format, .. } => {}
    }
    Ok(())
}
