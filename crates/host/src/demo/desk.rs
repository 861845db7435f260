//! The demo agent's sessions, and which turn hears what. Says nothing of its own but that sessions are open.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};
use std::thread;

use super::trick::{self, After};
use super::turn::{News, Reins, Turn};
use super::wire::{self, Asked, Said};

/// Sessions of one process.
const MAX_SESSIONS: usize = 10_000;
/// A line that the host may send; what is longer is skipped.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// Answers what comes on standard input until it ends.
pub fn run() -> io::Result<()> {
    let mut stdin = BufReader::new(io::stdin().lock());
    let mut desk = Desk::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        if stdin.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        match serde_json::from_slice(&line) {
            Ok(asked) => desk.hear(asked),
            Err(error) => eprintln!("demo agent: a line was not understood: {error}"),
        }
    }
}

#[derive(Default)]
struct Desk {
    opened: u64,
    sessions: HashMap<String, Session>,
}

struct Session {
    cwd: String,
    /// The last turn; it may be over.
    turn: Option<Reins>,
}

impl Desk {
    fn hear(&mut self, asked: Asked) {
        match asked {
            Asked::NewSession { request_id, cwd } => self.open(request_id.as_deref(), cwd.unwrap_or_default()),
            Asked::ProcessPrompt { session_id, message_id, text, context } => {
                self.prompt(session_id, message_id, text, context.len());
            }
            Asked::Cancel { session_id } => self.with_turn(&session_id, Reins::stop),
            Asked::CloseSession { session_id } => {
                self.with_turn(&session_id, Reins::stop);
                self.sessions.remove(&session_id);
            }
            Asked::ToolResult { session_id, call_id, success, data, error } => {
                let outcome = if success { Ok(data.unwrap_or_default()) } else { Err(error.unwrap_or_default()) };
                self.with_turn(&session_id, |turn| turn.tell(News::Tool { call: call_id, outcome }));
            }
            Asked::ApprovalResult { session_id, approval_id, decision } => {
                self.with_turn(&session_id, |turn| turn.tell(News::Approval { approval: approval_id, decision }));
            }
        }
    }

    fn with_turn(&self, session: &str, act: impl FnOnce(&Reins)) {
        if let Some(turn) = self.sessions.get(session).and_then(|session| session.turn.as_ref()) {
            act(turn);
        }
    }

    fn open(&mut self, request_id: Option<&str>, cwd: String) {
        if self.sessions.len() >= MAX_SESSIONS {
            let message = "the demo agent has too many sessions; close some";
            return wire::say(&Said::Error { request_id, session_id: None, message });
        }
        self.opened += 1;
        let session_id = format!("demo-{}", self.opened);
        wire::say(&Said::SessionCreated { request_id, session_id: &session_id });
        self.sessions.insert(session_id, Session { cwd, turn: None });
    }

    fn prompt(&mut self, session_id: String, message_id: Option<String>, text: String, context: usize) {
        let Some(session) = self.sessions.get_mut(&session_id) else {
            let message = "the demo agent does not know this session";
            return wire::say(&Said::Error { request_id: None, session_id: Some(&session_id), message });
        };
        let (turn, reins) = Turn::new(session_id.clone(), message_id, session.cwd.clone());
        session.turn = Some(reins);
        let started = thread::Builder::new().name("turn".into()).spawn(move || work(&turn, &text, context));
        if started.is_err() {
            let message = "the demo agent cannot start another turn now; try again";
            wire::say(&Said::Error { request_id: None, session_id: Some(&session_id), message });
        }
    }
}

fn work(turn: &Turn, text: &str, context: usize) {
    match trick::perform(turn, text, context) {
        // A cancelled turn is answered too, so that the next prompt need not wait.
        Ok(After::Complete) | Err(_) => turn.complete(),
        Ok(After::Nothing) => {}
    }
}
