//! What a check found, in our codes and in plain words: one finding for each thing that is wrong. Never repeats a value
//! at length.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;
use switchboard_types::{ErrandCode, ErrandFailure, Finding, FindingCode};

use crate::agents::shown::shown;

/// Findings that are told.
const MAX_FINDINGS: usize = 100;
/// Alternatives within alternatives that are looked into.
const MAX_INNER: usize = 4;
/// Characters of a name, a value or a pattern that are repeated.
const SHOWN: usize = 120;
/// What the parameters as a whole are called.
const WHOLE: &str = "parameters";

/// The failure that tells the findings.
pub(super) fn failure(mut findings: Vec<Finding>) -> ErrandFailure {
    let count = findings.len();
    findings.truncate(MAX_FINDINGS);
    let first = findings.first().map_or("", |first| first.message.as_str());
    let message = match count {
        0 | 1 => format!("the parameters are wrong: {first}"),
        _ if count > MAX_FINDINGS => {
            format!("the parameters are wrong in more than {MAX_FINDINGS} ways, of which the first are told: {first}")
        }
        _ => format!("the parameters are wrong in {count} ways: {first}; …"),
    };
    ErrandFailure { findings, ..ErrandFailure::new(ErrandCode::Invalid, message) }
}

/// Every finding of a check.
pub(super) fn all<'a>(errors: impl IntoIterator<Item = ValidationError<'a>>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for error in errors {
        for finding in of(&error, 0) {
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
        if findings.len() > MAX_FINDINGS {
            break;
        }
    }
    if findings.is_empty() { unlisted() } else { findings }
}

/// What is said where saying more would cost too much.
pub(super) fn unlisted() -> Vec<Finding> {
    let message = "the parameters do not fit the schema, and are too large to say where; send less at once";
    vec![Finding { parameter: WHOLE.to_owned(), message: message.to_owned(), code: FindingCode::TypeMismatch }]
}

/// Why a schema is none, for whoever wrote it.
pub(super) fn unsound(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().as_str();
    let place = if place.is_empty() { "its top" } else { place };
    format!("the schema is wrong at {}: {}", shown(place, SHOWN), shown(&error.to_string(), 300))
}

fn of(error: &ValidationError<'_>, inner: usize) -> Vec<Finding> {
    let at = readable(error.instance_path());
    match error.kind() {
        Kind::Required { property } => {
            let at = join(&at, property.as_str().unwrap_or_default());
            vec![finding(&at, FindingCode::Required, format!("`{at}` is missing"))]
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unexpected.iter().map(|name| unknown(&join(&at, name))).collect()
        }
        Kind::FalseSchema => vec![unknown(&at)],
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } if inner < MAX_INNER => {
            best(error, context, &at, inner)
        }
        Kind::PropertyNames { error: named } => {
            let name = error_value(named);
            let at = join(&at, &name);
            let why = words(named).1;
            vec![finding(
                &at,
                FindingCode::UnknownParameter,
                format!("`{at}` is no name that may stand there: it {why}"),
            )]
        }
        _ => {
            let (code, why) = words(error);
            let at = if at.is_empty() { WHOLE.to_owned() } else { at };
            vec![finding(&at, code, format!("`{at}` {why}"))]
        }
    }
}

fn unknown(at: &str) -> Finding {
    finding(at, FindingCode::UnknownParameter, format!("`{at}` is not known; leave it out"))
}

fn finding(at: &str, code: FindingCode, message: String) -> Finding {
    Finding { parameter: at.to_owned(), message, code }
}

/// What is wrong with a value that fits none of several schemas: what the one says that fits best. That is the one with a
/// value of its type and the fewest things wrong.
fn best(
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    at: &str,
    inner: usize,
) -> Vec<Finding> {
    let depth = error.instance_path().iter().count();
    let is_of_type = |branch: &&Vec<ValidationError<'static>>| {
        !branch.iter().any(|one| matches!(one.kind(), Kind::Type { .. }) && one.instance_path().iter().count() == depth)
    };
    let fitting = context.iter().filter(is_of_type).min_by_key(|branch| branch.len());
    if let Some(branch) = fitting.filter(|branch| !branch.is_empty()) {
        return branch.iter().flat_map(|one| of(one, inner + 1)).collect();
    }
    let at = if at.is_empty() { WHOLE } else { at };
    let (code, what) = mismatch(error.instance());
    vec![finding(at, code, format!("`{at}` is {what}, which none of the alternatives allows"))]
}

/// The code and the rest of a sentence that begins with the parameter.
fn words(error: &ValidationError<'_>) -> (FindingCode, String) {
    use FindingCode::{EnumMismatch, OutOfRange, PatternMismatch, TypeMismatch};
    match error.kind() {
        Kind::Type { kind } => {
            let (code, what) = mismatch(error.instance());
            (code, format!("is {what} and must be {}", wanted(kind)))
        }
        Kind::Enum { options } => (EnumMismatch, format!("is none of {}", value(options))),
        Kind::Constant { expected_value } => (EnumMismatch, format!("must be {}", value(expected_value))),
        Kind::Minimum { limit } => (OutOfRange, format!("must be at least {}", value(limit))),
        Kind::Maximum { limit } => (OutOfRange, format!("must be at most {}", value(limit))),
        Kind::ExclusiveMinimum { limit } => (OutOfRange, format!("must be more than {}", value(limit))),
        Kind::ExclusiveMaximum { limit } => (OutOfRange, format!("must be less than {}", value(limit))),
        Kind::MultipleOf { multiple_of } => (OutOfRange, format!("must be a multiple of {multiple_of}")),
        Kind::MinLength { limit } => (OutOfRange, format!("must have at least {limit} characters")),
        Kind::MaxLength { limit } => (OutOfRange, format!("must have at most {limit} characters")),
        Kind::MinItems { limit } => (OutOfRange, format!("must have at least {limit} items")),
        Kind::MaxItems { limit } => (OutOfRange, format!("must have at most {limit} items")),
        Kind::AdditionalItems { limit } => (OutOfRange, format!("must have at most {limit} items")),
        Kind::MinProperties { limit } => (OutOfRange, format!("must have at least {limit} fields")),
        Kind::MaxProperties { limit } => (OutOfRange, format!("must have at most {limit} fields")),
        Kind::UnevaluatedItems { .. } => (OutOfRange, "has more items than may be there".to_owned()),
        Kind::Contains => (OutOfRange, "lacks an item that must be there, or has too many of them".to_owned()),
        Kind::Pattern { pattern } => {
            (PatternMismatch, format!("does not match the pattern `{}`", shown(pattern, SHOWN)))
        }
        Kind::Format { format } => (PatternMismatch, format!("is not of the format `{}`", shown(format, SHOWN))),
        Kind::UniqueItems => (PatternMismatch, "has the same item more than once".to_owned()),
        Kind::Not { .. } => (PatternMismatch, "is just what it must not be".to_owned()),
        Kind::OneOfMultipleValid { .. } => (TypeMismatch, "fits more than one of the alternatives".to_owned()),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => (TypeMismatch, "fits none of the alternatives".to_owned()),
        _ => (PatternMismatch, format!("is wrong: {}", shown(&error.masked().to_string(), 300))),
    }
}

/// What a value is that has another type than it must have.
fn mismatch(found: &Value) -> (FindingCode, &'static str) {
    let (code, what) = match found {
        Value::Null => (FindingCode::NullValue, "null"),
        Value::Bool(_) => (FindingCode::TypeMismatch, "a boolean"),
        Value::Number(_) => (FindingCode::TypeMismatch, "a number"),
        Value::String(_) => (FindingCode::TypeMismatch, "a string"),
        Value::Array(_) => (FindingCode::TypeMismatch, "an array"),
        Value::Object(_) => (FindingCode::TypeMismatch, "an object"),
    };
    (code, what)
}

fn wanted(kind: &TypeKind) -> String {
    let name = |kind: JsonType| match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "a whole number",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    };
    match kind {
        TypeKind::Single(kind) => name(*kind).to_owned(),
        TypeKind::Multiple(kinds) => kinds.iter().map(name).collect::<Vec<_>>().join(" or "),
    }
}

fn value(value: &Value) -> String {
    shown(&value.to_string(), SHOWN)
}

/// The value that an error is about, as text.
fn error_value(error: &ValidationError<'_>) -> String {
    error.instance().as_str().map_or_else(|| error.instance().to_string(), str::to_owned)
}

/// A place as people write it: `items[2].name`.
fn readable(path: &Location) -> String {
    let mut text = String::new();
    for part in path.iter() {
        match part {
            LocationSegment::Property(name) => text = join(&text, &name),
            LocationSegment::Index(index) => text = format!("{text}[{index}]"),
        }
    }
    text
}

fn join(at: &str, name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '$');
    let name = match name {
        "" => "\"\"".to_owned(),
        name if name.chars().all(is_plain) => shown(name, SHOWN),
        name => format!("\"{}\"", shown(name, SHOWN)),
    };
    if at.is_empty() { name } else { format!("{at}.{name}") }
}
