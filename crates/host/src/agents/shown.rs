//! Foreign text made fit for a log line, a terminal or a message: what is shown is what is there. Never fails.

use std::fmt::Write as _;

/// Writes control characters out, so that text cannot move the cursor, hide itself or run backwards; cut at
/// `max_chars` characters, with a mark where it was.
#[must_use]
pub fn shown(text: &str, max_chars: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(max_chars));
    for (count, character) in text.chars().enumerate() {
        if count == max_chars {
            shown.push('…');
            break;
        }
        if is_deceptive(character) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{}", character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The same for bytes; what is no UTF-8 becomes U+FFFD.
#[must_use]
pub fn shown_bytes(bytes: &[u8], max_chars: usize) -> String {
    // A character has at most four bytes, so what lies beyond is not looked at.
    let head = bytes.get(..max_chars.saturating_mul(4).saturating_add(4)).unwrap_or(bytes);
    shown(&String::from_utf8_lossy(head), max_chars)
}

/// Control characters (tab excepted), and those that reorder or hide text.
fn is_deceptive(character: char) -> bool {
    let reorders = matches!(character,
        '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    (character.is_control() && character != '\t') || reorders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_deceive_is_written_out() {
        let cases = [
            ("plain\ttext é 🦀", "plain\ttext é 🦀"),
            ("\u{1b}]52;c;x\u{7}", "\\u{1b}]52;c;x\\u{7}"),
            ("a\rb\nc", "a\\u{d}b\\u{a}c"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("gpj\u{202e}.sh", "gpj\\u{202e}.sh"),
        ];
        for (foreign, expected) in cases {
            assert_eq!(shown(foreign, 100), expected);
        }
    }

    #[test]
    fn long_text_is_cut_by_characters() {
        assert_eq!(shown("ééééé", 3), "ééé…");
        assert_eq!(shown_bytes("é".repeat(1000).as_bytes(), 3), "ééé…");
        assert_eq!(shown_bytes(b"a\xffb", 10), "a\u{fffd}b");
    }
}
