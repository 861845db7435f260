//! Rules, calls of tools and what sessions keep, as sealed cells, and the one way to write and to read them. Never opens a
//! file or a transaction.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use switchboard_types::{
    CallEnd, CallId, CallPlace, CallRow, Rule, RuleId, Seq, SessionId, SessionKeeps, SessionPolicy, Setup, Success,
    Time, ToolName, Upstream,
};

use super::rows::{self, Sealed, damage, db, integer, seal, sealed, text};

const TAG_KEEPS: u8 = 9;
const TAG_RULE: u8 = 10;
const TAG_CALL: u8 = 11;

/// Reads cells as a row of this file, if their checksum says that they are one.
pub(super) fn unseal(crc: &Value, body: &[Value]) -> Option<Sealed> {
    use Value::{Integer, Null, Text};
    let is = |tag| *crc == Integer(seal(tag, body));
    match body {
        [Integer(session), Text(keeps), Integer(rev)] if is(TAG_KEEPS) => {
            let keeps = serde_json::from_str(keeps).ok()?;
            Some(Sealed::Keeps { session: SessionId(*session as u64), keeps, rev: *rev })
        }
        [Text(id), Text(rule), Integer(rev)] if is(TAG_RULE) => {
            let rule: Rule = serde_json::from_str(rule).ok()?;
            (rule.id.as_str() == id).then_some(Sealed::Rule { rule, rev: *rev })
        }
        [
            Integer(session),
            Integer(asked_at),
            Text(call),
            Text(tool),
            Text(parameters),
            Integer(asked),
            ended @ (Integer(_) | Null),
            Integer(duration),
            Integer(success),
            Text(result),
            Integer(rev),
        ] if is(TAG_CALL) => {
            let end = match ended {
                Integer(at) => Some(CallEnd {
                    at: Time(*at as u64),
                    duration_ms: *duration as u64,
                    success: if *success == 1 { Success::Yes } else { Success::No },
                    result: result.clone(),
                }),
                _ => None,
            };
            let row = CallRow {
                session: SessionId(*session as u64),
                asked_at: Seq(*asked_at as u64),
                call: CallId::new(call.as_str()),
                tool: ToolName::new(tool.as_str()),
                parameters: parameters.clone(),
                asked: Time(*asked as u64),
                end,
            };
            Some(Sealed::Call { row, rev: *rev })
        }
        _ => None,
    }
}

/// What a session keeps; nothing of its own if there is no row.
pub(super) fn keeps(conn: &Connection, session: SessionId) -> rusqlite::Result<SessionKeeps> {
    Ok(keeps_and_rev(conn, session)?.map(|(keeps, _)| keeps).unwrap_or_default())
}

fn keeps_and_rev(conn: &Connection, session: SessionId) -> rusqlite::Result<Option<(SessionKeeps, i64)>> {
    let row = conn
        .prepare_cached("SELECT * FROM session_keeps WHERE session = ?1")?
        .query_row([db(session.0)], rows::sealed_row)
        .optional()?;
    Ok(row.and_then(|row| if let Sealed::Keeps { keeps, rev, .. } = row { Some((keeps, rev)) } else { None }))
}

/// Inserts or replaces what a session keeps; what is as it is for every session takes no row.
pub(super) fn write_keeps(
    conn: &Connection,
    session: SessionId,
    keeps: &SessionKeeps,
    rev: i64,
) -> rusqlite::Result<()> {
    if *keeps == SessionKeeps::default() {
        conn.prepare_cached("DELETE FROM session_keeps WHERE session = ?1")?.execute([db(session.0)])?;
        return Ok(());
    }
    let cells = sealed(TAG_KEEPS, vec![integer(session.0), text(&json(keeps)?), Value::Integer(rev)]);
    conn.prepare_cached("INSERT OR REPLACE INTO session_keeps VALUES (?1, ?2, ?3, ?4)")?
        .execute(params_from_iter(cells))?;
    Ok(())
}

/// Takes what was found of a session's keeps in a damaged file: how its agent is meant to work, and no freedom. What a person
/// took back since could be in an older row.
pub(super) fn salvage_keeps(
    conn: &Connection,
    session: SessionId,
    found: &SessionKeeps,
    rev: i64,
) -> rusqlite::Result<()> {
    if keeps_and_rev(conn, session)?.is_some_and(|(_, kept)| kept > rev) {
        return Ok(());
    }
    let policy = SessionPolicy { mode: found.policy.mode, ..SessionPolicy::default() };
    let setup = Setup { permission: None, ..found.setup.clone() };
    // How far a foreign log was taken is for the saved log to say; here it only counts that there is one.
    let upstream = found.upstream.as_ref().map(|_| Upstream::default());
    let (titled, ended) = (found.titled, found.ended);
    write_keeps(conn, session, &SessionKeeps { policy, grants: Vec::new(), setup, titled, ended, upstream }, rev)
}

/// All rules, the oldest first.
pub(super) fn rules(conn: &Connection) -> rusqlite::Result<Vec<Rule>> {
    let mut statement = conn.prepare_cached("SELECT * FROM rule")?;
    let mut found = statement.query([])?;
    let mut rules = Vec::new();
    while let Some(row) = found.next()? {
        if let Sealed::Rule { rule, .. } = rows::sealed_row(row)? {
            rules.push(rule);
        }
    }
    in_order(&mut rules);
    Ok(rules)
}

/// The order of rules in every list of them.
pub(super) fn in_order(rules: &mut [Rule]) {
    rules.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
}

pub(super) fn write_rule(conn: &Connection, rule: &Rule, rev: i64) -> rusqlite::Result<()> {
    let cells = sealed(TAG_RULE, vec![text(rule.id.as_str()), text(&json(rule)?), Value::Integer(rev)]);
    conn.prepare_cached("INSERT OR REPLACE INTO rule VALUES (?1, ?2, ?3, ?4)")?.execute(params_from_iter(cells))?;
    Ok(())
}

pub(super) fn rule_rev(conn: &Connection, rule: &RuleId) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT rev FROM rule WHERE id = ?1")?.query_row([rule.as_str()], |row| row.get(0)).optional()
}

pub(super) fn drop_rule(conn: &Connection, rule: &RuleId) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM rule WHERE id = ?1")?.execute([rule.as_str()])?;
    Ok(())
}

pub(super) fn write_call(conn: &Connection, row: &CallRow, rev: i64) -> rusqlite::Result<()> {
    let (ended, duration, success, result) = match &row.end {
        Some(end) => (integer(end.at.0), end.duration_ms, i64::from(end.success == Success::Yes), end.result.as_str()),
        None => (Value::Null, 0, 0, ""),
    };
    let cells = sealed(
        TAG_CALL,
        vec![
            integer(row.session.0),
            integer(row.asked_at.0),
            text(row.call.as_str()),
            text(row.tool.as_str()),
            text(&row.parameters),
            integer(row.asked.0),
            ended,
            integer(duration),
            Value::Integer(success),
            text(result),
            Value::Integer(rev),
        ],
    );
    conn.prepare_cached(
        "INSERT INTO call VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT (session, asked_at) DO UPDATE SET call = excluded.call, tool = excluded.tool,
         parameters = excluded.parameters, asked = excluded.asked, ended = excluded.ended, duration = excluded.duration,
         success = excluded.success, result = excluded.result, rev = excluded.rev, crc = excluded.crc",
    )?
    .execute(params_from_iter(cells))?;
    Ok(())
}

pub(super) fn call_rev(conn: &Connection, row: &CallRow) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT rev FROM call WHERE session = ?1 AND asked_at = ?2")?
        .query_row([db(row.session.0), db(row.asked_at.0)], |row| row.get(0))
        .optional()
}

/// At most so many calls after a place, the newest first.
pub(super) fn calls(
    conn: &Connection,
    tool: Option<&ToolName>,
    before: Option<CallPlace>,
    wanted: i64,
) -> rusqlite::Result<Vec<CallRow>> {
    const NEWEST_FIRST: &str = "(asked, session, asked_at) < (?1, ?2, ?3)
        ORDER BY asked DESC, session DESC, asked_at DESC LIMIT ?4";
    let last = i64::MAX;
    let (asked, session, asked_at) =
        before.map_or((last, last, last), |place| (db(place.asked.0), db(place.session.0), db(place.asked_at.0)));
    match tool {
        None => collect(
            conn.prepare_cached(&format!("SELECT * FROM call WHERE {NEWEST_FIRST}"))?
                .query(params![asked, session, asked_at, wanted])?,
        ),
        Some(tool) => {
            collect(
                conn.prepare_cached(&format!("SELECT * FROM call WHERE tool = ?5 AND {NEWEST_FIRST}"))?
                    .query(params![asked, session, asked_at, wanted, tool.as_str()])?,
            )
        }
    }
}

/// The calls of a session that have no end, the first first.
pub(super) fn open_calls(conn: &Connection, session: SessionId) -> rusqlite::Result<Vec<CallRow>> {
    collect(
        conn.prepare_cached("SELECT * FROM call WHERE session = ?1 AND ended IS NULL ORDER BY asked_at")?
            .query([db(session.0)])?,
    )
}

/// The last event of a session that a call speaks of.
pub(super) fn last_asked(conn: &Connection, session: SessionId) -> rusqlite::Result<Seq> {
    let last: Option<i64> =
        conn.query_row("SELECT max(asked_at) FROM call WHERE session = ?1", [db(session.0)], |row| row.get(0))?;
    Ok(Seq(last.unwrap_or(0) as u64))
}

fn collect(mut found: rusqlite::Rows<'_>) -> rusqlite::Result<Vec<CallRow>> {
    let mut calls = Vec::new();
    while let Some(row) = found.next()? {
        if let Sealed::Call { row, .. } = rows::sealed_row(row)? {
            calls.push(row);
        }
    }
    Ok(calls)
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| damage(&format!("a row cannot be written: {error}")))
}
