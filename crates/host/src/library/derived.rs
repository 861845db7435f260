//! What is derived from a log: messages and what was used. Plain data.

use switchboard_types::{Role, Seq, Time, Tokens, TurnId};

/// Bytes of one message's text; a longer one is several.
pub(crate) const MAX_TEXT_BYTES: usize = 64 * 1024;
/// Bytes of the paths of one message.
pub(crate) const MAX_PATH_BYTES: usize = 8 * 1024;

/// Something that was said or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its first event.
    pub seq: Seq,
    /// Its turn.
    pub turn: Option<TurnId>,
    /// Whose words.
    pub role: Role,
    /// When it began.
    pub at: Time,
    /// The words.
    pub text: String,
    /// The files that it is about, one a line.
    pub paths: String,
}

/// What was used, as one event says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// The event.
    pub seq: Seq,
    /// Its turn.
    pub turn: Option<TurnId>,
    /// When.
    pub at: Time,
    /// Tokens of the turn.
    pub tokens: Tokens,
    /// Money.
    pub spent: Option<Spent>,
}

/// Money, in millionths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// How much.
    pub micros: i64,
    /// Of what.
    pub currency: String,
    /// What it is the price of.
    pub of: SpentOf,
}

/// What a sum of money is the price of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpentOf {
    /// A turn, or a part of it.
    Turn,
    /// All that the agent session has done so far.
    Everything,
}

/// One thing that is derived from a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Something that was said or done.
    Message(Message),
    /// What was used.
    Used(Used),
}

/// At most so many bytes of a text, whole characters.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes.min(text.len()))).unwrap_or_default()
}

impl Message {
    /// The message as rows: text in bounded pieces, the paths with the first.
    pub(crate) fn split(self, rows: &mut Vec<Item>) {
        let text = if self.text.contains('\0') { self.text.replace('\0', " ") } else { self.text };
        let mut rest = text.as_str();
        let mut paths = self.paths.replace('\0', " ");
        loop {
            let piece = cut(rest, MAX_TEXT_BYTES);
            rest = rest.get(piece.len()..).unwrap_or_default();
            let (text, paths) = (piece.to_owned(), std::mem::take(&mut paths));
            rows.push(Item::Message(Self { text, paths, ..self }));
            if rest.is_empty() {
                return;
            }
        }
    }
}
