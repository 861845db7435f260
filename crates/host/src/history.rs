//! What is stored, as JSON for our own command line: sessions, their logs, workspaces. Reads only what is committed, a
//! bounded part at a time; the running host and a command that opens the store itself give the same bytes. For people there is
//! [`conversation`].

pub mod conversation;

use serde::{Deserialize, Serialize};
use switchboard_types::limits::{MAX_HISTORY_ROWS, READ_PAGE_BYTES};
use switchboard_types::record::Peek;
use switchboard_types::{EventRef, HistoryPlace, Seq, SessionId, SessionRow, SourceRef, Time, UsageRow};

use crate::library::Library;
use crate::store::{Store, StoreError, Which};

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// Its id.
    pub id: SessionId,
    /// Its title; empty until there is one.
    pub title: String,
    /// Who works.
    pub agent: String,
    /// Where.
    pub workspace: String,
    /// Whether a tab shows it.
    pub open: bool,
    /// When it was opened, in milliseconds since 1970.
    pub created_ms: Time,
    /// When a turn last began or ended.
    pub updated_ms: Time,
    /// What it has used, if its agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageRow>,
}

impl From<SessionRow> for SessionEntry {
    fn from(row: SessionRow) -> Self {
        Self {
            id: row.session,
            title: row.title,
            agent: row.agent.to_string(),
            workspace: row.workspace.to_string(),
            open: row.tab.is_some(),
            created_ms: row.created,
            updated_ms: row.updated,
            usage: None,
        }
    }
}

/// A part of the list of all sessions, the last used first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionsPart {
    /// The sessions.
    pub sessions: Vec<SessionEntry>,
    /// Whether more follow.
    pub more: bool,
}

impl SessionsPart {
    /// Adds what each has used. What cannot be found out is left out: the list is more than that.
    pub fn add_usage(&mut self, library: &Library) {
        let ids: Vec<SessionId> = self.sessions.iter().map(|one| one.id).collect();
        match library.usage_of(&ids) {
            Ok(used) => {
                for (entry, used) in self.sessions.iter_mut().zip(used) {
                    // Whose it is stands beside it.
                    entry.usage = used.map(|used| UsageRow { session: None, ..used });
                }
            }
            Err(error) => tracing::warn!(%error, "what was used is not known"),
        }
    }

    /// Where the next part begins; none at the end.
    #[must_use]
    pub fn next(&self) -> Option<HistoryPlace> {
        let last = self.sessions.last().filter(|_| self.more)?;
        Some(HistoryPlace { updated: last.updated_ms, session: last.id })
    }
}

/// A workspace that was trusted once, or still is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceEntry {
    /// Its folder.
    pub root: String,
    /// Since when a person trusts it, in milliseconds since 1970; null if nobody does.
    pub trusted_ms: Option<Time>,
}

/// The sessions after a place.
pub fn sessions(store: &dyn Store, before: Option<HistoryPlace>) -> Result<SessionsPart, StoreError> {
    let part = store.history(before, MAX_HISTORY_ROWS)?;
    Ok(SessionsPart { more: part.next.is_some(), sessions: part.rows.into_iter().map(Into::into).collect() })
}

/// One session, if it exists.
pub fn session(store: &dyn Store, session: SessionId) -> Result<Option<SessionEntry>, StoreError> {
    Ok(store.sessions(Which::One(session))?.pop().map(|stored| stored.row.into()))
}

/// The workspaces.
pub fn workspaces(store: &dyn Store) -> Result<Vec<WorkspaceEntry>, StoreError> {
    let rows = store.workspaces()?;
    Ok(rows.into_iter().map(|row| WorkspaceEntry { root: row.root.to_string(), trusted_ms: row.trusted }).collect())
}

/// A part of a log, as lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPart {
    /// One JSON value a line, lost events first as `{"gap":{"from":…,"to":…}}`.
    pub lines: Vec<u8>,
    /// The last event of it, or the last that is lost; none at the end of the log.
    pub last: Option<Seq>,
}

/// The next events after a cursor, one JSON value a line, lost ones first as `{"gap":{"from":…,"to":…}}`; empty at the end
/// of the log, none if there is no such session.
pub fn log(store: &dyn Store, session: SessionId, after: Seq) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(log_part(store, session, after)?.map(|part| part.lines))
}

/// The same, with how far it goes.
pub fn log_part(store: &dyn Store, session: SessionId, after: Seq) -> Result<Option<LogPart>, StoreError> {
    if store.sessions(Which::One(session))?.is_empty() {
        return Ok(None);
    }
    let slice = store.read_after(session, after, READ_PAGE_BYTES)?;
    let mut part = LogPart::default();
    if let Some((from, to)) = slice.gap {
        part.lines.extend_from_slice(format!("{{\"gap\":{{\"from\":{from},\"to\":{to}}}}}\n").as_bytes());
        part.last = Some(to);
    }
    if let Some(page) = &slice.page {
        part.lines.reserve(page.bytes() * 2);
        page.events().for_each(|event| event_line(&event, &mut part.lines));
        part.last = Some(page.last());
    }
    Ok(Some(part))
}

/// The event after a cursor as such a line; none if there is no such session or event.
pub fn event(store: &dyn Store, session: SessionId, before: Seq) -> Result<Option<Vec<u8>>, StoreError> {
    if store.sessions(Which::One(session))?.is_empty() {
        return Ok(None);
    }
    let slice = store.read_after(session, before, 1)?;
    let mut line = Vec::new();
    if let Some(event) = slice.page.iter().flat_map(|page| page.events()).find(|event| event.seq == before.next()) {
        event_line(&event, &mut line);
    }
    Ok(Some(line).filter(|line| !line.is_empty()))
}

/// Writes one event from the record's own bytes, which are JSON already.
fn event_line(event: &EventRef<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{{\"seq\":{},\"time\":{}", event.seq, event.at).as_bytes());
    if let Some(turn) = event.turn {
        out.extend_from_slice(format!(",\"turn\":{turn}").as_bytes());
    }
    out.extend_from_slice(b",\"body\":");
    match event.peek() {
        Peek::Text(text) => string_body("text", text, out),
        Peek::Thought(text) => string_body("thought", text, out),
        Peek::Json(json) => out.extend_from_slice(json),
    }
    if let Some(source) = event.source() {
        source_field(&source, out);
    }
    out.extend_from_slice(b"}\n");
}

/// Where it comes from, if whoever works keeps a log of its own. What it says there is JSON already.
fn source_field(source: &SourceRef<'_>, out: &mut Vec<u8>) {
    let mut said = serde_json::json!({"id": source.id, "type": source.name});
    let numbers = [("seq", source.seq), ("turn", source.turn.map(u64::from)), ("time", source.at.map(|at| at.0))];
    for (name, number) in numbers {
        if let (Some(number), Some(said)) = (number, said.as_object_mut()) {
            said.insert(name.to_owned(), number.into());
        }
    }
    let said = said.to_string();
    out.extend_from_slice(b",\"source\":");
    out.extend_from_slice(said.strip_suffix('}').unwrap_or(&said).as_bytes());
    if !source.rest.is_empty() {
        out.extend_from_slice(b",\"payload\":");
        // A line stays a line.
        out.extend(source.rest.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }));
    }
    out.push(b'}');
}

fn string_body(kind: &str, escaped: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{{\"type\":\"{kind}\",\"text\":\"").as_bytes());
    out.extend_from_slice(escaped);
    out.extend_from_slice(b"\"}");
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};
    use switchboard_types::{Body, Change, Commit, Entry, Epoch, PageBuilder, Ticket, TurnId};

    use super::*;
    use crate::store::MemoryStore;

    fn row(session: u64, updated: u64) -> SessionRow {
        SessionRow {
            session: SessionId(session),
            epoch: Epoch(1),
            workspace: "/w".into(),
            agent: "demo".into(),
            title: "a title".to_owned(),
            tab: None,
            agent_session: None,
            keeps: switchboard_types::SessionKeeps::default(),
            created: Time(1),
            updated: Time(updated),
        }
    }

    fn store(bodies: &[Body]) -> MemoryStore {
        let store = MemoryStore::new(|_| {});
        let mut page = PageBuilder::new(Seq(1));
        for (turn, body) in bodies.iter().enumerate() {
            page.push(Time(9), (turn > 0).then_some(TurnId(1)), body);
        }
        let page = Arc::new(page.take().unwrap());
        let changes = vec![Change::Session(row(1, 5)), Change::Session(row(2, 7))];
        let entries = vec![Entry { session: SessionId(1), page, changes }];
        store.commit(Commit { ticket: Ticket(1), entries, changes: Vec::new() });
        store
    }

    #[test]
    fn a_log_is_lines_of_json_whatever_an_event_says() {
        let bodies = [
            Body::SessionOpened { agent: "demo".into(), workspace: "/w".into() },
            Body::Text { text: "say \"hi\"\n\u{1b}🦀".into() },
            Body::Thought { text: "".into() },
            Body::Unknown { name: "x".to_owned(), raw: "{\"a\":1}".to_owned() },
        ];
        let store = store(&bodies);
        let lines = log(&store, SessionId(1), Seq::START).unwrap().unwrap();
        let read: Vec<Value> = serde_json::Deserializer::from_slice(&lines).into_iter().map(Result::unwrap).collect();
        let wanted = |seq: usize, body: &Body| match seq {
            0 => json!({"seq": 1, "time": 9, "body": body}),
            _ => json!({"seq": seq + 1, "time": 9, "turn": 1, "body": body}),
        };
        assert_eq!(read, bodies.iter().enumerate().map(|(seq, body)| wanted(seq, body)).collect::<Vec<_>>());
        assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count(), bodies.len());
        assert_eq!(log(&store, SessionId(1), Seq(4)).unwrap(), Some(Vec::new()));
        assert_eq!(log(&store, SessionId(9), Seq::START).unwrap(), None);
    }

    #[test]
    fn the_list_goes_on_where_a_part_ends() {
        let store = store(&[Body::SessionClosed {}]);
        let all = sessions(&store, None).unwrap();
        assert_eq!(all.sessions.iter().map(|one| one.id.0).collect::<Vec<_>>(), vec![2, 1]);
        assert_eq!(all.next(), None);
        let part = SessionsPart { sessions: vec![all.sessions[0].clone()], more: true };
        assert_eq!(sessions(&store, part.next()).unwrap().sessions, vec![all.sessions[1].clone()]);
        assert_eq!(session(&store, SessionId(2)).unwrap(), Some(all.sessions[0].clone()));
        assert_eq!(session(&store, SessionId(3)).unwrap(), None);
    }
}
