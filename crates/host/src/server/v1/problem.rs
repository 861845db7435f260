//! What a refusal at the HTTP door looks like: a code for programs, a message for people, a fitting status. Decides nothing.

use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use serde_json::Value;
use switchboard_types::{Reject, RejectCode, Seq};

use super::shape::Refusal;
use crate::server::answer::{Problem, json as json_answer};

/// Why a request is refused.
#[derive(Debug)]
pub(crate) struct Refused {
    status: StatusCode,
    body: Box<Refusal>,
}

impl Refused {
    pub(super) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let body =
            Refusal { code: code.to_owned(), message: message.into(), details: None, first_seq: None, last_seq: None };
        Self { status, body: Box::new(body) }
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(super) fn stopping() -> Self {
        let message = "the host is stopping; start it again with `switchboard`";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "internal_error", message)
    }

    /// The same for our own command line.
    pub(super) fn plain(self) -> Problem {
        Problem::new(self.status, "refused", self.body.message)
    }

    /// The cursor of a stream leads nowhere in this log.
    pub(super) fn window(first: Seq, last: Seq) -> Self {
        let message = "this id is not one of this log as it is now; read it from the start with `?replay=true`";
        let refused = Self::new(StatusCode::CONFLICT, "resume_window_exceeded", message);
        let body = Refusal { first_seq: Some(first.0), last_seq: Some(last.0), ..*refused.body };
        Self { status: refused.status, body: Box::new(body) }
    }

    pub(super) fn with(self, details: Value) -> Self {
        Self { status: self.status, body: Box::new(Refusal { details: Some(details), ..*self.body }) }
    }
}

impl From<Reject> for Refused {
    fn from(reject: Reject) -> Self {
        let (status, code) = match reject.code {
            RejectCode::BadJson | RejectCode::BadMessage | RejectCode::UnknownType => {
                (StatusCode::BAD_REQUEST, "bad_request")
            }
            RejectCode::UnknownTab | RejectCode::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            RejectCode::Conflict => (StatusCode::CONFLICT, "conflict"),
            RejectCode::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            RejectCode::WorkspaceUntrusted => (StatusCode::FORBIDDEN, "workspace_untrusted"),
            RejectCode::AgentUnavailable => (StatusCode::SERVICE_UNAVAILABLE, "agent_unavailable"),
            RejectCode::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        };
        Self::new(status, code, reject.message)
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        // The other doors have words of their own for these two.
        let code = match problem.code {
            "bad_message" => "bad_request",
            "internal" => "internal_error",
            other => other,
        };
        Self::new(problem.status, code, problem.message)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        json_answer(self.status, &self.body)
    }
}
