//! What the host says to a plain agent, as JSON. Never decides what is said.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_types::ToolFailure;
use switchboard_types::{ContextItem, Prompt, Resolution};

/// What the host says to an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum ToAgent<'a> {
    /// Open a session; answer with `session-created` or `error`.
    NewSession {
        /// To be repeated in the answer.
        request_id: &'a str,
        /// The folder to work in.
        cwd: &'a str,
    },
    /// Work on this.
    ProcessPrompt {
        session_id: &'a str,
        /// The turn's name; repeat it in what you say.
        message_id: &'a str,
        /// The words.
        text: &'a str,
        /// Files and excerpts that go with the text.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        context: &'a [ContextItem],
    },
    /// Stop working on it, and say `response-complete` when you have.
    Cancel { session_id: &'a str, message_id: &'a str },
    /// Forget the session; no answer.
    CloseSession { session_id: &'a str },
    /// What came of your `tool-call`.
    ToolResult {
        session_id: &'a str,
        call_id: &'a str,
        success: bool,
        /// What the tool gave.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a serde_json::Value>,
        /// Why it gave nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Failure<'a>>,
    },
    /// What came of your `approval-request`. Take a decision that you do not know for a no.
    ApprovalResult { session_id: &'a str, approval_id: &'a str, decision: Resolution },
}

/// Why a tool gave no result.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Failure<'a> {
    /// For programs.
    code: &'a str,
    /// For people and models.
    message: &'a str,
    /// Every finding, where parameters are wrong: `[{parameter, message, code}]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a serde_json::Value>,
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
            Err(failure) => (
                None,
                Some(Failure {
                    code: failure.code.as_str(),
                    message: &failure.message,
                    details: failure.details.as_ref(),
                }),
            ),
        };
        Self::ToolResult { session_id, call_id, success: result.is_ok(), data, error }
    }

    /// The message as JSON text. Maps with string keys always have one.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }
}
