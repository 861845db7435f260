//! Errors of this vocabulary, both ways: numbers to words for people, and our own to the backend.

use switchboard_types::{CallId, ToolFailure};

use super::calls::Refused;
use crate::jsonrpc::{Code, Failure, Fault, codes};

/// The backend could not get ready.
pub(super) const INITIALIZATION: i64 = -32000;
/// A task failed.
pub(super) const TASK: i64 = -32001;
/// The configuration makes no sense to the backend.
pub(super) const CONFIGURATION: i64 = -32002;
/// A tool failed; the host says it.
pub(super) const TOOL: i64 = -32003;
/// What came with the prompt makes no sense to the backend.
pub(super) const CONTEXT: i64 = -32004;

/// What a backend says went wrong, for people.
pub(super) fn in_words(fault: &Fault<'_>) -> String {
    let kind = match &fault.code {
        Code::Number(INITIALIZATION) => "the backend could not get ready".to_owned(),
        Code::Number(TASK) => "the task failed".to_owned(),
        Code::Number(CONFIGURATION) => "the configuration is wrong".to_owned(),
        Code::Number(TOOL) => "a tool failed".to_owned(),
        Code::Number(CONTEXT) => "the context is wrong".to_owned(),
        Code::Number(number) => match codes::in_words(*number) {
            Some(words) => words.to_owned(),
            None => format!("error {number}"),
        },
        Code::Word(word) => word.clone(),
        Code::Absent => return fault.message.clone(),
    };
    if kind == fault.message { kind } else { format!("{kind}: {}", fault.message) }
}

/// A tool gave no result.
pub(super) fn tool(call: &CallId, code: &str, message: &str) -> Failure {
    Failure::new(TOOL, message).with_data(serde_json::json!({ "toolCallId": call.as_str(), "code": code }))
}

/// Why a tool of the host gave no result, with every finding where there are some.
pub(super) fn tool_failed(call: &CallId, failure: &ToolFailure) -> Failure {
    let Some(details) = &failure.details else { return tool(call, failure.code.as_str(), &failure.message) };
    let data = serde_json::json!({ "toolCallId": call.as_str(), "code": failure.code, "details": details });
    Failure::new(TOOL, &*failure.message).with_data(data)
}

pub(super) fn refused_call(call: &CallId, refused: &Refused) -> Failure {
    tool(call, "DUPLICATE_CALL", &refused.to_string())
}

pub(super) fn cancelled_call(call: &CallId) -> Failure {
    tool(call, "CANCELLED", "the task was cancelled or is over")
}

pub(super) fn too_early(call: &CallId) -> Failure {
    tool(call, "EXECUTION_ERROR", "no session is open yet")
}

pub(super) fn invalid_params(why: &str) -> Failure {
    Failure::new(codes::INVALID_PARAMS, why)
}
