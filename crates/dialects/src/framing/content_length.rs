//! Messages behind a header that says how long they are: `Content-Length: N`, an empty line, N bytes. Never looks inside a
//! message and never copies one.
//!
//! Headers besides Content-Length are accepted, names in any case, lines ended by `\r\n` or `\n`. What is no header and no
//! message is noise: it is skipped up to the next header and reported, once, before the message that follows it. A length
//! that cannot be right leaves nothing to go on with, so it ends the stream.

use bytes::{Bytes, BytesMut};
use memchr::memchr;
use switchboard_types::limits::MAX_FRAME_BYTES;
use thiserror::Error;

/// Bytes of a header, from Content-Length to the empty line; also of one line before it.
pub const MAX_HEADER_BYTES: usize = 8 * 1024;
/// Bytes of noise that are kept to be shown.
const SAMPLE_BYTES: usize = 256;
/// The header that counts.
const NAME: &[u8] = b"content-length:";

/// Why the bytes are not a message.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FrameError {
    /// Bytes between messages that are no header. The messages after them are read as ever.
    #[error("{size} bytes between messages are no header: {:?}", String::from_utf8_lossy(sample))]
    Noise {
        /// How many.
        size: usize,
        /// How they begin.
        sample: Bytes,
    },
    /// The length is no number, or there are two that differ.
    #[error("the header Content-Length is not one number: {:?}", String::from_utf8_lossy(value))]
    BadLength {
        /// What it says, cut.
        value: Bytes,
    },
    /// The message would be over the limit.
    #[error("message of {size} bytes is over the limit of {max}")]
    TooLong {
        /// What the header says.
        size: u64,
        /// Bytes that a message may have.
        max: usize,
    },
    /// The header does not end.
    #[error("the header has no end within {MAX_HEADER_BYTES} bytes")]
    HeaderTooLong,
    /// The stream ended within a message.
    #[error("the stream ended after {found} of {size} bytes of a message")]
    CutOff {
        /// Bytes that came.
        found: usize,
        /// Bytes that the header promised.
        size: usize,
    },
}

impl FrameError {
    /// Whether nothing more can be read from the stream.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Noise { .. } => false,
            Self::BadLength { .. } | Self::TooLong { .. } | Self::HeaderTooLong | Self::CutOff { .. } => true,
        }
    }
}

/// Finds messages in what a link has read so far. One reader belongs to one stream and one buffer.
#[derive(Debug)]
pub struct ContentLength {
    max: usize,
    /// Bytes at the head of the buffer that hold no newline, so they are not searched again.
    scanned: usize,
    noise: Noise,
    /// Header lines that came before any Content-Length; noise if none comes.
    pending: Noise,
    place: Place,
    /// An error that nothing can follow, while the noise before it is reported.
    failure: Option<FrameError>,
}

/// Where in the stream the buffer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Between messages, at the start of a line.
    Line,
    /// Between messages, within a line that is too long to be a header.
    LongLine,
    /// In a header that has its length, and so many bytes so far.
    Header { length: usize, bytes: usize },
    /// Before the bytes of a message.
    Body { length: usize },
    /// After an error that nothing can follow.
    Broken,
}

#[derive(Debug, Default)]
struct Noise {
    size: usize,
    sample: BytesMut,
}

impl Noise {
    fn add(&mut self, bytes: &[u8]) {
        self.size = self.size.saturating_add(bytes.len());
        let room = SAMPLE_BYTES - self.sample.len();
        self.sample.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    fn take_from(&mut self, other: &mut Self) {
        let other = std::mem::take(other);
        let size = self.size.saturating_add(other.size);
        self.add(&other.sample);
        self.size = size;
    }

    fn report(&mut self) -> Option<FrameError> {
        let Self { size, sample } = std::mem::take(self);
        (size > 0).then(|| FrameError::Noise { size, sample: sample.freeze() })
    }
}

impl Default for ContentLength {
    fn default() -> Self {
        Self::new()
    }
}

impl ContentLength {
    /// A reader for messages of up to [`MAX_FRAME_BYTES`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_max(MAX_FRAME_BYTES)
    }

    /// A reader with another limit.
    #[must_use]
    pub fn with_max(max: usize) -> Self {
        Self { max, scanned: 0, noise: Noise::default(), pending: Noise::default(), place: Place::Line, failure: None }
    }

    /// Takes the next whole message out of the buffer; none if more bytes must come first, or if none can come any more.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Option<Result<Bytes, FrameError>> {
        loop {
            match self.place {
                Place::Broken => {
                    buffer.clear();
                    return self.failure.take().map(Err);
                }
                Place::Body { length } => {
                    if let Some(noise) = self.noise.report() {
                        return Some(Err(noise));
                    }
                    if buffer.len() < length {
                        return None;
                    }
                    self.place = Place::Line;
                    return Some(Ok(buffer.split_to(length).freeze()));
                }
                Place::Line | Place::LongLine | Place::Header { .. } => {
                    let step = match memchr(b'\n', buffer.get(self.scanned..).unwrap_or_default()) {
                        Some(found) => {
                            let line = buffer.split_to(self.scanned + found + 1);
                            self.scanned = 0;
                            self.line(&line).map(|()| true)
                        }
                        None => self.wait(buffer).map(|()| false),
                    };
                    match step {
                        Ok(true) => {}
                        Ok(false) => return None,
                        Err(error) => {
                            self.place = Place::Broken;
                            self.failure = Some(error);
                            if let Some(noise) = self.noise.report() {
                                return Some(Err(noise));
                            }
                        }
                    }
                }
            }
        }
    }

    /// Says what was left when the stream has ended and [`Self::next`] gives none. To be called until it gives none, too.
    pub fn finish(&mut self, buffer: &mut BytesMut) -> Option<Result<Bytes, FrameError>> {
        let rest = buffer.split();
        self.scanned = 0;
        let place = std::mem::replace(&mut self.place, Place::Broken);
        match place {
            Place::Line | Place::LongLine | Place::Header { .. } => {
                self.noise.take_from(&mut self.pending);
                self.noise.add(&rest);
                self.noise.report().map(Err)
            }
            Place::Body { length } => Some(Err(FrameError::CutOff { found: rest.len(), size: length })),
            Place::Broken => self.failure.take().map(Err),
        }
    }

    /// A line with its end, which is out of the buffer already.
    fn line(&mut self, line: &[u8]) -> Result<(), FrameError> {
        self.check_header(line.len())?;
        if let Some(at) = find_name(line) {
            let (before, header) = line.split_at(at);
            if !before.is_empty() || self.place == Place::LongLine {
                self.noise.take_from(&mut self.pending);
                self.noise.add(before);
                self.place = Place::Line;
            }
            return self.length(header);
        }
        match self.place {
            Place::Header { length, .. } if is_blank(line) => {
                self.pending = Noise::default();
                self.place = Place::Body { length };
            }
            Place::Header { length, bytes } if is_header(line) => {
                self.pending.add(line);
                self.place = Place::Header { length, bytes: bytes + line.len() };
            }
            Place::Line if is_blank(line) => self.noise.take_from(&mut self.pending),
            Place::Line if is_header(line) => self.pending.add(line),
            Place::Line | Place::LongLine | Place::Header { .. } | Place::Body { .. } | Place::Broken => {
                self.noise.take_from(&mut self.pending);
                self.noise.add(line);
                self.place = Place::Line;
            }
        }
        Ok(())
    }

    /// Whether a header that has its length has room for so many bytes more.
    fn check_header(&self, more: usize) -> Result<(), FrameError> {
        match self.place {
            Place::Header { bytes, .. } if bytes + more > MAX_HEADER_BYTES => Err(FrameError::HeaderTooLong),
            Place::Line | Place::LongLine | Place::Header { .. } | Place::Body { .. } | Place::Broken => Ok(()),
        }
    }

    /// The line of the length, without what stood before it.
    fn length(&mut self, header: &[u8]) -> Result<(), FrameError> {
        let value = header.get(NAME.len()..).unwrap_or_default().trim_ascii_start();
        let bad = || {
            let head = value.get(..SAMPLE_BYTES).unwrap_or(value).trim_ascii_end();
            FrameError::BadLength { value: Bytes::copy_from_slice(head) }
        };
        let value = value.trim_ascii_end();
        if header.len() > MAX_HEADER_BYTES || value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return Err(bad());
        }
        let digit = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        let size = value.iter().fold(0, digit);
        let fits = usize::try_from(size).ok().filter(|length| *length <= self.max);
        let length = fits.ok_or(FrameError::TooLong { size, max: self.max })?;
        let before = match self.place {
            Place::Header { length: other, .. } if other != length => return Err(bad()),
            Place::Header { bytes, .. } => bytes,
            Place::Line | Place::LongLine | Place::Body { .. } | Place::Broken => 0,
        };
        self.pending.add(header);
        self.place = Place::Header { length, bytes: before + header.len() };
        Ok(())
    }

    /// Remembers what was searched, and lets go of what can only be noise.
    fn wait(&mut self, buffer: &mut BytesMut) -> Result<(), FrameError> {
        self.check_header(buffer.len())?;
        self.scanned = buffer.len();
        if buffer.len() <= MAX_HEADER_BYTES {
            return Ok(());
        }
        let found = find_name(buffer);
        if found == Some(0) {
            // Already at the name, and still no end of the line.
            return self.length(buffer);
        }
        // A name may have begun; the byte before it says whether it is the whole name.
        let noise = buffer.split_to(found.unwrap_or(buffer.len() - NAME.len()));
        self.noise.take_from(&mut self.pending);
        self.noise.add(&noise);
        self.place = if found.is_some() { Place::Line } else { Place::LongLine };
        self.scanned = buffer.len();
        Ok(())
    }
}

/// Where the name Content-Length stands, unless it is the end of a longer name.
fn find_name(line: &[u8]) -> Option<usize> {
    let mut colons = memchr::memchr_iter(b':', line);
    colons.find_map(|colon| {
        let at = (colon + 1).checked_sub(NAME.len())?;
        let is_name = line.get(at..=colon)?.eq_ignore_ascii_case(NAME);
        let goes_on = at.checked_sub(1).and_then(|before| line.get(before)) == Some(&b'-');
        (is_name && !goes_on).then_some(at)
    })
}

fn is_blank(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r\n")
}

/// A name of letters, digits and dashes, and a colon.
fn is_header(line: &[u8]) -> bool {
    let name = memchr(b':', line).and_then(|colon| line.get(..colon)).unwrap_or_default();
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && line.len() <= MAX_HEADER_BYTES && name.iter().all(in_name)
}

/// Adds one message with its header.
pub fn frame(message: &[u8], out: &mut BytesMut) {
    let mut digits = itoa::Buffer::new();
    let length = digits.format(message.len()).as_bytes();
    out.reserve(message.len() + length.len() + 20);
    out.extend_from_slice(b"Content-Length: ");
    out.extend_from_slice(length);
    out.extend_from_slice(b"\r\n\r\n");
    out.extend_from_slice(message);
}

#[cfg(test)]
mod tests;
