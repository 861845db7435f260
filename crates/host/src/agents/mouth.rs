//! An agent's standard output: bytes to words. Never reads on while nobody takes the words.

use std::io;

use bytes::BytesMut;
use switchboard_dialects::agent::AgentDialect;
use switchboard_dialects::framing::lines::{LineTooLong, Lines};
use switchboard_types::{AgentName, Time, Word};
use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;
use tokio::time::Instant;

use super::quiet::{Pass, Quiet};
use super::shown::{shown, shown_bytes};
use super::tape::Tape;

/// Bytes taken at once, as much as a pipe holds.
const READ_BYTES: usize = 64 * 1024;
/// Characters of a noisy line that the log shows.
const NOISE_CHARS: usize = 200;

/// What an agent says.
#[derive(Debug)]
pub(super) struct Mouth {
    agent: AgentName,
    stdout: Option<ChildStdout>,
    buffer: BytesMut,
    lines: Lines,
    quiet: Quiet,
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
    pub(super) fn new(agent: AgentName, stdout: Option<ChildStdout>) -> Self {
        Self { agent, stdout, buffer: BytesMut::new(), lines: Lines::new(), quiet: Quiet::new(Instant::now()) }
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

    /// Translates the whole lines read so far.
    pub(super) fn words(&mut self, now: Time, dialect: &mut dyn AgentDialect, tape: &mut Tape) -> Vec<Word> {
        let mut said = Vec::new();
        while let Some(line) = self.lines.next(&mut self.buffer) {
            self.translate(now, dialect, line, &mut said, tape);
        }
        said
    }

    /// Translates what is left at the end; the last line may lack its newline.
    pub(super) fn last_words(&mut self, now: Time, dialect: &mut dyn AgentDialect, tape: &mut Tape) -> Vec<Word> {
        self.stdout = None;
        let mut said = self.words(now, dialect, tape);
        if let Some(line) = self.lines.finish(&mut self.buffer) {
            self.translate(now, dialect, line, &mut said, tape);
        }
        if self.quiet.left_out() > 0 {
            tracing::warn!(agent = %self.agent, left_out = self.quiet.left_out(), "more noise was not shown");
        }
        said
    }

    fn translate(
        &mut self,
        now: Time,
        dialect: &mut dyn AgentDialect,
        line: Result<bytes::Bytes, LineTooLong>,
        said: &mut Vec<Word>,
        tape: &mut Tape,
    ) {
        let from = said.len();
        match line {
            Ok(line) => {
                let noise = dialect.read(now, &line, said).err().map(|noise| noise.reason);
                if let Some(reason) = &noise {
                    self.noise(reason, &shown_bytes(&line, NOISE_CHARS));
                }
                tape.heard(now, &line, said, from, noise);
            }
            Err(too_long) => {
                self.noise(&too_long.to_string(), "");
                tape.heard(now, &bytes::Bytes::new(), said, from, Some(too_long.to_string()));
            }
        }
    }

    fn noise(&mut self, reason: &str, line: &str) {
        if let Pass::Yes { left_out } = self.quiet.ask(Instant::now()) {
            let reason = shown(reason, NOISE_CHARS);
            tracing::warn!(agent = %self.agent, left_out, line, "a line of the agent means nothing: {reason}");
        }
    }
}
