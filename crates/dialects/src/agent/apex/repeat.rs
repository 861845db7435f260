//! A backend that streams repeats itself: its messages differ in the text alone. Remembers what stood around the last piece and
//! what that stood for; never takes a message that the long way would refuse.

use bytes::Bytes;
use switchboard_types::{Text, Word};

use crate::json::text_end;

/// More around a piece is not worth comparing.
const MAX_AROUND_BYTES: usize = 1024;

/// The last piece's message up to the quote that opens its text, from the quote that closes it, and the word that it led to.
#[derive(Debug, Default)]
pub(super) struct Repeat {
    head: Vec<u8>,
    tail: Vec<u8>,
    word: Option<Word>,
}

impl Repeat {
    /// The word of a message that is the last one but for its text.
    pub(super) fn read(&self, frame: &Bytes) -> Option<Word> {
        let word = self.word.as_ref()?;
        let rest = frame.strip_prefix(self.head.as_slice())?;
        let inside = std::str::from_utf8(rest.strip_suffix(self.tail.as_slice())?).ok()?;
        // A quote before the end would begin another field, and the long way knows what to do with that.
        if text_end(inside)? != inside.len() {
            return None;
        }
        Some(with_text(word, Text::from_escaped(frame.slice_ref(inside.as_bytes()))))
    }

    /// Remembers a message that was read the long way; `literal` is its text with its quotes, as it lies in the frame.
    pub(super) fn note(&mut self, frame: &Bytes, literal: &str, word: &Word) {
        let at = (literal.as_ptr() as usize).wrapping_sub(frame.as_ptr() as usize);
        let end = at + literal.len();
        let (Some(head), Some(tail)) = (frame.get(..at + 1), frame.get(end - 1..)) else { return };
        if head.len() + tail.len() > MAX_AROUND_BYTES {
            return;
        }
        self.head.clear();
        self.head.extend_from_slice(head);
        self.tail.clear();
        self.tail.extend_from_slice(tail);
        self.word = Some(with_text(word, Text::from_escaped(Bytes::new())));
    }

    /// What a message stands for may be another thing from now on.
    pub(super) fn forget(&mut self) {
        self.word = None;
    }
}

/// The same piece with another text; only pieces are ever noted.
fn with_text(word: &Word, text: Text) -> Word {
    match word {
        Word::Thought { session, name, .. } => Word::Thought { session: *session, name: name.clone(), text },
        Word::Code { session, name, .. } => Word::Code { session: *session, name: name.clone(), text },
        Word::Text { session, name, .. } => Word::Text { session: *session, name: name.clone(), text },
        other => other.clone(),
    }
}
