//! Where an event comes from, if whoever works keeps a log of its own elsewhere, and how far that log was taken. Plain data;
//! the foreign id is carried as it came and never made up.

use bytes::{BufMut as _, BytesMut};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::{SourceId, Time};

/// Where an event comes from: the place that it has in a foreign log, and what it is called there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name there; also what the foreign log is read on from.
    pub id: SourceId,
    /// Its number there, if it has one.
    pub seq: Option<u64>,
    /// The type of event there.
    pub name: String,
    /// What it says there, as the JSON text of an object. Of streamed text only what stands beside the text under `text`,
    /// which the event itself says; empty if that is nothing.
    pub rest: String,
    /// The turn there.
    pub turn: Option<u32>,
    /// When it happened, as it is said there.
    pub at: Option<Time>,
}

impl Source {
    /// How far a foreign log was taken when this event was.
    #[must_use]
    pub fn cursor(&self) -> SourceCursor {
        SourceCursor { id: self.id.clone(), seq: self.seq }
    }

    /// Adds it in the form in which it lies in a record.
    pub(crate) fn pack(&self, out: &mut BytesMut) {
        out.put_u64_le(self.seq.map_or(0, |seq| seq.saturating_add(1)));
        out.put_u64_le(self.at.map_or(0, |at| at.0.saturating_add(1)));
        out.put_u32_le(self.turn.unwrap_or(0));
        put_short(out, self.id.as_str());
        put_short(out, &self.name);
        out.extend_from_slice(self.rest.as_bytes());
    }
}

/// The longest id or name that is kept, in bytes; a longer one is cut by whoever reads it.
pub const MAX_SOURCE_NAME_BYTES: usize = u16::MAX as usize;

fn put_short(out: &mut BytesMut, text: &str) {
    let bytes = text.as_bytes();
    let bytes = bytes.get(..MAX_SOURCE_NAME_BYTES).unwrap_or(bytes);
    out.put_u16_le(u16::try_from(bytes.len()).unwrap_or(u16::MAX));
    out.extend_from_slice(bytes);
}

/// The same as it lies in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceRef<'a> {
    /// See [`Source::id`].
    pub id: &'a str,
    /// See [`Source::seq`].
    pub seq: Option<u64>,
    /// See [`Source::name`].
    pub name: &'a str,
    /// See [`Source::rest`].
    pub rest: &'a str,
    /// See [`Source::turn`].
    pub turn: Option<u32>,
    /// See [`Source::at`].
    pub at: Option<Time>,
}

impl<'a> SourceRef<'a> {
    /// Reads what [`Source::pack`] wrote; none if it is something else.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (seq, bytes) = bytes.split_first_chunk::<8>()?;
        let (at, bytes) = bytes.split_first_chunk::<8>()?;
        let (turn, bytes) = bytes.split_first_chunk::<4>()?;
        let (id, bytes) = short(bytes)?;
        let (name, bytes) = short(bytes)?;
        let turn = u32::from_le_bytes(*turn);
        Some(Self {
            id,
            seq: u64::from_le_bytes(*seq).checked_sub(1),
            name,
            rest: std::str::from_utf8(bytes).ok()?,
            turn: (turn != 0).then_some(turn),
            at: u64::from_le_bytes(*at).checked_sub(1).map(Time),
        })
    }

    /// The same, to keep.
    #[must_use]
    pub fn to_source(&self) -> Source {
        Source {
            id: SourceId::from(self.id),
            seq: self.seq,
            name: self.name.to_owned(),
            rest: self.rest.to_owned(),
            turn: self.turn,
            at: self.at,
        }
    }
}

fn short(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (len, bytes) = bytes.split_first_chunk::<2>()?;
    let (text, rest) = bytes.split_at_checked(usize::from(u16::from_le_bytes(*len)))?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

/// How far a foreign log was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCursor {
    /// The last event's name there.
    pub id: SourceId,
    /// Its number there, if it has one.
    pub seq: Option<u64>,
}

/// What is kept of a session whose agent works elsewhere and goes on when the host is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Upstream {
    /// How far its log was taken; changed only together with the events that were. None before the first, and after a gap.
    pub last: Option<SourceCursor>,
    /// The largest number that was ever taken; kept over a gap, so that nothing is taken twice.
    pub taken: Option<u64>,
}

/// How the way to an agent elsewhere is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Connection {
    /// In one word.
    pub status: ConnectionStatus,
    /// How often it was tried again since it last stood.
    pub retries: u32,
    /// Why it does not stand, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_error: Option<String>,
    /// Whether events were lost on the way, or may have been; until the stream has gone on for a while.
    pub gap: bool,
}

/// How the way to an agent is, in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionStatus {
    /// It is being tried.
    #[default]
    Connecting,
    /// It stands.
    Connected,
    /// It is broken, and is tried again.
    Error,
}

/// A session that an agent elsewhere has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSessionInfo {
    /// What the agent calls it.
    pub agent_session: crate::ids::AgentSession,
    /// For people; empty if there is none.
    pub title: String,
    /// When it was last used.
    pub updated: Time,
}

/// How a session is to be set up at its agent, as far as whoever opened it said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// The agent's own configuration, by its path there.
    pub config: Option<String>,
    /// Which model.
    pub model: Option<String>,
    /// Whether it asks before it acts.
    pub permission: Option<PermissionMode>,
}

/// Whether an agent asks before it acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// It asks.
    Ask,
    /// It asks only where it must.
    Auto,
}
