//! The compiled schemas of the dialect: what comes in is checked by them always, what goes out in builds for tests. Shared
//! by all links; never changes.

use std::sync::Arc;

use jsonschema::Validator;
use serde_json::Value;

use super::asked::Method;
use super::said::FindingShape;
use super::schema::{self, Topic};

/// Findings that are told.
const MAX_FINDINGS: usize = 32;
/// Characters of one finding.
const MAX_FINDING_CHARS: usize = 200;

/// The checks of all methods and topics.
#[derive(Clone, Debug)]
pub struct Checks(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    params: Vec<Option<Validator>>,
    results: Vec<Option<Validator>>,
    payloads: Vec<Option<Validator>>,
    failure: Option<Validator>,
}

/// Something that goes out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outward {
    /// A result of this method.
    Result(Method),
    /// An error.
    Error,
    /// A payload of this topic.
    Payload(Topic),
}

impl Checks {
    /// Compiles all schemas. It takes a while; make it once.
    #[must_use]
    pub fn new() -> Self {
        // A schema that cannot be compiled refuses everything, so that nothing passes unchecked; a test makes sure of all.
        let compile = |schema: Value| jsonschema::validator_for(&schema).ok();
        Self(Arc::new(Compiled {
            params: Method::ALL.into_iter().map(|method| compile(schema::params(method))).collect(),
            results: Method::ALL.into_iter().map(|method| compile(schema::result(method))).collect(),
            payloads: Topic::ALL.into_iter().map(|topic| compile(schema::payload(topic))).collect(),
            failure: compile(schema::failure()),
        }))
    }

    /// What is wrong with a method's parameters; empty if nothing is.
    pub(super) fn findings(&self, method: Method, params: &Value) -> Vec<FindingShape> {
        match self.0.params.get(method as usize).and_then(Option::as_ref) {
            Some(check) if check.is_valid(params) => Vec::new(),
            Some(check) => check.iter_errors(params).take(MAX_FINDINGS).map(|error| finding(&error)).collect(),
            None => vec![FindingShape { path: "/params".to_owned(), message: "cannot be checked".to_owned() }],
        }
    }

    /// What is wrong with something that is about to go out. It has no shape of ours to lose, so this is for tests.
    pub(super) fn fault(&self, outward: Outward, message: &[u8]) -> Option<String> {
        let message: Value = match serde_json::from_slice(message) {
            Ok(message) => message,
            Err(error) => return Some(error.to_string()),
        };
        let (check, part) = match outward {
            Outward::Result(method) => (self.0.results.get(method as usize).and_then(Option::as_ref), "result"),
            Outward::Error => (self.0.failure.as_ref(), "error"),
            Outward::Payload(topic) => (self.0.payloads.get(topic as usize).and_then(Option::as_ref), "payload"),
        };
        let Some(check) = check else { return Some(format!("the schema of {outward:?} cannot be compiled")) };
        let part = message.get(part).unwrap_or(&Value::Null);
        check.iter_errors(part).next().map(|error| format!("{outward:?}: {} at {}", error, error.instance_path()))
    }
}

impl Default for Checks {
    fn default() -> Self {
        Self::new()
    }
}

fn finding(error: &jsonschema::ValidationError<'_>) -> FindingShape {
    let message: String = error.masked().to_string().chars().take(MAX_FINDING_CHARS).collect();
    let path: String = error.instance_path().as_str().chars().take(MAX_FINDING_CHARS).collect();
    FindingShape { path: format!("/params{path}"), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_can_be_compiled() {
        let Checks(compiled) = Checks::new();
        let all = [&compiled.params, &compiled.results, &compiled.payloads];
        assert!(all.into_iter().flatten().all(Option::is_some) && compiled.failure.is_some());
    }
}
