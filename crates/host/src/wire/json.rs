//! Foreign JSON as text, taken apart without believing it: what is cut off, broken or no JSON at all gives the parts that
//! it has. Never copies and never fails.

use std::ops::Range;

/// A part of a JSON text. Ranges are bytes of the text, without quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// An object begins.
    Open,
    /// An object ends.
    Close,
    /// A key of the innermost object.
    Key(Range<usize>),
    /// A string that is no key.
    Text(Range<usize>),
}

/// What the reader is within.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    ObjectBeforeKey,
    ObjectAfterKey,
    Array,
}

/// How deep the parts are followed; what lies deeper is looked at as if it lay there.
const MAX_DEPTH: usize = 512;

/// The parts in order; none for a text that begins with neither an object nor an array.
pub(super) fn parts(text: &str) -> impl Iterator<Item = Part> + '_ {
    let bytes = text.as_bytes();
    let begins = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    let is_json = matches!(bytes.get(begins), Some(b'{' | b'['));
    let (mut at, mut within) = (if is_json { begins } else { bytes.len() }, Vec::new());
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'{' => {
                    push(&mut within, Within::ObjectBeforeKey);
                    return Some(Part::Open);
                }
                b'[' => push(&mut within, Within::Array),
                b'}' => {
                    within.pop();
                    return Some(Part::Close);
                }
                b']' => {
                    within.pop();
                }
                b',' => {
                    if let Some(last @ Within::ObjectAfterKey) = within.last_mut() {
                        *last = Within::ObjectBeforeKey;
                    }
                }
                b'"' => {
                    let end = end_of_string(bytes, at);
                    let span = at..end;
                    at = (end + 1).min(bytes.len());
                    if let Some(last @ Within::ObjectBeforeKey) = within.last_mut() {
                        *last = Within::ObjectAfterKey;
                        return Some(Part::Key(span));
                    }
                    return Some(Part::Text(span));
                }
                _ => {}
            }
        }
        None
    })
}

fn push(within: &mut Vec<Within>, what: Within) {
    if within.len() < MAX_DEPTH {
        within.push(what);
    }
}

fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let get = |span: &Range<usize>| text.get(span.clone()).unwrap().to_owned();
        parts(text)
            .map(|part| match part {
                Part::Open => "{".to_owned(),
                Part::Close => "}".to_owned(),
                Part::Key(span) => format!("{}:", get(&span)),
                Part::Text(span) => get(&span),
            })
            .collect()
    }

    #[test]
    fn keys_and_texts_are_told_apart_at_every_depth() {
        let text = r#" {"a":"x","b":["y",{"c":"z\"}"}],"d":{"e":1}}"#;
        assert_eq!(shown(text), ["{", "a:", "x", "b:", "y", "{", "c:", "z\\\"}", "}", "d:", "{", "e:", "}", "}"]);
    }

    #[test]
    fn what_is_cut_off_or_broken_gives_the_parts_that_it_has() {
        assert_eq!(shown(r#"{"a":"cut of"#), ["{", "a:", "cut of"]);
        assert_eq!(shown(r#"{"a":"cut\"#), ["{", "a:", "cut\\"]);
        assert_eq!(shown(r#"{"a" "b" ,, ]}"#), ["{", "a:", "b", "}"]);
        assert_eq!(shown("no json \"at\" all"), Vec::<String>::new());
        assert_eq!(shown(&format!("{}\"x\"", "[".repeat(100_000))), ["x"]);
    }
}
