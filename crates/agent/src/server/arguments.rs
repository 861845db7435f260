//! What a model wrote as the arguments of a call, read with patience. What cannot be read is kept as it is.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::talk::Arguments;

/// JSON out of bytes that should be text. What is no UTF-8 and what is half a surrogate pair is replaced, not refused.
pub(super) fn json(bytes: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(bytes);
    serde_json::from_str(&text).ok().or_else(|| serde_json::from_str(&whole_escapes(&text)?).ok())
}

/// Half surrogate pairs as `\ufffd`; none if there are no such escapes at all.
fn whole_escapes(text: &str) -> Option<String> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let Some(next) = after.chars().next() else {
            out.push('\\');
            return Some(out);
        };
        rest = after.strip_prefix(next).unwrap_or_default();
        let unit = (next == 'u').then(|| unit(rest)).flatten();
        let low = rest.get(4..).and_then(|rest| rest.strip_prefix("\\u")).and_then(self::unit);
        match (unit, low) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => {
                out.push_str("\\u");
                out.push_str(rest.get(..10).unwrap_or_default());
                rest = rest.get(10..).unwrap_or_default();
            }
            (Some(0xd800..=0xdfff), _) => {
                out.push_str("\\ufffd");
                rest = rest.get(4..).unwrap_or_default();
            }
            _ => {
                out.push('\\');
                out.push(next);
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

/// The four hex digits at the beginning.
fn unit(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// Arguments out of what came for them, as text.
///
/// None at all, and `null`, are an empty object. An object within a string is that object. Where the same object came twice, or an
/// empty one before the true one, as some servers send them, it counts once. Raw line breaks within strings are read as such.
pub(super) fn read(text: &str) -> Arguments {
    if text.trim().is_empty() {
        return Arguments::Object(Map::new());
    }
    let values = values(text).or_else(|| values(&escaped(text)));
    values.and_then(|values| only(&values)).map_or_else(|| Arguments::Broken(text.to_owned()), Arguments::Object)
}

/// The same for a value that is JSON already.
pub(super) fn of(value: &Value) -> Arguments {
    match value {
        Value::Object(map) => Arguments::Object(map.clone()),
        Value::Null => Arguments::Object(Map::new()),
        Value::String(text) => read(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => Arguments::Broken(value.to_string()),
    }
}

/// One JSON value as a model writes it: raw line breaks within strings are read as such.
pub(super) fn lenient(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&escaped(text)).ok())
}

fn values(text: &str) -> Option<Vec<Value>> {
    serde_json::Deserializer::from_str(text).into_iter::<Value>().collect::<Result<_, _>>().ok()
}

fn only(values: &[Value]) -> Option<Map<String, Value>> {
    let mut found: Option<Map<String, Value>> = None;
    for value in values {
        let map = match value {
            Value::Object(map) => Cow::Borrowed(map),
            Value::Null => Cow::Owned(Map::new()),
            Value::String(text) => Cow::Owned(serde_json::from_str(text).ok()?),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
        };
        match &found {
            Some(before) if !before.is_empty() && *before != *map && !map.is_empty() => return None,
            Some(before) if !before.is_empty() => {}
            _ => found = Some(map.into_owned()),
        }
    }
    found
}

/// The same with raw control characters within strings escaped, as JSON wants them.
fn escaped(text: &str) -> String {
    let (mut out, mut within, mut after_backslash) = (String::with_capacity(text.len() + 16), false, false);
    for each in text.chars() {
        match each {
            '"' if !after_backslash => within = !within,
            '\n' if within => out.push_str("\\n"),
            '\r' if within => out.push_str("\\r"),
            '\t' if within => out.push_str("\\t"),
            _ => {}
        }
        if !(within && each.is_control()) {
            out.push(each);
        }
        after_backslash = within && each == '\\' && !after_backslash;
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Arguments {
        of(&value)
    }

    #[test]
    fn arguments_are_read_as_they_were_meant() {
        for text in ["", "  ", "null", "{}", "\"{}\"", "{}{}"] {
            assert_eq!(read(text), object(json!({})), "{text:?}");
        }
        for text in ["{\"a\":1}", "\"{\\\"a\\\":1}\"", "{}{\"a\":1}", "{\"a\":1}{\"a\":1}", "{\"a\":1}\n{}"] {
            assert_eq!(read(text), object(json!({"a": 1})), "{text:?}");
        }
        assert_eq!(read("{\"a\":\"x\ny\\\"\t\"}"), object(json!({"a": "x\ny\"\t"})));
        assert_eq!(read("{\n\"a\":\n1}"), object(json!({"a": 1})));
    }

    #[test]
    fn arguments_that_make_no_sense_are_kept_as_they_are() {
        for text in ["{\"a\":", "{\"a\":1}{\"b\":2}", "[1]", "7", "path=x", "{'a': 1}", "\"path\""] {
            assert_eq!(read(text), Arguments::Broken(text.to_owned()));
        }
    }

    #[test]
    fn half_a_surrogate_pair_costs_one_character_only() {
        assert_eq!(json(br#"{"a":"x\ud83dy"}"#), Some(json!({"a": "x\u{fffd}y"})));
        assert_eq!(json(br#"{"a":"\\ud83d\ude00 \ud83d\ude00"}"#), Some(json!({"a": "\\ud83d\u{fffd} \u{1f600}"})));
        assert_eq!(json(b"{\"a\":\"\xff\"}"), Some(json!({"a": "\u{fffd}"})));
        assert_eq!(json(br#"{"a":"\ud8"#), None);
    }
}
