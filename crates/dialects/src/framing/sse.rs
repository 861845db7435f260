//! A stream of server-sent events, as WHATWG's HTML standard reads one. Pure and incremental: how the bytes are cut changes
//! nothing. Never looks inside an event's data, and copies it only where it came in several lines.

#[cfg(test)]
mod tests;

use bytes::{Buf, Bytes, BytesMut};
use memchr::{memchr, memchr2};
use switchboard_types::limits::MAX_FRAME_BYTES;
use thiserror::Error;

/// The longest time that a stream may ask to wait before it is opened again, in milliseconds.
pub const MAX_RETRY_MS: u64 = 60_000;
/// The longest id or name of an event, in bytes; a longer one counts as none.
pub const MAX_SSE_NAME_BYTES: usize = 1024;
/// May stand at the very beginning of a stream, and means nothing.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One thing that a stream says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SseItem {
    /// An event.
    Event(SseEvent),
    /// A line for nobody: it says that the stream lives.
    Comment,
    /// How long to wait before the stream is opened again, in milliseconds; at most [`MAX_RETRY_MS`].
    Retry(u64),
}

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The id that came with it; none if it has none of its own.
    pub id: Option<Bytes>,
    /// The last id that came with it or before it; what the stream is read on from.
    pub last_id: Option<Bytes>,
    /// Its name; none if it has none.
    pub name: Option<Bytes>,
    /// What it says, its lines joined by `\n`. Not checked to be text.
    pub data: Bytes,
}

/// Why a stream cannot be read on.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SseError {
    /// A line has no end.
    #[error("a line of the event stream is over the limit of {max} bytes")]
    LineTooLong {
        /// Bytes that a line may have.
        max: usize,
    },
    /// An event is too large.
    #[error("an event of the event stream is over the limit of {max} bytes")]
    EventTooLong {
        /// Bytes that the data of an event may have.
        max: usize,
    },
}

/// Finds events in what a link has read so far. One reader belongs to one stream and one buffer.
#[derive(Debug)]
pub struct Sse {
    max: usize,
    /// Bytes at the head of the buffer that hold no end of line, so they are not searched again.
    scanned: usize,
    place: Place,
    /// A `\r` has ended a line; a `\n` that follows belongs to it.
    after_return: bool,
    last_id: Option<Bytes>,
    own_id: Option<Bytes>,
    name: Option<Bytes>,
    data: Data,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    Within,
    /// Nothing can be read any more.
    Lost,
}

/// The data of the event that is being read.
#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    One(Bytes),
    Many(BytesMut),
}

impl Data {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(line) => line.len() + 1,
            Self::Many(lines) => lines.len() + 1,
        }
    }

    fn add(self, line: Bytes) -> Self {
        match self {
            Self::None => Self::One(line),
            Self::One(first) => {
                let mut lines = BytesMut::with_capacity((first.len() + line.len() + 1) * 2);
                lines.extend_from_slice(&first);
                Self::Many(lines).add(line)
            }
            Self::Many(mut lines) => {
                lines.extend_from_slice(b"\n");
                lines.extend_from_slice(&line);
                Self::Many(lines)
            }
        }
    }

    fn whole(self) -> Option<Bytes> {
        match self {
            Self::None => None,
            Self::One(line) => Some(line),
            Self::Many(lines) => Some(lines.freeze()),
        }
    }
}

impl Default for Sse {
    fn default() -> Self {
        Self::new()
    }
}

impl Sse {
    /// A reader for lines and events of up to [`MAX_FRAME_BYTES`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_max(MAX_FRAME_BYTES)
    }

    /// A reader with another limit.
    #[must_use]
    pub fn with_max(max: usize) -> Self {
        Self {
            max,
            scanned: 0,
            place: Place::Start,
            after_return: false,
            last_id: None,
            own_id: None,
            name: None,
            data: Data::None,
        }
    }

    /// Takes the next thing that the stream says out of the buffer; none if more bytes must come first.
    ///
    /// After an error nothing can be read on: what comes is thrown away. An event that is not whole when the stream ends is
    /// none.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Result<Option<SseItem>, SseError> {
        loop {
            let Some(line) = self.line(buffer).inspect_err(|_| self.lose())? else { return Ok(None) };
            if let Some(item) = self.field(line).inspect_err(|_| self.lose())? {
                return Ok(Some(item));
            }
        }
    }

    fn lose(&mut self) {
        (self.place, self.data) = (Place::Lost, Data::None);
    }

    /// The next whole line, without its ending.
    fn line(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, SseError> {
        match self.place {
            Place::Start => {
                if !self.past_the_mark(buffer) {
                    return Ok(None);
                }
            }
            Place::Within => {}
            Place::Lost => {
                buffer.clear();
                return Ok(None);
            }
        }
        if self.after_return && !buffer.is_empty() {
            self.after_return = false;
            if buffer.first() == Some(&b'\n') {
                buffer.advance(1);
            }
        }
        let found = memchr2(b'\r', b'\n', buffer.get(self.scanned..).unwrap_or_default()).map(|at| self.scanned + at);
        if found.unwrap_or(buffer.len()) > self.max {
            return Err(SseError::LineTooLong { max: self.max });
        }
        let Some(end) = found else {
            self.scanned = buffer.len();
            return Ok(None);
        };
        let line = buffer.split_to(end).freeze();
        self.after_return = buffer.first() == Some(&b'\r');
        buffer.advance(1);
        self.scanned = 0;
        Ok(Some(line))
    }

    /// Leaves out the mark at the beginning; whether that is certain already.
    fn past_the_mark(&mut self, buffer: &mut BytesMut) -> bool {
        if buffer.starts_with(BYTE_ORDER_MARK) {
            buffer.advance(BYTE_ORDER_MARK.len());
        } else if BYTE_ORDER_MARK.starts_with(buffer) {
            return false;
        }
        self.place = Place::Within;
        true
    }

    fn field(&mut self, line: Bytes) -> Result<Option<SseItem>, SseError> {
        if line.is_empty() {
            return Ok(self.dispatch().map(SseItem::Event));
        }
        let colon = memchr(b':', &line);
        let value = match colon {
            Some(0) => return Ok(Some(SseItem::Comment)),
            Some(at) => {
                let blank = usize::from(line.get(at + 1) == Some(&b' '));
                line.slice(at + 1 + blank..)
            }
            None => Bytes::new(),
        };
        match line.get(..colon.unwrap_or(line.len())).unwrap_or_default() {
            b"data" => {
                if self.data.len().saturating_add(value.len()) > self.max {
                    return Err(SseError::EventTooLong { max: self.max });
                }
                self.data = std::mem::take(&mut self.data).add(value);
            }
            b"event" => self.name = Some(value).filter(|name| !name.is_empty() && name.len() <= MAX_SSE_NAME_BYTES),
            b"id" if memchr(0, &value).is_none() && value.len() <= MAX_SSE_NAME_BYTES => {
                // A copy, since it outlives the bytes around it. An empty one takes the last one back.
                let id = (!value.is_empty()).then(|| Bytes::copy_from_slice(&value));
                (self.last_id, self.own_id) = (id.clone(), id);
            }
            b"retry" => return Ok(milliseconds(&value).map(SseItem::Retry)),
            _ => {}
        }
        Ok(None)
    }

    /// The event that an empty line ends, if there is one.
    fn dispatch(&mut self) -> Option<SseEvent> {
        let (id, name) = (self.own_id.take(), self.name.take());
        let data = std::mem::take(&mut self.data).whole()?;
        Some(SseEvent { id, last_id: self.last_id.clone(), name, data })
    }
}

/// Digits only; anything else is no time.
fn milliseconds(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let text = std::str::from_utf8(value).ok()?;
    Some(text.parse().unwrap_or(u64::MAX).min(MAX_RETRY_MS))
}
