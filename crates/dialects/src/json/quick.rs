//! The short way through an object, which is mostly streamed text. Gives up at whatever is unusual; never takes what a JSON
//! parser would refuse, nor what nests too deep.

use super::skip::value_end;

/// Hands each name and the text of its value to `field`, quotes included on the value only. None if the object must be
/// read the long way; then what was handed out means nothing.
pub(super) fn members<'a>(json: &'a str, mut field: impl FnMut(&'a str, &'a str)) -> Option<()> {
    let mut at = expect(json, blank(json, 0), b'{')?;
    loop {
        let name_from = expect(json, blank(json, at), b'"')?;
        let name_to = string_end(json, name_from, Escapes::None)?;
        at = expect(json, blank(json, name_to + 1), b':')?;
        let from = blank(json, at);
        let to = value_end(json, from)?;
        field(json.get(name_from..name_to)?, json.get(from..to)?);
        at = blank(json, to) + 1;
        match json.as_bytes().get(at - 1)? {
            b',' => {}
            b'}' => return (blank(json, at) == json.len()).then_some(()),
            _ => return None,
        }
    }
}

/// Whether a string may hold escapes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    None,
    Any,
}

/// The place after a byte that must be here.
pub(super) fn expect(json: &str, at: usize, byte: u8) -> Option<usize> {
    (*json.as_bytes().get(at)? == byte).then_some(at + 1)
}

/// The place after blank space.
pub(super) fn blank(json: &str, mut at: usize) -> usize {
    while matches!(json.as_bytes().get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The place of the quote that ends a string.
pub(super) fn string_end(json: &str, mut at: usize, escapes: Escapes) -> Option<usize> {
    let bytes = json.as_bytes();
    loop {
        at = special(bytes, at);
        at += match (bytes.get(at)?, escapes) {
            (b'"', _) => return Some(at),
            (b'\\', Escapes::Any) => escape_len(bytes.get(at + 1..)?)?,
            _ => return None,
        };
    }
}

/// The place of the first quote in text that may hold escapes, or its end; none if it holds what no string may, or an escape
/// of a number, which may be half a character.
pub(crate) fn text_end(text: &str) -> Option<usize> {
    let (bytes, mut at) = (text.as_bytes(), 0);
    loop {
        at = special(bytes, at);
        match bytes.get(at) {
            None | Some(b'"') => return Some(at),
            Some(b'\\') => at += escape_len(bytes.get(at + 1..)?).filter(|len| *len == 2)?,
            Some(_) => return None,
        }
    }
}

/// The length of an escape; `rest` follows its backslash.
fn escape_len(rest: &[u8]) -> Option<usize> {
    match rest.first()? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' if rest.get(1..5)?.iter().all(u8::is_ascii_hexdigit) => Some(6),
        _ => None,
    }
}

/// The place of the next quote, backslash or control character, eight bytes at a time.
fn special(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES * 0x80;
    let less_than = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGHS;
    // Most text is plain for long, so first in steps that the compiler turns into a few wide instructions.
    while let Some(many) = bytes.get(at..).and_then(<[u8]>::first_chunk::<32>) {
        let is_special = |byte: &u8| u8::from(*byte < b' ') | u8::from(*byte == b'"') | u8::from(*byte == b'\\');
        if many.iter().fold(0, |found, byte| found | is_special(byte)) != 0 {
            break;
        }
        at += 32;
    }
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*eight);
        let quote = less_than(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = less_than(word ^ (ONES * u64::from(b'\\')), 1);
        // A borrow can mark a byte that is not special, but only above one that is.
        let marks = quote | backslash | less_than(word, u64::from(b' '));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let tail = bytes.get(at..).unwrap_or_default();
    at + tail.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..b' ')).unwrap_or(tail.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn quick(json: &str) -> Option<Vec<(String, String)>> {
        let mut found = Vec::new();
        members(json, |name, value| found.push((name.to_owned(), value.to_owned())))?;
        Some(found)
    }

    /// The same by the parser, with the names in order and none left out.
    fn thorough(json: &str) -> Option<Vec<(String, String)>> {
        struct All;
        impl<'de> serde::de::Visitor<'de> for All {
            type Value = Vec<(String, String)>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    all.push((name, value.get().to_owned()));
                }
                Ok(all)
            }
        }
        let mut parser = serde_json::Deserializer::from_str(json);
        let all = serde::Deserializer::deserialize_map(&mut parser, All).ok()?;
        parser.end().ok().map(|()| all)
    }

    #[test]
    fn an_object_takes_the_short_way() {
        let json = " {\"a\" : \"b\" ,\"é\":\"\\u00e9\\n\\\"\\\\\",\"\":\"\",\"o\" : { \"\\u0061\" :[ 1 ,-0.5e+3,[]] } ,\"n\":null}\r";
        let found = quick(json).unwrap();
        assert_eq!(found[0], ("a".to_owned(), "\"b\"".to_owned()));
        assert_eq!(Some(found), thorough(json));
    }

    #[test]
    fn anything_else_takes_the_long_way() {
        for json in [
            "",
            "{",
            "{}",
            "[]",
            "\"a\"",
            r#"{"a":01}"#,
            r#"{"a":1.}"#,
            r#"{"a":nul}"#,
            r#"{"a":[1,]}"#,
            r#"{"a":{"b"}}"#,
            r#"{"a":"b",}"#,
            r#"{"a":"b"}}"#,
            r#"{"\u0061":"b"}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u00g0"}"#,
            r#"{"a":"\u00"#,
            r#"{"a":"\"#,
            r#"{"a":"b"#,
            r#"{"a" "b"}"#,
            r#"{"a":"b" "c":"d"}"#,
            "{\"a\":\"\n\"}",
        ] {
            assert_eq!(quick(json), None, "{json}");
        }
    }

    proptest! {
        #[test]
        fn the_next_special_byte_is_found_wherever_it_is(bytes in proptest::collection::vec(any::<u8>(), 0..40), at in 0_usize..8) {
            let at = at.min(bytes.len());
            let plain = bytes[at..].iter().take_while(|byte| **byte >= b' ' && !b"\"\\".contains(byte)).count();
            prop_assert_eq!(special(&bytes, at), at + plain);
        }

        #[test]
        fn the_end_of_a_text_is_where_a_string_would_end(text in r#"([a-zé ]{0,40}|\\\\[nt"\\\\u0]|"|\\x01){0,6}"#) {
            if let Some(end) = text_end(&text) {
                let literal = format!("\"{}\"", &text.get(..end).unwrap());
                prop_assert!(serde_json::from_str::<String>(&literal).is_ok(), "{}", literal);
                prop_assert!(end == text.len() || text.as_bytes()[end] == b'"');
            }
        }

        #[test]
        fn the_short_way_never_takes_what_the_long_way_refuses(json in r#"( ?[{}\[\]:,"\\ntu0-9a\x00-\x1fé.eE+-]| ?"a"| ?:| ?","|":"|\\u00e9|true|null|-1.5e3|\[\]|\{\}|\{"a":){0,24}"#) {
            for json in [json.clone(), format!("{{{json}}}"), format!("{{\"{json}\"}}"), format!("{{\"a\":\"{json}\"}}"), format!("{{\"a\":{json}}}"), format!("{{\"a\":[{json}]}}")] {
                if let Some(found) = quick(&json) {
                    prop_assert_eq!(Some(found), thorough(&json), "{}", json);
                }
            }
        }
    }
}
