//! What is looked up for agents elsewhere: an event by its name in their log, and which of their sessions we do not have.
//! Reads page by page, so the length of a log costs time and no memory.

use std::collections::BTreeSet;

use switchboard_types::limits::READ_PAGE_BYTES;
use switchboard_types::{AgentName, AgentSession, AgentSessionInfo, Seq, SessionId, SourceId};

use crate::store::{Store, StoreError, Which};

/// Events that are looked at together; whoever goes on has mostly seen almost all.
const STEP: u64 = 4096;

/// The place of the last event of this source, the newest part of the log first.
pub(super) fn find(store: &dyn Store, session: SessionId, source: &SourceId) -> Result<Option<Seq>, StoreError> {
    let Some(stored) = store.sessions(Which::One(session))?.pop() else { return Ok(None) };
    let mut end = stored.head;
    while end > Seq::START {
        let start = Seq(end.0.saturating_sub(STEP));
        if let Some(found) = find_between(store, session, (start, end), source)? {
            return Ok(Some(found));
        }
        end = start;
    }
    Ok(None)
}

/// The same after one event and up to another.
fn find_between(
    store: &dyn Store,
    session: SessionId,
    (after, to): (Seq, Seq),
    source: &SourceId,
) -> Result<Option<Seq>, StoreError> {
    let (mut cursor, mut found) = (after, None);
    while cursor < to {
        let slice = store.read_after(session, cursor, READ_PAGE_BYTES)?;
        let Some(page) = slice.page else { break };
        let within = page.events().take_while(|event| event.seq <= to);
        let is_it =
            |event: &switchboard_types::EventRef<'_>| event.source().is_some_and(|from| from.id == source.as_str());
        found = within.filter(is_it).last().map(|event| event.seq).or(found);
        cursor = page.last();
    }
    Ok(found)
}

/// Those sessions of an agent that no session of ours stands for.
pub(super) fn unknown(
    store: &dyn Store,
    agent: &AgentName,
    mut sessions: Vec<AgentSessionInfo>,
) -> Result<Vec<AgentSessionInfo>, StoreError> {
    let stored = store.sessions(Which::All)?.into_iter().filter(|stored| stored.row.agent == *agent);
    let known: BTreeSet<AgentSession> = stored.filter_map(|stored| stored.row.agent_session).collect();
    sessions.retain(|info| !known.contains(&info.agent_session));
    Ok(sessions)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use switchboard_types::{
        Body, Change, Commit, Entry, Epoch, PageBuilder, SessionKeeps, SessionRow, Source, Text, Ticket, Time,
    };

    use super::*;
    use crate::store::MemoryStore;

    fn source(id: u64) -> Source {
        let (name, rest) = ("assistant_delta".to_owned(), String::new());
        Source { id: format!("e{id}").as_str().into(), seq: Some(id), name, rest, turn: None, at: None }
    }

    fn stored(events: u64) -> MemoryStore {
        let store = MemoryStore::new(|_| {});
        let mut page = PageBuilder::new(Seq(1));
        page.push(Time(1), None, &Body::SessionOpened { agent: "far".into(), workspace: "/work".into() });
        for id in 1..=events {
            page.push_from(Time(1), None, &Body::Text { text: Text::from("x") }, Some(&source(id)));
        }
        let row = SessionRow {
            session: SessionId(1),
            epoch: Epoch(1),
            workspace: "/work".into(),
            agent: "far".into(),
            title: String::new(),
            tab: None,
            agent_session: Some("theirs".into()),
            keeps: SessionKeeps::default(),
            created: Time(1),
            updated: Time(1),
        };
        let entry =
            Entry { session: SessionId(1), page: Arc::new(page.take().unwrap()), changes: vec![Change::Session(row)] };
        store.commit(Commit { ticket: Ticket(1), entries: vec![entry], changes: Vec::new() });
        store
    }

    #[test]
    fn an_event_is_found_by_its_source_wherever_it_lies() {
        let store = stored(2 * STEP);
        for id in [1, STEP - 1, STEP, STEP + 1, 2 * STEP] {
            let name = SourceId::from(format!("e{id}").as_str());
            assert_eq!(find(&store, SessionId(1), &name).unwrap(), Some(Seq(id + 1)), "e{id}");
        }
        assert_eq!(find(&store, SessionId(1), &"e0".into()).unwrap(), None);
        assert_eq!(find(&store, SessionId(2), &"e1".into()).unwrap(), None);
    }

    #[test]
    fn only_sessions_that_none_of_ours_stands_for_are_unknown() {
        let info = |name: &str| AgentSessionInfo { agent_session: name.into(), title: String::new(), updated: Time(1) };
        let left = unknown(&stored(1), &"far".into(), vec![info("theirs"), info("other")]).unwrap();
        assert_eq!(left, vec![info("other")]);
        let left = unknown(&stored(1), &"another".into(), vec![info("theirs")]).unwrap();
        assert_eq!(left, vec![info("theirs")]);
    }
}
