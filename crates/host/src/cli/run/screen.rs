//! What a person sees of a turn: text on standard output as it streams, the rest dimmed on standard error if that is a
//! terminal. Foreign text does nothing to a terminal; elsewhere it is written as it is.

use std::io::{self, IsTerminal, Write};

use anstyle::Style;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_types::{Body, LogLevel, PlanStatus, ToolCall, ToolStatus};

use crate::cli::args::Format;
use crate::cli::print;

/// The two outputs.
pub(super) struct Screen {
    format: Format,
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    /// Whether the answer stands in the middle of a line.
    mid_line: bool,
    /// Whether thoughts stand in the middle of a line.
    mid_thought: bool,
    /// Whether anybody still reads the answer.
    read: bool,
}

impl Screen {
    pub(super) fn new(format: Format) -> Self {
        Self {
            format,
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            mid_line: false,
            mid_thought: false,
            read: true,
        }
    }

    /// Whether somebody still reads the answer.
    pub(super) fn is_read(&self) -> bool {
        self.read
    }

    /// An event as it came, for programs.
    pub(super) fn event(&mut self, raw: &RawValue) {
        if self.format == Format::Json {
            self.out(&format!("{}\n", raw.get()));
        }
    }

    /// The last line, for programs.
    pub(super) fn outcome(&mut self, outcome: &Value) {
        if self.format == Format::Json {
            self.out(&format!("{outcome}\n"));
        }
    }

    /// An event of the turn, for people.
    pub(super) fn body(&mut self, body: &Body) {
        if self.format == Format::Json {
            return;
        }
        match body {
            Body::Text { text } => self.text(&text.to_plain()),
            Body::Code { text } => self.text(&text.to_plain()),
            Body::Thought { text } => self.thought(&text.to_plain()),
            Body::Log { level: LogLevel::Warn | LogLevel::Error, message } => self.note(&format!("[{message}]")),
            Body::SignInNeeded { message, methods } => {
                self.note(&format!("[sign in first: {message}]"));
                methods.iter().for_each(|method| self.note(&format!("  {}: {}", method.name, method.todo)));
            }
            Body::AgentSessionRestored { memory } => self.note(&format!("[{}]", print::memory(*memory))),
            Body::ExecutionStarted { execution } => self.note(&format!("[{}]", execution.title)),
            Body::ExecutionOutput { text, .. } => self.note(text.trim_end()),
            Body::ExecutionEnded { title, end, .. } => self.note(&format!("[{title}: {}]", print::execution_end(end))),
            Body::Plan { entries } => {
                for entry in entries {
                    let mark = match entry.status {
                        PlanStatus::Pending => " ",
                        PlanStatus::InProgress => "…",
                        PlanStatus::Completed => "x",
                    };
                    self.note(&format!("[{mark}] {}", entry.content));
                }
            }
            Body::Status { message, progress: Some(progress) } => {
                self.note(&format!("[{message}, {:.0} %]", progress * 100.0));
            }
            Body::Status { message, progress: None } => self.note(&format!("[{message}]")),
            Body::SourceGap { message, .. } => self.note(&format!("[{message}]")),
            Body::ToolCall { call } | Body::ToolCallUpdate { call } => self.call(call),
            Body::PromptQueued { position, .. } if *position > 0 => {
                self.note(&format!("[waits for {position} prompts before it]"));
            }
            Body::AgentExited { message } => self.note(&format!("[the agent has ended: {message}]")),
            Body::AgentRestarted {} => self.note("[the agent runs again]"),
            Body::CancelAsked {} => self.note("[cancelling]"),
            Body::Unknown { name, .. } => self.note(&format!("[{name}]")),
            Body::SessionOpened { .. }
            | Body::PolicyChanged { .. }
            | Body::Echo { .. }
            | Body::Log { level: LogLevel::Info | LogLevel::Stderr, .. }
            | Body::CommandsChanged { .. }
            | Body::OptionsChanged { .. }
            | Body::Usage { .. }
            | Body::TurnUsed { .. }
            | Body::TitleChanged { .. }
            | Body::PromptQueued { .. }
            | Body::TurnStarted {}
            | Body::PromptTaken {}
            | Body::TurnEnded { .. }
            | Body::ApprovalAsked { .. }
            | Body::ApprovalResolved { .. }
            | Body::SessionClosed {}
            | Body::SessionReopened {} => {}
        }
    }

    fn call(&mut self, call: &ToolCall) {
        let word = match call.status {
            ToolStatus::Pending => "waits",
            ToolStatus::Running => "runs",
            ToolStatus::Completed => "done",
            ToolStatus::Failed => "failed",
        };
        self.note(&format!("[tool: {}, {word}]", call.title));
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.end_thought();
        if self.stdout_is_terminal {
            self.out(&print::safe_text(text));
        } else {
            self.out(text);
        }
        self.mid_line = !text.ends_with('\n');
    }

    fn thought(&mut self, text: &str) {
        if !self.stderr_is_terminal || text.is_empty() {
            return;
        }
        self.end_line();
        self.err(&print::safe_text(text));
        self.mid_thought = !text.ends_with('\n');
    }

    /// A word on what goes on, dimmed, for people at a terminal.
    pub(super) fn note(&mut self, text: &str) {
        if !self.stderr_is_terminal {
            return;
        }
        self.end_line();
        self.end_thought();
        self.err(&format!("{}\n", print::safe(text)));
    }

    /// A word that everybody should hear.
    pub(super) fn warn(&mut self, text: &str) {
        self.end_line();
        self.end_thought();
        let _ = writeln!(io::stderr(), "switchboard: {}", print::safe(text));
    }

    /// Ends the line of the answer, so that what follows stands on its own; also at the very end, for whoever reads lines.
    pub(super) fn end_line(&mut self) {
        let ends = self.format == Format::Words && std::mem::take(&mut self.mid_line);
        if ends {
            self.out("\n");
        }
    }

    fn end_thought(&mut self) {
        if std::mem::take(&mut self.mid_thought) {
            self.err("\n");
        }
    }

    fn out(&mut self, text: &str) {
        let mut stdout = io::stdout().lock();
        if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
            self.read = false;
        }
    }

    fn err(&self, text: &str) {
        let dim = Style::new().dimmed();
        let mut stderr = anstream::stderr().lock();
        // Nobody to tell it to.
        let _ = write!(stderr, "{dim}{text}{dim:#}").and_then(|()| stderr.flush());
    }
}
