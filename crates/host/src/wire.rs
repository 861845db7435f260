//! The wire as it was: what agents and views really sent and got, kept for the sessions that ask for it. Never slows who
//! speaks: what cannot be kept in time is left out, and counted.
//!
//! | module | owns |
//! | --- | --- |
//! | [`entry`] | one line of a record |
//! | [`files`] | a session's two files: written, turned over, read after a number, deleted |
//! | [`recorder`] | the bounded queue and the one thread behind it |
//! | [`secrets`] | what is taken out before anything is stored |
//! | [`switch`] | which sessions a person switched on or off |
//! | `json`, `name` | foreign JSON looked at as text: its parts, and what it calls itself |

pub mod entry;
pub mod files;
pub mod recorder;
pub mod secrets;
pub mod switch;

mod json;
mod name;

pub use entry::{Direction, Entry, Side, Verdict};
pub use files::{Tail, WireFolder};
pub use recorder::{Draft, Recorder, Writer};
pub use switch::Switch;

/// Bytes of one message that are kept; its whole size is said.
pub const MAX_RAW_BYTES: usize = 64 * 1024;
/// What is looked at beyond that, so that no half of a secret is left at the cut.
pub const LOOK_AHEAD_BYTES: usize = 8 * 1024;
