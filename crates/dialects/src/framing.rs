//! Bytes to messages and back. Pure and incremental; every framing bounds what a peer can make large.

pub mod content_length;
pub mod lines;

pub use content_length::{ContentLength, FrameError};
pub use lines::{LineTooLong, Lines};

/// The ways to tell messages apart in a stream of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingKind {
    /// One message a line.
    Lines,
    /// A header with the length, then the message.
    ContentLength,
}
