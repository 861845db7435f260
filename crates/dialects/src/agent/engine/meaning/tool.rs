//! An engine's calls of its own tools. What a call was called is remembered, since its result does not repeat it.

use std::collections::BTreeMap;

use switchboard_types::{CallId, SessionId, Telling, ToolCall, ToolStatus, Word};

use super::super::field::{cut, field, is_true, raw, value};

/// Calls that are remembered.
const MAX_CALLS: usize = 256;

/// The calls that have no result yet.
#[derive(Debug, Default)]
pub(super) struct Calls {
    titles: BTreeMap<CallId, String>,
}

impl Calls {
    /// A tool is called.
    pub(super) fn called(&mut self, session: SessionId, payload: &str) -> Option<Word> {
        let id = id(payload)?;
        let given = raw(payload, "call");
        // A host of our own sort says it in our own words.
        let ours = given.and_then(|raw| serde_json::from_str::<ToolCall>(raw).ok()).filter(|call| call.id == id);
        let call = ours.unwrap_or_else(|| {
            let title = field(payload, "tool").map_or_else(|| "a tool".to_owned(), |tool| cut(&tool));
            ToolCall { input: given.and_then(value), ..ToolCall::new(id, title, ToolStatus::Running) }
        });
        if self.titles.len() < MAX_CALLS {
            self.titles.insert(call.id.clone(), call.title.clone());
        }
        Some(Word::OwnToolCall { session, call, told: Telling::First })
    }

    /// It runs.
    pub(super) fn runs(&self, session: SessionId, payload: &str) -> Option<Word> {
        let id = id(payload)?;
        let title = self.titles.get(&id).cloned()?;
        let call = ToolCall::new(id, title, ToolStatus::Running);
        Some(Word::OwnToolCall { session, call, told: Telling::Again })
    }

    /// It has a result.
    pub(super) fn result(&mut self, session: SessionId, payload: &str) -> Option<Word> {
        let id = id(payload)?;
        let failed = is_true(payload, "error") || raw(payload, "error").is_some_and(|raw| raw.starts_with(['"', '{']));
        let status = match field(payload, "status").as_deref() {
            Some("running" | "started" | "in_progress") if !failed => ToolStatus::Running,
            Some("pending" | "queued") if !failed => ToolStatus::Pending,
            Some("failed" | "error" | "denied" | "rejected" | "timeout" | "cancelled") => ToolStatus::Failed,
            _ if failed => ToolStatus::Failed,
            _ => ToolStatus::Completed,
        };
        let title = match status {
            ToolStatus::Completed | ToolStatus::Failed => self.titles.remove(&id),
            ToolStatus::Running | ToolStatus::Pending => self.titles.get(&id).cloned(),
        };
        let title = title.or_else(|| field(payload, "tool")).unwrap_or_else(|| "a tool".to_owned());
        let output = raw(payload, "output").or_else(|| raw(payload, "result")).and_then(value);
        let call = ToolCall { output, ..ToolCall::new(id, title, status) };
        Some(Word::OwnToolCall { session, call, told: Telling::Again })
    }
}

fn id(payload: &str) -> Option<CallId> {
    field(payload, "call_id").filter(|id| !id.is_empty()).map(CallId::new)
}
