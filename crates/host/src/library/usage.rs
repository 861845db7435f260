//! What was used: by turn, by session, by day. Never guesses what an agent did not say.

use rusqlite::{Connection, Row, params_from_iter};
use switchboard_types::{CostSum, SessionId, Tokens, TurnId, UsageBy, UsageQuery, UsageRow};

/// Rows of one answer.
const MAX_ROWS: usize = 1_000;

/// What was used in each turn. What an agent says a turn has cost counts; only if it never says so, by how much the whole has
/// grown meanwhile.
const TURNS: &str = "
    WITH priced AS (
        SELECT session, turn, currency, max(at) AS at,
            coalesce(sum(turn_micros), sum(since_micros)) AS micros
        FROM used WHERE currency != '' GROUP BY session, turn, currency)";

/// What was asked for, the newest first.
pub(crate) fn usage(conn: &Connection, query: &UsageQuery) -> rusqlite::Result<Vec<UsageRow>> {
    let (key, order) = match query.by {
        UsageBy::Turn => ("session, turn, 0", "max(at) DESC, session DESC, turn DESC"),
        UsageBy::Session => ("session, 0, 0", "max(at) DESC, session DESC"),
        UsageBy::Day => ("0, 0, at / 86400000", "max(at) DESC"),
    };
    let mut wanted = vec!["1".to_owned()];
    let mut values: Vec<i64> = Vec::new();
    if let Some(session) = query.session {
        values.push(session.0 as i64);
        wanted.push(format!("session = ?{}", values.len()));
    }
    if let Some(since) = query.since {
        values.push(i64::try_from(since.0).unwrap_or(i64::MAX));
        wanted.push(format!("at >= ?{}", values.len()));
    }
    let wanted = wanted.join(" AND ");
    let tokens = format!(
        "SELECT {key}, count(DISTINCT session * 4294967296 + turn), sum(input), sum(output), sum(cached), sum(thought)
         FROM used WHERE {wanted} GROUP BY 1, 2, 3 ORDER BY {order} LIMIT {MAX_ROWS}"
    );
    let read = |row: &Row<'_>| {
        let number = |at| row.get::<_, i64>(at).map(|number| u64::try_from(number).unwrap_or_default());
        let tokens = Tokens { input: number(4)?, output: number(5)?, cached: number(6)?, thought: number(7)? };
        let used = UsageRow { turns: number(3)?, tokens, ..UsageRow::default() };
        Ok((key_of(row)?, used))
    };
    let mut statement = conn.prepare(&tokens)?;
    let found = statement.query_map(params_from_iter(&values), read)?;
    let mut rows = found.collect::<rusqlite::Result<Vec<_>>>()?;
    let costs = format!(
        "{TURNS} SELECT {key}, currency, sum(micros) FROM priced WHERE {wanted} AND micros IS NOT NULL
         GROUP BY 1, 2, 3, currency ORDER BY currency"
    );
    let mut statement = conn.prepare(&costs)?;
    let mut found = statement.query(params_from_iter(&values))?;
    while let Some(row) = found.next()? {
        let key = key_of(row)?;
        let sum = CostSum { micros: row.get(4)?, currency: row.get(3)? };
        if let Some((_, used)) = rows.iter_mut().find(|(known, _)| *known == key) {
            used.costs.push(sum);
        }
    }
    rows.into_iter().map(|(key, used)| named(conn, query.by, key, used)).collect()
}

fn key_of(row: &Row<'_>) -> rusqlite::Result<(i64, i64, i64)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

fn named(
    conn: &Connection,
    by: UsageBy,
    (session, turn, day): (i64, i64, i64),
    used: UsageRow,
) -> rusqlite::Result<UsageRow> {
    let session = Some(SessionId(session as u64));
    Ok(match by {
        UsageBy::Turn => {
            let turn = u32::try_from(turn).ok().filter(|turn| *turn > 0).map(TurnId);
            UsageRow { session, turn, ..used }
        }
        UsageBy::Session => UsageRow { session, ..used },
        UsageBy::Day => UsageRow { day: Some(day_name(conn, day)?), ..used },
    })
}

/// The day of so many days since 1970, as `2026-11-16`.
fn day_name(conn: &Connection, day: i64) -> rusqlite::Result<String> {
    conn.prepare_cached("SELECT date(?1 * 86400, 'unixepoch')")?.query_row([day], |row| row.get(0))
}
