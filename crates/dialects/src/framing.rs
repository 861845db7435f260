//! Bytes to messages and back. Pure and incremental; every framing bounds what a peer can make large.

pub mod content_length;
pub mod lines;

pub use content_length::{ContentLength, FrameError};
pub use lines::{LineTooLong, Lines};
