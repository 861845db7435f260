//! The independent checker: reads the log from the database file with a reader of its own and holds against it what views
//! were shown and what agents were asked. Uses nothing of the program, so it cannot share its mistakes.

mod asked;
mod crc;
mod file;
mod finding;
mod history;
mod journal;
mod runs;
mod shape;
mod turns;

pub use asked::asked;
pub use file::{FileError, Read, read_dead, read_live};
pub use finding::Finding;
pub use history::History;
pub use journal::{Judge, Reach, Shown};
pub use runs::runs;
pub use turns::{Ends, turns};

use serde_json::Value;

/// The log of one session, as the file has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// The session's number.
    pub session: u64,
    /// Names one life of the log.
    pub epoch: i64,
    /// The tab that shows it; none once that is closed.
    pub tab: Option<String>,
    /// The events 1, 2, 3, …
    pub records: Vec<Record>,
    /// What the rows beside the log say of its turns.
    pub turns: Vec<TurnRow>,
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its place in the log.
    pub seq: u64,
    /// When it was noted, in milliseconds.
    pub at: u64,
    /// The turn that it belongs to; 0 is none.
    pub turn: u32,
    /// What it says.
    pub body: Body,
}

/// What an event says.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A piece of an answer, escaped as within a JSON string.
    Text(String),
    /// A piece of thinking, escaped likewise.
    Thought(String),
    /// Anything else, with its `type`.
    Json(Value),
}

impl Body {
    /// `text`, `thought`, or the type that the JSON names.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Text(_) => "text",
            Self::Thought(_) => "thought",
            Self::Json(json) => json["type"].as_str().unwrap_or_default(),
        }
    }
}

/// What the row of a turn says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// Its number within the session.
    pub turn: u32,
    /// The view's name for it.
    pub name: String,
    /// The event that queued it.
    pub queued: u64,
    /// 0 waits, 1 runs, 2 is over.
    pub phase: i64,
}

impl Log {
    /// The last event's number, or 0.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.records.last().map_or(0, |record| record.seq)
    }

    /// The event of a number.
    #[must_use]
    pub fn record(&self, seq: u64) -> Option<&Record> {
        let place = usize::try_from(seq.checked_sub(1)?).ok()?;
        self.records.get(place).filter(|record| record.seq == seq)
    }

    /// The name of a turn, from the event that queued it.
    #[must_use]
    pub fn turn_name(&self, turn: u32) -> Option<&str> {
        self.records.iter().find_map(|record| match &record.body {
            Body::Json(json) if record.turn == turn && json["type"] == "promptQueued" => json["name"].as_str(),
            _ => None,
        })
    }
}
