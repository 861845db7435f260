//! Bytes to messages and back. Pure and incremental; every framing bounds what a peer can make large.

mod any;
pub mod content_length;
pub mod lines;
pub mod native;
pub mod sse;

pub use any::{Framing, FramingError, FramingKind, encode};
pub use content_length::{ContentLength, FrameError};
pub use lines::{LineTooLong, Lines};
pub use native::{Native, NativeError, TooLongToSend};
pub use sse::{Sse, SseError, SseEvent, SseItem};
