//! Bytes to messages and back. Pure and incremental; every framing bounds what a peer can make large.

pub mod lines;

pub use lines::{LineTooLong, Lines};
