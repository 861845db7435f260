//! Sessions as they are found on the disk: their rows, and the fold of what is not settled. Reads page by page, so the
//! length of a log costs time and no memory.

use switchboard_core::{Recovered, State};
use switchboard_types::Seq;
use switchboard_types::limits::READ_PAGE_BYTES;

use crate::store::{Store, StoreError, StoredSession};

/// Reads a session as the disk has it.
pub(super) fn recover(store: &dyn Store, stored: StoredSession) -> Result<Recovered, StoreError> {
    let StoredSession { row, head, .. } = stored;
    let turns = store.turns(row.session)?;
    let calls = store.open_calls(row.session)?;
    let (mut state, mut cursor) = State::from_rows(&row, &turns, head);
    // What a call asked for and ran may belong to no turn, or to one that is over. What was folded already may be again.
    if let Some(first) = calls.first() {
        cursor = cursor.min(Seq(first.asked_at.0.saturating_sub(1)));
    }
    while cursor < head {
        let slice = store.read_after(row.session, cursor, READ_PAGE_BYTES)?;
        // What is lost cannot be folded; the view is told of it when it reads.
        let Some(page) = slice.page else { break };
        page.events().for_each(|event| state.apply_record(event));
        cursor = page.last();
    }
    Ok(Recovered { row, head, state, calls })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use switchboard_types::{
        Body, CallRow, Change, Commit, Entry, Epoch, Execution, PageBuilder, SessionId, SessionKeeps, SessionRow,
        Ticket, Time, ToolCall, ToolStatus,
    };

    use super::*;
    use crate::store::{MemoryStore, Which};

    fn bench() -> SessionRow {
        SessionRow {
            session: SessionId(1),
            epoch: Epoch(1),
            workspace: "/work".into(),
            agent: "bench".into(),
            title: "Tool bench".to_owned(),
            tab: Some("bench:/work".into()),
            agent_session: None,
            keeps: SessionKeeps::default(),
            created: Time(1),
            updated: Time(1),
        }
    }

    fn call(asked_at: u64) -> CallRow {
        CallRow {
            session: SessionId(1),
            asked_at: Seq(asked_at),
            call: "c".into(),
            tool: "run_terminal_command".into(),
            parameters: "{}".to_owned(),
            asked: Time(1),
            end: None,
        }
    }

    #[test]
    fn what_an_open_call_runs_is_found_though_it_belongs_to_no_turn() {
        let store = MemoryStore::new(|_| {});
        let execution: Box<Execution> = serde_json::from_value(serde_json::json!({
            "id": "x3", "kind": "command", "title": "ls", "digest": "d"
        }))
        .unwrap();
        let mut page = PageBuilder::new(Seq(1));
        page.push(Time(1), None, &Body::SessionOpened { agent: "bench".into(), workspace: "/work".into() });
        let asked = ToolCall::new("c".into(), "ls", ToolStatus::Pending);
        page.push(Time(1), None, &Body::ToolCall { call: asked });
        page.push(Time(1), None, &Body::ExecutionStarted { execution });
        let changes = vec![Change::Session(bench()), Change::Call(call(2))];
        let entry = Entry { session: SessionId(1), page: Arc::new(page.take().unwrap()), changes };
        store.commit(Commit { ticket: Ticket(1), entries: vec![entry], changes: Vec::new() });

        let stored = store.sessions(Which::WithTab).unwrap().remove(0);
        let recovered = recover(&store, stored).unwrap();
        assert_eq!(recovered.calls, vec![call(2)]);
        assert_eq!(recovered.state.executions().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["x3"]);
    }
}
