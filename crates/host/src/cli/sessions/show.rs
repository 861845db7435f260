//! `sessions show`: what was said, for people. The log in the order of its events; nothing is left out but how it was
//! streamed.

use std::io::{self, IsTerminal, Write};

use serde_json::json;
use switchboard_types::{
    Approval, Body, Detail, LogLevel, Outcome, PlanStatus, Resolution, SessionId, ToolCall, ToolStatus,
};

use super::list::UNTITLED;
use super::{Line, Log, lines, parse};
use crate::cli::args::{Cli, Format};
use crate::cli::exit::Failure;
use crate::cli::print::{self, date};
use crate::cli::reach::Reach;
use crate::history::SessionEntry;

/// Bold, dim and plain again, where there is somebody to see it.
struct Style {
    strong: anstyle::Style,
    dim: anstyle::Style,
}

pub(super) async fn run(cli: &Cli, reach: &Reach, id: SessionId) -> Result<(), Failure> {
    let session = reach.session(id).await?;
    let mut log = Log::new(reach, id);
    if cli.format() == Format::Json {
        print::json(&json!({ "session": session }));
    }
    let mut page = Transcript::new();
    if cli.format() == Format::Words {
        page.head(&session);
    }
    while let Some(lines_of_page) = log.next().await? {
        for line in lines(&lines_of_page) {
            let written = match cli.format() {
                Format::Json => io::stdout().write_all(line).and_then(|()| io::stdout().write_all(b"\n")),
                Format::Words => page.line(&parse(line)?),
            };
            match written {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(Failure::failed(format!("cannot write: {error}"))),
                Ok(()) => {}
            }
        }
    }
    let _ = page.end();
    Ok(())
}

/// What streams at the moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Nothing,
    Text,
    Thought,
}

struct Transcript {
    out: anstream::AutoStream<io::Stdout>,
    terminal: bool,
    flow: Flow,
    style: Style,
}

impl Transcript {
    fn new() -> Self {
        Self {
            out: anstream::stdout(),
            terminal: io::stdout().is_terminal(),
            flow: Flow::Nothing,
            style: Style { strong: anstyle::Style::new().bold(), dim: anstyle::Style::new().dimmed() },
        }
    }

    fn head(&mut self, session: &SessionEntry) {
        let title = if session.title.is_empty() { UNTITLED } else { &session.title };
        let place = format!("Session {}, {} in {}", session.id, session.agent, session.workspace);
        let _ = self.strong(title).and_then(|()| self.dim(&place));
    }

    fn line(&mut self, line: &Line<'_>) -> io::Result<()> {
        if let Some(gap) = line.gap {
            return self.dim(&format!("[events {} to {} are lost]", gap.from, gap.to));
        }
        let Some(raw) = line.body else { return Ok(()) };
        match serde_json::from_str::<Body>(raw.get()) {
            Ok(body) => self.body(&body, line),
            // A newer version wrote it: shown as it is.
            Err(_) => {
                self.dim(&format!("[event {} of turn {:?}: {}]", line.seq, line.turn.map(|turn| turn.0), raw.get()))
            }
        }
    }

    fn body(&mut self, body: &Body, line: &Line<'_>) -> io::Result<()> {
        match body {
            Body::Text { text } => self.stream(Flow::Text, &text.to_plain()),
            Body::Thought { text } => self.stream(Flow::Thought, &text.to_plain()),
            Body::Code { text } => self.stream(Flow::Text, &text.to_plain()),
            Body::Echo { .. } | Body::CommandsChanged { .. } | Body::OptionsChanged { .. } => Ok(()),
            Body::Log { level, message } => self.dim(&format!("[{}: {message}]", log_word(*level))),
            Body::TurnUsed { tokens, .. } => self.dim(&format!("[{} tokens in, {} out]", tokens.input, tokens.output)),
            Body::Usage { used, size, .. } => self.dim(&format!("[{used} of {size} tokens in use]")),
            Body::SignInNeeded { message, methods } => {
                self.dim(&format!("[sign in first: {message}]"))?;
                methods.iter().try_for_each(|method| self.dim(&format!("  {}: {}", method.name, method.todo)))
            }
            Body::AgentSessionRestored { memory } => self.dim(&format!("[{}]", print::memory(*memory))),
            Body::ExecutionStarted { execution } => self.dim(&format!("[{}]", execution.title)),
            Body::ExecutionOutput { text, .. } => self.dim(text.trim_end()),
            Body::ExecutionEnded { title, end, .. } => self.dim(&format!("[{title}: {}]", print::execution_end(end))),
            Body::PromptQueued { prompt, .. } => {
                self.break_line()?;
                writeln!(self.out)?;
                self.strong(&format!("> {}", prompt.text.trim_end()))?;
                prompt
                    .context
                    .iter()
                    .filter_map(|item| item.path.as_deref())
                    .try_for_each(|path| self.dim(&format!("[with {path}]")))
            }
            Body::SessionOpened { .. } => self.dim(&format!("Opened {}", date(line.time))),
            Body::TurnStarted {} | Body::PromptTaken {} | Body::TitleChanged { .. } | Body::PolicyChanged { .. } => {
                Ok(())
            }
            Body::Plan { entries } => entries.iter().try_for_each(|entry| {
                let mark = match entry.status {
                    PlanStatus::Pending => " ",
                    PlanStatus::InProgress => "…",
                    PlanStatus::Completed => "x",
                };
                self.dim(&format!("[{mark}] {}", entry.content))
            }),
            Body::Status { message, .. } | Body::SourceGap { message, .. } => self.dim(&format!("[{message}]")),
            Body::CancelAsked {} => self.dim("[cancel]"),
            Body::TurnEnded { outcome, detail } => self.ended(*outcome, detail.as_ref()),
            Body::ToolCall { call } | Body::ToolCallUpdate { call } => self.call(call),
            Body::ApprovalAsked { approval } => self.asked(approval),
            Body::ApprovalResolved { resolution, .. } => self.dim(&format!("[{}]", answer(*resolution))),
            Body::AgentExited { message } => self.dim(&format!("[the agent has ended: {message}]")),
            Body::AgentRestarted {} => self.dim("[the agent runs again]"),
            Body::SessionClosed {} => self.dim(&format!("Closed {}", date(line.time))),
            Body::SessionReopened {} => self.dim(&format!("Opened again {}", date(line.time))),
            Body::Unknown { name, raw } => self.dim(&format!("[{name}: {raw}]")),
        }
    }

    fn ended(&mut self, outcome: Outcome, detail: Option<&Detail>) -> io::Result<()> {
        let word = match outcome {
            Outcome::Completed => return self.break_line(),
            Outcome::Cancelled => "cancelled",
            Outcome::Failed => "failed",
        };
        match detail {
            Some(detail) => self.dim(&format!("[{word}: {} ({})]", detail.message, detail.code)),
            None => self.dim(&format!("[{word}]")),
        }
    }

    fn call(&mut self, call: &ToolCall) -> io::Result<()> {
        let word = match call.status {
            ToolStatus::Pending => "waits",
            ToolStatus::Running => "runs",
            ToolStatus::Completed => "done",
            ToolStatus::Failed => "failed",
        };
        self.dim(&format!("[tool: {}, {word}]", call.title))
    }

    fn asked(&mut self, approval: &Approval) -> io::Result<()> {
        let what = approval.command.as_deref().or(approval.path.as_deref()).unwrap_or_default();
        self.dim(&format!("[asks: {} {what}]", approval.title))
    }

    fn stream(&mut self, flow: Flow, text: &str) -> io::Result<()> {
        if self.flow != flow {
            self.break_line()?;
        }
        self.flow = flow;
        let shown = if self.terminal { print::safe_text(text) } else { text.to_owned() };
        match flow {
            Flow::Thought => write!(self.out, "{}{shown}{:#}", self.style.dim, self.style.dim),
            Flow::Text | Flow::Nothing => write!(self.out, "{shown}"),
        }
    }

    fn break_line(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.flow, Flow::Nothing) == Flow::Nothing {
            return Ok(());
        }
        writeln!(self.out)
    }

    fn strong(&mut self, text: &str) -> io::Result<()> {
        self.break_line()?;
        writeln!(self.out, "{}{}{:#}", self.style.strong, print::safe_text(text), self.style.strong)
    }

    fn dim(&mut self, text: &str) -> io::Result<()> {
        self.break_line()?;
        writeln!(self.out, "{}{}{:#}", self.style.dim, print::safe_text(text), self.style.dim)
    }

    fn end(&mut self) -> io::Result<()> {
        self.break_line()?;
        self.out.flush()
    }
}

fn log_word(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Info => "log",
        LogLevel::Warn => "warning",
        LogLevel::Error => "error",
        LogLevel::Stderr => "stderr",
    }
}

fn answer(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::AllowOnce => "allowed once",
        Resolution::AllowSession => "allowed for the session",
        Resolution::AllowRule => "allowed by rule",
        Resolution::Deny => "denied",
        Resolution::DenyStop => "denied, and stopped",
        Resolution::Expired => "expired",
    }
}
