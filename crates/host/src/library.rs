//! What is found again: messages derived from the logs, their index, what was used. All of it can be derived anew; the logs
//! are the truth. Nothing here is on the way of a commit.
//!
//! | module | owns |
//! | --- | --- |
//! | `tokens` | words of a text as the index sees them |
//! | `query` | what somebody looks for, out of what was typed |
//! | `snippet` | what stands around a match, and how well a text fits |
//! | [`derived`] | messages and usage: plain data |
//! | `fold` | from events to messages |
//! | [`shelf`] | the file: messages, index, cursors |
//! | `search`, `usage` | the questions |
//! | `indexer` | the thread that follows the logs |
//! | [`catalog`] | the library as the others see it |
//! | [`error`] | what can go wrong |

pub mod catalog;
pub mod derived;
pub mod error;
mod fold;
mod indexer;
mod query;
mod search;
pub mod shelf;
mod snippet;
mod tokens;
mod usage;

pub use catalog::Library;
pub use error::LibraryError;
pub use shelf::{Derived, Shelf};
