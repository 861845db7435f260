//! What names a request. Never changes a foreign id: `1`, `"1"` and `1.0` are three.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::Fields;

/// Bytes of the JSON text of a foreign id.
pub const MAX_ID_JSON_BYTES: usize = 1024;

/// A request of ours. The number is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct OurId(pub(super) u64);

impl OurId {
    /// The number that goes over the wire.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for OurId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of a peer's request: a string, a number or null, as the JSON text that it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id(Arc<str>);

impl Id {
    /// The JSON text.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Writes the id as it came.
impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// An id as it lies in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdRef<'a>(&'a str);

impl<'a> IdRef<'a> {
    /// Takes JSON text that a parser has accepted; none unless it is a string, a number or null of a bearable length.
    pub(super) fn from_json(json: &'a str) -> Option<Self> {
        let is_id = json.starts_with(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) || json == "null";
        (is_id && json.len() <= MAX_ID_JSON_BYTES).then_some(Self(json))
    }

    /// The request that the params of a `$/cancelRequest` call back.
    #[must_use]
    pub fn in_cancel_request(params: &'a str) -> Option<Self> {
        Self::from_json(Fields::read(params, &["id"]).ok()?.raw("id")?)
    }

    /// The JSON text.
    #[must_use]
    pub fn as_json(self) -> &'a str {
        self.0
    }

    /// Whether it is null, which names nothing.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// A copy that outlives the frame.
    #[must_use]
    pub fn to_id(self) -> Id {
        Id(self.0.into())
    }

    /// The request of ours that it names, if it is written as we write them.
    pub(super) fn ours(self) -> Option<OurId> {
        let is_plain = self.0.bytes().all(|byte| byte.is_ascii_digit());
        is_plain.then(|| self.0.parse().ok().map(OurId)).flatten()
    }
}

impl fmt::Display for IdRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_numbers_and_null_are_ids_and_nothing_else_is() {
        for json in ["1", "-1", "1.0", "1e3", "\"1\"", "\"\"", "null"] {
            let id = IdRef::from_json(json).unwrap().to_id();
            assert_eq!((id.as_json(), serde_json::to_string(&id).unwrap().as_str()), (json, json));
        }
        let long = format!("\"{}\"", "x".repeat(MAX_ID_JSON_BYTES));
        for json in ["true", "false", "[]", "{}", long.as_str()] {
            assert_eq!(IdRef::from_json(json), None, "{json}");
        }
    }

    #[test]
    fn the_request_that_is_called_back_is_found() {
        let called_back = |params| IdRef::in_cancel_request(params).map(IdRef::as_json);
        assert_eq!(called_back(r#"{"id":"a"}"#), Some("\"a\""));
        assert_eq!(called_back(r#"{"id":3,"x":1}"#), Some("3"));
        for params in ["{}", "[3]", r#"{"id":null}"#, r#"{"id":{}}"#] {
            assert_eq!(called_back(params), None, "{params}");
        }
    }

    #[test]
    fn only_a_plain_number_is_one_of_ours() {
        let ours = |json: &'static str| IdRef::from_json(json).unwrap().ours();
        assert_eq!(ours("17"), Some(OurId(17)));
        for json in ["1.0", "\"1\"", "-1", "1e0", "null", "99999999999999999999"] {
            assert_eq!(ours(json), None, "{json}");
        }
    }
}
