//! The lines of `plain` as an agent sees them. Writes whole lines only, so that many turns can speak at once.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

/// What the host asks.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Asked {
    /// Open a session.
    NewSession {
        /// To be repeated in the answer.
        request_id: Option<String>,
        /// The folder to work in.
        cwd: Option<String>,
    },
    /// Work on a prompt.
    ProcessPrompt {
        /// Which session.
        session_id: String,
        /// Which turn.
        message_id: Option<String>,
        /// The prompt.
        text: String,
        /// What goes with it; the demo agent only counts it.
        #[serde(default)]
        context: Vec<serde_json::Value>,
    },
    /// Stop working on a prompt.
    Cancel {
        /// Which session.
        session_id: String,
    },
    /// Forget a session.
    CloseSession {
        /// Which one.
        session_id: String,
    },
    /// What came of a tool call.
    ToolResult {
        /// Which session.
        session_id: String,
        /// Which call.
        call_id: String,
        /// Whether it worked.
        success: bool,
        /// The result.
        data: Option<serde_json::Value>,
        /// Why there is none.
        error: Option<serde_json::Value>,
    },
    /// What a person decided.
    ApprovalResult {
        /// Which session.
        session_id: String,
        /// Which question.
        approval_id: String,
        /// The answer.
        decision: String,
    },
}

/// What the demo agent says.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Said<'a> {
    /// The session is open.
    SessionCreated {
        /// As it was asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<&'a str>,
        /// Its name.
        session_id: &'a str,
    },
    /// A piece of the answer.
    ResponseChunk {
        /// Which session.
        session_id: &'a str,
        /// Which turn.
        message_id: Option<&'a str>,
        /// The piece.
        chunk: &'a str,
    },
    /// A piece of thinking.
    ThoughtChunk {
        /// Which session.
        session_id: &'a str,
        /// Which turn.
        message_id: Option<&'a str>,
        /// The piece.
        chunk: &'a str,
    },
    /// The plan as it stands.
    Plan {
        /// Which session.
        session_id: &'a str,
        /// All steps.
        entries: &'a [Step<'a>],
    },
    /// A word on what goes on.
    Status {
        /// Which session.
        session_id: &'a str,
        /// For a person.
        message: &'a str,
        /// From 0 to 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        progress: Option<f64>,
    },
    /// The turn is done.
    ResponseComplete {
        /// Which session.
        session_id: &'a str,
        /// Which turn.
        message_id: Option<&'a str>,
    },
    /// Something failed.
    Error {
        /// The request that failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<&'a str>,
        /// The session whose turn failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<&'a str>,
        /// For a person.
        message: &'a str,
    },
    /// A tool is wanted.
    ToolCall {
        /// Which session.
        session_id: &'a str,
        /// Our name for the call.
        call_id: &'a str,
        /// Which tool.
        tool_name: &'a str,
        /// What goes in.
        parameters: serde_json::Value,
    },
    /// A person's consent is wanted.
    ApprovalRequest {
        /// Which session.
        session_id: &'a str,
        /// Our name for the question.
        approval_id: &'a str,
        /// What sort of thing would happen.
        kind: &'a str,
        /// For people.
        title: &'a str,
        /// The command that would run.
        command: &'a str,
        /// Where.
        cwd: &'a str,
        /// How bad it could be.
        severity: &'a str,
        /// Why a person is asked.
        reason: &'a str,
    },
}

/// A step of a plan.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Step<'a> {
    /// What is to be done.
    pub content: &'a str,
    /// How far it is: `pending`, `in_progress`, `completed`.
    pub status: &'static str,
}

/// Adds a message as a line.
pub fn append(lines: &mut Vec<u8>, said: &Said<'_>) {
    // Serializing plain data into memory cannot fail.
    if serde_json::to_writer(&mut *lines, said).is_ok() {
        lines.push(b'\n');
    }
}

/// Writes bytes, at once and whole.
pub fn write(bytes: &[u8]) {
    write_pieces([bytes]);
}

/// Writes pieces one after the other, with nobody else's in between. When nobody reads any more there is nothing left
/// to do but to go.
pub fn write_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) {
    let mut stdout = io::stdout().lock();
    for piece in pieces {
        if stdout.write_all(piece).and_then(|()| stdout.flush()).is_err() {
            std::process::exit(0);
        }
    }
}

/// Writes one message.
pub fn say(said: &Said<'_>) {
    let mut line = Vec::new();
    append(&mut line, said);
    write(&line);
}
