//! An agent's error output: into the host's log and on to its session, within bounds, and its last lines kept to explain its
//! end. Never a message.

use std::collections::VecDeque;
use std::time::Duration;

use switchboard_types::AgentName;
use switchboard_types::limits::MAX_STDERR_LINES;
use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::time::Instant;

use super::quiet::{self, Allowance, Pass, Quiet};
use super::shown::shown_bytes;

/// Bytes of a line that are kept; the rest of it is dropped.
const MAX_LINE_BYTES: usize = 4096;
/// Bytes taken at once.
pub(super) const READ_BYTES: usize = 16 * 1024;
/// Lines kept to explain an end.
const LAST_LINES: usize = 20;
/// Characters of one of them.
const LAST_LINE_CHARS: usize = 300;
/// Characters of a line that goes to the session.
const LINE_CHARS: usize = 1000;
/// Lines that wait for room in the host's inbox before no more are read.
const MAX_WAITING_LINES: usize = 256;
/// What a session gets of one agent: as much as a turn may hold, and then some lines a second.
const SESSION: Allowance = Allowance { burst: MAX_STDERR_LINES as u32, refill: Duration::from_millis(10) };

/// What an agent says beside its words.
#[derive(Debug)]
pub(super) struct Stderr {
    agent: AgentName,
    pipe: Option<ChildStderr>,
    read: Vec<u8>,
    line: Vec<u8>,
    last: VecDeque<String>,
    /// What the session has not got yet.
    waiting: Vec<String>,
    logged: Quiet,
    kept: Quiet,
}

impl Stderr {
    pub(super) fn new(agent: AgentName, pipe: Option<ChildStderr>) -> Self {
        let now = Instant::now();
        Self {
            agent,
            pipe,
            read: vec![0; READ_BYTES],
            line: Vec::new(),
            last: VecDeque::new(),
            waiting: Vec::new(),
            logged: Quiet::new(quiet::LOG, now),
            kept: Quiet::new(SESSION, now),
        }
    }

    /// Whether more may come.
    pub(super) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Whether lines wait to be taken.
    pub(super) fn has_lines(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether so many wait that no more should be read; the process waits then, as it would for anybody who reads slowly.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= MAX_WAITING_LINES
    }

    /// The lines that wait, for the session.
    pub(super) fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.waiting)
    }

    /// Takes what is left as the last line, and says what was left out.
    pub(super) fn close(&mut self) {
        self.pipe = None;
        self.end_line();
        let left_out = self.kept.take_left_out();
        if left_out > 0 {
            self.waiting.push(more(left_out));
        }
        if self.logged.left_out() > 0 {
            tracing::info!(agent = %self.agent, left_out = self.logged.left_out(), "more error output was not shown");
        }
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
        let now = Instant::now();
        if let Pass::Yes { left_out } = self.logged.ask(now) {
            tracing::info!(agent = %self.agent, left_out, "stderr: {}", shown_bytes(text, MAX_LINE_BYTES));
        }
        if let Pass::Yes { left_out } = self.kept.ask(now) {
            if left_out > 0 {
                self.waiting.push(more(left_out));
            }
            self.waiting.push(shown_bytes(text, LINE_CHARS));
        }
    }
}

/// The note on lines that nobody keeps.
fn more(left_out: u64) -> String {
    format!("({left_out} lines came too fast and are left out here)")
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
        stderr.close();
        let last = stderr.last_words();
        let lines: Vec<_> = last.lines().collect();
        assert_eq!(lines.len(), 20);
        assert_eq!(lines[0], "line 12");
        assert_eq!(lines[18], "\\u{1b}[31mred");
        assert_eq!(lines[19].chars().count(), LAST_LINE_CHARS + 1);
    }

    #[test]
    fn a_session_gets_every_line_up_to_a_bound_and_hears_what_was_left_out() {
        let mut stderr = Stderr::new("x".into(), None);
        let flood: String = (0..3 * MAX_STDERR_LINES).map(|number| format!("line {number}\n")).collect();
        stderr.take(flood.as_bytes());
        assert!(stderr.is_full());
        stderr.close();
        let mut lines = stderr.take_lines();
        let note = lines.pop().unwrap();
        assert!(note.ends_with("lines came too fast and are left out here)"), "{note}");
        assert!(lines.iter().zip(0..MAX_STDERR_LINES).all(|(line, number)| *line == format!("line {number}")));
        assert!((MAX_STDERR_LINES..2 * MAX_STDERR_LINES).contains(&lines.len()), "{}", lines.len());
        assert!(!stderr.has_lines());
    }
}
