//! Fields of an engine's JSON that may be anything: what is not as it should be is as good as absent.

use serde_json::Value;
use switchboard_types::limits::MAX_JSON_DEPTH;

use crate::json::{Fields, deeper_than, lossy};

/// Every field that is ever asked for, the most frequent first.
const NAMES: [&str; 57] = [
    "text",
    "message_id",
    "call_id",
    "request_id",
    "content",
    "message",
    "status",
    "error",
    "tool",
    "call",
    "output",
    "delta",
    "chunk",
    "data",
    "result",
    "decision",
    "response",
    "reason",
    "detail",
    "details",
    "code",
    "kind",
    "summary",
    "command",
    "cwd",
    "path",
    "diff",
    "severity",
    "rule_suggestion",
    "default_scope",
    "from",
    "to",
    "session_id",
    "title",
    "updated_at_ms",
    "last_activity_at",
    "updated_at",
    "sessions",
    "protocol_version",
    "engine_version",
    "features",
    "attachments",
    "id",
    "entries",
    "name",
    "type",
    "size",
    "mime",
    "url",
    "truncated",
    "total_bytes",
    "totalBytes",
    "total_lines",
    "totalLines",
    "binary",
    "first_seq",
    "last_seq",
];
/// How deep a value may nest that is kept within an event of ours.
const MAX_VALUE_DEPTH: usize = MAX_JSON_DEPTH - 8;
/// Characters of what a person reads.
const MAX_NOTE_CHARS: usize = 16 * 1024;

/// A field as the text that it was; none if it is absent or null, or if there is no object.
pub(super) fn raw<'a>(object: &'a str, name: &'static str) -> Option<&'a str> {
    debug_assert!(NAMES.contains(&name), "{name} is not among the names");
    Fields::read(object, &NAMES).ok()?.raw(name)
}

/// A string.
pub(super) fn field(object: &str, name: &'static str) -> Option<String> {
    lossy(raw(object, name)?)
}

/// A whole number, however it is written.
pub(super) fn number(object: &str, name: &'static str) -> Option<u64> {
    let raw = raw(object, name)?;
    raw.parse().ok().or_else(|| raw.parse::<f64>().ok().filter(|number| *number >= 0.0).map(|number| number as u64))
}

/// Whether it is true.
pub(super) fn is_true(object: &str, name: &'static str) -> bool {
    raw(object, name) == Some("true")
}

/// A value as a tree, unless it nests too deep to be kept.
pub(super) fn value(raw: &str) -> Option<Value> {
    if deeper_than(raw.as_bytes(), MAX_VALUE_DEPTH) {
        return None;
    }
    serde_json::from_str(raw).ok()
}

/// Text for a person, of a bearable length.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_NOTE_CHARS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
