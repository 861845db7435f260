//! The fields of one foreign object that a dialect knows, each as the text that it was. Never allocates for what it
//! finds, so the hot path reads through it.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use memchr::memchr;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use switchboard_types::Text;
use switchboard_types::limits::{MAX_ID_BYTES, MAX_JSON_DEPTH};
use thiserror::Error;

use super::depth::deeper_than;
use super::quick;

/// The known fields of one object. Unknown ones are checked for their depth and let go.
#[derive(Debug)]
pub(crate) struct Fields<'a, const N: usize> {
    names: &'static [&'static str; N],
    values: [Option<&'a str>; N],
    fault: Option<FieldsError>,
}

/// Why text gives no fields, or none that can be relied on.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum FieldsError {
    #[error("not a JSON object: {reason}")]
    NotAnObject { reason: String },
    #[error("nested deeper than {MAX_JSON_DEPTH}")]
    TooDeep,
    #[error("`{name}` is given twice")]
    Twice { name: &'static str },
}

/// Why a field is not what the dialect wants.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum FieldError {
    #[error("`{name}` is missing: expected {expected}")]
    Missing { name: &'static str, expected: &'static str },
    #[error("`{name}` must be {expected}")]
    Wrong { name: &'static str, expected: &'static str },
    #[error("`{name}` must be at most {MAX_ID_BYTES} bytes long, not {size}")]
    IdTooLong { name: &'static str, size: usize },
}

const A_STRING: &str = "a string";

impl<'a, const N: usize> Fields<'a, N> {
    /// Reads an object. Names that are asked for most often should stand first.
    pub(crate) fn read(json: &'a str, names: &'static [&'static str; N]) -> Result<Self, FieldsError> {
        let not_an_object = |error: serde_json::Error| FieldsError::NotAnObject { reason: error.to_string() };
        let mut fields = Self { names, values: [None; N], fault: None };
        if quick::members(json, |name, value| fields.put(fields.place(name), value)).is_some() {
            return Ok(fields);
        }
        (fields.values, fields.fault) = ([None; N], None);
        let mut parser = serde_json::Deserializer::from_str(json);
        parser.deserialize_map(&mut fields).map_err(not_an_object)?;
        parser.end().map_err(not_an_object)?;
        Ok(fields)
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name)
    }

    fn put(&mut self, place: Option<usize>, value: &'a str) {
        let Some((slot, name)) = place.and_then(|at| self.values.get_mut(at).zip(self.names.get(at))) else { return };
        if slot.is_some() {
            self.fault.get_or_insert(FieldsError::Twice { name });
        } else {
            *slot = Some(value);
        }
    }

    /// Why the fields cannot be relied on, if they cannot. What stands in them may still say where an error belongs.
    pub(crate) fn fault(&self) -> Option<&FieldsError> {
        self.fault.as_ref()
    }

    /// A field as the text that it was, null included; none if it is absent.
    pub(crate) fn given(&self, name: &'static str) -> Option<&'a str> {
        self.values.get(self.place(name)?).copied().flatten()
    }

    /// A field as the text that it was; none if it is absent or null.
    pub(crate) fn raw(&self, name: &'static str) -> Option<&'a str> {
        self.given(name).filter(|raw| *raw != "null")
    }

    /// A field as the text that it was.
    pub(crate) fn required(&self, name: &'static str, expected: &'static str) -> Result<&'a str, FieldError> {
        self.raw(name).ok_or(FieldError::Missing { name, expected })
    }

    /// A string that must be exact, of any length.
    pub(crate) fn name(&self, name: &'static str) -> Result<Cow<'a, str>, FieldError> {
        literal(self.required(name, A_STRING)?).ok_or(FieldError::Wrong { name, expected: A_STRING })
    }

    /// An id, if there is one.
    pub(crate) fn optional_id(&self, name: &'static str) -> Result<Option<Cow<'a, str>>, FieldError> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        let id = literal(raw).ok_or(FieldError::Wrong { name, expected: A_STRING })?;
        if id.len() > MAX_ID_BYTES {
            return Err(FieldError::IdTooLong { name, size: id.len() });
        }
        Ok(Some(id))
    }

    /// An id.
    pub(crate) fn id(&self, name: &'static str) -> Result<Cow<'a, str>, FieldError> {
        self.optional_id(name)?.ok_or(FieldError::Missing { name, expected: A_STRING })
    }

    /// A string for people, if there is one; what is no Unicode becomes U+FFFD.
    pub(crate) fn optional_text(&self, name: &'static str) -> Result<Option<String>, FieldError> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        lossy(raw).map(Some).ok_or(FieldError::Wrong { name, expected: A_STRING })
    }

    /// A string for people.
    pub(crate) fn text(&self, name: &'static str) -> Result<String, FieldError> {
        self.optional_text(name)?.ok_or(FieldError::Missing { name, expected: A_STRING })
    }

    /// One of the words of an enum of ours, if there is one; another word is an error, since a guess could allow too much.
    pub(crate) fn one_of<T: DeserializeOwned>(
        &self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, FieldError> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        let known = literal(raw).and_then(|word| {
            let word: StrDeserializer<'_, serde::de::value::Error> = (*word).into_deserializer();
            T::deserialize(word).ok()
        });
        known.map(Some).ok_or(FieldError::Wrong { name, expected })
    }
}

/// A string, if it is one and all of it is Unicode; shared with the text around it unless it holds escapes.
fn literal(raw: &str) -> Option<Cow<'_, str>> {
    let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr(b'\\', inside.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inside));
    }
    serde_json::from_str(raw).ok().map(Cow::Owned)
}

/// A string, if it is one; a lone surrogate in it becomes U+FFFD, since a view in a browser may well send one.
pub(crate) fn lossy(raw: &str) -> Option<String> {
    if let Some(exact) = literal(raw) {
        return Some(exact.into_owned());
    }
    let copy = Bytes::copy_from_slice(raw.as_bytes());
    let text = Text::from_literal(&copy, std::str::from_utf8(&copy).ok()?)?;
    Some(text.to_plain())
}

impl<'a, const N: usize> Visitor<'a> for &mut Fields<'a, N> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(at) = map.next_key_seed(Known { names: self.names })? {
            let value: &'a RawValue = map.next_value()?;
            // The object around it is one level.
            if value.get().starts_with(['[', '{']) && deeper_than(value.get().as_bytes(), MAX_JSON_DEPTH - 1) {
                self.fault.get_or_insert(FieldsError::TooDeep);
            }
            self.put(at, value.get());
        }
        Ok(())
    }
}

/// Reads a key as its place among the known names.
struct Known<const N: usize> {
    names: &'static [&'static str; N],
}

impl<'de, const N: usize> DeserializeSeed<'de> for Known<N> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<const N: usize> Visitor<'_> for Known<N> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.names.iter().position(|known| *known == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["id", "text"];

    fn read(json: &str) -> Result<Fields<'_, 2>, FieldsError> {
        Fields::read(json, &NAMES)
    }

    #[test]
    fn known_fields_are_found_and_unknown_ones_let_go() {
        let fields = read(r#" {"x":[1,{}],"text":"a\n\"b","i\u0064":"é"} "#).unwrap();
        assert_eq!(fields.id("id").unwrap(), "é");
        assert_eq!(fields.text("text").unwrap(), "a\n\"b");
        assert_eq!(fields.fault(), None);
    }

    #[test]
    fn null_is_as_good_as_absent() {
        let fields = read(r#"{"id":null}"#).unwrap();
        assert_eq!(fields.optional_id("id"), Ok(None));
        assert_eq!(fields.id("id"), Err(FieldError::Missing { name: "id", expected: "a string" }));
    }

    #[test]
    fn an_id_without_escapes_is_not_copied() {
        assert!(matches!(read(r#"{"id":"abc"}"#).unwrap().id("id"), Ok(Cow::Borrowed("abc"))));
    }

    #[test]
    fn an_id_is_counted_in_bytes_after_its_escapes() {
        let most = "\\u00e9".repeat(64);
        assert_eq!(read(&format!(r#"{{"id":"{most}"}}"#)).unwrap().id("id").unwrap(), "é".repeat(64));
        let over = format!(r#"{{"id":"{most}x"}}"#);
        assert_eq!(read(&over).unwrap().id("id"), Err(FieldError::IdTooLong { name: "id", size: 129 }));
    }

    #[test]
    fn a_lone_surrogate_spoils_an_id_but_not_a_text() {
        let fields = read(r#"{"id":"\ud800","text":"a \ud800 b"}"#).unwrap();
        assert_eq!(fields.id("id"), Err(FieldError::Wrong { name: "id", expected: "a string" }));
        let text = fields.text("text").unwrap();
        assert!(text.starts_with("a \u{fffd}") && text.ends_with(" b"), "{text}");
    }

    #[test]
    fn faults_are_found_and_the_fields_stay_readable() {
        let twice = read(r#"{"id":"a","id":"b"}"#).unwrap();
        assert_eq!(twice.fault(), Some(&FieldsError::Twice { name: "id" }));
        assert_eq!(twice.id("id").unwrap(), "a");
        let (open, close) = ("[".repeat(MAX_JSON_DEPTH - 1), "]".repeat(MAX_JSON_DEPTH - 1));
        assert_eq!(read(&format!(r#"{{"x":{open}{close}}}"#)).unwrap().fault(), None);
        assert_eq!(read(&format!(r#"{{"x":[{open}{close}]}}"#)).unwrap().fault(), Some(&FieldsError::TooDeep));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for json in ["", "[]", "1", "\"a\"", "null", "{", "{}{}", r#"{"id":}"#, "{\"id\":\"\u{1}\"}"] {
            assert!(matches!(read(json), Err(FieldsError::NotAnObject { .. })), "{json}");
        }
    }
}
