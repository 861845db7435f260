//! How events lie in the log: packed records, the same bytes in a commit, in the store and in a page for a view. Never
//! assigns a seq; a record's place in its page is its number.
//!
//! A record is `len: u32, at: u64, turn: u32, kind: u8, body`, little-endian; `len` counts what follows it and turn 0 is
//! no turn. A kind with the bit [`SOURCED`] has `source: u32` and so many bytes of a [`Source`] before the body. The body of streamed text is the escaped text itself, so the hot path never builds or reads JSON; any other
//! body is the JSON of a [`Body`].

use bytes::{BufMut, Bytes, BytesMut};
use thiserror::Error;

use crate::body::Body;
use crate::ids::{Seq, Time, TurnId};
use crate::limits::MIN_PAGE_COST;
use crate::source::{Source, SourceRef};
use crate::text::Text;

const LEN_BYTES: usize = 4;
const HEAD_BYTES: usize = 8 + 4 + 1;
const KIND_JSON: u8 = 0;
const KIND_TEXT: u8 = 1;
const KIND_THOUGHT: u8 = 2;
/// The event comes from a foreign log, and says from where in it.
const SOURCED: u8 = 0x80;

/// A numbered fact in a session's log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its place in the log.
    pub seq: Seq,
    /// When the host took note of it.
    pub at: Time,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// What it says.
    pub body: Body,
    /// Where it comes from, if it comes from a foreign log.
    pub source: Option<Source>,
}

/// Why bytes are no records.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RecordError {
    /// The bytes end within a record.
    #[error("record {seq} is cut off")]
    CutOff {
        /// The record's number.
        seq: Seq,
    },
    /// The body is not one that this version writes.
    #[error("record {seq} of kind {kind} cannot be read: {reason}")]
    BadBody {
        /// The record's number.
        seq: Seq,
        /// The kind byte.
        kind: u8,
        /// What the reader found.
        reason: String,
    },
    /// There are fewer or more records than the page says.
    #[error("{found} records where {said} should be")]
    WrongCount {
        /// How many there are.
        found: u64,
        /// How many there should be.
        said: u64,
    },
}

/// A contiguous run of events of one session: `first`, `first + 1`, … `last`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    first: Seq,
    last: Seq,
    records: Bytes,
}

impl Page {
    /// Checks that `records` holds exactly the events from `first` to `last`.
    pub fn new(first: Seq, last: Seq, records: Bytes) -> Result<Self, RecordError> {
        let page = Self { first, last, records };
        let said = (last.0 + 1).saturating_sub(first.0);
        let mut found = 0;
        for record in page.raw() {
            record?;
            found += 1;
        }
        if found == said { Ok(page) } else { Err(RecordError::WrongCount { found, said }) }
    }

    /// The number of the first event.
    #[must_use]
    pub fn first(&self) -> Seq {
        self.first
    }

    /// The number of the last event.
    #[must_use]
    pub fn last(&self) -> Seq {
        self.last
    }

    /// How many events there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.last.0 + 1 - self.first.0
    }

    /// The packed bytes, for the store.
    #[must_use]
    pub fn records(&self) -> &Bytes {
        &self.records
    }

    /// Bytes of the packed records.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.records.len()
    }

    /// What the page costs on its way to a view: its bytes, but never less than a message costs by itself, so that a
    /// bound on costs also bounds the number of messages.
    #[must_use]
    pub fn cost(&self) -> usize {
        self.records.len().max(MIN_PAGE_COST)
    }

    /// The events in order, each as a view onto the packed bytes.
    pub fn events(&self) -> impl Iterator<Item = EventRef<'_>> {
        self.raw().map_while(Result::ok)
    }

    /// The events after a cursor, sharing these bytes; none if there are none.
    #[must_use]
    pub fn after(&self, cursor: Seq) -> Option<Self> {
        if cursor >= self.last {
            return None;
        }
        if cursor < self.first {
            return Some(self.clone());
        }
        let skip: usize = self.events().take_while(|event| event.seq <= cursor).map(|event| event.record_bytes()).sum();
        Some(Self { first: cursor.next(), last: self.last, records: self.records.slice(skip..) })
    }

    /// Pages that follow each other, as one. None if they do not, or if there is none.
    #[must_use]
    pub fn join(pages: Vec<Self>) -> Option<Self> {
        let follow = |pair: &[Self]| matches!(pair, [one, next] if one.last.next() == next.first);
        if !pages.windows(2).all(follow) {
            return None;
        }
        let (first, last) = (pages.first()?.first, pages.last()?.last);
        if pages.len() == 1 {
            return pages.into_iter().next();
        }
        let mut records = BytesMut::with_capacity(pages.iter().map(Self::bytes).sum());
        pages.iter().for_each(|page| records.extend_from_slice(&page.records));
        Some(Self { first, last, records: records.freeze() })
    }

    /// The longest head of the page that fits into `max_bytes`, at least one event.
    #[must_use]
    pub fn head_within(&self, max_bytes: usize) -> Self {
        if self.records.len() <= max_bytes {
            return self.clone();
        }
        let (mut end, mut last) = (0, self.first);
        for event in self.events() {
            if end > 0 && end + event.record_bytes() > max_bytes {
                break;
            }
            end += event.record_bytes();
            last = event.seq;
        }
        Self { first: self.first, last, records: self.records.slice(..end) }
    }

    fn raw(&self) -> impl Iterator<Item = Result<EventRef<'_>, RecordError>> {
        let (mut at, mut seq) = (0, self.first);
        std::iter::from_fn(move || {
            if at >= self.records.len() {
                return None;
            }
            let record = EventRef::read(&self.records, at, seq);
            match &record {
                Ok(event) => {
                    at += event.record_bytes();
                    seq = seq.next();
                }
                Err(_) => at = self.records.len(),
            }
            Some(record)
        })
    }
}

/// An event as it lies in a page: its head is read, its body is not yet.
#[derive(Clone, Copy, Debug)]
pub struct EventRef<'a> {
    /// Its place in the log.
    pub seq: Seq,
    /// When the host took note of it.
    pub at: Time,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    kind: u8,
    page: &'a Bytes,
    /// Where the source begins and ends, if there is one; the body begins after it.
    source: Option<(usize, usize)>,
    body: (usize, usize),
}

/// What can be told of a body without reading JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peek<'a> {
    /// Escaped text of the answer.
    Text(&'a [u8]),
    /// Escaped text of the agent's thinking.
    Thought(&'a [u8]),
    /// The JSON of any other body.
    Json(&'a [u8]),
}

impl<'a> EventRef<'a> {
    fn read(page: &'a Bytes, at: usize, seq: Seq) -> Result<Self, RecordError> {
        let cut_off = RecordError::CutOff { seq };
        let Some(len) = le_bytes::<4>(page, at).map(u32::from_le_bytes) else { return Err(cut_off) };
        let start = at + LEN_BYTES;
        let end = start + len as usize;
        if (len as usize) < HEAD_BYTES || end > page.len() {
            return Err(cut_off);
        }
        let (Some(time), Some(turn)) = (le_bytes::<8>(page, start), le_bytes::<4>(page, start + 8)) else {
            return Err(cut_off);
        };
        let turn = u32::from_le_bytes(turn);
        let (kind, mut body) = (page[start + 12], start + HEAD_BYTES);
        let mut source = None;
        if kind & SOURCED != 0 {
            let Some(size) = le_bytes::<4>(page, body).map(u32::from_le_bytes) else { return Err(cut_off) };
            let from = body + LEN_BYTES;
            body = from + size as usize;
            if body > end {
                return Err(cut_off);
            }
            source = Some((from, body));
        }
        Ok(Self {
            seq,
            at: Time(u64::from_le_bytes(time)),
            turn: (turn != 0).then_some(TurnId(turn)),
            kind: kind & !SOURCED,
            page,
            source,
            body: (body, end),
        })
    }

    /// Bytes of the whole record.
    #[must_use]
    pub fn record_bytes(&self) -> usize {
        let source = self.source.map_or(0, |(from, to)| LEN_BYTES + to - from);
        LEN_BYTES + HEAD_BYTES + source + self.body.1 - self.body.0
    }

    /// Where it comes from, if it comes from a foreign log.
    #[must_use]
    pub fn source(&self) -> Option<SourceRef<'a>> {
        self.source.and_then(|(from, to)| SourceRef::read(self.page.get(from..to)?))
    }

    /// The body without reading JSON.
    #[must_use]
    pub fn peek(&self) -> Peek<'a> {
        let bytes = &self.page[self.body.0..self.body.1];
        match self.kind {
            KIND_TEXT => Peek::Text(bytes),
            KIND_THOUGHT => Peek::Thought(bytes),
            _ => Peek::Json(bytes),
        }
    }

    /// The body; text shares the page's bytes.
    pub fn body(&self) -> Result<Body, RecordError> {
        let text = || Text::from_escaped(self.page.slice(self.body.0..self.body.1));
        match self.kind {
            KIND_TEXT => Ok(Body::Text { text: text() }),
            KIND_THOUGHT => Ok(Body::Thought { text: text() }),
            kind => {
                let bad = |reason: String| RecordError::BadBody { seq: self.seq, kind, reason };
                if kind != KIND_JSON {
                    return Err(bad("written by a newer version".to_owned()));
                }
                serde_json::from_slice(&self.page[self.body.0..self.body.1]).map_err(|error| bad(error.to_string()))
            }
        }
    }

    /// The whole event.
    pub fn to_event(&self) -> Result<Event, RecordError> {
        let source = self.source().map(|source| source.to_source());
        Ok(Event { seq: self.seq, at: self.at, turn: self.turn, body: self.body()?, source })
    }
}

fn le_bytes<const N: usize>(bytes: &Bytes, at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// Packs events one after the other.
#[derive(Debug)]
pub struct PageBuilder {
    first: Seq,
    next: Seq,
    records: BytesMut,
}

impl PageBuilder {
    /// A page whose first event will be `first`.
    #[must_use]
    pub fn new(first: Seq) -> Self {
        Self { first, next: first, records: BytesMut::new() }
    }

    /// Adds one event and returns its number.
    pub fn push(&mut self, at: Time, turn: Option<TurnId>, body: &Body) -> Seq {
        self.push_from(at, turn, body, None)
    }

    /// The same for an event that comes from a foreign log.
    pub fn push_from(&mut self, at: Time, turn: Option<TurnId>, body: &Body, source: Option<&Source>) -> Seq {
        match body {
            Body::Text { text } => self.push_raw(at, turn, KIND_TEXT, text.as_escaped(), source),
            Body::Thought { text } => self.push_raw(at, turn, KIND_THOUGHT, text.as_escaped(), source),
            other => {
                // Our own bodies are maps with string keys: serialising them into memory cannot fail.
                let json = serde_json::to_vec(other).unwrap_or_default();
                self.push_raw(at, turn, KIND_JSON, &json, source)
            }
        }
    }

    fn push_raw(&mut self, at: Time, turn: Option<TurnId>, kind: u8, body: &[u8], source: Option<&Source>) -> Seq {
        let start = self.records.len();
        let kind = if source.is_some() { kind | SOURCED } else { kind };
        // One piece each, since every piece is a check for room and events come by the million.
        let mut head = [0; LEN_BYTES + HEAD_BYTES];
        let mut rest = head.as_mut_slice();
        rest.put_u32_le(u32::try_from(HEAD_BYTES + body.len()).unwrap_or(u32::MAX));
        rest.put_u64_le(at.0);
        rest.put_u32_le(turn.map_or(0, |turn| turn.0));
        rest.put_u8(kind);
        self.records.reserve(head.len() + body.len());
        self.records.extend_from_slice(&head);
        if let Some(source) = source {
            let from = self.records.len();
            self.records.put_u32_le(0);
            source.pack(&mut self.records);
            let size = self.records.len() - from - LEN_BYTES;
            self.put_size(from, size);
            self.put_size(start, HEAD_BYTES + LEN_BYTES + size + body.len());
        }
        self.records.extend_from_slice(body);
        let seq = self.next;
        self.next = seq.next();
        seq
    }

    /// Writes a length where room was left for it.
    fn put_size(&mut self, at: usize, size: usize) {
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        if let Some(room) = self.records.get_mut(at..at + LEN_BYTES) {
            room.copy_from_slice(&size.to_le_bytes());
        }
    }

    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next == self.first
    }

    /// Bytes so far.
    #[must_use]
    pub fn cost(&self) -> usize {
        self.records.len()
    }

    /// A copy of what was added from an event on, before which there were so many bytes; none if these are not its place.
    #[must_use]
    pub fn since(&self, first: Seq, bytes: usize) -> Option<Page> {
        let records = self.records.get(bytes..).filter(|records| !records.is_empty())?;
        Page::new(first, Seq(self.next.0 - 1), Bytes::copy_from_slice(records)).ok()
    }

    /// Hands out what was added and goes on with the next number; none if nothing was added.
    pub fn take(&mut self) -> Option<Page> {
        if self.is_empty() {
            return None;
        }
        let page = Page { first: self.first, last: Seq(self.next.0 - 1), records: self.records.split().freeze() };
        self.first = self.next;
        Some(page)
    }
}
