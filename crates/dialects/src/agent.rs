//! The vocabularies of agents. Each is one file; none knows another.

use bytes::Bytes;
use switchboard_types::{Ask, Time, Word};
use thiserror::Error;

/// One vocabulary of agents, with what it must remember for one process.
pub trait AgentDialect: Send {
    /// Translates one message of the agent; what it says is added to `said`, in order.
    fn read(&mut self, now: Time, frame: &Bytes, said: &mut Vec<Word>) -> Result<(), Noise>;

    /// Translates what the host asks into messages for the agent, without framing.
    fn ask(&mut self, now: Time, ask: Ask, messages: &mut Vec<Vec<u8>>);
}

/// A message that means nothing in this dialect. It is logged and skipped; the stream goes on.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{reason}")]
pub struct Noise {
    /// What was wrong with it.
    pub reason: String,
}
