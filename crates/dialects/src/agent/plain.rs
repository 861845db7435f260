//! The dialect `plain`: an agent in twenty lines of any language, one JSON object per message, many sessions per process.
//! Owns the agent's own session ids; never lets one out and never keeps more for unknown ones than the limits say.

mod read;
mod say;
mod sessions;
mod shape;

use bytes::Bytes;
use switchboard_types::{Ask, SessionId, Time, Word};

use self::say::ToAgent;
use self::sessions::{Created, Sessions};
pub use self::shape::schema;
use super::early::Early;
use super::repeat::Repeat;
use super::{AgentDialect, Noise};
use crate::json::{FieldError, Fields, FieldsError, shown};

/// What an agent may say.
pub const AGENT_SAYS: [&str; 11] = [
    "response-chunk",
    "thought-chunk",
    "status",
    "plan",
    "tool-call",
    "approval-request",
    "response-complete",
    "error",
    "session-created",
    "session-ended",
    "usage",
];

/// What the host may say.
pub const HOST_SAYS: [&str; 6] =
    ["new-session", "process-prompt", "cancel", "close-session", "tool-result", "approval-result"];

/// Every field that an agent's message may carry, those of streamed text first.
const FIELDS: [&str; 25] = [
    "type",
    "sessionId",
    "messageId",
    "chunk",
    "message",
    "progress",
    "entries",
    "requestId",
    "callId",
    "toolName",
    "parameters",
    "reason",
    "approvalId",
    "kind",
    "title",
    "command",
    "cwd",
    "path",
    "diff",
    "severity",
    "inputTokens",
    "outputTokens",
    "cachedTokens",
    "thoughtTokens",
    "cost",
];

type PlainFields<'a> = Fields<'a, { FIELDS.len() }>;

/// The dialect `plain` with what it remembers for one process.
#[derive(Debug, Default)]
pub struct Plain {
    sessions: Sessions,
    early: Early,
    owed: Vec<Vec<u8>>,
    repeat: Repeat,
}

impl Plain {
    /// For a process that has just started.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A word for one session: translated if the session is open, kept if it may still be opening.
    fn word(&mut self, kind: &str, fields: &PlainFields<'_>, frame: &Bytes, said: &mut Vec<Word>) -> Result<(), Noise> {
        let Some(id) = fields.optional_id("sessionId")? else {
            return Err(Noise::new(format!("{} names no session", shown(kind))));
        };
        let Some(open) = self.sessions.open(&id) else { return self.keep(kind, &id, frame) };
        let word = read::word(kind, fields, frame, open)?;
        if matches!(word, Word::SessionEnded { .. }) {
            self.sessions.ended(&id);
        }
        if let (Word::Text { .. } | Word::Thought { .. }, Some(chunk)) = (&word, fields.raw("chunk")) {
            self.repeat.note(frame, chunk, &word);
        }
        said.push(word);
        Ok(())
    }

    fn keep(&mut self, kind: &str, id: &str, frame: &Bytes) -> Result<(), Noise> {
        if self.sessions.was_closed(id) {
            return Err(Noise::new(format!("{} is for the closed session {}", shown(kind), shown(id))));
        }
        if !self.sessions.any_opening() {
            return Err(Noise::new(format!("{} is for the unknown session {}", shown(kind), shown(id))));
        }
        match self.early.keep(id, frame) {
            0 => Ok(()),
            dropped => {
                Err(Noise::new(format!("too much was said before session-created; dropped {dropped} early messages")))
            }
        }
    }

    fn created(&mut self, now: Time, fields: &PlainFields<'_>, said: &mut Vec<Word>) -> Result<(), Noise> {
        let (id, request) = (fields.id("sessionId")?, fields.optional_id("requestId")?);
        let mut first_noise = None;
        match self.sessions.created(request.as_deref(), &id)? {
            Created::Opened(session) => {
                said.push(Word::SessionOpened { session, agent_session: None, memory: None });
                for frame in self.early.take(&id) {
                    first_noise = first_noise.or(self.read(now, &frame, said).err());
                }
            }
            Created::Unwanted => self.owed.extend(ToAgent::CloseSession { session_id: &id }.encode()),
        }
        first_noise.map_or_else(|| self.drop_strays(), Err)
    }

    /// When no session is opening any more, nothing can be early.
    fn drop_strays(&mut self) -> Result<(), Noise> {
        match if self.sessions.any_opening() { 0 } else { self.early.clear() } {
            0 => Ok(()),
            strays => Err(Noise::new(format!("dropped {strays} early messages for sessions that were never opened"))),
        }
    }

    fn error(&mut self, fields: &PlainFields<'_>, frame: &Bytes, said: &mut Vec<Word>) -> Result<(), Noise> {
        let message = read::error_message(fields)?;
        let (request, session) = (fields.optional_id("requestId")?, fields.optional_id("sessionId")?);
        if let Some(request) = request {
            if let Some(wanted) = self.sessions.failed(&request) {
                said.extend(wanted.map(|session| Word::OpenFailed { session, message }));
                return self.drop_strays();
            }
            if session.is_none() {
                return Err(Noise::new(format!("\"error\" is for the unknown request {}", shown(&request))));
            }
        }
        if session.is_some() {
            return self.word("error", fields, frame, said);
        }
        said.push(Word::Trouble { message });
        Ok(())
    }

    /// Forgets a session. One that is still opening is closed when the agent has created it.
    fn close(&mut self, session: SessionId) -> Option<Vec<u8>> {
        let id = self.sessions.forget(session)?;
        ToAgent::CloseSession { session_id: &id }.encode()
    }

    /// Encodes what is said to an open agent session. The host asks nothing of a session before it was told that it is
    /// open, and has been told when it ended; so an ask that finds no agent session has nobody to go to.
    fn say<'s>(&'s self, session: SessionId, message: impl FnOnce(&'s str) -> ToAgent<'s>) -> Option<Vec<u8>> {
        message(self.sessions.id_of(session)?).encode()
    }
}

impl AgentDialect for Plain {
    fn read(&mut self, now: Time, frame: &Bytes, said: &mut Vec<Word>) -> Result<(), Noise> {
        if let Some(word) = self.repeat.read(frame) {
            said.push(word);
            return Ok(());
        }
        self.repeat.forget();
        let text = std::str::from_utf8(frame).map_err(|error| Noise::new(format!("not UTF-8: {error}")))?;
        let fields = PlainFields::read(text, &FIELDS)?;
        if let Some(fault) = fields.fault() {
            return Err(fault.clone().into());
        }
        let kind = fields.name("type")?;
        match &*kind {
            "session-created" => self.created(now, &fields, said),
            "error" => self.error(&fields, frame, said),
            other => self.word(other, &fields, frame, said),
        }
    }

    fn ask(&mut self, _now: Time, ask: Ask, messages: &mut Vec<Vec<u8>>) {
        self.repeat.forget();
        self.owed(messages);
        match ask {
            Ask::OpenSession { session, cwd, .. } => {
                messages.extend(self.close(session));
                let request = self.sessions.begin(session);
                messages.extend(ToAgent::NewSession { request_id: &request, cwd: cwd.as_str() }.encode());
            }
            Ask::Prompt { session, name, prompt, recap: _ } => {
                self.sessions.expect(session, &name);
                messages.extend(self.say(session, |id| ToAgent::prompt(id, name.as_str(), &prompt)));
            }
            Ask::Cancel { session, name } => {
                let message = self.say(session, |id| ToAgent::Cancel { session_id: id, message_id: name.as_str() });
                messages.extend(message);
            }
            Ask::CloseSession { session } => messages.extend(self.close(session)),
            Ask::ToolResult { session, call, result } => {
                messages.extend(self.say(session, |id| ToAgent::tool_result(id, call.as_str(), &result)));
            }
            Ask::ApprovalAnswer { session, approval, answer } => {
                let (approval_id, resolution) = (approval.as_str(), answer.resolution());
                let result = |id| ToAgent::ApprovalResult { session_id: id, approval_id, decision: resolution };
                messages.extend(self.say(session, result));
            }
            // The vocabulary has no words for these, and no agent of it ever gives a reason to say them.
            Ask::ErrandDone { .. }
            | Ask::SetOption { .. }
            | Ask::SignIn { .. }
            | Ask::Configure { .. }
            | Ask::Wish { .. } => {}
        }
    }

    fn owed(&mut self, messages: &mut Vec<Vec<u8>>) {
        messages.append(&mut self.owed);
    }
}

impl From<FieldsError> for Noise {
    fn from(error: FieldsError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<FieldError> for Noise {
    fn from(error: FieldError) -> Self {
        Self::new(error.to_string())
    }
}
