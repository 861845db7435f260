//! One line of a record: which message went where and when, and what became of it. Plain data.

use serde::{Deserialize, Serialize};
use switchboard_types::{EventRef, Page, Seq, Time};

use super::name;

/// Kinds of events that an entry names; more are counted by their numbers alone.
const MAX_KINDS: usize = 16;

/// One line of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place in the session's record: 1, 2, 3, …; a hole is what was turned over.
    pub n: u64,
    /// When the host saw it, in milliseconds since 1970.
    pub at_ms: Time,
    /// Whose wire.
    pub side: Side,
    /// Who is at its other end: `life 3` of an agent, `link 7` of a view.
    pub peer: String,
    /// Which way, as the host sees it.
    pub dir: Direction,
    /// The vocabulary.
    pub dialect: String,
    /// What the message calls itself.
    pub name: String,
    /// Bytes of the whole message.
    pub bytes: usize,
    /// What the host made of it.
    pub verdict: Verdict,
    /// Why, where the verdict wants a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The events that it became, or that it carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
    /// The message itself, without secrets; absent where it may speak of another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Whether `raw` is only its beginning.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cut: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// Whose wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// An agent's.
    Agent,
    /// A view's.
    View,
    /// Nobody's: a word of the recorder itself.
    Host,
}

/// Which way a message went, as the host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// To the host.
    In,
    /// From the host.
    Out,
    /// No message: something that happened beside them.
    Note,
}

/// What the host made of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was understood and taken.
    Ok,
    /// It means nothing in the dialect and was skipped.
    Noise,
    /// It was understood and refused.
    Refused,
    /// It came too late, or for nobody.
    Late,
}

/// A run of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// The first.
    pub from: Seq,
    /// The last.
    pub to: Seq,
    /// Their kinds, each once, in the order in which they come first.
    pub kinds: Vec<String>,
}

impl From<&Page> for Events {
    fn from(page: &Page) -> Self {
        let mut kinds: Vec<String> = Vec::new();
        for kind in page.events().map(|event| kind(&event)) {
            if kinds.len() < MAX_KINDS && !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        Self { from: page.first(), to: page.last(), kinds }
    }
}

fn kind(event: &EventRef<'_>) -> String {
    use switchboard_types::record::Peek;
    match event.peek() {
        Peek::Text(_) => "text".to_owned(),
        Peek::Thought(_) => "thought".to_owned(),
        Peek::Json(json) => name::of(&String::from_utf8_lossy(json)),
    }
}

impl Entry {
    /// As a line of a file, with its end.
    #[must_use]
    pub fn line(&self) -> Vec<u8> {
        // Maps with string keys always have a JSON text.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use switchboard_types::{Body, PageBuilder};

    use super::*;

    #[test]
    fn events_are_named_by_their_place_and_kind() {
        let mut page = PageBuilder::new(Seq(5));
        page.push(Time(1), None, &Body::TurnStarted {});
        page.push(Time(1), None, &Body::Text { text: "a".into() });
        page.push(Time(1), None, &Body::Text { text: "b".into() });
        let events = Events::from(&page.take().unwrap());
        let kinds = vec!["turnStarted".to_owned(), "text".to_owned()];
        assert_eq!(events, Events { from: Seq(5), to: Seq(7), kinds });
    }
}
