//! The metadata's rows as cells, each sealed by a checksum, and the one way to write and to read them. Never opens a file or
//! a transaction.

use bytes::Bytes;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use switchboard_types::{
    AgentName, AgentSession, CallRow, Epoch, Page, Rule, Seq, SessionId, SessionKeeps, SessionRow, TabId, Time, TurnId,
    TurnName, TurnPhase, TurnRow, WorkspaceRoot, WorkspaceRow,
};

use super::kept;

/// What a number in `meta` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetaKey {
    /// The format of the tables.
    Format,
    /// Names these data, whatever folder they lie in.
    Data,
    /// The first session id that was never used.
    NextSession,
}

impl MetaKey {
    const ALL: [Self; 3] = [Self::Format, Self::Data, Self::NextSession];

    fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Data => "data",
            Self::NextSession => "next_session",
        }
    }
}

/// A row that proved itself by its checksum, whichever table it is of. `rev` tells a newer version of a row from an older.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sealed {
    Log { session: SessionId, page: Page },
    Session { row: SessionRow, rev: i64 },
    Turn { row: TurnRow, rev: i64 },
    Workspace { row: WorkspaceRow, rev: i64 },
    Lost { session: SessionId, first: Seq, last: Seq },
    Deleted { session: SessionId, rev: i64 },
    AgentSession { session: SessionId, name: AgentSession },
    Keeps { session: SessionId, keeps: SessionKeeps, rev: i64 },
    Rule { rule: Rule, rev: i64 },
    Call { row: CallRow, rev: i64 },
    Meta { key: MetaKey, value: i64 },
}

const TAG_SESSION: u8 = 1;
const TAG_TURN: u8 = 2;
const TAG_WORKSPACE: u8 = 3;
const TAG_LOST: u8 = 4;
const TAG_META: u8 = 5;
const TAG_LOG: u8 = 6;
const TAG_DELETED: u8 = 7;
const TAG_AGENT_SESSION: u8 = 8;

/// The checksum of a row of the log, in the tail or in a segment: moving records between them keeps nothing but the bytes.
pub(crate) fn log_crc(session: SessionId, first: Seq, last: Seq, records: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[TAG_LOG]);
    for number in [session.0, first.0, last.0] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(records);
    hasher.finalize()
}

pub(super) fn seal(tag: u8, cells: &[Value]) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[tag]);
    for cell in cells {
        match cell {
            Value::Null => hasher.update(&[0]),
            Value::Integer(number) => {
                hasher.update(&[1]);
                hasher.update(&number.to_le_bytes());
            }
            Value::Real(number) => hasher.update(&number.to_le_bytes()),
            Value::Text(text) => {
                hasher.update(&[2]);
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
            }
            Value::Blob(bytes) => hasher.update(bytes),
        }
    }
    i64::from(hasher.finalize())
}

pub(super) fn sealed(tag: u8, mut cells: Vec<Value>) -> Vec<Value> {
    cells.push(Value::Integer(seal(tag, &cells)));
    cells
}

/// An error that says that the file is damaged.
pub(crate) fn damage(what: &str) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), Some(what.to_owned()))
}

pub(crate) fn random_u64() -> u64 {
    getrandom::u64().unwrap_or_else(|_| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        (now.as_nanos() as u64) ^ u64::from(std::process::id()).rotate_left(40)
    })
}

/// An epoch that no log had before.
pub(crate) fn new_epoch() -> Epoch {
    Epoch(random_u64())
}

/// SQLite's numbers are signed; ours keep their bits.
pub(crate) fn db(number: u64) -> i64 {
    number as i64
}

pub(super) fn integer(number: u64) -> Value {
    Value::Integer(db(number))
}

pub(super) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn session_cells(row: &SessionRow, rev: i64) -> Vec<Value> {
    let tab = row.tab.as_ref().map_or(Value::Null, |tab| text(tab.as_str()));
    sealed(
        TAG_SESSION,
        vec![
            integer(row.session.0),
            integer(row.epoch.0),
            text(row.workspace.as_str()),
            text(row.agent.as_str()),
            text(&row.title),
            tab,
            integer(row.created.0),
            integer(row.updated.0),
            Value::Integer(rev),
        ],
    )
}

fn turn_cells(row: &TurnRow, rev: i64) -> Vec<Value> {
    let phase = match row.phase {
        TurnPhase::Queued => 0,
        TurnPhase::Running => 1,
        TurnPhase::Ended => 2,
    };
    sealed(
        TAG_TURN,
        vec![
            integer(row.session.0),
            integer(u64::from(row.turn.0)),
            text(row.name.as_str()),
            integer(row.digest),
            integer(row.queued.0),
            Value::Integer(phase),
            Value::Integer(rev),
        ],
    )
}

fn workspace_cells(row: &WorkspaceRow, rev: i64) -> Vec<Value> {
    let trusted = row.trusted.map_or(Value::Null, |time| integer(time.0));
    sealed(TAG_WORKSPACE, vec![text(row.root.as_str()), trusted, Value::Integer(rev)])
}

/// Reads cells as the row that they are, if their checksum says that they are one.
pub(crate) fn unseal(cells: Vec<Value>) -> Option<Sealed> {
    use Value::{Blob, Integer, Null, Text};
    let number = |number: i64| number as u64;
    if let [Integer(_), Integer(session), Integer(first), Integer(last), Integer(crc), Blob(_)] = cells.as_slice() {
        let (session, first, last) = (SessionId(number(*session)), Seq(number(*first)), Seq(number(*last)));
        let crc = *crc;
        let Some(Blob(records)) = cells.into_iter().next_back() else { return None };
        let page = checked_page(session, first, last, crc, records)?;
        return Some(Sealed::Log { session, page });
    }
    let (crc, body) = cells.split_last()?;
    let is = |tag| *crc == Integer(seal(tag, body));
    match body {
        [
            Integer(session),
            Integer(epoch),
            Text(root),
            Text(agent),
            Text(title),
            tab,
            Integer(created),
            Integer(updated),
            Integer(rev),
        ] if is(TAG_SESSION) => {
            let tab = match tab {
                Text(tab) => Some(TabId::new(tab.as_str())),
                _ => None,
            };
            let row = SessionRow {
                session: SessionId(number(*session)),
                epoch: Epoch(number(*epoch)),
                workspace: WorkspaceRoot::new(root.as_str()),
                agent: AgentName::new(agent.as_str()),
                title: title.clone(),
                tab,
                // These lie in tables of their own.
                agent_session: None,
                keeps: SessionKeeps::default(),
                created: Time(number(*created)),
                updated: Time(number(*updated)),
            };
            Some(Sealed::Session { row, rev: *rev })
        }
        [
            Integer(session),
            Integer(turn),
            Text(name),
            Integer(digest),
            Integer(queued),
            Integer(phase),
            Integer(rev),
        ] if is(TAG_TURN) => {
            let row = TurnRow {
                session: SessionId(number(*session)),
                turn: TurnId(u32::try_from(*turn).ok()?),
                name: TurnName::new(name.as_str()),
                digest: number(*digest),
                queued: Seq(number(*queued)),
                phase: phase_of(*phase)?,
            };
            Some(Sealed::Turn { row, rev: *rev })
        }
        [Text(root), trusted @ (Integer(_) | Null), Integer(rev)] if is(TAG_WORKSPACE) => {
            let trusted = match trusted {
                Integer(time) => Some(Time(number(*time))),
                _ => None,
            };
            let row = WorkspaceRow { root: WorkspaceRoot::new(root.as_str()), trusted };
            Some(Sealed::Workspace { row, rev: *rev })
        }
        [Integer(session), Integer(first), Integer(last)] if is(TAG_LOST) => Some(Sealed::Lost {
            session: SessionId(number(*session)),
            first: Seq(number(*first)),
            last: Seq(number(*last)),
        }),
        [Integer(session), Integer(rev)] if is(TAG_DELETED) => {
            Some(Sealed::Deleted { session: SessionId(number(*session)), rev: *rev })
        }
        [Integer(session), Text(name)] if is(TAG_AGENT_SESSION) => {
            Some(Sealed::AgentSession { session: SessionId(number(*session)), name: AgentSession::new(name.as_str()) })
        }
        [Text(key), Integer(value)] if is(TAG_META) => {
            let key = MetaKey::ALL.into_iter().find(|known| known.name() == key)?;
            Some(Sealed::Meta { key, value: *value })
        }
        _ => kept::unseal(crc, body),
    }
}

fn phase_of(phase: i64) -> Option<TurnPhase> {
    match phase {
        0 => Some(TurnPhase::Queued),
        1 => Some(TurnPhase::Running),
        2 => Some(TurnPhase::Ended),
        _ => None,
    }
}

/// The page of a row of the log, if the row is whole.
pub(crate) fn checked_page(session: SessionId, first: Seq, last: Seq, crc: i64, records: Vec<u8>) -> Option<Page> {
    // No place in a log is beyond what the file's numbers can hold.
    let in_range = first.0 >= 1 && first <= last && last.0 < i64::MAX as u64;
    if !in_range || crc != i64::from(log_crc(session, first, last, &records)) {
        return None;
    }
    Page::new(first, last, Bytes::from(records)).ok()
}

/// All cells of a row as they lie in the file.
pub(crate) fn cells(row: &Row<'_>) -> rusqlite::Result<Vec<Value>> {
    (0..row.as_ref().column_count()).map(|column| row.get(column)).collect()
}

/// The row that the cells are, or the error that the file is damaged.
pub(crate) fn sealed_row(row: &Row<'_>) -> rusqlite::Result<Sealed> {
    unseal(cells(row)?).ok_or_else(|| damage("the checksum of a row is wrong"))
}

pub(crate) fn read_meta(conn: &Connection, key: MetaKey) -> rusqlite::Result<Option<i64>> {
    let row = conn
        .prepare_cached("SELECT key, value, crc FROM meta WHERE key = ?1")?
        .query_row([key.name()], sealed_row)
        .optional()?;
    Ok(row.and_then(|row| if let Sealed::Meta { value, .. } = row { Some(value) } else { None }))
}

pub(crate) fn write_meta(conn: &Connection, key: MetaKey, value: i64) -> rusqlite::Result<()> {
    let cells = sealed(TAG_META, vec![text(key.name()), Value::Integer(value)]);
    conn.prepare_cached("INSERT OR REPLACE INTO meta (key, value, crc) VALUES (?1, ?2, ?3)")?
        .execute(params_from_iter(cells))?;
    Ok(())
}

pub(crate) fn read_session(conn: &Connection, session: SessionId) -> rusqlite::Result<Option<(SessionRow, i64)>> {
    let row = conn
        .prepare_cached("SELECT * FROM session WHERE session = ?1")?
        .query_row([db(session.0)], sealed_row)
        .optional()?;
    let Some(Sealed::Session { mut row, rev }) = row else { return Ok(None) };
    row.agent_session = agent_session(conn, session)?;
    row.keeps = kept::keeps(conn, session)?;
    Ok(Some((row, rev)))
}

/// What the agent calls its session. If that is damaged, it is forgotten: the agent then gets a summary.
pub(crate) fn agent_session(conn: &Connection, session: SessionId) -> rusqlite::Result<Option<AgentSession>> {
    let found = conn
        .prepare_cached("SELECT * FROM agent_session WHERE session = ?1")?
        .query_row([db(session.0)], cells)
        .optional()?;
    Ok(match found.and_then(unseal) {
        Some(Sealed::AgentSession { name, .. }) => Some(name),
        _ => None,
    })
}

/// Takes what was found of an agent's session in a damaged file; the first that is found.
pub(crate) fn salvage_agent_session(
    conn: &Connection,
    session: SessionId,
    name: &AgentSession,
) -> rusqlite::Result<()> {
    let cells = sealed(TAG_AGENT_SESSION, vec![integer(session.0), text(name.as_str())]);
    conn.prepare_cached("INSERT OR IGNORE INTO agent_session VALUES (?1, ?2, ?3)")?.execute(params_from_iter(cells))?;
    Ok(())
}

/// Inserts or replaces a session's row, epoch included.
pub(crate) fn write_session(conn: &Connection, row: &SessionRow, rev: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT OR REPLACE INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?
        .execute(params_from_iter(session_cells(row, rev)))?;
    kept::write_keeps(conn, row.session, &row.keeps, rev)?;
    let Some(name) = &row.agent_session else {
        conn.prepare_cached("DELETE FROM agent_session WHERE session = ?1")?.execute([db(row.session.0)])?;
        return Ok(());
    };
    let cells = sealed(TAG_AGENT_SESSION, vec![integer(row.session.0), text(name.as_str())]);
    conn.prepare_cached("INSERT OR REPLACE INTO agent_session VALUES (?1, ?2, ?3)")?
        .execute(params_from_iter(cells))?;
    Ok(())
}

pub(crate) fn read_turn(
    conn: &Connection,
    session: SessionId,
    turn: TurnId,
) -> rusqlite::Result<Option<(TurnRow, i64)>> {
    let row = conn
        .prepare_cached("SELECT * FROM turn WHERE session = ?1 AND turn = ?2")?
        .query_row(params![db(session.0), turn.0], sealed_row)
        .optional()?;
    Ok(row.and_then(|row| if let Sealed::Turn { row, rev } = row { Some((row, rev)) } else { None }))
}

pub(crate) fn write_turn(conn: &Connection, row: &TurnRow, rev: i64) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO turn VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (session, turn) DO UPDATE SET
         name = excluded.name, digest = excluded.digest, queued = excluded.queued, phase = excluded.phase,
         rev = excluded.rev, crc = excluded.crc",
    )?
    .execute(params_from_iter(turn_cells(row, rev)))?;
    Ok(())
}

pub(crate) fn write_workspace(conn: &Connection, row: &WorkspaceRow, rev: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT OR REPLACE INTO workspace VALUES (?1, ?2, ?3, ?4)")?
        .execute(params_from_iter(workspace_cells(row, rev)))?;
    Ok(())
}

pub(crate) fn workspace_rev(conn: &Connection, root: &WorkspaceRoot) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT rev FROM workspace WHERE root = ?1")?
        .query_row([root.as_str()], |row| row.get(0))
        .optional()
}

/// Whether a session was deleted.
pub(crate) fn is_deleted(conn: &Connection, session: SessionId) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM deleted WHERE session = ?1")?.exists([db(session.0)])
}

/// Takes out all that is known of a session and leaves a note that it was deleted, for readers on their way and for a
/// salvage that finds its remains.
pub(crate) fn delete_session(conn: &Connection, session: SessionId, rev: i64) -> rusqlite::Result<()> {
    for table in ["tail", "segment", "damaged", "lost", "turn", "call", "session_keeps", "session", "agent_session"] {
        conn.prepare_cached(&format!("DELETE FROM {table} WHERE session = ?1"))?.execute([db(session.0)])?;
    }
    let cells = sealed(TAG_DELETED, vec![integer(session.0), Value::Integer(rev)]);
    conn.prepare_cached("INSERT OR REPLACE INTO deleted VALUES (?1, ?2, ?3)")?.execute(params_from_iter(cells))?;
    Ok(())
}

/// Notes lost events, unless that is known already; says whether it is news.
pub(crate) fn note_lost(conn: &Connection, session: SessionId, first: Seq, last: Seq) -> rusqlite::Result<bool> {
    let known = conn
        .prepare_cached("SELECT 1 FROM lost WHERE session = ?1 AND first_seq <= ?2 AND last_seq >= ?3")?
        .exists(params![db(session.0), db(first.0), db(last.0)])?;
    if known {
        return Ok(false);
    }
    let cells = sealed(TAG_LOST, vec![integer(session.0), integer(first.0), integer(last.0)]);
    conn.prepare_cached("INSERT INTO lost VALUES (?1, ?2, ?3, ?4)")?.execute(params_from_iter(cells))?;
    Ok(true)
}

/// All that a session lost, in order.
pub(crate) fn lost(conn: &Connection, session: SessionId) -> rusqlite::Result<Vec<(Seq, Seq)>> {
    conn.prepare_cached("SELECT first_seq, last_seq FROM lost WHERE session = ?1 ORDER BY first_seq")?
        .query_map([db(session.0)], |row| Ok((Seq(row.get::<_, i64>(0)? as u64), Seq(row.get::<_, i64>(1)? as u64))))?
        .collect()
}

/// The last lost event of a session, or the start.
pub(crate) fn last_lost(conn: &Connection, session: SessionId) -> rusqlite::Result<Seq> {
    let last: Option<i64> = conn
        .prepare_cached("SELECT max(last_seq) FROM lost WHERE session = ?1")?
        .query_row([db(session.0)], |row| row.get(0))?;
    Ok(Seq(last.unwrap_or(0) as u64))
}

/// The last event in a session's segments, or the start.
pub(crate) fn last_packed(conn: &Connection, session: SessionId) -> rusqlite::Result<Seq> {
    let last: Option<i64> = conn
        .prepare_cached("SELECT last_seq FROM segment WHERE session = ?1 ORDER BY first_seq DESC LIMIT 1")?
        .query_row([db(session.0)], |row| row.get(0))
        .optional()?;
    Ok(Seq(last.unwrap_or(0) as u64))
}

fn insert_segment(conn: &Connection, session: SessionId, page: &Page) -> rusqlite::Result<()> {
    let crc = log_crc(session, page.first(), page.last(), page.records());
    conn.prepare_cached(
        "INSERT INTO segment (session, first_seq, last_seq, crc, records) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![db(session.0), db(page.first().0), db(page.last().0), crc, page.records().as_ref()])?;
    Ok(())
}

/// Adds pages as segments, split where they are larger than one should be.
pub(crate) fn insert_segments(
    conn: &Connection,
    session: SessionId,
    page: Page,
    segment_bytes: usize,
) -> rusqlite::Result<()> {
    let mut rest = Some(page);
    while let Some(page) = rest {
        let head = page.head_within(segment_bytes);
        insert_segment(conn, session, &head)?;
        rest = page.after(head.last());
    }
    Ok(())
}
