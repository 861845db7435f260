//! What the host says to a plain agent, as JSON. Never decides what is said.

use serde::Serialize;
use switchboard_types::agent::ToolFailure;
use switchboard_types::{ContextItem, Prompt, Resolution};

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum ToAgent<'a> {
    NewSession {
        request_id: &'a str,
        cwd: &'a str,
    },
    ProcessPrompt {
        session_id: &'a str,
        message_id: &'a str,
        text: &'a str,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        context: &'a [ContextItem],
    },
    Cancel {
        session_id: &'a str,
        message_id: &'a str,
    },
    CloseSession {
        session_id: &'a str,
    },
    ToolResult {
        session_id: &'a str,
        call_id: &'a str,
        success: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a serde_json::Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Failure<'a>>,
    },
    ApprovalResult {
        session_id: &'a str,
        approval_id: &'a str,
        decision: Resolution,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct Failure<'a> {
    code: &'a str,
    message: &'a str,
}

impl<'a> ToAgent<'a> {
    pub(super) fn prompt(session_id: &'a str, message_id: &'a str, prompt: &'a Prompt) -> Self {
        Self::ProcessPrompt { session_id, message_id, text: &prompt.text, context: &prompt.context }
    }

    pub(super) fn tool_result(
        session_id: &'a str,
        call_id: &'a str,
        result: &'a Result<serde_json::Value, ToolFailure>,
    ) -> Self {
        let (data, error) = match result {
            Ok(data) => (Some(data), None),
            Err(failure) => (None, Some(Failure { code: &failure.code, message: &failure.message })),
        };
        Self::ToolResult { session_id, call_id, success: result.is_ok(), data, error }
    }

    /// The message as JSON text. Maps with string keys always have one.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }
}
