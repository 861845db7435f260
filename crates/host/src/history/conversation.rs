//! A conversation as Markdown, for people: who said what, what was run, what was changed. Written as the log is read; never
//! held whole in memory. The log itself, with every event, is the export for programs.

use std::fmt::Write as _;
use std::io::{self, Cursor, Read};
use std::sync::Weak;

use switchboard_types::limits::READ_PAGE_BYTES;
use switchboard_types::{
    Body, CallId, Detail, Execution, ExecutionEnd, Outcome, Prompt, Seq, SessionId, Time, ToolCall, ToolContent,
    ToolStatus,
};

use super::SessionEntry;
use crate::cli::print::date;
use crate::store::Store;

/// Bytes of one thing that a tool was given or gave; the log has the rest.
const MAX_SHOWN_BYTES: usize = 16 * 1024;
/// Calls of which the beginning is remembered until they are over.
const MAX_CALLS: usize = 256;

/// Whose words come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voice {
    Nobody,
    Agent,
    Thought,
}

/// Writes a conversation, event by event.
#[derive(Debug)]
pub struct Conversation {
    agent: String,
    voice: Voice,
    /// Whether a heading of the agent stands above already.
    headed: bool,
    /// What is said now, until it is over: its fences must be closed, and its lines quoted.
    text: String,
    calls: Vec<(CallId, ToolCall)>,
}

impl Conversation {
    /// Begins with the title and where it was.
    #[must_use]
    pub fn new(session: &SessionEntry, out: &mut String) -> Self {
        let title = if session.title.is_empty() { "A session" } else { &session.title };
        let opened = date(session.created_ms);
        let _ = writeln!(out, "# {}\n", one_line(title));
        let _ = writeln!(
            out,
            "Session {}, agent `{}`, in {}. Opened {opened}.",
            session.id,
            session.agent,
            code(&session.workspace)
        );
        Self {
            agent: one_line(&session.agent),
            voice: Voice::Nobody,
            headed: false,
            text: String::new(),
            calls: Vec::new(),
        }
    }

    /// Events that the log no longer has.
    pub fn gap(&mut self, from: Seq, to: Seq, out: &mut String) {
        self.aside(&format!("Events {from} to {to} are lost."), out);
    }

    /// One event.
    pub fn event(&mut self, at: Time, body: &Body, out: &mut String) {
        match body {
            Body::PromptQueued { prompt, .. } => self.prompt(at, prompt, out),
            Body::Text { text } | Body::Code { text } => self.say(Voice::Agent, &text.to_plain(), out),
            Body::Thought { text } => self.say(Voice::Thought, &text.to_plain(), out),
            Body::ToolCall { call } | Body::ToolCallUpdate { call } => self.call(call, out),
            Body::ExecutionStarted { execution } => self.execution(execution, out),
            Body::ExecutionEnded { end, output, .. } => self.ended(end, output.as_deref(), out),
            Body::Plan { entries } => {
                self.hush(out);
                out.push('\n');
                for entry in entries {
                    let mark = if entry.status == switchboard_types::PlanStatus::Completed { 'x' } else { ' ' };
                    let _ = writeln!(out, "- [{mark}] {}", one_line(&entry.content));
                }
            }
            Body::TurnEnded { outcome, detail } => self.turn_ended(*outcome, detail.as_ref(), out),
            Body::AgentExited { message } => self.aside(&format!("The agent has ended: {message}"), out),
            Body::SourceGap { message, .. } => self.aside(message, out),
            Body::SessionOpened { .. }
            | Body::TitleChanged { .. }
            | Body::TurnStarted {}
            | Body::Echo { .. }
            | Body::Log { .. }
            | Body::Status { .. }
            | Body::CancelAsked {}
            | Body::ApprovalAsked { .. }
            | Body::ApprovalResolved { .. }
            | Body::PolicyChanged { .. }
            | Body::ExecutionOutput { .. }
            | Body::CommandsChanged { .. }
            | Body::OptionsChanged { .. }
            | Body::Usage { .. }
            | Body::TurnUsed { .. }
            | Body::SignInNeeded { .. }
            | Body::AgentSessionRestored { .. }
            | Body::AgentRestarted {}
            | Body::PromptTaken {}
            | Body::SessionClosed {}
            | Body::SessionReopened {}
            | Body::Unknown { .. } => {}
        }
    }

    /// Ends what is still said.
    pub fn end(&mut self, out: &mut String) {
        let open: Vec<ToolCall> = self.calls.drain(..).map(|(_, call)| call).collect();
        open.iter().for_each(|call| self.write_call(call, out));
        self.hush(out);
    }

    fn prompt(&mut self, at: Time, prompt: &Prompt, out: &mut String) {
        self.hush(out);
        self.headed = false;
        let _ = writeln!(out, "\n## Prompt, {}\n", date(at));
        quote(&prompt.text, out);
        for path in prompt.context.iter().filter_map(|item| item.path.as_deref()) {
            let _ = writeln!(out, "\nWith {}", code(path));
        }
    }

    /// The agent's words may be Markdown, and are left as they are.
    fn say(&mut self, voice: Voice, piece: &str, out: &mut String) {
        if self.voice != voice {
            self.hush(out);
            self.voice = voice;
        }
        self.text.push_str(piece);
    }

    fn heading(&mut self, out: &mut String) {
        if !std::mem::replace(&mut self.headed, true) {
            let _ = writeln!(out, "\n## {}", self.agent);
        }
    }

    /// What was said is over.
    fn hush(&mut self, out: &mut String) {
        let text = std::mem::take(&mut self.text);
        let voice = std::mem::replace(&mut self.voice, Voice::Nobody);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        self.heading(out);
        match voice {
            Voice::Thought => {
                out.push_str("\n*Thinking:*\n\n");
                quote(text, out);
            }
            Voice::Agent | Voice::Nobody => {
                let _ = writeln!(out, "\n{text}");
                if let Some(fence) = open_fence(text) {
                    let _ = writeln!(out, "{fence}");
                }
            }
        }
    }

    fn aside(&mut self, words: &str, out: &mut String) {
        self.hush(out);
        let _ = writeln!(out, "\n*{}*", one_line(words));
    }

    fn call(&mut self, call: &ToolCall, out: &mut String) {
        let at = self.calls.iter().position(|(id, _)| *id == call.id);
        let mut whole = match at {
            Some(at) => self.calls.remove(at).1,
            None => ToolCall::new(call.id.clone(), "", call.status),
        };
        merge(&mut whole, call);
        match call.status {
            ToolStatus::Completed | ToolStatus::Failed => self.write_call(&whole, out),
            ToolStatus::Pending | ToolStatus::Running => {
                if self.calls.len() >= MAX_CALLS {
                    let oldest = self.calls.remove(0).1;
                    self.write_call(&oldest, out);
                }
                self.calls.push((call.id.clone(), whole));
            }
        }
    }

    fn write_call(&mut self, call: &ToolCall, out: &mut String) {
        self.hush(out);
        self.heading(out);
        let failed = if call.status == ToolStatus::Failed { " (failed)" } else { "" };
        let _ = writeln!(out, "\n**Tool:** {}{failed}", one_line(&call.title));
        if let Some(input) = &call.input {
            fenced("json", &serde_json::to_string_pretty(input).unwrap_or_default(), out);
        }
        let mut shown = false;
        for piece in call.content.iter().flatten() {
            match piece {
                ToolContent::Text { text } => fenced("", text, out),
                ToolContent::Diff { path, new, .. } => {
                    let _ = writeln!(out, "\n{}:", code(path));
                    fenced("", new, out);
                }
                ToolContent::Terminal { output: Some(output), .. } => fenced("", output, out),
                ToolContent::Link { uri, name } => drop(writeln!(out, "\n{} ({})", one_line(name), code(uri))),
                ToolContent::Terminal { output: None, .. } | ToolContent::Image { .. } | ToolContent::Other { .. } => {
                    continue;
                }
            }
            shown = true;
        }
        match &call.output {
            Some(serde_json::Value::String(text)) if !shown => fenced("", text, out),
            Some(output) if !shown => fenced("json", &serde_json::to_string_pretty(output).unwrap_or_default(), out),
            Some(_) | None => {}
        }
        if let Some(error) = &call.error {
            let _ = writeln!(out, "\n*{}*", one_line(&error.message));
        }
    }

    fn execution(&mut self, execution: &Execution, out: &mut String) {
        self.hush(out);
        self.heading(out);
        let _ = writeln!(out, "\n**Done:** {}", one_line(&execution.title));
        execution.command.iter().for_each(|command| fenced("sh", command, out));
        execution.diff.iter().for_each(|diff| fenced("diff", diff, out));
    }

    fn ended(&mut self, end: &ExecutionEnd, output: Option<&str>, out: &mut String) {
        self.hush(out);
        output.filter(|output| !output.trim().is_empty()).iter().for_each(|output| fenced("", output, out));
        match end {
            ExecutionEnd::Exited { code: 0 } | ExecutionEnd::Returned {} | ExecutionEnd::Written { .. } => {}
            other => self.aside(&crate::cli::print::execution_end(other), out),
        }
    }

    fn turn_ended(&mut self, outcome: Outcome, detail: Option<&Detail>, out: &mut String) {
        self.end(out);
        let word = match outcome {
            Outcome::Completed => return,
            Outcome::Cancelled => "Cancelled",
            Outcome::Failed => "Failed",
        };
        let why = detail.map(|detail| format!(": {}", detail.message)).unwrap_or_default();
        self.aside(&format!("{word}{why}"), out);
    }
}

/// What an update leaves open stays as it was.
fn merge(whole: &mut ToolCall, call: &ToolCall) {
    whole.status = call.status;
    if !call.title.is_empty() {
        whole.title.clone_from(&call.title);
    }
    whole.input = call.input.clone().or_else(|| whole.input.take());
    whole.output = call.output.clone().or_else(|| whole.output.take());
    whole.content = call.content.clone().or_else(|| whole.content.take());
    whole.error = call.error.clone().or_else(|| whole.error.take());
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn code(text: &str) -> String {
    if text.contains('`') { one_line(text) } else { format!("`{}`", one_line(text)) }
}

fn quote(text: &str, out: &mut String) {
    for line in text.trim_end().lines() {
        let _ = writeln!(out, "> {line}");
    }
}

/// Text in a fence that is longer than any in it.
fn fenced(language: &str, text: &str, out: &mut String) {
    let end = text.floor_char_boundary(text.len().min(MAX_SHOWN_BYTES));
    let shown = text.get(..end).unwrap_or_default();
    let longest = shown.split(|one| one != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "\n{fence}{language}\n{}\n{fence}", shown.trim_end());
    if end < text.len() {
        let _ = writeln!(out, "\n*{} bytes more are in the log.*", text.len() - end);
    }
}

/// The fence that a text leaves open, if it does.
fn open_fence(text: &str) -> Option<String> {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines().map(str::trim_start) {
        let Some(sign) = line.chars().next().filter(|sign| matches!(sign, '`' | '~')) else { continue };
        let length = line.chars().take_while(|one| *one == sign).count();
        match open {
            None if length >= 3 => open = Some((sign, length)),
            Some((opened, long))
                if opened == sign && length >= long && line.trim_end().chars().all(|one| one == sign) =>
            {
                open = None;
            }
            None | Some(_) => {}
        }
    }
    open.map(|(sign, length)| std::iter::repeat_n(sign, length).collect())
}

/// A conversation out of the store, read a page at a time, up to where it ended when it was opened, or a little further.
pub struct ConversationReader {
    store: Weak<dyn Store>,
    session: SessionId,
    after: Seq,
    until: Seq,
    conversation: Option<Conversation>,
    text: Cursor<Vec<u8>>,
}

impl ConversationReader {
    /// Opens the conversation of a session whose log ends there.
    #[must_use]
    pub fn new(store: Weak<dyn Store>, session: &SessionEntry, until: Seq) -> Self {
        let mut text = String::new();
        let conversation = Conversation::new(session, &mut text);
        Self {
            store,
            session: session.id,
            after: Seq::START,
            until,
            conversation: Some(conversation),
            text: Cursor::new(text.into_bytes()),
        }
    }

    /// The next part; nothing at the end.
    fn next(&mut self) -> io::Result<String> {
        let mut text = String::new();
        let Some(conversation) = &mut self.conversation else { return Ok(text) };
        while text.is_empty() {
            let store = self.store.upgrade().ok_or_else(|| io::Error::other("the host is stopping"))?;
            let slice = if self.after < self.until {
                store.read_after(self.session, self.after, READ_PAGE_BYTES).map_err(io::Error::other)?
            } else {
                crate::store::Slice::default()
            };
            if let Some((from, to)) = slice.gap {
                conversation.gap(from, to, &mut text);
                self.after = to;
            } else if slice.page.is_none() {
                conversation.end(&mut text);
                self.conversation = None;
                return Ok(text);
            }
            for event in slice.page.iter().flat_map(|page| page.events()) {
                self.after = event.seq;
                if let Ok(body) = event.body() {
                    conversation.event(event.at, &body, &mut text);
                }
            }
        }
        Ok(text)
    }
}

impl Read for ConversationReader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.text.read(room)?;
            if read > 0 || room.is_empty() || self.conversation.is_none() {
                return Ok(read);
            }
            self.text = Cursor::new(self.next()?.into_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(bodies: &[Body]) -> String {
        let session = SessionEntry {
            id: SessionId(3),
            title: "A\ntitle".to_owned(),
            agent: "demo".to_owned(),
            workspace: "/w".to_owned(),
            open: false,
            created_ms: Time(0),
            updated_ms: Time(0),
            usage: None,
        };
        let mut out = String::new();
        let mut conversation = Conversation::new(&session, &mut out);
        bodies.iter().for_each(|body| conversation.event(Time(60_000), body, &mut out));
        conversation.end(&mut out);
        out
    }

    #[test]
    fn a_conversation_reads_as_it_was() {
        let mut call = ToolCall::new(CallId::from("c"), "Read", ToolStatus::Running);
        call.input = Some(serde_json::json!({"path": "a"}));
        let mut done = ToolCall::new(CallId::from("c"), "Read", ToolStatus::Completed);
        done.output = Some(serde_json::json!("a ``` b"));
        let prompt = Prompt { text: "do it\n# now".to_owned(), context: Vec::new() };
        let bodies = [
            Body::PromptQueued { name: "m".into(), prompt, position: 0 },
            Body::Thought { text: "hm".into() },
            Body::Text { text: "I ".into() },
            Body::Text { text: "read:\n```rust\nfn".into() },
            Body::ToolCall { call },
            Body::ToolCallUpdate { call: done },
            Body::Text { text: "Done.".into() },
            Body::TurnEnded { outcome: Outcome::Failed, detail: Some(Detail::new("x", "no more")) },
        ];
        let wanted = "# A title\n\nSession 3, agent `demo`, in `/w`. Opened 1970-01-01 00:00 UTC.\n\
            \n## Prompt, 1970-01-01 00:01 UTC\n\n> do it\n> # now\n\n## demo\n\n*Thinking:*\n\n> hm\n\
            \nI read:\n```rust\nfn\n```\n\n**Tool:** Read\n\n```json\n{\n  \"path\": \"a\"\n}\n```\n\
            \n````\na ``` b\n````\n\nDone.\n\n*Failed: no more*\n";
        assert_eq!(write(&bodies), wanted);
    }

    #[test]
    fn fences_that_are_left_open_are_found() {
        assert_eq!(open_fence("a\n```\nb"), Some("```".to_owned()));
        assert_eq!(open_fence("````md\n```\n````\n~~~"), Some("~~~".to_owned()));
        assert_eq!(open_fence("```\n```\nplain `code`"), None);
    }
}
