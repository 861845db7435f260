//! What an agent's error means: in words for a person, and whether it is about signing in or about a lost session. Never
//! decides what follows.

use serde_json::Value;

use super::small::{MAX_ERROR_CHARS, cut, value};
use crate::jsonrpc::{Code, Fault};

/// The code by which ACP says that a person must sign in first.
const AUTH_REQUIRED: i64 = -32000;
/// The code by which ACP says that something is not there.
pub(super) const RESOURCE_NOT_FOUND: i64 = -32002;

/// Words that stand in errors about signing in, where the code does not say it.
const SIGN_IN_WORDS: [&str; 9] = [
    "authentication required",
    "authentication_required",
    "auth required",
    "auth_required",
    "not authenticated",
    "not logged in",
    "please log in",
    "please login",
    "sign in first",
];

/// The error for a person: its message and what its data adds, cut.
pub(super) fn in_words(fault: &Fault<'_>) -> String {
    let message = readable(&fault.message);
    let more = fault.data.and_then(value).and_then(|data| detail(&data)).map(|more| readable(&more));
    let text = match more {
        Some(more) if !message.contains(&more) => format!("{message}: {more}"),
        _ => message,
    };
    cut(text, MAX_ERROR_CHARS)
}

/// Whether a person must sign in first.
pub(super) fn wants_sign_in(fault: &Fault<'_>) -> bool {
    let said = in_words(fault).to_lowercase();
    fault.code == Code::Number(AUTH_REQUIRED) || SIGN_IN_WORDS.iter().any(|words| said.contains(words))
}

/// Whether the agent has lost the session that it was asked about. There is no one code for it.
pub(super) fn session_is_gone(fault: &Fault<'_>) -> bool {
    let said = in_words(fault).to_lowercase();
    let missing = ["not found", "unknown", "no such", "does not exist"].iter().any(|words| said.contains(words));
    said.contains("session") && missing
}

/// Some agents put JSON into the text of an error; what it says is within.
fn readable(text: &str) -> String {
    let inner = text.trim_start().starts_with('{').then(|| value(text)).flatten();
    inner.and_then(|inner| detail(&inner)).unwrap_or_else(|| text.to_owned())
}

/// The part of an error's data that is meant for people.
fn detail(data: &Value) -> Option<String> {
    match data {
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) => {
            let names = ["details", "detail", "message", "error", "reason"];
            names.iter().filter_map(|name| fields.get(*name)).find_map(detail).filter(|text| !text.is_empty())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault<'a>(code: i64, message: &str, data: Option<&'a str>) -> Fault<'a> {
        Fault { code: Code::Number(code), message: message.to_owned(), data }
    }

    #[test]
    fn an_error_is_told_with_what_its_data_adds() {
        let cases = [
            ("Internal error", Some(r#"{"details":"No previous sessions"}"#), "Internal error: No previous sessions"),
            ("Internal error", Some(r#"{"message":"{\"error\":{\"message\":\"fake\"}}"}"#), "Internal error: fake"),
            ("Method not found", Some(r#""session/x""#), "Method not found: session/x"),
            (r#"{"error":{"message":"fake error 400","code":400},"type":"error"}"#, None, "fake error 400"),
            ("session/x is gone", Some(r#""session/x""#), "session/x is gone"),
            ("odd", Some("[1]"), "odd"),
            ("{broken", None, "{broken"),
        ];
        for (message, data, words) in cases {
            assert_eq!(in_words(&fault(-1, message, data)), words);
        }
    }

    #[test]
    fn an_error_about_signing_in_is_known_by_its_code_or_its_words() {
        assert!(wants_sign_in(&fault(-32000, "anything", None)));
        assert!(wants_sign_in(&fault(-32603, "Internal error", Some(r#"{"details":"You are not logged in"}"#))));
        assert!(!wants_sign_in(&fault(-32603, "Internal error", None)));
    }

    #[test]
    fn a_lost_session_is_known_by_its_words() {
        assert!(session_is_gone(&fault(-32602, "Session not found: 2b85", None)));
        assert!(session_is_gone(&fault(-32603, "Internal error", Some(r#""unknown session""#))));
        assert!(!session_is_gone(&fault(-32002, "Resource not found", None)));
    }
}
