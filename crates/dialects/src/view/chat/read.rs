//! A view's messages into their shapes. Never guesses: what is not exactly a message of the dialect is refused, with what was
//! expected.

use serde_json::{Map, Value};
use switchboard_types::limits::{MAX_ID_BYTES, MAX_JSON_DEPTH};
use switchboard_types::{Reject, RejectCode, SessionId};

use super::asked::{TYPES, ToHost};
use crate::json::{deeper_than, shown};

/// Reads one message.
pub(super) fn message(frame: &[u8]) -> Result<ToHost, Reject> {
    let bad_json = |message: String| Reject::new(RejectCode::BadJson, message);
    // The parser goes as deep as the text does.
    if deeper_than(frame, MAX_JSON_DEPTH) {
        return Err(bad_json(format!("nested deeper than {MAX_JSON_DEPTH}")));
    }
    let fields: Map<String, Value> =
        serde_json::from_slice(frame).map_err(|error| bad_json(format!("not a JSON object: {error}")))?;
    let kind = match fields.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(_) => return Err(Reject::new(RejectCode::BadMessage, "`type` must be a string")),
        None => return Err(Reject::new(RejectCode::BadMessage, "`type` is missing: expected a string")),
    };
    if !TYPES.contains(&kind.as_str()) {
        let message = format!("unknown type {}; known types are {}", shown(&kind), TYPES.join(", "));
        return Err(Reject::new(RejectCode::UnknownType, message));
    }
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| Reject::new(RejectCode::BadMessage, format!("`{kind}`: {error}")))
}

/// Whether a message that cannot be read may hold a token: nobody repeats it then, and no record keeps it.
pub(super) fn may_hold_token(frame: &[u8]) -> bool {
    memchr::memmem::find(frame, b"saveBearerToken").is_some()
}

/// A session by its name on the wire, which is its number.
pub(super) fn session_id(text: &str) -> Option<SessionId> {
    let plain = !text.is_empty() && text.len() <= MAX_ID_BYTES && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain).map(SessionId)
}

#[cfg(test)]
mod tests {
    use super::super::said::schema;
    use super::*;

    #[test]
    fn the_types_that_are_read_are_those_of_the_schema() {
        let schema = schema();
        let shapes = schema["viewToHost"]["oneOf"].as_array().unwrap();
        let types: Vec<_> = shapes.iter().map(|shape| shape["properties"]["type"]["const"].as_str().unwrap()).collect();
        assert_eq!(types, TYPES);
    }

    #[test]
    fn a_session_is_its_number_and_nothing_else() {
        assert_eq!(session_id("12"), Some(SessionId(12)));
        for other in ["", "-1", "+1", "1 ", "0x1", "one", "99999999999999999999"] {
            assert_eq!(session_id(other), None, "{other}");
        }
    }
}
