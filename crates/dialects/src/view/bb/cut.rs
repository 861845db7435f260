//! Payloads that are too large for a preview: the strings in them are shortened, the largest first, until it fits. Says that
//! it is cut and where the whole is; never cuts within a character.

use serde_json::{Map, Value};
use switchboard_types::Seq;
use switchboard_types::desk::artifact;

/// Bytes of a payload's JSON.
pub const MAX_PAYLOAD_BYTES: usize = 64 * 1024;
/// Bytes of a member that is kept where even empty strings would not help.
const SMALL_BYTES: usize = 256;

/// Makes a payload fit.
pub(super) fn cut(payload: &mut Vec<u8>, seq: Seq) {
    let mut members = match serde_json::from_slice(payload) {
        Ok(Value::Object(members)) => members,
        // It is no object that could be shown in part.
        _ => Map::new(),
    };
    members.insert("truncated".to_owned(), Value::Bool(true));
    members.insert("full".to_owned(), Value::String(artifact::event(seq)));
    let mut value = Value::Object(members);
    if !shorten(&mut value) {
        keep_small(&mut value);
    }
    payload.clear();
    // A value always has a JSON text, and a vector takes all of it.
    let _ = serde_json::to_writer(payload, &value);
}

/// Shortens strings to one length that makes the whole fit; whether there is such a length.
fn shorten(value: &mut Value) -> bool {
    let mut sizes = Vec::new();
    strings(value, &mut |text| sizes.push(escaped(text)));
    let total = size_of(value);
    let fixed = total - sizes.iter().sum::<usize>();
    let Some(room) = MAX_PAYLOAD_BYTES.checked_sub(fixed) else { return false };
    sizes.sort_unstable();
    // All that are shorter keep their length; what is left of the room is shared by the others.
    let (mut left, mut count) = (room, sizes.len());
    let mut limit = usize::MAX;
    for size in sizes {
        if size.saturating_mul(count) > left {
            limit = left / count;
            break;
        }
        left -= size;
        count -= 1;
    }
    strings(value, &mut |text| truncate(text, limit));
    true
}

/// Keeps only what is small at the top.
fn keep_small(value: &mut Value) {
    let Value::Object(members) = value else { return };
    // Quotes, colon, comma.
    let cost_of = |name: &String, member: &Value| escaped(name) + size_of(member) + 4;
    let is_mark = |name: &str| name == "truncated" || name == "full";
    let marks: usize =
        members.iter().filter(|(name, _)| is_mark(name)).map(|(name, member)| cost_of(name, member)).sum();
    let mut left = MAX_PAYLOAD_BYTES - 2 - marks;
    members.retain(|name, member| {
        if is_mark(name) {
            return true;
        }
        let (size, cost) = (size_of(member), cost_of(name, member));
        let fits = size <= SMALL_BYTES && cost <= left;
        left -= if fits { cost } else { 0 };
        fits
    });
}

fn strings(value: &mut Value, each: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|item| strings(item, each)),
        Value::Object(members) => {
            // Where the whole is must stay whole; what is only ours is short.
            members.iter_mut().filter(|(name, _)| *name != "full").for_each(|(_, member)| strings(member, each));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn size_of(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}

/// Bytes of a text within quotes.
fn escaped(text: &str) -> usize {
    text.chars().map(escaped_char).sum()
}

fn escaped_char(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

fn truncate(text: &mut String, limit: usize) {
    let (mut size, mut end) = (0, 0);
    for letter in text.chars() {
        size += escaped_char(letter);
        if size > limit {
            break;
        }
        end += letter.len_utf8();
    }
    text.truncate(end);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn cut_of(value: &Value) -> Value {
        let mut payload = serde_json::to_vec(value).unwrap();
        cut(&mut payload, Seq(9));
        assert!(payload.len() <= MAX_PAYLOAD_BYTES, "{} bytes", payload.len());
        serde_json::from_slice(&payload).unwrap()
    }

    #[test]
    fn the_largest_is_shortened_and_the_small_stays() {
        let cut = cut_of(&json!({"call_id": "c1", "output": "é\"\n".repeat(50_000), "list": ["a", {"b": 7}]}));
        assert_eq!((&cut["call_id"], &cut["list"]), (&json!("c1"), &json!(["a", {"b": 7}])));
        assert_eq!((&cut["truncated"], &cut["full"]), (&json!(true), &json!("events/9.json")));
        let left = cut["output"].as_str().unwrap();
        assert!(left.len() > 40_000 && "é\"\n".repeat(50_000).starts_with(left), "{}", left.len());
    }

    #[test]
    fn two_large_ones_share_the_room() {
        let cut = cut_of(&json!({"a": "x".repeat(100_000), "b": "y".repeat(200_000), "c": "z".repeat(100)}));
        let length = |name: &str| cut[name].as_str().unwrap().len();
        assert_eq!((length("a"), length("c")), (length("b"), 100));
        assert!(length("a") > 30_000);
    }

    #[test]
    fn what_no_shorter_string_can_help_keeps_what_is_small() {
        let many: Vec<u64> = (0..60_000).collect();
        let cut = cut_of(&json!({"items": many, "title": "kept"}));
        assert_eq!(cut, json!({"title": "kept", "truncated": true, "full": "events/9.json"}));
        let mut text = b"[1,2]".to_vec();
        super::cut(&mut text, Seq(1));
        assert_eq!(
            serde_json::from_slice::<Value>(&text).unwrap(),
            json!({"truncated": true, "full": "events/1.json"})
        );
    }

    #[test]
    fn however_many_are_small_it_is_said_that_more_is_missing() {
        let members: Map<String, Value> = (0..9_000).map(|at| (format!("a{at:05}"), json!([at]))).collect();
        let cut = cut_of(&Value::Object(members));
        assert_eq!((&cut["truncated"], &cut["full"]), (&json!(true), &json!("events/9.json")));
        assert_eq!(cut["a00000"], json!([0]));
    }

    proptest! {
        // Each is large, so few of them are many bytes.
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn whatever_it_is_it_fits(texts in prop::collection::vec((".{0,40}", 1_usize..800), 1..20)) {
            let member = |(at, (text, times)): (usize, &(String, usize))| (format!("k{at}"), json!(text.repeat(*times)));
            let members: Map<String, Value> = texts.iter().enumerate().map(member).collect();
            cut_of(&Value::Object(members));
        }
    }
}
