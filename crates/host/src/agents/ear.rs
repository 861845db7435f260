//! An agent's standard input: what waits for it, within bounds. Never waits itself.

use std::collections::VecDeque;
use std::io;

use bytes::{Buf, Bytes, BytesMut};
use switchboard_dialects::framing::{FramingKind, TooLongToSend, encode};
use thiserror::Error;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

/// Bytes that may wait for an agent that does not read.
pub(super) const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;
/// Messages that may wait for an agent that does not read.
pub(super) const MAX_WAITING_MESSAGES: usize = 16 * 1024;

/// Why a message cannot wait for the agent.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum EarError {
    /// The agent does not read what it is asked.
    #[error("{messages} messages of {bytes} bytes wait for an agent that does not read its input")]
    NotReading {
        /// How many wait.
        messages: usize,
        /// How large they are.
        bytes: usize,
    },
    /// The framing has a limit, and the message is over it.
    #[error(transparent)]
    TooLong(#[from] TooLongToSend),
}

/// What an agent hears.
#[derive(Debug)]
pub(super) struct Ear {
    framing: FramingKind,
    stdin: Option<ChildStdin>,
    waiting: VecDeque<Bytes>,
    bytes: usize,
    closing: Closing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    No,
    WhenEmpty,
}

impl Ear {
    pub(super) fn new(framing: FramingKind, stdin: Option<ChildStdin>) -> Self {
        Self { framing, stdin, waiting: VecDeque::new(), bytes: 0, closing: Closing::No }
    }

    /// Lets a message wait to be written.
    pub(super) fn push(&mut self, message: &[u8]) -> Result<(), EarError> {
        if self.stdin.is_none() || self.closing != Closing::No {
            return Ok(());
        }
        let mut framed = BytesMut::new();
        encode(self.framing, message, &mut framed)?;
        let (messages, bytes) = (self.waiting.len() + 1, self.bytes + framed.len());
        // A single large message is no sign of anything.
        if messages > MAX_WAITING_MESSAGES || (bytes > MAX_WAITING_BYTES && messages > 1) {
            return Err(EarError::NotReading { messages, bytes });
        }
        self.bytes = bytes;
        self.waiting.push_back(framed.freeze());
        Ok(())
    }

    /// Whether there is something to write.
    pub(super) fn wants_to_write(&self) -> bool {
        self.stdin.is_some() && !self.waiting.is_empty()
    }

    /// Writes some of it. An error means that the agent closed its input; what waits is dropped then.
    pub(super) async fn write(&mut self) -> io::Result<()> {
        let (Some(stdin), Some(first)) = (self.stdin.as_mut(), self.waiting.front_mut()) else { return Ok(()) };
        match stdin.write(first).await {
            Ok(written) => {
                first.advance(written);
                self.bytes -= written;
                if first.is_empty() {
                    self.waiting.pop_front();
                }
                self.close_if_due();
                Ok(())
            }
            Err(error) => {
                self.close_now();
                Err(error)
            }
        }
    }

    /// Closes the input once all that waits is written.
    pub(super) fn close(&mut self) {
        self.closing = Closing::WhenEmpty;
        self.close_if_due();
    }

    fn close_if_due(&mut self) {
        if self.closing == Closing::WhenEmpty && self.waiting.is_empty() {
            self.stdin = None;
        }
    }

    fn close_now(&mut self) {
        self.stdin = None;
        self.waiting.clear();
        self.bytes = 0;
    }
}
