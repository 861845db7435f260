//! Patterns of files as JSON text: an object from glob to boolean, in order. Never loses the order, which decides.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use switchboard_types::limits::MAX_PATTERNS;
use switchboard_types::{Patterns, Unasked};

/// Reads patterns.
pub(super) fn read(text: &str) -> Result<Patterns, String> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let wrong = |error: serde_json::Error| {
        format!("patterns are JSON text, an object from glob to true (no question) or false (ask): {error}")
    };
    let patterns = parser.deserialize_map(InOrder).map_err(wrong)?;
    parser.end().map_err(wrong)?;
    Ok(patterns)
}

/// The same as text.
pub(super) fn written(patterns: &Patterns) -> String {
    let mut text = String::from("{");
    for (at, (glob, unasked)) in patterns.0.iter().enumerate() {
        let may = match unasked {
            Unasked::May => "true",
            Unasked::MayNot => "false",
        };
        let comma = if at == 0 { "" } else { "," };
        text.push_str(&format!("{comma}\n  {}: {may}", serde_json::Value::from(glob.as_str())));
    }
    text.push_str(if patterns.0.is_empty() { "}" } else { "\n}" });
    text
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Patterns;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object from glob to boolean")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Patterns, M::Error> {
        let mut patterns = Vec::new();
        while let Some((glob, may)) = map.next_entry::<String, bool>()? {
            if patterns.len() >= MAX_PATTERNS {
                return Err(serde::de::Error::custom(format!("there are more than {MAX_PATTERNS} patterns")));
            }
            patterns.push((glob, if may { Unasked::May } else { Unasked::MayNot }));
        }
        Ok(Patterns(patterns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_keep_their_order_there_and_back() {
        let text = r#"{"**/*": true, "b/**": false, "a \"q\"": true, "**/*": false}"#;
        let read = read(text).unwrap();
        let expected = [("**/*", true), ("b/**", false), ("a \"q\"", true), ("**/*", false)];
        let expected = expected.map(|(glob, may)| (glob.to_owned(), if may { Unasked::May } else { Unasked::MayNot }));
        assert_eq!(read.0, expected);
        assert_eq!(super::read(&written(&read)).unwrap(), read);
        assert_eq!(written(&Patterns::default()), "{}");
    }

    #[test]
    fn what_is_no_list_of_patterns_is_refused() {
        for text in ["", "[]", "{\"a\": 1}", "{\"a\": true} x", "{\"a\": \"true\"}", "null"] {
            assert!(read(text).is_err(), "{text}");
        }
        let many: Vec<String> = (0..=MAX_PATTERNS).map(|at| format!("\"{at}\": true")).collect();
        assert!(read(&format!("{{{}}}", many.join(","))).unwrap_err().contains("more than"));
    }
}
