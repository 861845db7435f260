//! An agent that streams repeats itself: every chunk's message begins with the same bytes. Remembers the last such head and
//! what it stood for; never takes a message that the long way would refuse.

use bytes::Bytes;
use switchboard_types::{Text, Word};

use crate::json::text_end;

/// A longer head is not worth comparing.
const MAX_HEAD_BYTES: usize = 1024;
/// Nor is a longer tail.
const MAX_TAIL_BYTES: usize = 256;

/// The last chunk's head, up to the quote that opens its text, its tail, from the quote that closes it, and the word that
/// it led to.
#[derive(Debug, Default)]
pub(super) struct Repeat {
    head: Vec<u8>,
    tail: Vec<u8>,
    word: Option<Word>,
}

impl Repeat {
    /// The word of a message that begins and ends as the last chunk did and holds nothing but text between.
    pub(super) fn read(&self, frame: &Bytes) -> Option<Word> {
        let word = self.word.as_ref()?;
        let rest = frame.strip_prefix(self.head.as_slice())?;
        let inside = std::str::from_utf8(rest.strip_suffix(self.tail.as_slice())?).ok()?;
        // A quote before the end would begin another field, and the long way knows what to do with that.
        if text_end(inside)? != inside.len() {
            return None;
        }
        let text = Text::from_escaped(frame.slice(self.head.len()..frame.len() - self.tail.len()));
        Some(with_text(word, text))
    }

    /// Remembers a message that was read the long way; `chunk` is its text with its quotes, as it lies in the frame.
    pub(super) fn note(&mut self, frame: &Bytes, chunk: &str, word: &Word) {
        let at = (chunk.as_ptr() as usize).wrapping_sub(frame.as_ptr() as usize);
        let head = frame.get(..at + 1).filter(|head| head.len() <= MAX_HEAD_BYTES);
        let tail = frame.get(at + chunk.len() - 1..).filter(|tail| tail.len() <= MAX_TAIL_BYTES);
        let Some((head, tail)) = head.zip(tail) else { return };
        self.head.clear();
        self.head.extend_from_slice(head);
        self.tail.clear();
        self.tail.extend_from_slice(tail);
        let is_piece = matches!(word, Word::Text { .. } | Word::Thought { .. } | Word::Code { .. });
        self.word = is_piece.then(|| with_text(word, Text::from_escaped(Bytes::new())));
    }

    /// What a head stands for may be another thing from now on.
    pub(super) fn forget(&mut self) {
        self.word = None;
    }
}

/// The same piece with another text; only pieces are ever remembered.
fn with_text(word: &Word, text: Text) -> Word {
    match word {
        Word::Thought { session, name, .. } => Word::Thought { session: *session, name: name.clone(), text },
        Word::Code { session, name, .. } => Word::Code { session: *session, name: name.clone(), text },
        Word::Text { session, name, .. } => Word::Text { session: *session, name: name.clone(), text },
        other => other.clone(),
    }
}
