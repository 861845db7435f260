//! Looking for words: the newest first, or those that fit best among the newest. Whatever is asked, a bounded number of
//! messages is looked at. Never changes anything.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};
use switchboard_types::limits::{DEFAULT_FOUND, MAX_FOUND, MAX_SEARCH_BYTES};
use switchboard_types::{
    Epoch, Found, FoundMessage, FoundSession, Role, SearchOrder, SearchQuery, Seq, SessionId, SessionRow, Time, TurnId,
};

use super::error::LibraryError;
use super::query::{Phrase, parse};
use super::shelf::{agent_mark, find_name, first_id, role_mark, role_number, session_mark, workspace_mark};
use super::snippet;

/// Matches, the newest first, among which those are chosen that fit best.
const MAX_RANKED: usize = 2_000;
/// The newest messages by which it is judged how common a word is.
const COMMON_SAMPLE: i64 = 5_000;
/// Messages with the first letters of a beginning that are looked at for each that is wanted, before the index gathers all
/// words that begin so.
const COARSE_FOR_EACH: usize = 8;
/// Matches that are looked at for a path.
const MAX_PATH_MATCHES: i64 = 100_000;
/// How much repeating a word counts, and how much a text's length does: the usual ones.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Words of a usual message.
const USUAL_WORDS: f64 = 100.0;

/// A message as it lies in the file.
struct Row {
    session: SessionId,
    seq: Seq,
    turn: Option<TurnId>,
    role: Role,
    at: Time,
    paths: String,
    text: String,
}

/// Looks for something. Sessions that `stored` does not know are not shown.
pub(crate) fn search(
    conn: &Connection,
    query: &SearchQuery,
    mut stored: impl FnMut(SessionId) -> Result<Option<SessionRow>, LibraryError>,
    named: impl Fn(rusqlite::Error) -> LibraryError,
) -> Result<Found, LibraryError> {
    if query.text.len() > MAX_SEARCH_BYTES {
        return Err(LibraryError::TooLong(query.text.len()));
    }
    let phrases = parse(&query.text);
    let limit = if query.limit == 0 { DEFAULT_FOUND } else { query.limit.min(MAX_FOUND) };
    let Some(asked) = Asked::new(conn, query, &phrases).map_err(&named)? else { return Ok(Found::default()) };
    let (rows, more) = match query.order {
        SearchOrder::Newest => asked.newest(limit).map_err(&named)?,
        SearchOrder::Ranked => asked.ranked(limit).map_err(&named)?,
    };
    let mut found = Found { more, ..Found::default() };
    let mut places: HashMap<SessionId, Option<(usize, Epoch)>> = HashMap::new();
    for row in rows {
        let place = match places.get(&row.session) {
            Some(place) => *place,
            None => {
                let mut place = None;
                if let Some(session) = stored(row.session)? {
                    place = Some((found.sessions.len(), epoch_of(conn, row.session).map_err(&named)?));
                    found.sessions.push(of_session(session));
                }
                places.insert(row.session, place);
                place
            }
        };
        let Some((place, epoch)) = place else { continue };
        let Some(session) = found.sessions.get_mut(place) else { continue };
        session.messages.push(of_row(row, epoch, &phrases));
    }
    Ok(found)
}

fn of_session(row: SessionRow) -> FoundSession {
    FoundSession {
        session: row.session,
        title: row.title,
        agent: row.agent,
        workspace: row.workspace,
        updated: row.updated,
        messages: Vec::new(),
    }
}

fn of_row(row: Row, epoch: Epoch, phrases: &[Phrase]) -> FoundMessage {
    let snippet = snippet::around(&row.text, phrases)
        .or_else(|| snippet::around(&row.paths, phrases))
        .unwrap_or_else(|| snippet::beginning(&row.text));
    FoundMessage { epoch, seq: row.seq, turn: row.turn, role: row.role, at: row.at, snippet }
}

fn epoch_of(conn: &Connection, session: SessionId) -> rusqlite::Result<Epoch> {
    let mut find = conn.prepare_cached("SELECT epoch FROM session WHERE session = ?1")?;
    let epoch: Option<i64> = find.query_row([session.0 as i64], |row| row.get(0)).optional()?;
    Ok(Epoch(epoch.unwrap_or_default() as u64))
}

/// A query as the index reads it.
struct Asked<'a> {
    conn: &'a Connection,
    phrases: &'a [Phrase],
    expression: String,
    /// What finds all of it and more, and the newest of it sooner.
    coarse: Option<String>,
    path: Option<&'a str>,
    ids: (i64, i64),
    times: (Time, Time),
}

impl<'a> Asked<'a> {
    /// None if nothing can be found.
    fn new(conn: &'a Connection, query: &'a SearchQuery, phrases: &'a [Phrase]) -> rusqlite::Result<Option<Self>> {
        if phrases.is_empty() {
            return Ok(None);
        }
        let mut marks = Vec::new();
        for (name, mark) in [
            (query.agent.as_ref().map(|name| name.as_str()), agent_mark as fn(i64) -> String),
            (query.workspace.as_ref().map(|name| name.as_str()), workspace_mark),
        ] {
            let Some(name) = name else { continue };
            let Some(id) = find_name(conn, name)? else { return Ok(None) };
            marks.push(mark(id));
        }
        marks.extend(query.session.map(session_mark));
        marks.extend(query.role.map(|role| role_mark(role_number(role))));
        let (since, until) = (query.since.unwrap_or_default(), query.until.unwrap_or(Time(u64::MAX)));
        Ok(Some(Self {
            conn,
            phrases,
            expression: expression(phrases.iter().map(Phrase::expression), &marks),
            coarse: phrases
                .iter()
                .any(|phrase| phrase.coarse().is_some())
                .then(|| expression(phrases.iter().map(coarsely), &marks)),
            path: query.path.as_deref().filter(|path| !path.is_empty()),
            // A moment that is full goes on in the next one.
            ids: (first_id(since), first_id(until).saturating_add(1 << 32)),
            times: (since, until),
        }))
    }

    /// Ids of what an expression finds, the newest first.
    fn ids(&self, expression: &str, limit: usize) -> rusqlite::Result<Vec<i64>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (first, last) = self.ids;
        let read = |row: &rusqlite::Row<'_>| row.get(0);
        match self.path {
            None => self
                .conn
                .prepare_cached(
                    "SELECT rowid FROM words WHERE words MATCH ?1 AND rowid >= ?2 AND rowid < ?3
                     ORDER BY rowid DESC LIMIT ?4",
                )?
                .query_map(params![expression, first, last, limit], read)?
                .collect(),
            Some(path) => self
                .conn
                .prepare_cached(
                    "SELECT message.id FROM (
                         SELECT rowid AS id FROM words WHERE words MATCH ?1 AND rowid >= ?2 AND rowid < ?3
                         ORDER BY rowid DESC LIMIT ?6) AS hit CROSS JOIN message ON message.id = hit.id
                     WHERE EXISTS (SELECT 1 FROM message AS near WHERE near.session = message.session
                         AND near.turn = message.turn AND near.paths != '' AND instr(near.paths, ?5) > 0)
                     ORDER BY hit.id DESC LIMIT ?4",
                )?
                .query_map(params![expression, first, last, limit, path, MAX_PATH_MATCHES], read)?
                .collect(),
        }
    }

    fn row(&self, id: i64) -> rusqlite::Result<Option<Row>> {
        let mut find =
            self.conn.prepare_cached("SELECT session, seq, turn, role, at, paths, text FROM message WHERE id = ?1")?;
        let read = |row: &rusqlite::Row<'_>| {
            let turn: i64 = row.get(2)?;
            let role = match row.get::<_, i64>(3)? {
                0 => Role::User,
                1 => Role::Assistant,
                2 => Role::Thought,
                _ => Role::Tool,
            };
            Ok(Row {
                session: SessionId(row.get::<_, i64>(0)? as u64),
                seq: Seq(row.get::<_, i64>(1)? as u64),
                turn: u32::try_from(turn).ok().filter(|turn| *turn > 0).map(TurnId),
                role,
                at: Time(row.get::<_, i64>(4)? as u64),
                paths: row.get(5)?,
                text: row.get(6)?,
            })
        };
        let (since, until) = self.times;
        Ok(find.query_row([id], read).optional()?.filter(|row| row.at >= since && row.at < until))
    }

    fn newest(&self, limit: usize) -> rusqlite::Result<(Vec<Row>, bool)> {
        if let Some(found) = self.newest_by_letters(limit)? {
            return Ok(found);
        }
        let ids = self.ids(&self.expression, limit + 1)?;
        let more = ids.len() > limit;
        let mut rows = Vec::with_capacity(limit);
        for id in ids.into_iter().take(limit) {
            rows.extend(self.row(id)?);
        }
        Ok((rows, more))
    }

    /// A long beginning makes the index gather all words that begin so, and all their places, before it gives the first. Words
    /// that are common enough for that to take time stand in the newest messages too, so it is looked there first: among
    /// those that have its first letters. None if that is not enough to tell.
    fn newest_by_letters(&self, limit: usize) -> rusqlite::Result<Option<(Vec<Row>, bool)>> {
        let Some(coarse) = &self.coarse else { return Ok(None) };
        let enough = (limit + 1) * COARSE_FOR_EACH;
        let ids = self.ids(coarse, enough)?;
        let is_all = ids.len() < enough;
        let (mut rows, mut counts) = (Vec::with_capacity(limit + 1), Vec::new());
        for id in ids {
            rows.extend(self.row(id)?.filter(|row| fits(row, self.phrases, &mut counts)));
            if rows.len() > limit {
                rows.truncate(limit);
                return Ok(Some((rows, true)));
            }
        }
        Ok(is_all.then_some((rows, false)))
    }

    fn ranked(&self, limit: usize) -> rusqlite::Result<(Vec<Row>, bool)> {
        let ids = self.ids(&self.expression, MAX_RANKED)?;
        let more = ids.len() > limit;
        let weights = self.weights()?;
        let (mut scored, mut counts) = (Vec::with_capacity(ids.len()), Vec::new());
        let mut find = self.conn.prepare_cached("SELECT text, paths FROM message WHERE id = ?1")?;
        for id in ids {
            let score = find.query_row([id], |row| {
                let mut score = score(row.get_ref(0)?.as_str()?, self.phrases, &weights, &mut counts);
                let paths = row.get_ref(1)?.as_str()?;
                if !paths.is_empty() {
                    score += self::score(paths, self.phrases, &weights, &mut counts);
                }
                Ok(score)
            });
            // A message that was replaced meanwhile is found by its next form.
            if let Some(score) = score.optional()? {
                scored.push((score, id));
            }
        }
        scored.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        let mut rows = Vec::with_capacity(limit);
        for (_, id) in scored.into_iter().take(limit) {
            rows.extend(self.row(id)?);
        }
        Ok((rows, more))
    }

    /// How much each phrase says: one that is everywhere says little. A single one needs no weighing.
    fn weights(&self) -> rusqlite::Result<Vec<f64>> {
        if self.phrases.len() == 1 {
            return Ok(vec![1.0]);
        }
        let from: Option<i64> = self
            .conn
            .prepare_cached("SELECT id FROM message ORDER BY id DESC LIMIT 1 OFFSET ?1")?
            .query_row([COMMON_SAMPLE], |row| row.get(0))
            .optional()?;
        let mut count = self.conn.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 AND rowid >= ?2 LIMIT ?3)",
        )?;
        let mut weights = Vec::with_capacity(self.phrases.len());
        for phrase in self.phrases {
            let alone = expression(std::iter::once(phrase.expression()), &[]);
            let having: i64 = count.query_row(params![alone, from.unwrap_or(0), COMMON_SAMPLE], |row| row.get(0))?;
            let (having, all) = (having as f64, COMMON_SAMPLE as f64);
            weights.push((1.0 + (all - having + 0.5) / (having + 0.5)).ln());
        }
        Ok(weights)
    }
}

/// With the first letters of a beginning, where it has more.
fn coarsely(phrase: &Phrase) -> String {
    phrase.coarse().unwrap_or_else(|| phrase.expression())
}

/// Whether a message has every phrase, in its text or among its paths.
fn fits(row: &Row, phrases: &[Phrase], counts: &mut Vec<u32>) -> bool {
    snippet::count(&row.text, phrases, counts);
    if counts.iter().all(|count| *count > 0) {
        return true;
    }
    let mut in_paths = Vec::new();
    snippet::count(&row.paths, phrases, &mut in_paths);
    counts.iter().zip(&in_paths).all(|(text, paths)| text + paths > 0)
}

fn expression(phrases: impl Iterator<Item = String>, marks: &[String]) -> String {
    let words: Vec<String> = phrases.collect();
    let mut whole = format!("{{text paths}} : ({})", words.join(" AND "));
    for mark in marks {
        whole.push_str(&format!(" AND marks : \"{mark}\""));
    }
    whole
}

/// How well a text fits, by the usual formula.
fn score(text: &str, phrases: &[Phrase], weights: &[f64], counts: &mut Vec<u32>) -> f64 {
    let words = f64::from(snippet::count(text, phrases, counts));
    let length = K1 * (1.0 - B + B * words / USUAL_WORDS);
    counts
        .iter()
        .zip(weights)
        .map(|(count, weight)| weight * f64::from(*count) * (K1 + 1.0) / (f64::from(*count) + length))
        .sum()
}
