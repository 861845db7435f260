//! The vocabularies of agents. Each is one file; none knows another.

pub mod acp;
pub mod apex;
mod early;
pub mod engine;
pub mod plain;
mod repeat;

use bytes::Bytes;
use switchboard_types::{Ask, Time, Word};
use thiserror::Error;

use crate::framing::FramingKind;

pub use acp::Acp;
pub use apex::Apex;
pub use engine::Engine;
pub use plain::Plain;

/// One vocabulary of agents, with what it must remember for one process.
pub trait AgentDialect: Send {
    /// How its messages are told apart on a pipe.
    fn framing(&self) -> FramingKind {
        FramingKind::Lines
    }

    /// The first messages, before anything is asked.
    fn begin(&mut self, now: Time, messages: &mut Vec<Vec<u8>>) {
        let _ = (now, messages);
    }

    /// Translates one message of the agent; what it says is added to `said`, in order.
    ///
    /// Noise does not take back what was said: the words that were added stand.
    fn read(&mut self, now: Time, frame: &Bytes, said: &mut Vec<Word>) -> Result<(), Noise>;

    /// Translates what the host asks into messages for the agent, without framing.
    fn ask(&mut self, now: Time, ask: Ask, messages: &mut Vec<Vec<u8>>);

    /// Says what the agent's vocabulary has no message for: that its session is open, that it cannot take a prompt. Whoever
    /// asks fetches it after each ask; what is not fetched comes with the agent's next words.
    fn speak_for(&mut self, said: &mut Vec<Word>) {
        let _ = said;
    }

    /// Hands out what the dialect itself owes the agent after it has read, without framing. Whoever reads asks for it
    /// after each batch; what is not fetched goes out with the next ask.
    fn owed(&mut self, messages: &mut Vec<Vec<u8>>) {
        let _ = messages;
    }

    /// The last messages, before the agent's input is closed and it is to end.
    fn farewell(&mut self, messages: &mut Vec<Vec<u8>>) {
        let _ = messages;
    }
}

/// A message that means nothing in this dialect. It is logged and skipped; the stream goes on.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{reason}")]
pub struct Noise {
    /// What was wrong with it.
    pub reason: String,
}

impl Noise {
    /// Noise for a reason; whoever quotes the agent in it cuts and escapes the quotation.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}
