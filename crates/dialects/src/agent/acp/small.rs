//! Foreign JSON in small pieces: fields that may be anything, and text that may be of any length. Never refuses; what is not
//! as it should be is as good as absent.

use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_types::limits::MAX_JSON_DEPTH;

use crate::json::{Fields, deeper_than};

/// How deep a value may nest that is kept: less than a whole message, since it is stored within an event of its own.
const MAX_VALUE_DEPTH: usize = MAX_JSON_DEPTH - 8;
/// Bytes of a name that an agent chooses; some use the path of a file.
const MAX_NAME_BYTES: usize = 1_024;
/// Characters of what a person reads in a line: a title, a name, a reason.
pub(super) const MAX_LINE_CHARS: usize = 1_000;
/// Characters of an error's text.
pub(super) const MAX_ERROR_CHARS: usize = 2_000;
/// Characters of foreign JSON that is shown as it came.
pub(super) const MAX_RAW_CHARS: usize = 64 * 1024;

/// The object's fields; none if it is no object.
pub(super) fn fields<'a, const N: usize>(raw: &'a str, names: &'static [&'static str; N]) -> Option<Fields<'a, N>> {
    Fields::read(raw, names).ok()
}

/// A string of an object, if it is one.
pub(super) fn string<const N: usize>(fields: &Fields<'_, N>, name: &'static str) -> Option<String> {
    fields.optional_text(name).ok().flatten()
}

/// A string for a person's eye, cut.
pub(super) fn line<const N: usize>(fields: &Fields<'_, N>, name: &'static str) -> Option<String> {
    string(fields, name).map(|text| cut(text, MAX_LINE_CHARS)).filter(|text| !text.is_empty())
}

/// A name that a peer chose, if it is a string of a bearable length.
pub(super) fn name<const N: usize>(fields: &Fields<'_, N>, name: &'static str) -> Option<String> {
    let found = fields.raw(name).and_then(|raw| serde_json::from_str::<String>(raw).ok());
    found.filter(|found| found.len() <= MAX_NAME_BYTES)
}

/// A whole number, however it is written.
pub(super) fn number<const N: usize>(fields: &Fields<'_, N>, name: &'static str) -> Option<u64> {
    let raw = fields.raw(name)?;
    raw.parse().ok().or_else(|| raw.parse::<f64>().ok().filter(|number| *number >= 0.0).map(|number| number as u64))
}

/// Whether a capability is there: an object, or true; not null and not false.
pub(super) fn has<const N: usize>(fields: &Fields<'_, N>, name: &'static str) -> bool {
    fields.raw(name).is_some_and(|raw| raw != "false")
}

/// A value as a tree, unless it nests too deep to be kept.
pub(super) fn value(raw: &str) -> Option<Value> {
    if deeper_than(raw.as_bytes(), MAX_VALUE_DEPTH) {
        return None;
    }
    serde_json::from_str(raw).ok()
}

/// A value as a tree, or, if it cannot be one, the text that it was, cut.
pub(super) fn value_or_text(raw: &str) -> Value {
    value(raw).unwrap_or_else(|| Value::String(cut(raw, MAX_RAW_CHARS)))
}

/// The items of an array, at most `max` of them; none if it is no array.
pub(super) fn first_items(raw: &str, max: usize) -> Option<Vec<&str>> {
    let list: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    Some(list.into_iter().take(max).map(RawValue::get).collect())
}

/// Text of at most so many characters; what is cut is marked.
pub(super) fn cut(text: impl Into<String>, max: usize) -> String {
    let mut text = text.into();
    if let Some((at, _)) = text.char_indices().nth(max) {
        text.truncate(at);
        text.push('…');
    }
    text
}

/// The last characters of a text that fit in so many bytes.
pub(super) fn last_bytes(text: &str, max: usize) -> &str {
    let from = text.len().saturating_sub(max);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(from..).unwrap_or_default()
}

/// Whether an id can be carried.
pub(super) fn bearable(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_NAME_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters_and_marked() {
        assert_eq!(cut("éé", 2), "éé");
        assert_eq!(cut("ééé", 2), "éé…");
        assert_eq!(last_bytes("aéé", 3), "é");
        assert_eq!(last_bytes("ab", 9), "ab");
    }

    #[test]
    fn what_nests_too_deep_is_kept_as_text() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(value_or_text(&deep), Value::String(deep));
        assert_eq!(value_or_text("[1]"), serde_json::json!([1]));
    }

    #[test]
    fn numbers_and_capabilities_may_be_written_in_several_ways() {
        let read = fields(r#"{"a":3,"b":3.0,"c":"3","d":-1}"#, &["a", "b", "c", "d"]).unwrap();
        assert_eq!(["a", "b", "c", "d"].map(|name| number(&read, name)), [Some(3), Some(3), None, None]);
        let read = fields(r#"{"a":{},"b":true,"c":false,"d":null}"#, &["a", "b", "c", "d"]).unwrap();
        assert_eq!(["a", "b", "c", "d"].map(|name| has(&read, name)), [true, true, false, false]);
    }
}
