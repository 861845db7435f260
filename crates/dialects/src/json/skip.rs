//! The end of a JSON value, found without recursion and without looking at what it means. Never takes what a JSON parser would
//! refuse, nor what nests too deep.

use switchboard_types::limits::MAX_JSON_DEPTH;

use super::quick::{Escapes, blank, expect, string_end};

/// How deep a value may nest: the object around it is one level. One bit is kept for each.
const MAX_DEPTH: u32 = MAX_JSON_DEPTH as u32 - 1;
const _: () = assert!(MAX_DEPTH <= u128::BITS);

/// The place after the value that begins here; none if there is no value, or one that nests too deep.
pub(super) fn value_end(json: &str, mut at: usize) -> Option<usize> {
    let bytes = json.as_bytes();
    // The lowest bit says whether the innermost bracket is an object's.
    let (mut depth, mut objects) = (0, 0_u128);
    loop {
        match *bytes.get(at)? {
            b'"' => at = string_end(json, at + 1, Escapes::Any)? + 1,
            open @ (b'{' | b'[') => {
                let is_object = open == b'{';
                if depth == MAX_DEPTH {
                    return None;
                }
                at = blank(json, at + 1);
                if *bytes.get(at)? == if is_object { b'}' } else { b']' } {
                    at += 1;
                } else {
                    (depth, objects) = (depth + 1, (objects << 1) | u128::from(is_object));
                    at = if is_object { after_name(json, at)? } else { at };
                    continue;
                }
            }
            b't' => at = word_end(bytes, at, b"true")?,
            b'f' => at = word_end(bytes, at, b"false")?,
            b'n' => at = word_end(bytes, at, b"null")?,
            b'-' | b'0'..=b'9' => at = number_end(bytes, at)?,
            _ => return None,
        }
        // A value has ended, and perhaps what is around it.
        loop {
            if depth == 0 {
                return Some(at);
            }
            at = blank(json, at);
            let in_object = objects & 1 == 1;
            match (*bytes.get(at)?, in_object) {
                (b',', _) => {
                    at = blank(json, at + 1);
                    at = if in_object { after_name(json, at)? } else { at };
                    break;
                }
                (b'}', true) | (b']', false) => (at, depth, objects) = (at + 1, depth - 1, objects >> 1),
                _ => return None,
            }
        }
    }
}

/// The place of the value that follows a name and its colon.
fn after_name(json: &str, at: usize) -> Option<usize> {
    let end = string_end(json, expect(json, at, b'"')?, Escapes::Any)? + 1;
    Some(blank(json, expect(json, blank(json, end), b':')?))
}

fn word_end(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    let end = at + word.len();
    (bytes.get(at..end)? == word).then_some(end)
}

fn number_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let digits = |from: usize| {
        let count = bytes.get(from..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then_some(from + count)
    };
    at += usize::from(bytes.get(at) == Some(&b'-'));
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = digits(at)?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_has_its_end() {
        for json in
            ["1", "-0.5e-3", "1E9", "\"a\\\"\"", "true", "false", "null", "[]", "{ }", "[1, {\"a\" : [ ]}]", "0"]
        {
            assert_eq!(value_end(json, 0), Some(json.len()), "{json}");
            assert_eq!(value_end(&format!("{json} ,"), 0), Some(json.len()), "{json}");
        }
        for json in ["", "-", "1.", "1e", ".5", "+1", "tru", "nul", "[", "[1", "[1,]", "[1}", "{]", "{\"a\"}", "{1:2}"]
        {
            assert_eq!(value_end(json, 0), None, "{json}");
        }
        assert_eq!(value_end("01", 0), Some(1));
    }

    #[test]
    fn what_nests_too_deep_is_left_to_the_long_way() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(value_end(&deep(MAX_JSON_DEPTH - 1), 0), Some(2 * (MAX_JSON_DEPTH - 1)));
        assert_eq!(value_end(&deep(MAX_JSON_DEPTH), 0), None);
        let objects = format!("{}1{}", "{\"a\":".repeat(127), "}".repeat(127));
        assert_eq!(value_end(&objects, 0), Some(objects.len()));
    }
}
