//! Approvals, asked on the terminal, one after the other. Where there is none, nobody can say yes.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};

use switchboard_types::{Approval, ApprovalId, Containment, Decision};
use tokio::sync::mpsc;

use crate::cli::print;
use crate::cli::rules::severity;

/// Lines that wait to be read.
const LINES: usize = 16;
/// Lines of a change that are shown.
const DIFF_LINES: usize = 60;
/// What can be answered.
const CHOICES: &str = "[y] allow once  [s] allow for this session  [n] deny  [x] deny and stop: ";

/// The questions that wait, and the terminal to ask them on.
pub(in crate::cli) struct Questions {
    /// Who asks, in words.
    asker: &'static str,
    waiting: VecDeque<Approval>,
    terminal: Option<Terminal>,
    looked: bool,
}

struct Terminal {
    out: File,
    lines: mpsc::Receiver<Option<String>>,
}

/// What to do about a question.
pub(in crate::cli) enum Next {
    /// It was asked; the answer comes.
    Asked,
    /// Nobody can be asked.
    Nobody(ApprovalId),
}

impl Questions {
    pub(in crate::cli) fn new(asker: &'static str) -> Self {
        Self { asker, waiting: VecDeque::new(), terminal: None, looked: false }
    }

    /// A new question.
    pub(in crate::cli) fn add(&mut self, approval: Approval) -> Next {
        if !self.looked {
            // Looked for when it is needed: most turns never ask.
            self.looked = true;
            self.terminal = Terminal::open().ok();
        }
        if self.terminal.is_none() {
            return Next::Nobody(approval.id);
        }
        self.waiting.push_back(approval);
        if self.waiting.len() == 1 {
            self.ask();
        }
        Next::Asked
    }

    /// A question is answered, here or elsewhere. Says whether it was being asked.
    pub(in crate::cli) fn settled(&mut self, approval: &ApprovalId) -> bool {
        let asked = self.waiting.front().is_some_and(|front| front.id == *approval);
        self.waiting.retain(|one| one.id != *approval);
        if asked {
            self.ask();
        }
        asked
    }

    /// Waits for an answer to the question that is being asked; for ever if none is.
    pub(in crate::cli) async fn answer(&mut self) -> (ApprovalId, Decision) {
        loop {
            let (Some(terminal), Some(front)) = (&mut self.terminal, self.waiting.front()) else {
                return std::future::pending().await;
            };
            let id = front.id.clone();
            let decision = match terminal.lines.recv().await {
                // The terminal is gone, and with it whoever could say yes.
                None | Some(None) => {
                    self.terminal = None;
                    Some(Decision::Deny)
                }
                Some(Some(line)) => read(&line),
            };
            match decision {
                Some(decision) => {
                    self.waiting.pop_front();
                    self.ask();
                    return (id, decision);
                }
                None => self.say(CHOICES),
            }
        }
    }

    /// Questions that can no longer be asked.
    pub(in crate::cli) fn orphans(&mut self) -> Vec<ApprovalId> {
        if self.terminal.is_some() { Vec::new() } else { self.waiting.drain(..).map(|one| one.id).collect() }
    }

    fn ask(&mut self) {
        let Some(front) = self.waiting.front() else { return };
        let text = in_words(self.asker, front);
        // What was typed before the question was no answer to it.
        if let Some(terminal) = &mut self.terminal {
            while terminal.lines.try_recv().is_ok() {}
        }
        self.say(&format!("{text}\n{CHOICES}"));
    }

    fn say(&mut self, text: &str) {
        if let Some(terminal) = &mut self.terminal {
            // If it cannot be written to, it cannot be read from either, and that is noticed.
            let _ = write!(terminal.out, "{text}").and_then(|()| terminal.out.flush());
        }
    }
}

impl Terminal {
    /// The terminal that the person sits at, also when the prompt came through a pipe.
    fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        let (input, out) = if stdin.is_terminal() {
            (File::from(rustix::io::dup(&stdin)?), File::from(rustix::io::dup(io::stderr())?))
        } else {
            let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
            (terminal.try_clone()?, terminal)
        };
        let (send, lines) = mpsc::channel(LINES);
        std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
            for line in BufReader::new(input).lines() {
                let Ok(line) = line else { break };
                if send.blocking_send(Some(line)).is_err() {
                    return;
                }
            }
            let _ = send.blocking_send(None);
        })?;
        Ok(Self { out, lines })
    }
}

fn read(line: &str) -> Option<Decision> {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(Decision::AllowOnce),
        "s" | "session" => Some(Decision::AllowSession),
        "n" | "no" => Some(Decision::Deny),
        "x" | "stop" => Some(Decision::DenyStop),
        _ => None,
    }
}

fn in_words(asker: &str, approval: &Approval) -> String {
    let severity = severity(approval.severity);
    let mut lines = vec![String::new(), format!("{asker}: {}", print::safe(&approval.title))];
    if let Some(command) = &approval.command {
        lines.push(format!("  $ {}", print::safe_text(command)));
    }
    if let Some(cwd) = &approval.cwd {
        lines.push(format!("  in {}", print::safe(cwd)));
    }
    if let Some(path) = &approval.path {
        lines.push(format!("  file {}", print::safe(path)));
    }
    if let Some(diff) = &approval.diff {
        lines.extend(diff.lines().take(DIFF_LINES).map(|line| format!("  {}", print::safe(line))));
        let more = diff.lines().count().saturating_sub(DIFF_LINES);
        if more > 0 {
            lines.push(format!("  … {more} more lines; the page shows them all"));
        }
    }
    lines.push(format!("  risk {severity}: {}", print::safe(&approval.reason)));
    if let Some(Containment::None { reason } | Containment::Missing { reason }) = &approval.containment {
        lines.push(format!("  not held in: {}", print::safe(reason)));
    }
    lines.join("\n")
}
