//! Errors both ways: what a peer says went wrong, and what we say. Never decides what follows from one.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::codes;
use crate::json::{Fields, lossy};

/// What a peer says went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault<'a> {
    /// For programs.
    pub code: Code,
    /// For people; never empty.
    pub message: String,
    /// More of it, as the text that it was.
    pub data: Option<&'a str>,
}

/// The code of a peer's error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// As it should be.
    Number(i64),
    /// Against the specification, but seen.
    Word(String),
    /// None was given, or one that is neither.
    Absent,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
            Self::Absent => f.write_str("no code"),
        }
    }
}

/// Whether an error was as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Good,
    Odd,
}

impl<'a> Fault<'a> {
    /// Reads the value of `error`, whatever it is.
    pub(super) fn from_json(json: &'a str) -> (Self, Form) {
        let Ok(fields) = Fields::read(json, &["code", "message", "data"]) else {
            let message = lossy(json).unwrap_or_else(|| json.to_owned());
            return (Self::of(Code::Absent, Some(message), None), Form::Odd);
        };
        let code = match fields.raw("code") {
            Some(raw) => code(raw),
            None => Code::Absent,
        };
        let message = fields.optional_text("message").ok().flatten();
        let good = matches!(code, Code::Number(_)) && message.is_some() && fields.fault().is_none();
        (Self::of(code, message, fields.raw("data")), if good { Form::Good } else { Form::Odd })
    }

    fn of(code: Code, message: Option<String>, data: Option<&'a str>) -> Self {
        let known = |code: &Code| match code {
            Code::Number(number) => codes::in_words(*number).map(str::to_owned),
            Code::Word(word) => Some(word.clone()),
            Code::Absent => None,
        };
        let message = message.filter(|message| !message.is_empty()).or_else(|| known(&code));
        Self { message: message.unwrap_or_else(|| "an error without a message".to_owned()), code, data }
    }
}

fn code(raw: &str) -> Code {
    if let Ok(number) = raw.parse() {
        return Code::Number(number);
    }
    // A whole number may well be written as -32000.0.
    let whole = raw.parse::<f64>().ok().filter(|number| number.fract() == 0.0 && number.abs() < 1e15);
    if let Some(whole) = whole {
        return Code::Number(whole as i64);
    }
    lossy(raw).filter(|word| !word.is_empty()).map_or(Code::Absent, Code::Word)
}

/// What we tell a peer went wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failure {
    code: i64,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

impl Failure {
    /// With a code for programs and words for people.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The method is unknown here.
    #[must_use]
    pub fn unknown_method(method: &str) -> Self {
        Self::new(codes::METHOD_NOT_FOUND, format!("the method {} is unknown here", crate::json::shown(method)))
    }

    /// With more for programs.
    #[must_use]
    pub fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> (Code, String, Option<&str>, Form) {
        let (fault, form) = Fault::from_json(json);
        (fault.code, fault.message, fault.data, form)
    }

    #[test]
    fn an_error_is_read_as_it_should_be_and_as_it_is() {
        let number = Code::Number;
        let cases = [
            (r#"{"code":-32000,"message":"m","data":[1]}"#, (number(-32000), "m", Some("[1]"), Form::Good)),
            (r#"{"code":-32000.0,"message":"m"}"#, (number(-32000), "m", None, Form::Good)),
            (r#"{"code":"NO_PLAN","message":"m"}"#, (Code::Word("NO_PLAN".to_owned()), "m", None, Form::Odd)),
            (r#"{"code":"NO_PLAN"}"#, (Code::Word("NO_PLAN".to_owned()), "NO_PLAN", None, Form::Odd)),
            (r#"{"code":-32601}"#, (number(-32601), "method not found", None, Form::Odd)),
            (r#"{"message":""}"#, (Code::Absent, "an error without a message", None, Form::Odd)),
            (r#"{"code":1.5,"message":"m"}"#, (Code::Absent, "m", None, Form::Odd)),
            (r#""boom""#, (Code::Absent, "boom", None, Form::Odd)),
            ("[1]", (Code::Absent, "[1]", None, Form::Odd)),
        ];
        for (json, (code, message, data, form)) in cases {
            assert_eq!(read(json), (code, message.to_owned(), data, form), "{json}");
        }
    }
}
