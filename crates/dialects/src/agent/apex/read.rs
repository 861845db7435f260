//! What a backend says, one message at a time. Remembers nothing; streamed text is never copied.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::Value;
use switchboard_types::limits::{MAX_ID_BYTES, MAX_JSON_DEPTH};
use switchboard_types::{CallId, LogLevel, SessionId, Text, TurnName, Word};

use super::Noise;
use crate::json::{FieldError, Fields, deeper_than};
use crate::jsonrpc::IdRef;

/// How deep a tool's input may nest: less than a whole message, since it is stored within an event of its own.
const MAX_INPUT_DEPTH: usize = MAX_JSON_DEPTH - 8;
/// Characters of an error's details that are shown.
const MAX_DETAILS_CHARS: usize = 2000;

/// What a piece of streamed text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Thought,
    Code,
    Text,
}

impl Kind {
    /// Whether it is part of the answer.
    pub(super) fn is_answer(self) -> bool {
        match self {
            Self::Code | Self::Text => true,
            Self::Thought => false,
        }
    }
}

/// A piece of streamed text.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub(super) task: Cow<'a, str>,
    pub(super) kind: Kind,
    text: Text,
    /// The text with its quotes, as it lies in the frame.
    pub(super) literal: &'a str,
}

impl Piece<'_> {
    pub(super) fn into_word(self, session: SessionId, name: TurnName) -> Word {
        let (name, text) = (Some(name), self.text);
        match self.kind {
            Kind::Thought => Word::Thought { session, name, text },
            Kind::Code => Word::Code { session, name, text },
            Kind::Text => Word::Text { session, name, text },
        }
    }
}

/// A tool that is asked for.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) id: CallId,
    tool: String,
    input: Value,
}

impl Wanted {
    pub(super) fn into_word(self, session: SessionId) -> Word {
        Word::ToolCall { session, call: self.id, tool: self.tool, parameters: self.input }
    }
}

fn named<'a, const N: usize>(
    params: Option<&'a str>,
    names: &'static [&'static str; N],
) -> Result<Fields<'a, N>, Noise> {
    let params = params.ok_or_else(|| Noise::new("`params` is missing"))?;
    let fields = Fields::read(params, names).map_err(|error| Noise::new(format!("`params`: {error}")))?;
    match fields.fault() {
        Some(fault) => Err(fault.clone().into()),
        None => Ok(fields),
    }
}

pub(super) fn partial_result<'a>(params: Option<&'a str>, frame: &Bytes) -> Result<Piece<'a>, Noise> {
    let fields = named(params, &["taskId", "content", "type"])?;
    let (name, expected) = ("content", "a string");
    let literal = fields.required(name, expected)?;
    let text = Text::from_literal(frame, literal).ok_or(FieldError::Wrong { name, expected })?;
    let kind = match fields.name("type")?.as_ref() {
        "thought" => Kind::Thought,
        "code" => Kind::Code,
        "text" => Kind::Text,
        _ => return Err(FieldError::Wrong { name: "type", expected: "\"thought\", \"code\" or \"text\"" }.into()),
    };
    Ok(Piece { task: fields.id("taskId")?, kind, text, literal })
}

pub(super) fn status(session: SessionId, params: Option<&str>) -> Result<Word, Noise> {
    let fields = named(params, &["message", "progress"])?;
    let progress = match fields.raw("progress") {
        None => None,
        Some(raw) => {
            let wrong = FieldError::Wrong { name: "progress", expected: "a number from 0 to 1" };
            Some(raw.parse::<f64>().map_err(|_| wrong)?.clamp(0.0, 1.0))
        }
    };
    Ok(Word::Status { session, message: fields.text("message")?, progress })
}

pub(super) fn log(session: SessionId, params: Option<&str>) -> Result<Word, Noise> {
    let fields = named(params, &["type", "message"])?;
    let level = match fields.optional_text("type")?.as_deref() {
        Some("error") => LogLevel::Error,
        Some("warn" | "warning") => LogLevel::Warn,
        _ => LogLevel::Info,
    };
    Ok(Word::Log { session, level, message: fields.text("message")? })
}

/// The task and what went wrong with it.
pub(super) fn task_error(params: Option<&str>) -> Result<(String, String), Noise> {
    let fields = named(params, &["taskId", "message", "details"])?;
    let (task, message) = (fields.id("taskId")?.into_owned(), fields.text("message")?);
    let Some(raw) = fields.raw("details") else { return Ok((task, message)) };
    let details = fields.optional_text("details").ok().flatten().unwrap_or_else(|| raw.to_owned());
    let shown: String = details.chars().take(MAX_DETAILS_CHARS).collect();
    let cut = if shown.len() < details.len() { "…" } else { "" };
    Ok((task, format!("{message} ({shown}{cut})")))
}

/// A tool call; one without a name of its own has that of its request, if there is one.
pub(super) fn tool_call(params: Option<&str>, request: Option<IdRef<'_>>) -> Result<Wanted, Noise> {
    let fields = named(params, &["toolCallId", "toolName", "toolInput"])?;
    let own = fields.optional_id("toolCallId")?;
    let id = own.or_else(|| Some(Cow::Owned(plain_id(request?)?)));
    let id = id.ok_or(FieldError::Missing { name: "toolCallId", expected: "a string" })?;
    let input = match fields.raw("toolInput") {
        None => Value::Object(serde_json::Map::new()),
        Some(raw) if deeper_than(raw.as_bytes(), MAX_INPUT_DEPTH) => {
            return Err(Noise::new(format!("`toolInput` is nested deeper than {MAX_INPUT_DEPTH}")));
        }
        Some(raw) => {
            serde_json::from_str(raw).map_err(|error| Noise::new(format!("`toolInput` cannot be read: {error}")))?
        }
    };
    Ok(Wanted { id: CallId::from(&*id), tool: fields.name("toolName")?.into_owned(), input })
}

fn plain_id(request: IdRef<'_>) -> Option<String> {
    let json = request.as_json();
    let plain = serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned());
    (!request.is_null() && plain.len() <= MAX_ID_BYTES).then_some(plain)
}
