//! A view's messages into requests: the envelope, the method, the parameters by their schema. Never guesses, and answers
//! nothing that has no id.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use switchboard_types::limits::{MAX_ID_BYTES, MAX_JSON_DEPTH};
use switchboard_types::{Reject, RejectCode};

use super::asked::Method;
use super::check::Checks;
use super::said::{ErrorCode, ErrorShape, FindingShape};
use crate::json::{deeper_than, shown};

/// The version of the envelope that is spoken.
pub(super) const VERSION: u32 = 1;
/// How deep a message may nest: what goes in must be readable again once it lies in the log.
const MAX_DEPTH: usize = MAX_JSON_DEPTH - 8;

/// A request whose envelope and parameters are as they must be.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) method: Method,
    pub(super) params: Value,
}

/// A message that is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Whose answer the refusal is; none if nobody can be answered.
    pub(super) id: Option<String>,
    pub(super) error: ErrorShape,
    /// The same for the link, which counts and records it.
    code: RejectCode,
}

impl Refusal {
    /// What is dropped without an answer.
    fn dropped(code: RejectCode, message: impl Into<String>) -> Self {
        Self {
            id: None,
            error: ErrorShape { code: ErrorCode::BadRequest, message: message.into(), details: None },
            code,
        }
    }

    /// A request that is not what it must be.
    pub(super) fn bad(id: &str, message: impl Into<String>) -> Self {
        Self { id: Some(id.to_owned()), ..Self::dropped(RejectCode::BadMessage, message) }
    }

    /// One request too many.
    pub(super) fn too_many(id: &str, message: String) -> Self {
        let mut refusal = Self::bad(id, message);
        (refusal.error.code, refusal.code) = (ErrorCode::TooLarge, RejectCode::TooLarge);
        refusal
    }

    /// The same with everything that is wrong.
    pub(super) fn wrong(id: &str, method: Method, findings: &[FindingShape]) -> Self {
        let first = findings.first().map(|finding| format!("{}: {}", finding.path, finding.message));
        let more = if findings.len() > 1 { format!(" (and {} more)", findings.len() - 1) } else { String::new() };
        let message = format!("the params of {} are wrong: {}{more}", method.name(), first.unwrap_or_default());
        Self::bad(id, message).with_details(json!(findings))
    }

    fn with_details(mut self, details: Value) -> Self {
        self.error.details = Some(details);
        self
    }

    pub(super) fn reject(&self) -> Reject {
        Reject::new(self.code, self.error.message.clone())
    }
}

/// Reads one message.
pub(super) fn request(checks: &Checks, frame: &[u8]) -> Result<Request, Box<Refusal>> {
    let mut envelope = envelope(frame)?;
    let Some(Value::String(id)) = envelope.remove("id") else {
        return Err(Box::new(Refusal::dropped(RejectCode::BadMessage, "a request needs an `id` that is a string")));
    };
    match envelope.get("kind").and_then(Value::as_str) {
        Some("req") => {}
        // Nobody was asked anything, so nobody can be answered.
        Some(other @ ("res" | "evt")) => {
            let message = format!("a view sends requests, not `{other}`");
            return Err(Box::new(Refusal::dropped(RejectCode::BadMessage, message)));
        }
        _ => return Err(Box::new(Refusal::bad(&id, "`kind` must be \"req\""))),
    }
    if envelope.get("v").and_then(Value::as_f64) != Some(f64::from(VERSION)) {
        let refusal = Refusal::bad(&id, format!("`v` must be {VERSION}: no other version is spoken here"));
        return Err(Box::new(refusal.with_details(json!({ "supported": [VERSION] }))));
    }
    if id.len() > MAX_ID_BYTES {
        return Err(Box::new(Refusal::bad(&id, format!("`id` must have at most {MAX_ID_BYTES} bytes"))));
    }
    let Some(Value::String(name)) = envelope.remove("method") else {
        return Err(Box::new(Refusal::bad(&id, "`method` must be a string")));
    };
    let Some(method) = Method::named(&name) else {
        let message = format!("there is no method {}", shown(&name));
        let mut refusal = Refusal::bad(&id, message);
        (refusal.error.code, refusal.code) = (ErrorCode::MethodNotFound, RejectCode::UnknownType);
        return Err(Box::new(refusal));
    };
    let params = match envelope.remove("params") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(params) => params,
    };
    let findings = checks.findings(method, &params);
    if findings.is_empty() {
        Ok(Request { id, method, params })
    } else {
        Err(Box::new(Refusal::wrong(&id, method, &findings)))
    }
}

fn envelope(frame: &[u8]) -> Result<Map<String, Value>, Box<Refusal>> {
    let dropped = |message: String| Box::new(Refusal::dropped(RejectCode::BadJson, message));
    // The parser goes as deep as the text does.
    if deeper_than(frame, MAX_DEPTH) {
        return Err(dropped(format!("nested deeper than {MAX_DEPTH}")));
    }
    serde_json::from_slice(frame).map_err(|error| dropped(format!("not a JSON object: {error}")))
}

/// Parameters that have passed their schema.
pub(super) fn typed<T: DeserializeOwned>(request: &mut Request) -> Result<T, Box<Refusal>> {
    serde_json::from_value(std::mem::take(&mut request.params)).map_err(|error| {
        // The schema lets through what no number of ours can hold.
        let finding = FindingShape { path: "/params".to_owned(), message: error.to_string() };
        Box::new(Refusal::wrong(&request.id, request.method, &[finding]))
    })
}
