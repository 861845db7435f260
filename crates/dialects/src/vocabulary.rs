//! What a session's events are called and what they say outside, for doors that speak the HTTP vocabulary: one event of the
//! log is one name and one payload. Pure; knows no envelope, no batch and no link.
//!
//! An event that comes from a foreign log keeps its name and its payload there. Any other is translated; what the
//! vocabulary has no word for is `switchboard.<kind>` with the body as it lies in the log.

mod shape;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::Serialize;
use switchboard_types::record::Peek;
use switchboard_types::{Approval, Body, EventRef, LogLevel, Resolution, RuleWhat, ToolCall, ToolStatus, TurnNames};

pub use self::shape::schema;
use self::shape::{
    AgentError, Delta, Gap, Nothing, PermissionRequest, PermissionResponse, RunFinished, ToolCalled, ToolResult,
    UserMessage, Warning,
};

/// Payloads that are written by hand or by shape, by name.
pub mod name {
    /// A prompt was accepted.
    pub const USER_MESSAGE: &str = "user_message";
    /// A turn begins.
    pub const TURN_START: &str = "turn_start";
    /// A piece of the answer.
    pub const ASSISTANT_DELTA: &str = "assistant_delta";
    /// A piece of thinking.
    pub const REASONING_DELTA: &str = "assistant.reasoning.delta";
    /// The agent calls a tool.
    pub const TOOL_CALL: &str = "tool_call";
    /// The call is over.
    pub const TOOL_RESULT: &str = "tool_result";
    /// A person must answer.
    pub const PERMISSION_REQUEST: &str = "permission_request";
    /// Somebody has, or nobody will.
    pub const PERMISSION_RESPONSE: &str = "permission_response";
    /// Something may be wrong.
    pub const WARNING: &str = "warning";
    /// Something is wrong.
    pub const ERROR: &str = "error";
    /// Events are lost.
    pub const STREAM_GAP: &str = "stream.gap";
    /// A turn is over.
    pub const RUN_FINISHED: &str = "run_finished";
    /// An event that this version cannot read.
    pub const UNREADABLE: &str = "switchboard.unreadable";
}

/// Writes what an event says, as one JSON object on one line, and returns what it is called.
pub fn put<'a>(out: &mut Vec<u8>, event: &EventRef<'a>, names: &TurnNames) -> &'a str {
    if let Some(source) = event.source() {
        match event.peek() {
            Peek::Text(text) | Peek::Thought(text) => put_text_and(out, text, source.rest),
            Peek::Json(_) => put_line(out, if source.rest.is_empty() { "{}" } else { source.rest }),
        }
        return source.name;
    }
    match event.peek() {
        Peek::Text(text) => put_delta(out, event, names, text, name::ASSISTANT_DELTA),
        Peek::Thought(text) => put_delta(out, event, names, text, name::REASONING_DELTA),
        Peek::Json(json) => match event.body() {
            Ok(body) => put_body(out, event, names, &body, json),
            // A newer version wrote it. It has its place in the stream all the same.
            Err(_) => put_shape(out, &Nothing {}, name::UNREADABLE),
        },
    }
}

/// How outside calls the end of an approval.
#[must_use]
pub fn decision(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::AllowOnce => "allow-once",
        Resolution::AllowSession => "allow-session",
        Resolution::AllowRule => "allow-always",
        Resolution::Deny => "deny-once",
        Resolution::DenyStop => "deny-stop",
        Resolution::Expired => "expired",
    }
}

/// The name of the turn that an event belongs to; its number if nobody gave it a name.
fn message_id<'a>(event: &EventRef<'_>, names: &'a TurnNames) -> Cow<'a, str> {
    let named = event.turn.and_then(|turn| names.get(turn));
    named.map_or_else(|| event.turn.unwrap_or_default().to_string().into(), |name| name.as_str().into())
}

fn put_delta(
    out: &mut Vec<u8>,
    event: &EventRef<'_>,
    names: &TurnNames,
    text: &[u8],
    name: &'static str,
) -> &'static str {
    out.extend_from_slice(br#"{"message_id":"#);
    put_string(out, &message_id(event, names));
    out.extend_from_slice(br#","text":""#);
    out.extend_from_slice(text);
    out.extend_from_slice(br#""}"#);
    name
}

/// A foreign payload with the text back in its place.
fn put_text_and(out: &mut Vec<u8>, text: &[u8], rest: &str) {
    out.extend_from_slice(br#"{"text":""#);
    out.extend_from_slice(text);
    out.push(b'"');
    // The rest is an object, or nothing at all.
    let fields = rest.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default().trim();
    if !fields.is_empty() {
        out.push(b',');
        put_line(out, fields);
    }
    out.push(b'}');
}

/// JSON text on one line: within it a line break can only stand between tokens.
fn put_line(out: &mut Vec<u8>, json: &str) {
    let start = out.len();
    out.extend_from_slice(json.as_bytes());
    for at in memchr::memchr2_iter(b'\n', b'\r', json.as_bytes()) {
        if let Some(byte) = out.get_mut(start + at) {
            *byte = b' ';
        }
    }
}

fn put_string(out: &mut Vec<u8>, plain: &str) {
    // A string always has a JSON text, and a vector takes all of it.
    let _ = serde_json::to_writer(out, plain);
}

fn put_shape(out: &mut Vec<u8>, shape: &impl Serialize, name: &'static str) -> &'static str {
    // Maps with string keys always have a JSON text, and a vector takes all of it.
    let _ = serde_json::to_writer(out, shape);
    name
}

fn put_body(out: &mut Vec<u8>, event: &EventRef<'_>, names: &TurnNames, body: &Body, json: &[u8]) -> &'static str {
    let message_id = || message_id(event, names);
    match body {
        Body::PromptQueued { name, prompt, position } => {
            let said = UserMessage { message_id: name.as_str(), text: &prompt.text, position: *position };
            put_shape(out, &said, name::USER_MESSAGE)
        }
        Body::TurnStarted {} => put_shape(out, &Nothing {}, name::TURN_START),
        Body::Text { text } => put_delta(out, event, names, text.as_escaped(), name::ASSISTANT_DELTA),
        Body::Thought { text } => put_delta(out, event, names, text.as_escaped(), name::REASONING_DELTA),
        Body::Code { text } => {
            let said = Delta { message_id: message_id(), text: text.to_plain(), kind: Some("code") };
            put_shape(out, &said, name::ASSISTANT_DELTA)
        }
        Body::ToolCall { call } => {
            let said = ToolCalled { call_id: call.id.as_str(), tool: tool_of(call), call };
            put_shape(out, &said, name::TOOL_CALL)
        }
        Body::ToolCallUpdate { call } => match call.status {
            ToolStatus::Completed | ToolStatus::Failed => put_shape(out, &result_of(call), name::TOOL_RESULT),
            ToolStatus::Pending | ToolStatus::Running => put_untagged(out, json, own_name(body)),
        },
        Body::ApprovalAsked { approval } => put_shape(out, &question_of(approval), name::PERMISSION_REQUEST),
        Body::ApprovalResolved { approval, resolution, option, command, rule } => {
            let said = PermissionResponse {
                request_id: approval.as_str(),
                decision: decision(*resolution),
                option: option.as_deref(),
                command: command.as_deref(),
                rule: rule.as_ref().map(|rule| rule.as_str()),
            };
            put_shape(out, &said, name::PERMISSION_RESPONSE)
        }
        Body::Log { level: LogLevel::Warn, message } => put_shape(out, &Warning { message }, name::WARNING),
        Body::Log { level: LogLevel::Error, message } => {
            put_shape(out, &AgentError { code: "agent_error", message }, name::ERROR)
        }
        Body::AgentExited { message } => put_shape(out, &AgentError { code: "agent_exited", message }, name::ERROR),
        Body::SourceGap { from, to, message } => {
            put_shape(out, &Gap { from: *from, to: *to, message }, name::STREAM_GAP)
        }
        Body::TurnEnded { outcome, detail } => {
            let said = RunFinished { message_id: message_id(), reason: *outcome, detail: detail.as_ref() };
            put_shape(out, &said, name::RUN_FINISHED)
        }
        Body::SessionOpened { .. }
        | Body::TitleChanged { .. }
        | Body::Echo { .. }
        | Body::Log { level: LogLevel::Info | LogLevel::Stderr, .. }
        | Body::Plan { .. }
        | Body::Status { .. }
        | Body::CancelAsked {}
        | Body::PolicyChanged { .. }
        | Body::ExecutionStarted { .. }
        | Body::ExecutionOutput { .. }
        | Body::ExecutionEnded { .. }
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
        | Body::Unknown { .. } => put_untagged(out, json, own_name(body)),
    }
}

/// What a body is called that the vocabulary has no word for.
fn own_name(body: &Body) -> &'static str {
    match body {
        Body::SessionOpened { .. } => "switchboard.session_opened",
        Body::TitleChanged { .. } => "switchboard.title_changed",
        Body::PromptQueued { .. } => "switchboard.prompt_queued",
        Body::TurnStarted {} => "switchboard.turn_started",
        Body::Text { .. } => "switchboard.text",
        Body::Thought { .. } => "switchboard.thought",
        Body::Code { .. } => "switchboard.code",
        Body::Echo { .. } => "switchboard.echo",
        Body::Log { .. } => "switchboard.log",
        Body::Plan { .. } => "switchboard.plan",
        Body::Status { .. } => "switchboard.status",
        Body::CancelAsked {} => "switchboard.cancel_asked",
        Body::TurnEnded { .. } => "switchboard.turn_ended",
        Body::ToolCall { .. } => "switchboard.tool_call",
        Body::ToolCallUpdate { .. } => "switchboard.tool_call_update",
        Body::ApprovalAsked { .. } => "switchboard.approval_asked",
        Body::ApprovalResolved { .. } => "switchboard.approval_resolved",
        Body::PolicyChanged { .. } => "switchboard.policy_changed",
        Body::ExecutionStarted { .. } => "switchboard.execution_started",
        Body::ExecutionOutput { .. } => "switchboard.execution_output",
        Body::ExecutionEnded { .. } => "switchboard.execution_ended",
        Body::CommandsChanged { .. } => "switchboard.commands_changed",
        Body::OptionsChanged { .. } => "switchboard.options_changed",
        Body::Usage { .. } => "switchboard.usage",
        Body::TurnUsed { .. } => "switchboard.turn_used",
        Body::SignInNeeded { .. } => "switchboard.sign_in_needed",
        Body::AgentSessionRestored { .. } => "switchboard.agent_session_restored",
        Body::AgentExited { .. } => "switchboard.agent_exited",
        Body::AgentRestarted {} => "switchboard.agent_restarted",
        Body::PromptTaken {} => "switchboard.prompt_taken",
        Body::SourceGap { .. } => "switchboard.source_gap",
        Body::SessionClosed {} => "switchboard.session_closed",
        Body::SessionReopened {} => "switchboard.session_reopened",
        Body::Unknown { .. } => "switchboard.unknown",
    }
}

/// A body as it lies in the log, without its tag, which is always written first and needs no escapes.
fn put_untagged(out: &mut Vec<u8>, json: &[u8], name: &'static str) -> &'static str {
    let tagged = json.strip_prefix(br#"{"type":""#);
    let after = tagged.and_then(|rest| rest.get(memchr::memchr(b'"', rest)? + 1..));
    match after.and_then(<[u8]>::split_first) {
        Some((b',', fields)) => {
            out.push(b'{');
            out.extend_from_slice(fields);
        }
        Some((b'}', [])) => out.extend_from_slice(b"{}"),
        _ => out.extend_from_slice(json),
    }
    name
}

/// What a call is of: the registry's tool, or the sort of thing that the agent does by itself.
fn tool_of(call: &ToolCall) -> &str {
    let tool = call.tool.as_ref().map(|tool| tool.as_str());
    tool.or(call.kind.as_deref()).unwrap_or(call.title.as_str())
}

fn result_of(call: &ToolCall) -> ToolResult<'_> {
    ToolResult {
        call_id: call.id.as_str(),
        status: call.status,
        error: call.status == ToolStatus::Failed,
        output: call.output.as_ref(),
        call: ToolCall { output: None, ..call.clone() },
    }
}

fn question_of(approval: &Approval) -> PermissionRequest<'_> {
    let tool = match &approval.rule {
        Some(RuleWhat::Tool { tool }) => tool.as_str(),
        Some(RuleWhat::Command { .. } | RuleWhat::Edit { .. }) | None => shape::kind_word(approval.kind),
    };
    PermissionRequest {
        request_id: approval.id.as_str(),
        tool,
        kind: approval.kind,
        summary: &approval.title,
        command: approval.command.as_deref(),
        cwd: approval.cwd.as_deref(),
        path: approval.path.as_deref(),
        diff: approval.diff.as_deref(),
        severity: approval.severity,
        reason: &approval.reason,
        rule_suggestion: approval.rule.as_ref(),
        call_id: approval.call.as_ref().map(|call| call.as_str()),
        options: &approval.options,
        editable: approval.editable,
        expires_at_ms: approval.expires,
    }
}
