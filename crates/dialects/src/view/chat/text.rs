//! Text that a view is told again and again as it grows: kept escaped, so that repeating it is a copy. Bounded.

use switchboard_types::{EventRef, Seq, Time};

/// Bytes of one text, escaped; what is longer goes on in another one.
pub(super) const MAX_BLOCK_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of thinking that are kept to show its end.
const MAX_TAIL_BYTES: usize = 2 * 1024;
/// Characters of a line that says what goes on.
const MAX_LINE_CHARS: usize = 200;

/// A text as the inside of a JSON string.
#[derive(Debug, Default)]
pub(super) struct Block {
    escaped: Vec<u8>,
    began: Option<(Seq, Time)>,
}

impl Block {
    pub(super) fn is_empty(&self) -> bool {
        self.escaped.is_empty()
    }

    pub(super) fn escaped(&self) -> &[u8] {
        &self.escaped
    }

    /// The event that it began with, and when.
    pub(super) fn began(&self) -> (Seq, Time) {
        self.began.unwrap_or_default()
    }

    /// Whether so many bytes more would be too many.
    pub(super) fn is_full(&self, more: usize) -> bool {
        !self.escaped.is_empty() && self.escaped.len() + more > MAX_BLOCK_BYTES
    }

    pub(super) fn push(&mut self, event: &EventRef<'_>, escaped: &[u8]) {
        self.began.get_or_insert((event.seq, event.at));
        self.escaped.extend_from_slice(escaped);
    }

    /// Adds, and keeps only the end.
    pub(super) fn push_tail(&mut self, escaped: &[u8]) {
        let start = escaped.len().saturating_sub(MAX_TAIL_BYTES);
        if self.escaped.len() + escaped.len() - start > 2 * MAX_TAIL_BYTES || start > 0 {
            self.escaped.clear();
        }
        if start > 0 {
            // Only a whole piece is sure to begin outside of an escape.
            return;
        }
        self.escaped.extend_from_slice(escaped);
    }
}

/// The first line of a text, at most so long that it fits into one.
pub(super) fn lines_of(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let mut rest = line.chars();
    let head: String = rest.by_ref().take(MAX_LINE_CHARS).collect();
    if rest.next().is_some() { head + "…" } else { head }
}

/// A text that is not longer than this; what is cut off is said.
pub(super) fn cut(mut text: String, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text;
    }
    let mut end = max_bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let left_out = text.len() - end;
    text.truncate(end);
    text.push_str(&format!("\n… ({left_out} bytes more)"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_says_so() {
        assert_eq!(cut("né".to_owned(), 3), "né");
        assert_eq!(cut("né!".to_owned(), 2), "n\n… (3 bytes more)");
        assert_eq!(lines_of("\n  \n a line \nanother"), "a line");
        assert_eq!(lines_of(&"é".repeat(300)).chars().count(), MAX_LINE_CHARS + 1);
    }

    #[test]
    fn thinking_never_grows() {
        let mut tail = Block::default();
        for _ in 0..10_000 {
            tail.push_tail(b"a thought ");
            assert!(tail.escaped().len() <= 2 * MAX_TAIL_BYTES);
        }
        tail.push_tail(&[b'x'; 3 * MAX_TAIL_BYTES]);
        assert!(tail.is_empty());
    }
}
