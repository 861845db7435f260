//! An agent's error output: into the log, within bounds, and its last lines kept to explain its end. Never a message.

use std::collections::VecDeque;

use switchboard_types::AgentName;
use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::time::Instant;

use super::quiet::{Pass, Quiet};
use super::shown::shown_bytes;

/// Bytes of a line that are kept; the rest of it is dropped.
const MAX_LINE_BYTES: usize = 4096;
/// Bytes taken at once.
pub(super) const READ_BYTES: usize = 16 * 1024;
/// Lines kept to explain an end.
const LAST_LINES: usize = 20;
/// Characters of one of them.
const LAST_LINE_CHARS: usize = 300;

/// What an agent says beside its words.
#[derive(Debug)]
pub(super) struct Stderr {
    agent: AgentName,
    pipe: Option<ChildStderr>,
    read: Vec<u8>,
    line: Vec<u8>,
    last: VecDeque<String>,
    quiet: Quiet,
}

impl Stderr {
    pub(super) fn new(agent: AgentName, pipe: Option<ChildStderr>) -> Self {
        let read = vec![0; READ_BYTES];
        Self { agent, pipe, read, line: Vec::new(), last: VecDeque::new(), quiet: Quiet::new(Instant::now()) }
    }

    /// Whether more may come.
    pub(super) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Reads and logs what there is, or waits for it.
    pub(super) async fn read(&mut self) {
        let Some(pipe) = self.pipe.as_mut() else { return };
        match pipe.read(&mut self.read).await {
            Ok(0) | Err(_) => self.pipe = None,
            Ok(bytes) => {
                let read = std::mem::take(&mut self.read);
                self.take(read.get(..bytes).unwrap_or_default());
                self.read = read;
            }
        }
    }

    /// The last lines, for the message about its end.
    pub(super) fn last_words(&mut self) -> String {
        self.end_line();
        if self.quiet.left_out() > 0 {
            tracing::info!(agent = %self.agent, left_out = self.quiet.left_out(), "more error output was not shown");
        }
        self.last.make_contiguous().join("\n")
    }

    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
            self.line.extend_from_slice(text.get(..room).unwrap_or(text));
            if text.len() < piece.len() {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = line.trim_ascii_end();
        if text.is_empty() {
            return;
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(shown_bytes(text, LAST_LINE_CHARS));
        if let Pass::Yes { left_out } = self.quiet.ask(Instant::now()) {
            tracing::info!(agent = %self.agent, left_out, "stderr: {}", shown_bytes(text, MAX_LINE_BYTES));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_cut_and_escaped() {
        let mut stderr = Stderr::new("x".into(), None);
        for number in 0..30 {
            stderr.take(format!("line {number}\n").as_bytes());
        }
        stderr.take(b"\x1b[31mred");
        stderr.take(b"\r\n\n");
        stderr.take(&vec![b'y'; 100_000]);
        let last = stderr.last_words();
        let lines: Vec<_> = last.lines().collect();
        assert_eq!(lines.len(), 20);
        assert_eq!(lines[0], "line 12");
        assert_eq!(lines[18], "\\u{1b}[31mred");
        assert_eq!(lines[19].chars().count(), LAST_LINE_CHARS + 1);
    }
}
