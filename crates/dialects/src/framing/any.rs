//! Whichever framing a stream has, behind one face. Owns no framing's rules; never looks inside a message.

use bytes::{Bytes, BytesMut};
use thiserror::Error;

use super::content_length::{self, ContentLength, FrameError};
use super::lines::{self, LineTooLong, Lines};
use super::native::{self, Native, NativeError, TooLongToSend};

/// The ways to tell messages apart in a stream of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingKind {
    /// One message a line.
    Lines,
    /// A header with the length, then the message.
    ContentLength,
    /// Four bytes with the length, then the message.
    Native,
}

/// Why bytes are not a message, in whichever framing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FramingError {
    /// A line.
    #[error(transparent)]
    Lines(#[from] LineTooLong),
    /// A message behind a header.
    #[error(transparent)]
    ContentLength(#[from] FrameError),
    /// A message behind four bytes.
    #[error(transparent)]
    Native(#[from] NativeError),
}

impl FramingError {
    /// Whether nothing more can be read from the stream.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Lines(LineTooLong { .. }) => false,
            Self::ContentLength(error) => error.is_fatal(),
            Self::Native(error) => error.is_fatal(),
        }
    }

    /// Whether it is a message that was over the limit.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        match self {
            Self::Lines(LineTooLong { .. })
            | Self::ContentLength(FrameError::TooLong { .. })
            | Self::Native(NativeError::TooLong { .. } | NativeError::BadLength { .. }) => true,
            Self::ContentLength(
                FrameError::Noise { .. }
                | FrameError::BadLength { .. }
                | FrameError::HeaderTooLong
                | FrameError::CutOff { .. },
            )
            | Self::Native(NativeError::CutLength { .. } | NativeError::CutOff { .. }) => false,
        }
    }
}

/// Finds messages in what a link has read so far. One reader belongs to one stream and one buffer.
#[derive(Debug)]
pub enum Framing {
    /// One message a line.
    Lines(Lines),
    /// A header with the length, then the message.
    ContentLength(ContentLength),
    /// Four bytes with the length, then the message.
    Native(Native),
}

impl Framing {
    /// A reader for messages of the usual size.
    #[must_use]
    pub fn new(kind: FramingKind) -> Self {
        match kind {
            FramingKind::Lines => Self::Lines(Lines::new()),
            FramingKind::ContentLength => Self::ContentLength(ContentLength::new()),
            FramingKind::Native => Self::Native(Native::new()),
        }
    }

    /// A reader with another limit.
    #[must_use]
    pub fn with_max(kind: FramingKind, max: usize) -> Self {
        match kind {
            FramingKind::Lines => Self::Lines(Lines::with_max(max)),
            FramingKind::ContentLength => Self::ContentLength(ContentLength::with_max(max)),
            FramingKind::Native => Self::Native(Native::with_max(max)),
        }
    }

    /// Which framing it is.
    #[must_use]
    pub fn kind(&self) -> FramingKind {
        match self {
            Self::Lines(_) => FramingKind::Lines,
            Self::ContentLength(_) => FramingKind::ContentLength,
            Self::Native(_) => FramingKind::Native,
        }
    }

    /// Takes the next whole message out of the buffer; none if more bytes must come first, or if none can come any more.
    ///
    /// After an error that [is not fatal](FramingError::is_fatal) the next message is read as ever.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, FramingError> {
        Ok(match self {
            Self::Lines(lines) => lines.next(buffer).transpose()?,
            Self::ContentLength(frames) => frames.next(buffer).transpose()?,
            Self::Native(frames) => frames.next(buffer).transpose()?,
        })
    }

    /// Takes what was left when the stream has ended and [`Self::next`] gives none. To be called until it gives none, too.
    pub fn finish(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, FramingError> {
        Ok(match self {
            Self::Lines(lines) => lines.finish(buffer).transpose()?,
            Self::ContentLength(frames) => frames.finish(buffer).transpose()?,
            Self::Native(frames) => frames.finish(buffer).transpose()?,
        })
    }
}

/// Adds one message in its framing. Only a browser has a limit of its own; what is over it is not added.
pub fn encode(kind: FramingKind, message: &[u8], out: &mut BytesMut) -> Result<(), TooLongToSend> {
    match kind {
        FramingKind::Lines => lines::frame(message, out),
        FramingKind::ContentLength => content_length::frame(message, out),
        FramingKind::Native => native::frame(message, out)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [FramingKind; 3] = [FramingKind::Lines, FramingKind::ContentLength, FramingKind::Native];

    /// Feeds the pieces one after the other and reads to the end, stopping where the stream cannot go on.
    fn read(kind: FramingKind, max: usize, pieces: &[&[u8]]) -> Vec<Result<Bytes, FramingError>> {
        let (mut framing, mut buffer, mut read) = (Framing::with_max(kind, max), BytesMut::new(), Vec::new());
        assert_eq!(framing.kind(), kind);
        for piece in pieces {
            buffer.extend_from_slice(piece);
            while let Some(next) = framing.next(&mut buffer).transpose() {
                read.push(next);
            }
        }
        while let Some(next) = framing.finish(&mut buffer).transpose() {
            read.push(next);
        }
        assert!(buffer.is_empty());
        read
    }

    fn framed(kind: FramingKind, messages: &[&[u8]]) -> Vec<u8> {
        let mut out = BytesMut::new();
        messages.iter().for_each(|message| encode(kind, message, &mut out).unwrap());
        out.to_vec()
    }

    #[test]
    fn every_framing_reads_what_it_wrote_wherever_the_stream_is_cut() {
        for kind in KINDS {
            let bytes = framed(kind, &[b"{\"a\":1}", b"[]", b"\xc3\xa9"]);
            for cut in 0..=bytes.len() {
                let (head, tail) = bytes.split_at(cut);
                let wanted = [&b"{\"a\":1}"[..], b"[]", b"\xc3\xa9"].map(|message| Ok(Bytes::from_static(message)));
                assert_eq!(read(kind, 64, &[head, tail]), wanted, "{kind:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn every_framing_says_whether_the_stream_can_go_on() {
        let too_large = |kind, bytes: &[u8]| {
            let errors: Vec<_> = read(kind, 4, &[bytes]).into_iter().filter_map(Result::err).collect();
            errors.iter().map(|error| (error.is_too_large(), error.is_fatal())).collect::<Vec<_>>()
        };
        assert_eq!(too_large(FramingKind::Lines, b"12345\n"), [(true, false)]);
        assert_eq!(too_large(FramingKind::ContentLength, b"Content-Length: 5\r\n\r\n12345"), [(true, true)]);
        assert_eq!(too_large(FramingKind::ContentLength, b"noise\nContent-Length: 2\r\n\r\n{}"), [(false, false)]);
        assert_eq!(too_large(FramingKind::ContentLength, b"Content-Length: 4\r\n\r\n1"), [(false, true)]);
        assert_eq!(too_large(FramingKind::Native, &framed(FramingKind::Native, &[b"12345"])), [(true, false)]);
        assert_eq!(too_large(FramingKind::Native, b"\xff\xff\xff\xff"), [(true, true)]);
        assert_eq!(too_large(FramingKind::Native, b"\x01"), [(false, true)]);
    }

    #[test]
    fn the_usual_limit_is_that_of_a_frame() {
        let usual = switchboard_types::limits::MAX_FRAME_BYTES;
        for kind in KINDS {
            let (mut framing, mut buffer) = (Framing::new(kind), BytesMut::new());
            match kind {
                FramingKind::Lines => buffer.resize(usual + 2, b'x'),
                FramingKind::ContentLength => buffer.extend_from_slice(b"Content-Length: 16777217\r\n\r\n"),
                FramingKind::Native => buffer.extend_from_slice(&16_777_217_u32.to_ne_bytes()),
            }
            buffer.extend_from_slice(b"\n");
            assert!(framing.next(&mut buffer).is_err_and(|error| error.is_too_large()), "{kind:?}");
        }
    }
}
