//! Envelopes as JSON, without framing. What goes inside is written where it belongs, never built as a tree first.

use serde::Serialize;
use thiserror::Error;

use super::codes;
use super::fault::Failure;
use super::id::{Id, OurId};

/// The method by which a request is called back, in the Language Server Protocol and whatever is made after it.
pub const CANCEL_REQUEST: &str = "$/cancelRequest";

/// Why something cannot be said.
#[derive(Debug, Error)]
pub enum Unwritable {
    /// It has no JSON form.
    #[error("it has no JSON form")]
    NoJson(#[from] serde_json::Error),
    /// Params are an object or an array.
    #[error("params must be an object or an array")]
    NoParams,
}

/// Asks the peer something. Params that come out as null are left out.
pub fn request(id: OurId, method: &str, params: &impl Serialize) -> Result<Vec<u8>, Unwritable> {
    call(Some(id), method, params)
}

/// Tells the peer something. Params that come out as null are left out.
pub fn notification(method: &str, params: &impl Serialize) -> Result<Vec<u8>, Unwritable> {
    call(None, method, params)
}

/// Tells the peer something that has no params.
#[must_use]
pub fn bare_notification(method: &str) -> Vec<u8> {
    let mut out = head(None);
    close_with_method(&mut out, method);
    out.push(b'}');
    out
}

/// Calls a request of ours back.
#[must_use]
pub fn cancel_request(id: OurId) -> Vec<u8> {
    let mut out = head(None);
    close_with_method(&mut out, CANCEL_REQUEST);
    out.extend_from_slice(br#","params":{"id":"#);
    out.extend_from_slice(itoa::Buffer::new().format(id.number()).as_bytes());
    out.extend_from_slice(b"}}");
    out
}

/// Answers a request with a result. One that has no JSON form is an internal error to the peer, which must not wait in vain.
pub(super) fn result(id: &Id, result: &impl Serialize) -> Vec<u8> {
    let mut out = head(Some(id.as_json()));
    out.extend_from_slice(br#","result":"#);
    if let Err(failed) = serde_json::to_writer(&mut out, result) {
        return error(Some(id), &Failure::new(codes::INTERNAL_ERROR, format!("the result has no JSON form: {failed}")));
    }
    out.push(b'}');
    out
}

/// Answers a request with an error; without an id, something that could not be read well enough to say which.
#[must_use]
pub(super) fn error(id: Option<&Id>, failure: &Failure) -> Vec<u8> {
    let mut out = head(Some(id.map_or("null", Id::as_json)));
    out.extend_from_slice(br#","error":"#);
    let start = out.len();
    if serde_json::to_writer(&mut out, failure).is_err() {
        // Strings, numbers and values always have a JSON form.
        out.truncate(start);
        out.extend_from_slice(br#"{"code":-32603,"message":"internal error"}"#);
    }
    out.push(b'}');
    out
}

fn call(id: Option<OurId>, method: &str, params: &impl Serialize) -> Result<Vec<u8>, Unwritable> {
    let mut digits = itoa::Buffer::new();
    let mut out = head(id.map(|id| digits.format(id.number())));
    close_with_method(&mut out, method);
    let before = out.len();
    out.extend_from_slice(br#","params":"#);
    let start = out.len();
    serde_json::to_writer(&mut out, params)?;
    match out.get(start) {
        Some(b'{' | b'[') => {}
        Some(b'n') => out.truncate(before),
        _ => return Err(Unwritable::NoParams),
    }
    out.push(b'}');
    Ok(out)
}

fn head(id: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        out.extend_from_slice(br#","id":"#);
        out.extend_from_slice(id.as_bytes());
    }
    out
}

fn close_with_method(out: &mut Vec<u8>, method: &str) {
    out.extend_from_slice(br#","method":"#);
    // A string always has a JSON form, and a vector always takes it.
    let _ = serde_json::to_writer(out, method);
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn calls_are_written_in_the_usual_order() {
        let raw: &RawValue = serde_json::from_str(r#"{ "a" : 1 }"#).unwrap();
        let said = text(request(OurId(7), "a/b", &raw).unwrap());
        assert_eq!(said, r#"{"jsonrpc":"2.0","id":7,"method":"a/b","params":{ "a" : 1 }}"#);
        assert_eq!(text(notification("n", &[1]).unwrap()), r#"{"jsonrpc":"2.0","method":"n","params":[1]}"#);
        assert_eq!(text(notification("n", &()).unwrap()), r#"{"jsonrpc":"2.0","method":"n"}"#);
        assert_eq!(text(bare_notification("a\"b")), r#"{"jsonrpc":"2.0","method":"a\"b"}"#);
        let cancel = text(cancel_request(OurId(7)));
        assert_eq!(cancel, r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}"#);
    }

    #[test]
    fn what_cannot_be_said_is_an_error() {
        assert!(matches!(notification("n", &1), Err(Unwritable::NoParams)));
        let no_json = std::collections::HashMap::from([((1, 2), 3)]);
        assert!(matches!(notification("n", &no_json), Err(Unwritable::NoJson(_))));
    }
}
