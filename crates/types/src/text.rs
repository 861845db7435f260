//! Streamed text, escaped once and never again. Knows nothing of events.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ts_rs::TS;

/// Text as the inside of a JSON string: escaped, without the quotes, always valid UTF-8.
///
/// An agent's chunk arrives escaped, is stored escaped and goes to views escaped, so the hot path copies it and never
/// looks inside.
#[derive(Clone, PartialEq, Eq, Hash, TS)]
#[ts(type = "string")]
pub struct Text(Bytes);

impl Text {
    /// Escapes plain text.
    #[must_use]
    pub fn from_plain(plain: &str) -> Self {
        let literal = serde_json::Value::String(plain.to_owned()).to_string();
        let bytes = Bytes::from(literal);
        let inside = 1..bytes.len() - 1;
        Self(bytes.slice(inside))
    }

    /// Takes a JSON string literal, quotes included, that lies within `frame` and that a JSON parser has accepted.
    ///
    /// The bytes are shared with the frame. Only `\u` escapes are looked at: a lone surrogate is valid JSON but no text, so
    /// it becomes U+FFFD here and troubles nobody further on.
    #[must_use]
    pub fn from_literal(frame: &Bytes, literal: &str) -> Option<Self> {
        let inside = literal.strip_prefix('"')?.strip_suffix('"')?;
        if inside.contains("\\u") {
            return Some(Self::from_plain(&unescape_lossy(literal)));
        }
        Some(Self(frame.slice_ref(inside.as_bytes())))
    }

    /// Wraps bytes that were a `Text` before, such as a record's.
    #[must_use]
    pub fn from_escaped(escaped: Bytes) -> Self {
        Self(escaped)
    }

    /// The escaped form, without quotes.
    #[must_use]
    pub fn as_escaped(&self) -> &[u8] {
        &self.0
    }

    /// The text as people read it.
    #[must_use]
    pub fn to_plain(&self) -> String {
        let mut literal = Vec::with_capacity(self.0.len() + 2);
        literal.push(b'"');
        literal.extend_from_slice(&self.0);
        literal.push(b'"');
        unescape_lossy(&String::from_utf8_lossy(&literal)).into_owned()
    }

    /// Bytes of the escaped form.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no text at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Decodes a JSON string literal; what is no Unicode becomes U+FFFD.
fn unescape_lossy(literal: &str) -> Cow<'_, str> {
    if let Ok(plain) = serde_json::from_str::<String>(literal) {
        return Cow::Owned(plain);
    }
    // Read as bytes, serde_json keeps lone surrogates (as WTF-8), so the rest of the text survives.
    let mut parser = serde_json::Deserializer::from_str(literal);
    match serde::de::Deserializer::deserialize_bytes(&mut parser, WholeBytes) {
        Ok(bytes) => Cow::Owned(without_surrogates(&bytes)),
        Err(_) => Cow::Borrowed("\u{fffd}"),
    }
}

/// WTF-8 as text, each lone surrogate as one U+FFFD. Its three bytes all count as invalid; the first is always this one.
fn without_surrogates(wtf8: &[u8]) -> String {
    const SURROGATE: u8 = 0xed;
    let mut plain = String::with_capacity(wtf8.len());
    for chunk in wtf8.utf8_chunks() {
        plain.push_str(chunk.valid());
        if chunk.invalid().first() == Some(&SURROGATE) {
            plain.push('\u{fffd}');
        }
    }
    plain
}

struct WholeBytes;

impl serde::de::Visitor<'_> for WholeBytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text(\"{}\")", String::from_utf8_lossy(&self.0))
    }
}

impl From<&str> for Text {
    fn from(plain: &str) -> Self {
        Self::from_plain(plain)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_plain())
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_plain(&Cow::<str>::deserialize(deserializer)?))
    }
}

impl JsonSchema for Text {
    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(json: &str) -> Text {
        let frame = Bytes::copy_from_slice(json.as_bytes());
        let shared = frame.clone();
        Text::from_literal(&frame, std::str::from_utf8(&shared).unwrap()).unwrap()
    }

    #[test]
    fn plain_text_survives_the_round_trip() {
        for plain in ["", "plain", "a \"quote\" \\ and \n\t\r\u{1}", "emoji 🦀 é\u{2028}"] {
            assert_eq!(Text::from_plain(plain).to_plain(), plain);
        }
    }

    #[test]
    fn a_literal_shares_the_frame_and_keeps_its_escapes() {
        let text = literal(r#""say \"hi\"\n""#);
        assert_eq!(text.as_escaped(), br#"say \"hi\"\n"#);
        assert_eq!(text.to_plain(), "say \"hi\"\n");
    }

    #[test]
    fn a_lone_surrogate_becomes_a_replacement_and_the_rest_survives() {
        assert_eq!(literal(r#""before \ud800 after""#).to_plain(), "before \u{fffd} after");
        assert_eq!(literal(r#""\udc00\ud83e\ud83e\udd80é\ud800""#).to_plain(), "\u{fffd}\u{fffd}🦀é\u{fffd}");
    }

    #[test]
    fn a_surrogate_pair_is_one_character() {
        assert_eq!(literal(r#""\ud83e\udd80""#).to_plain(), "🦀");
    }
}
