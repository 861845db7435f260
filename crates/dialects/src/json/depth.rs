//! How deep JSON nests, found without recursion. Never decides whether the text is JSON.

use memchr::memchr2;

/// Whether arrays and objects nest deeper than `max`. What is no JSON gets some answer, never a panic.
pub(crate) fn deeper_than(json: &[u8], max: usize) -> bool {
    let (mut rest, mut depth) = (json, 0_usize);
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'"' => rest = after_string(tail),
            b'[' | b'{' => {
                depth += 1;
                if depth > max {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// What follows a string whose opening quote is behind us.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr2(b'"', b'\\', rest) {
        let escape = rest.get(at) == Some(&b'\\');
        rest = rest.get(at + 1 + usize::from(escape)..).unwrap_or_default();
        if !escape {
            return rest;
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_arrays_and_objects() {
        assert!(!deeper_than(b"1", 0));
        assert!(!deeper_than(br#"{"a":[{}],"b":[[]]}"#, 3));
        assert!(deeper_than(br#"{"a":[{}]}"#, 2));
        assert!(!deeper_than(b"[],[],[]", 1));
    }

    #[test]
    fn brackets_within_strings_do_not_count() {
        assert!(!deeper_than(br#"{"[[[":"\"[[[\\"}"#, 1));
        assert!(deeper_than(br#"{"a":"\\","b":[]}"#, 1));
    }

    #[test]
    fn broken_text_ends_the_scan() {
        assert!(!deeper_than(br#"{"a"#, 1));
        assert!(!deeper_than(br#""\"#, 0));
        assert!(!deeper_than(b"]]]}", 0));
    }

    #[test]
    fn a_million_brackets_need_no_stack() {
        assert!(deeper_than(&vec![b'['; 1_000_000], 128));
        assert!(!deeper_than(&vec![b'['; 1_000_000], 1_000_000));
    }
}
