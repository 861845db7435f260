//! Messages behind four bytes that say how long they are, in the machine's own byte order: how a browser talks to its native
//! messaging host. Never looks inside a message and never copies one.
//!
//! Nothing in the stream says where a message begins but the length before it, so a length that no browser would send ends
//! the stream. One that a browser may send and that is only too much for us is skipped, and the messages after it are read as
//! ever.

use bytes::{Buf, Bytes, BytesMut};
use switchboard_types::limits::MAX_FRAME_BYTES;
use thiserror::Error;

/// Bytes of a message that a browser sends to its native messaging host at most.
pub const MAX_FROM_BROWSER_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of a message that a browser takes from its native messaging host at most; it ends the host that sends more.
pub const MAX_TO_BROWSER_BYTES: usize = 1024 * 1024;
/// Bytes of the length.
const LENGTH_BYTES: usize = 4;

/// Why the bytes are not a message.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NativeError {
    /// The message is over the limit and is skipped.
    #[error("message of {size} bytes is over the limit of {max}")]
    TooLong {
        /// What the length says.
        size: usize,
        /// Bytes that a message may have.
        max: usize,
    },
    /// No browser sends so much, so what was read is no length.
    #[error("a length of {size} bytes is over the {MAX_FROM_BROWSER_BYTES} that a browser may send")]
    BadLength {
        /// What the four bytes say.
        size: u32,
    },
    /// The stream ended within a length.
    #[error("the stream ended after {found} of the {LENGTH_BYTES} bytes of a length")]
    CutLength {
        /// Bytes that came.
        found: usize,
    },
    /// The stream ended within a message.
    #[error("the stream ended after {found} of {size} bytes of a message")]
    CutOff {
        /// Bytes that came.
        found: usize,
        /// Bytes that the length promised.
        size: usize,
    },
}

impl NativeError {
    /// Whether nothing more can be read from the stream.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::TooLong { .. } => false,
            Self::BadLength { .. } | Self::CutLength { .. } | Self::CutOff { .. } => true,
        }
    }
}

/// A message that a browser would not take.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("message of {size} bytes is over the {MAX_TO_BROWSER_BYTES} that a browser takes")]
pub struct TooLongToSend {
    /// Its bytes.
    pub size: usize,
}

/// Finds messages in what a link has read so far. One reader belongs to one stream and one buffer.
#[derive(Debug)]
pub struct Native {
    max: usize,
    place: Place,
}

/// Where in the stream the buffer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before a length.
    Length,
    /// Before the bytes of a message.
    Body { length: usize },
    /// Within a message that is too long: so many of its bytes are still to come.
    Skipped { length: usize, left: usize },
    /// After an error that nothing can follow.
    Broken,
}

impl Default for Native {
    fn default() -> Self {
        Self::new()
    }
}

impl Native {
    /// A reader for messages of up to [`MAX_FRAME_BYTES`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_max(MAX_FRAME_BYTES)
    }

    /// A reader with another limit.
    #[must_use]
    pub fn with_max(max: usize) -> Self {
        Self { max, place: Place::Length }
    }

    /// Takes the next whole message out of the buffer; none if more bytes must come first, or if none can come any more.
    ///
    /// A message that is too long is reported once, at its length, and costs no memory.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Option<Result<Bytes, NativeError>> {
        loop {
            match self.place {
                Place::Length => {
                    let length = buffer.first_chunk::<LENGTH_BYTES>().map(|bytes| u32::from_ne_bytes(*bytes))?;
                    buffer.advance(LENGTH_BYTES);
                    if let Err(error) = self.length(length) {
                        return Some(Err(error));
                    }
                }
                Place::Body { length } => {
                    if buffer.len() < length {
                        return None;
                    }
                    self.place = Place::Length;
                    return Some(Ok(buffer.split_to(length).freeze()));
                }
                Place::Skipped { length, left } => {
                    let here = left.min(buffer.len());
                    buffer.advance(here);
                    if here < left {
                        self.place = Place::Skipped { length, left: left - here };
                        return None;
                    }
                    self.place = Place::Length;
                }
                Place::Broken => {
                    buffer.clear();
                    return None;
                }
            }
        }
    }

    /// Says what was left when the stream has ended and [`Self::next`] gives none. To be called until it gives none, too.
    pub fn finish(&mut self, buffer: &mut BytesMut) -> Option<Result<Bytes, NativeError>> {
        let found = buffer.split().len();
        match std::mem::replace(&mut self.place, Place::Broken) {
            Place::Length if found == 0 => None,
            Place::Length => Some(Err(NativeError::CutLength { found })),
            Place::Body { length } => Some(Err(NativeError::CutOff { found, size: length })),
            Place::Skipped { length, left } => {
                Some(Err(NativeError::CutOff { found: length - left.saturating_sub(found), size: length }))
            }
            Place::Broken => None,
        }
    }

    fn length(&mut self, length: u32) -> Result<(), NativeError> {
        let plausible = usize::try_from(length).ok().filter(|length| *length <= MAX_FROM_BROWSER_BYTES.max(self.max));
        let Some(size) = plausible else {
            self.place = Place::Broken;
            return Err(NativeError::BadLength { size: length });
        };
        if size > self.max {
            self.place = Place::Skipped { length: size, left: size };
            return Err(NativeError::TooLong { size, max: self.max });
        }
        self.place = Place::Body { length: size };
        Ok(())
    }
}

/// Adds one message with its length, unless a browser would not take it.
pub fn frame(message: &[u8], out: &mut BytesMut) -> Result<(), TooLongToSend> {
    let size = message.len();
    let length = u32::try_from(size).ok().filter(|_| size <= MAX_TO_BROWSER_BYTES).ok_or(TooLongToSend { size })?;
    out.reserve(LENGTH_BYTES + size);
    out.extend_from_slice(&length.to_ne_bytes());
    out.extend_from_slice(message);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Read = Vec<Result<Bytes, NativeError>>;

    /// Feeds the pieces one after the other and reads to the end.
    fn read(max: usize, pieces: &[&[u8]]) -> Read {
        let (mut native, mut buffer, mut read) = (Native::with_max(max), BytesMut::new(), Vec::new());
        for piece in pieces {
            buffer.extend_from_slice(piece);
            read.extend(std::iter::from_fn(|| native.next(&mut buffer)));
        }
        read.extend(std::iter::from_fn(|| native.finish(&mut buffer)));
        read
    }

    fn framed(messages: &[&[u8]]) -> Vec<u8> {
        let mut out = BytesMut::new();
        messages.iter().for_each(|message| frame(message, &mut out).unwrap());
        out.to_vec()
    }

    fn ok(message: &'static [u8]) -> Result<Bytes, NativeError> {
        Ok(Bytes::from_static(message))
    }

    #[test]
    fn messages_are_read_wherever_the_stream_is_cut() {
        let bytes = framed(&[b"{}", b"", b"[1,2,3]"]);
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(read(8, &[head, tail]), [ok(b"{}"), ok(b""), ok(b"[1,2,3]")], "cut at {cut}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(8, &single), [ok(b"{}"), ok(b""), ok(b"[1,2,3]")]);
    }

    #[test]
    fn a_message_that_is_too_long_is_skipped_wherever_the_stream_is_cut() {
        let bytes = framed(&[b"abc", b"too long", b"def"]);
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            let wanted = [ok(b"abc"), Err(NativeError::TooLong { size: 8, max: 4 }), ok(b"def")];
            assert_eq!(read(4, &[head, tail]), wanted, "cut at {cut}");
        }
    }

    #[test]
    fn a_length_that_no_browser_sends_ends_the_stream() {
        for size in [u32::MAX, MAX_FROM_BROWSER_BYTES as u32 + 1, (-1_i32).cast_unsigned(), 0x8000_0000] {
            let mut bytes = framed(&[b"abc"]);
            bytes.extend_from_slice(&size.to_ne_bytes());
            bytes.extend_from_slice(&framed(&[b"def"]));
            assert_eq!(read(4, &[&bytes]), [ok(b"abc"), Err(NativeError::BadLength { size })]);
        }
        // Text where a length should be is a huge number.
        let noise = u32::from_ne_bytes(*b"Cont");
        assert_eq!(read(4, &[b"Content-Length: 2\r\n\r\n{}"]), [Err(NativeError::BadLength { size: noise })]);
    }

    #[test]
    fn a_stream_that_ends_too_early_says_where() {
        let bytes = framed(&[b"abc"]);
        assert_eq!(read(4, &[]), []);
        assert_eq!(read(4, &[&bytes[..2]]), [Err(NativeError::CutLength { found: 2 })]);
        assert_eq!(read(4, &[&bytes[..4]]), [Err(NativeError::CutOff { found: 0, size: 3 })]);
        assert_eq!(read(4, &[&bytes[..6]]), [Err(NativeError::CutOff { found: 2, size: 3 })]);
        let over = Err(NativeError::TooLong { size: 3, max: 1 });
        assert_eq!(read(1, &[&bytes[..5], &bytes[5..6]]), [over, Err(NativeError::CutOff { found: 2, size: 3 })]);
    }

    #[test]
    fn a_message_shares_the_bytes_of_the_buffer() {
        let mut buffer = BytesMut::from(&framed(&[b"abc"])[..]);
        let before = buffer[4..].as_ptr();
        assert_eq!(Native::new().next(&mut buffer).unwrap().unwrap().as_ptr(), before);
    }

    #[test]
    fn what_a_browser_would_not_take_is_not_written() {
        let (most, mut out) = (vec![b'x'; MAX_TO_BROWSER_BYTES], BytesMut::new());
        assert_eq!(frame(&most, &mut out), Ok(()));
        out.clear();
        let over = [&most[..], b"x"].concat();
        assert_eq!(frame(&over, &mut out), Err(TooLongToSend { size: MAX_TO_BROWSER_BYTES + 1 }));
        assert!(out.is_empty());
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same_messages(
            messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..12), 0..8),
            noise in proptest::collection::vec(any::<u8>(), 0..12),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
            max in 0_usize..12,
        ) {
            let mut bytes = framed(&messages.iter().map(Vec::as_slice).collect::<Vec<_>>());
            bytes.extend_from_slice(&noise);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let (mut pieces, mut from) = (Vec::new(), 0);
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            let whole = read(max, &[&bytes]);
            let fits = |message: &Vec<u8>| {
                let fits = message.len() <= max;
                if fits { Ok(Bytes::from(message.clone())) } else { Err(NativeError::TooLong { size: message.len(), max }) }
            };
            let sent: Read = messages.iter().map(fits).collect();
            prop_assert_eq!(&whole[..sent.len()], &sent[..]);
            prop_assert_eq!(read(max, &pieces), whole);
        }
    }
}
