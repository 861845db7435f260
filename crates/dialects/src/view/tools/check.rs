//! What is wrong with a request: every finding, each with the place that it is about. Never stops at the first one.

use serde_json::{Map, Value};
use switchboard_types::limits::MAX_ID_BYTES;
use switchboard_types::{Finding, FindingCode};

/// The members of one object, taken one by one.
pub(super) struct Members<'a> {
    members: Map<String, Value>,
    /// Where the object stands in its message; empty for the message itself.
    at: String,
    findings: &'a mut Vec<Finding>,
}

impl<'a> Members<'a> {
    pub(super) fn new(members: Map<String, Value>, at: impl Into<String>, findings: &'a mut Vec<Finding>) -> Self {
        Self { members, at: at.into(), findings }
    }

    /// The place of a member.
    pub(super) fn place(&self, name: &str) -> String {
        if self.at.is_empty() { name.to_owned() } else { format!("{}.{name}", self.at) }
    }

    /// Notes that a member is not what it must be.
    pub(super) fn wrong(&mut self, name: &str, code: FindingCode, message: impl Into<String>) {
        let parameter = self.place(name);
        self.findings.push(Finding { parameter, message: message.into(), code });
    }

    fn mismatch(&mut self, name: &str, expected: &str) {
        self.wrong(name, FindingCode::TypeMismatch, format!("must be {expected}"));
    }

    /// A member that may be left out; null is as good as absent.
    pub(super) fn optional(&mut self, name: &str) -> Option<Value> {
        self.members.remove(name).filter(|value| !value.is_null())
    }

    /// A member that must be there.
    pub(super) fn required(&mut self, name: &str) -> Option<Value> {
        let found = self.members.remove(name);
        match &found {
            None => self.wrong(name, FindingCode::Required, "is missing"),
            Some(Value::Null) => self.wrong(name, FindingCode::NullValue, "must not be null"),
            Some(_) => return found,
        }
        None
    }

    /// A string of any length.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let value = self.required(name)?;
        self.is_text(name, value)
    }

    /// The same, if it is there.
    pub(super) fn optional_text(&mut self, name: &str) -> Option<String> {
        let value = self.optional(name)?;
        self.is_text(name, value)
    }

    fn is_text(&mut self, name: &str, value: Value) -> Option<String> {
        if let Value::String(text) = value {
            return Some(text);
        }
        self.mismatch(name, "a string");
        None
    }

    /// A name that somebody chose.
    pub(super) fn id(&mut self, name: &str) -> Option<String> {
        let text = self.text(name)?;
        self.is_id(name, text)
    }

    /// The same, if it is there.
    pub(super) fn optional_id(&mut self, name: &str) -> Option<String> {
        let text = self.optional_text(name)?;
        self.is_id(name, text)
    }

    fn is_id(&mut self, name: &str, text: String) -> Option<String> {
        if (1..=MAX_ID_BYTES).contains(&text.len()) {
            return Some(text);
        }
        self.wrong(name, FindingCode::OutOfRange, format!("must have 1 to {MAX_ID_BYTES} bytes, not {}", text.len()));
        None
    }

    /// True or false.
    pub(super) fn flag(&mut self, name: &str) -> Option<bool> {
        let value = self.required(name)?;
        self.is_flag(name, &value)
    }

    /// The same; false if it is not there.
    pub(super) fn optional_flag(&mut self, name: &str) -> bool {
        self.optional(name).and_then(|value| self.is_flag(name, &value)).unwrap_or_default()
    }

    fn is_flag(&mut self, name: &str, value: &Value) -> Option<bool> {
        if value.as_bool().is_none() {
            self.mismatch(name, "true or false");
        }
        value.as_bool()
    }

    /// A whole number within bounds, if it is there.
    pub(super) fn optional_count(&mut self, name: &str, bounds: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let value = self.optional(name)?;
        let (least, most) = bounds.clone().into_inner();
        let Value::Number(number) = &value else {
            self.mismatch(name, "a whole number");
            return None;
        };
        // A number without a fraction is whole, however it is written.
        let whole = number.as_f64().filter(|number| number.fract() == 0.0);
        if whole.is_none() {
            self.mismatch(name, "a whole number");
            return None;
        }
        let exact = number.as_u64().or(whole.filter(|whole| (0.0..1e15).contains(whole)).map(|whole| whole as u64));
        let found = exact.filter(|count| bounds.contains(count));
        if found.is_none() {
            self.wrong(name, FindingCode::OutOfRange, format!("must be from {least} to {most}"));
        }
        found
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(name)?;
        self.is_word(name, &text, words)
    }

    /// The same, if it is there.
    pub(super) fn optional_word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.optional_text(name)?;
        self.is_word(name, &text, words)
    }

    fn is_word<T: Copy>(&mut self, name: &str, text: &str, words: &[(&str, T)]) -> Option<T> {
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, meant)| *meant);
        if found.is_none() {
            let list: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.wrong(name, FindingCode::EnumMismatch, format!("must be one of {}", list.join(", ")));
        }
        found
    }

    /// An object.
    pub(super) fn object(&mut self, name: &str) -> Option<Map<String, Value>> {
        let value = self.required(name)?;
        self.is_object(name, value)
    }

    /// The same, if it is there.
    pub(super) fn optional_object(&mut self, name: &str) -> Option<Map<String, Value>> {
        let value = self.optional(name)?;
        self.is_object(name, value)
    }

    fn is_object(&mut self, name: &str, value: Value) -> Option<Map<String, Value>> {
        if let Value::Object(members) = value {
            return Some(members);
        }
        self.mismatch(name, "an object");
        None
    }

    /// An array of objects, so many at most and at least one; what is no object is left out and noted.
    pub(super) fn objects(&mut self, name: &str, most: usize) -> Vec<(String, Map<String, Value>)> {
        let Some(value) = self.required(name) else { return Vec::new() };
        let Value::Array(items) = value else {
            self.mismatch(name, "an array");
            return Vec::new();
        };
        if !(1..=most).contains(&items.len()) {
            let message = format!("must have 1 to {most} items, not {}", items.len());
            self.wrong(name, FindingCode::OutOfRange, message);
            return Vec::new();
        }
        let mut objects = Vec::with_capacity(items.len());
        for (at, item) in items.into_iter().enumerate() {
            let place = format!("{name}[{at}]");
            if let Some(members) = self.is_object(&place, item) {
                objects.push((self.place(&place), members));
            }
        }
        objects
    }

    /// The same findings for an object within this one.
    pub(super) fn within(&mut self, at: impl Into<String>, members: Map<String, Value>) -> Members<'_> {
        Members { members, at: at.into(), findings: self.findings }
    }
}
