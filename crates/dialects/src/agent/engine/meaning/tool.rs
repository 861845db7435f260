//! An engine's calls of its own tools. What a call was called is remembered, since its result does not repeat it.

use std::collections::BTreeMap;

use switchboard_types::{CallId, ExecutionId, SessionId, Telling, ToolCall, ToolContent, ToolStatus, Word};

use super::super::field::{cut, field, is_true, raw, value};

/// Calls that are remembered.
const MAX_CALLS: usize = 256;
/// Bytes of the end of what a call has printed that are shown with it.
const MAX_PRINTED_BYTES: usize = 4 * 1024;

/// The calls that have no result yet.
#[derive(Debug, Default)]
pub(super) struct Calls {
    titles: BTreeMap<CallId, String>,
    /// The end of what each has printed so far.
    printed: BTreeMap<CallId, String>,
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

    /// It prints something. An update replaces what was shown before, so each shows the end of all of it.
    pub(super) fn prints(&mut self, session: SessionId, payload: &str) -> Option<Word> {
        let id = id(payload)?;
        let title = self.titles.get(&id).cloned()?;
        let texts = ["delta", "text", "chunk", "data", "output"];
        let text = texts.into_iter().find_map(|name| field(payload, name)).filter(|text| !text.is_empty())?;
        let printed = self.printed.entry(id.clone()).or_default();
        printed.push_str(&text);
        let over = printed.len().saturating_sub(MAX_PRINTED_BYTES);
        printed.drain(..printed.ceil_char_boundary(over));
        let output = Some(printed.clone());
        let shown = ToolContent::Terminal { terminal: ExecutionId::from(id.as_str()), output };
        let call = ToolCall { content: Some(vec![shown]), ..ToolCall::new(id, title, ToolStatus::Running) };
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
            ToolStatus::Completed | ToolStatus::Failed => {
                self.printed.remove(&id);
                self.titles.remove(&id)
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(word: Option<Word>) -> Option<String> {
        let Some(Word::OwnToolCall { call, told: Telling::Again, .. }) = word else { return None };
        match call.content?.pop()? {
            ToolContent::Terminal { output, .. } => output,
            _ => None,
        }
    }

    #[test]
    fn what_a_call_prints_is_shown_by_its_end() {
        let (mut calls, session) = (Calls::default(), SessionId(1));
        let print = |calls: &mut Calls, text: &str| {
            shown(calls.prints(session, &serde_json::json!({"call_id": "c", "delta": text}).to_string()))
        };
        assert_eq!(print(&mut calls, "before it is called"), None);
        calls.called(session, r#"{"call_id":"c","tool":"bash"}"#);
        assert_eq!(print(&mut calls, "one ").as_deref(), Some("one "));
        assert_eq!(print(&mut calls, "two").as_deref(), Some("one two"));
        let long = print(&mut calls, &"é".repeat(MAX_PRINTED_BYTES)).unwrap();
        assert!(long.len() <= MAX_PRINTED_BYTES && long.starts_with('é'), "{}", long.len());
        calls.result(session, r#"{"call_id":"c","status":"ok"}"#);
        assert!(calls.printed.is_empty());
    }
}
