//! Events as a view gets them: in batches, in order, each written once into the batch. Builds no tree but for what must
//! be cut.

use switchboard_types::record::Peek;
use switchboard_types::{AgentHome, Body, Epoch, EventRef, SessionId, Time, TurnNames};

use super::cut;
use crate::vocabulary::{self, name};

/// How long an event waits for others.
pub(super) const BATCH_MS: u64 = 40;
/// Events of one batch.
pub const MAX_BATCH_EVENTS: usize = 256;
/// Bytes of one batch after which it waits for no more.
const MAX_BATCH_BYTES: usize = 512 * 1024;
/// Bytes that a batch keeps for the next one.
const KEEP_BYTES: usize = 64 * 1024;

/// Events that wait to go out.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Their JSON, with commas between them.
    events: Vec<u8>,
    count: usize,
    /// When the first of them came.
    since: Option<Time>,
    payload: Vec<u8>,
}

/// Whether a batch must go out before anything else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    Yes,
    No,
}

/// What is written of an event besides what it says.
pub(super) struct Place<'a> {
    pub(super) epoch: Epoch,
    pub(super) names: &'a TurnNames,
    pub(super) home: AgentHome,
}

/// An event that was looked at: what it is called and where it lies. Its payload is in the batch's scratch.
pub(super) struct Looked<'a> {
    name: &'a str,
}

impl Looked<'_> {
    /// Whether it says that events are lost.
    pub(super) fn is_gap(&self) -> bool {
        self.name == name::STREAM_GAP
    }
}

impl Batch {
    /// When what waits must go out.
    pub(super) fn due(&self) -> Option<Time> {
        self.since.map(|since| since.after_ms(BATCH_MS))
    }

    /// Lets go of all that waits.
    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.events.shrink_to(KEEP_BYTES);
        (self.count, self.since) = (0, None);
    }

    /// The clock stands at an earlier time than it did; what waits does not wait longer for it.
    pub(super) fn rewind(&mut self, now: Time) {
        self.since = self.since.map(|since| since.min(now));
    }

    /// Finds out what an event is called and says; none if it is not for views.
    pub(super) fn look<'a>(&mut self, event: &EventRef<'a>, place: &Place<'_>) -> Option<Looked<'a>> {
        if place.home == AgentHome::Elsewhere && !is_for_views(event) {
            return None;
        }
        self.payload.clear();
        let name = vocabulary::put(&mut self.payload, event, place.names);
        if self.payload.first() != Some(&b'{') {
            // Whatever an engine says, a payload here is an object.
            self.payload.splice(..0, br#"{"value":"#.iter().copied());
            self.payload.push(b'}');
        }
        // What the agent says is the conversation itself, and no preview.
        let is_text = matches!(event.peek(), Peek::Text(_) | Peek::Thought(_)) || name.starts_with("assistant");
        if !is_text && self.payload.len() > cut::MAX_PAYLOAD_BYTES {
            cut::cut(&mut self.payload, event.seq);
        }
        Some(Looked { name })
    }

    /// Adds the event that was looked at last.
    pub(super) fn add(&mut self, now: Time, event: &EventRef<'_>, looked: &Looked<'_>, place: &Place<'_>) -> Full {
        let out = &mut self.events;
        out.extend_from_slice(if self.count == 0 { br#"{"id":"# } else { br#",{"id":"# });
        let source = event.source();
        match &source {
            Some(source) if place.home == AgentHome::Elsewhere => put_string(out, source.id),
            _ => put_id(out, place.epoch, event),
        }
        out.extend_from_slice(br#","type":"#);
        put_string(out, looked.name);
        let foreign = source.filter(|_| place.home == AgentHome::Elsewhere);
        let turn = foreign.map_or(event.turn.map(|turn| turn.0), |source| source.turn);
        let ts = foreign.map_or(Some(event.at), |source| source.at);
        put_number(out, br#","turn":"#, turn.map(u64::from));
        put_number(out, br#","ts":"#, ts.map(|at| at.0));
        out.extend_from_slice(br#","payload":"#);
        out.extend_from_slice(&self.payload);
        out.push(b'}');
        self.payload.shrink_to(KEEP_BYTES);
        self.count += 1;
        self.since.get_or_insert(now);
        if self.count >= MAX_BATCH_EVENTS || self.events.len() >= MAX_BATCH_BYTES { Full::Yes } else { Full::No }
    }

    /// The payload of `bb/events` with all that waits, if something does.
    pub(super) fn take(&mut self, session: SessionId, out: &mut Vec<u8>) -> Full {
        if self.count == 0 {
            return Full::No;
        }
        out.extend_from_slice(br#"{"sessionId":""#);
        out.extend_from_slice(itoa::Buffer::new().format(session.0).as_bytes());
        out.extend_from_slice(br#"","events":["#);
        out.extend_from_slice(&self.events);
        out.extend_from_slice(b"]}");
        self.clear();
        Full::Yes
    }
}

/// Whether an event of a session elsewhere goes out: what the engine said, and what only we can know.
fn is_for_views(event: &EventRef<'_>) -> bool {
    event.source().is_some()
        || matches!(event.body(), Ok(Body::SourceGap { .. } | Body::AgentExited { .. } | Body::TurnEnded { .. }))
}

fn put_id(out: &mut Vec<u8>, epoch: Epoch, event: &EventRef<'_>) {
    out.push(b'"');
    out.extend_from_slice(super::follow::id_of(epoch, event.seq).as_bytes());
    out.push(b'"');
}

fn put_string(out: &mut Vec<u8>, plain: &str) {
    // A string always has a JSON text, and a vector takes all of it.
    let _ = serde_json::to_writer(out, plain);
}

fn put_number(out: &mut Vec<u8>, name: &[u8], number: Option<u64>) {
    let Some(number) = number else { return };
    out.extend_from_slice(name);
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
