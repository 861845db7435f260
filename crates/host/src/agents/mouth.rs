//! An agent's standard output: bytes to words. Never reads on while nobody takes the words.

use std::io;

use bytes::{Bytes, BytesMut};
use switchboard_dialects::agent::AgentDialect;
use switchboard_dialects::framing::{Framing, FramingError, FramingKind};
use switchboard_types::{AgentName, Time, Word};
use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;
use tokio::time::Instant;

use super::quiet::{self, Pass, Quiet};
use super::shown::{shown, shown_bytes};
use super::tape::Tape;

/// Bytes taken at once, as much as a pipe holds.
const READ_BYTES: usize = 64 * 1024;
/// Characters of noise that the log shows, and the message about an end.
const NOISE_CHARS: usize = 200;

/// What an agent says.
#[derive(Debug)]
pub(super) struct Mouth {
    agent: AgentName,
    stdout: Option<ChildStdout>,
    buffer: BytesMut,
    framing: Framing,
    quiet: Quiet,
    /// Whether anything it wrote was a message.
    spoke: bool,
    /// The last of what was none.
    noise: Option<String>,
    /// Why its messages can no longer be told apart.
    fault: Option<String>,
}

/// What a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// So many bytes.
    Bytes(usize),
    /// The output is closed.
    End,
}

impl Mouth {
    pub(super) fn new(agent: AgentName, framing: FramingKind, stdout: Option<ChildStdout>) -> Self {
        Self {
            agent,
            stdout,
            buffer: BytesMut::new(),
            framing: Framing::new(framing),
            quiet: Quiet::new(quiet::LOG, Instant::now()),
            spoke: false,
            noise: None,
            fault: None,
        }
    }

    /// Whether more may come.
    pub(super) fn is_open(&self) -> bool {
        self.stdout.is_some()
    }

    /// Reads what there is, or waits for it.
    pub(super) async fn read(&mut self) -> io::Result<Heard> {
        let Some(stdout) = self.stdout.as_mut() else { return Ok(Heard::End) };
        if self.buffer.capacity() - self.buffer.len() < READ_BYTES / 2 {
            self.buffer.reserve(READ_BYTES);
        }
        let read = stdout.read_buf(&mut self.buffer).await;
        if !matches!(read, Ok(1..)) {
            self.stdout = None;
        }
        Ok(match read? {
            0 => Heard::End,
            bytes => Heard::Bytes(bytes),
        })
    }

    /// Translates the whole messages read so far.
    pub(super) fn words(&mut self, now: Time, dialect: &mut dyn AgentDialect, tape: &mut Tape) -> Vec<Word> {
        let mut said = Vec::new();
        while let Some(message) = self.framing.next(&mut self.buffer).transpose() {
            self.translate(now, dialect, message, &mut said, tape);
        }
        said
    }

    /// Translates what is left at the end; a last line may lack its newline.
    pub(super) fn last_words(&mut self, now: Time, dialect: &mut dyn AgentDialect, tape: &mut Tape) -> Vec<Word> {
        self.stdout = None;
        let mut said = self.words(now, dialect, tape);
        while let Some(message) = self.framing.finish(&mut self.buffer).transpose() {
            self.translate(now, dialect, message, &mut said, tape);
        }
        if self.quiet.left_out() > 0 {
            tracing::warn!(agent = %self.agent, left_out = self.quiet.left_out(), "more noise was not shown");
        }
        said
    }

    /// Whether it has said anything that means something.
    pub(super) fn spoke(&self) -> bool {
        self.spoke
    }

    /// The last that it wrote and that was no message, fit to be shown.
    pub(super) fn noise(&self) -> Option<&str> {
        self.noise.as_deref()
    }

    /// Why nothing that it writes can be told apart any more, or what it left half said.
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    fn translate(
        &mut self,
        now: Time,
        dialect: &mut dyn AgentDialect,
        message: Result<Bytes, FramingError>,
        said: &mut Vec<Word>,
        tape: &mut Tape,
    ) {
        let from = said.len();
        match message {
            Ok(message) => {
                let noise = dialect.read(now, &message, said).err().map(|noise| noise.reason);
                match &noise {
                    None => self.spoke = true,
                    Some(reason) => self.meaningless(reason, shown_bytes(&message, NOISE_CHARS)),
                }
                tape.heard(now, &message, said, from, noise);
            }
            Err(error) if error.is_fatal() => {
                let fault = shown(&error.to_string(), NOISE_CHARS);
                tape.heard(now, &Bytes::new(), said, from, Some(fault.clone()));
                tracing::warn!(agent = %self.agent, "the agent's output cannot be read on: {fault}");
                self.fault = Some(fault);
            }
            Err(error) => {
                tape.heard(now, &Bytes::new(), said, from, Some(error.to_string()));
                self.meaningless(&error.to_string(), String::new());
            }
        }
    }

    fn meaningless(&mut self, reason: &str, line: String) {
        let reason = shown(reason, NOISE_CHARS);
        if let Pass::Yes { left_out } = self.quiet.ask(Instant::now()) {
            match self.framing.kind() {
                FramingKind::Lines => {
                    tracing::warn!(agent = %self.agent, left_out, line, "a line of the agent means nothing: {reason}");
                }
                FramingKind::ContentLength | FramingKind::Native => {
                    tracing::warn!(agent = %self.agent, left_out, line, "the agent wrote what means nothing: {reason}");
                }
            }
        }
        self.noise = Some(if line.is_empty() { reason } else { line });
    }
}
