//! The words of a plain agent for one open session. Never looks at other sessions; streamed text is never copied.

use bytes::Bytes;
use switchboard_types::limits::MAX_JSON_DEPTH;
use switchboard_types::{
    Approval, ApprovalId, ApprovalKind, CallId, Cost, Outcome, PlanEntry, PlanStatus, Severity, Text, Tokens, TurnName,
    Word,
};

use super::sessions::Open;
use super::{Noise, PlainFields};
use crate::json::{FieldError, Fields, deeper_than, items};

/// A currency's name, in bytes.
const MAX_CURRENCY_BYTES: usize = 16;
/// Steps of one plan.
const MAX_PLAN_ENTRIES: usize = 1000;
/// How deep a tool's parameters may nest: less than a whole message, since they are stored within an event of their own.
const MAX_PARAMETERS_DEPTH: usize = MAX_JSON_DEPTH - 8;

/// Translates a message for an open session. What is unknown is kept as it came.
pub(super) fn word(kind: &str, fields: &PlainFields<'_>, frame: &Bytes, open: &mut Open) -> Result<Word, Noise> {
    let session = open.session;
    Ok(match kind {
        "response-chunk" => Word::Text { session, name: turn(fields, open)?, text: chunk(fields, frame)? },
        "thought-chunk" => Word::Thought { session, name: turn(fields, open)?, text: chunk(fields, frame)? },
        "response-complete" => {
            Word::TurnDone { session, name: turn(fields, open)?, outcome: Outcome::Completed, detail: None }
        }
        "status" => Word::Status { session, message: fields.text("message")?, progress: progress(fields)? },
        "plan" => Word::Plan { session, entries: entries(fields)? },
        "tool-call" => Word::ToolCall {
            session,
            call: CallId::from(&*fields.id("callId")?),
            tool: fields.name("toolName")?.into_owned(),
            parameters: parameters(fields)?,
        },
        "approval-request" => Word::ApprovalWanted { session, approval: approval(fields)? },
        "usage" => Word::TurnUsed { session, tokens: tokens(fields)?, cost: cost(fields)? },
        "error" => Word::TurnFailed { session, message: error_message(fields)? },
        "session-ended" => Word::SessionEnded { session, reason: fields.optional_text("reason")? },
        _ => Word::Unknown { session, name: kind.to_owned(), raw: String::from_utf8_lossy(frame).into_owned() },
    })
}

/// What an error says. One that says nothing still ends what it is about.
pub(super) fn error_message(fields: &PlainFields<'_>) -> Result<String, FieldError> {
    let silent = || "the agent reported an error without saying which".to_owned();
    Ok(fields.optional_text("message")?.unwrap_or_else(silent))
}

fn turn(fields: &PlainFields<'_>, open: &mut Open) -> Result<Option<TurnName>, FieldError> {
    Ok(fields.optional_id("messageId")?.map(|name| open.turn(&name)))
}

fn chunk(fields: &PlainFields<'_>, frame: &Bytes) -> Result<Text, FieldError> {
    let (name, expected) = ("chunk", "a string");
    let raw = fields.required(name, expected)?;
    Text::from_literal(frame, raw).ok_or(FieldError::Wrong { name, expected })
}

fn progress(fields: &PlainFields<'_>) -> Result<Option<f64>, FieldError> {
    let Some(raw) = fields.raw("progress") else { return Ok(None) };
    let wrong = FieldError::Wrong { name: "progress", expected: "a number from 0 to 1" };
    let number: f64 = serde_json::from_str(raw).map_err(|_| wrong)?;
    Ok(Some(number.clamp(0.0, 1.0)))
}

fn tokens(fields: &PlainFields<'_>) -> Result<Tokens, FieldError> {
    let count = |name: &'static str| {
        let wrong = FieldError::Wrong { name, expected: "a whole number, 0 or more" };
        fields.raw(name).map_or(Ok(0), |raw| raw.parse::<u64>().map_err(|_| wrong))
    };
    Ok(Tokens {
        input: count("inputTokens")?,
        output: count("outputTokens")?,
        cached: count("cachedTokens")?,
        thought: count("thoughtTokens")?,
    })
}

fn cost(fields: &PlainFields<'_>) -> Result<Option<Cost>, FieldError> {
    let Some(raw) = fields.raw("cost") else { return Ok(None) };
    let wrong = || FieldError::Wrong { name: "cost", expected: "{amount, currency}, the amount 0 or more" };
    let cost: Cost = serde_json::from_str(raw).map_err(|_| wrong())?;
    let sound = cost.amount.is_finite() && cost.amount >= 0.0 && cost.currency.len() <= MAX_CURRENCY_BYTES;
    if sound { Ok(Some(cost)) } else { Err(wrong()) }
}

fn entries(fields: &PlainFields<'_>) -> Result<Vec<PlanEntry>, Noise> {
    let (name, expected) = ("entries", "an array of {content, status}");
    let raw = fields.required(name, expected)?;
    let Ok(list) = items(raw, MAX_PLAN_ENTRIES).ok_or(FieldError::Wrong { name, expected })? else {
        return Err(Noise::new(format!("`entries` has more than {MAX_PLAN_ENTRIES} items")));
    };
    list.into_iter().map(entry).collect()
}

fn entry(raw: &str) -> Result<PlanEntry, Noise> {
    let within = |error: String| Noise::new(format!("`entries`: {error}"));
    let fields = Fields::read(raw, &["content", "status"]).map_err(|error| within(error.to_string()))?;
    let read = || Ok((fields.text("content")?, fields.optional_text("status")?));
    let (content, status) = read().map_err(|error: FieldError| within(error.to_string()))?;
    let status = match status.as_deref() {
        Some("in_progress" | "running") => PlanStatus::InProgress,
        Some("completed" | "done") => PlanStatus::Completed,
        _ => PlanStatus::Pending,
    };
    Ok(PlanEntry { content, status, priority: None })
}

fn parameters(fields: &PlainFields<'_>) -> Result<serde_json::Value, Noise> {
    let Some(raw) = fields.raw("parameters") else { return Ok(serde_json::Value::Object(serde_json::Map::new())) };
    if deeper_than(raw.as_bytes(), MAX_PARAMETERS_DEPTH) {
        return Err(Noise::new(format!("`parameters` is nested deeper than {MAX_PARAMETERS_DEPTH}")));
    }
    serde_json::from_str(raw).map_err(|error| Noise::new(format!("`parameters` cannot be read: {error}")))
}

fn approval(fields: &PlainFields<'_>) -> Result<Approval, Noise> {
    let (command, path) = (fields.optional_text("command")?, fields.optional_text("path")?);
    let diff = fields.optional_text("diff")?;
    // An agent that does not say what it is about says it by what it shows.
    let likely = match (&command, path.as_ref().or(diff.as_ref())) {
        (Some(_), _) => ApprovalKind::Command,
        (None, Some(_)) => ApprovalKind::Edit,
        (None, None) => ApprovalKind::Tool,
    };
    let kind = fields.one_of("kind", "command, edit or tool")?.unwrap_or(likely);
    let severity = fields.one_of("severity", "low, medium, high or critical")?.unwrap_or(Severity::Medium);
    Ok(Approval {
        command,
        cwd: fields.optional_text("cwd")?,
        path,
        diff,
        reason: fields.optional_text("reason")?.unwrap_or_else(|| "the agent asks before it goes on".to_owned()),
        ..Approval::new(ApprovalId::from(&*fields.id("approvalId")?), kind, fields.text("title")?, severity)
    })
}
