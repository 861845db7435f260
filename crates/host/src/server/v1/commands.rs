//! `POST /v1/sessions/{session}/command`: what is no prompt. A decision that is not known is refused, never taken for a no.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use serde_json::{Map, Value, json};
use switchboard_dialects::vocabulary;
use switchboard_types::limits::MAX_COMMAND_BYTES;
use switchboard_types::{AnsweredBy, ApprovalId, Decision, SessionAnswer, SessionId, SessionRequest};

use super::problem::Refused;
use super::sessions::odd;
use super::shape::{Order, Ordered};
use super::take;
use crate::server::accept::Shared;
use crate::server::answer::json as json_answer;

/// What can be decided.
const DECISIONS: [(&str, Decision); 6] = [
    ("allow-once", Decision::AllowOnce),
    ("allow-session", Decision::AllowSession),
    ("allow-always", Decision::AllowRule),
    ("deny-once", Decision::Deny),
    // There are no rules that deny; whoever denies for good is asked again, which is the safe side.
    ("deny-always", Decision::Deny),
    ("deny-stop", Decision::DenyStop),
];

/// `POST /v1/sessions/{session}/command`.
pub(crate) async fn command(
    State(shared): State<Arc<Shared>>,
    Path(session): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let session = take::session(&session)?;
    let Order { command, payload } = take::body(&headers, body).await?;
    let payload = payload.unwrap_or_default();
    let ordered = match command.as_str() {
        "stop" => stop(&shared, session).await?,
        "set_model" => set(&shared, session, "model", &payload).await?,
        "set_mode" => set(&shared, session, "mode", &payload).await?,
        "permission_decision" | "permission_response" | "respond_permission" => {
            decide(&shared, session, &payload).await?
        }
        _ => pass_on(&shared, session, command, payload).await?,
    };
    Ok(json_answer(StatusCode::ACCEPTED, &ordered))
}

async fn stop(shared: &Shared, session: SessionId) -> Result<Ordered, Refused> {
    match shared.desk.ask(SessionRequest::Stop { session }).await? {
        SessionAnswer::Stopped { stopped } => Ok(accepted(Some(json!({ "stopped": stopped })))),
        other => Err(odd(&other)),
    }
}

async fn set(
    shared: &Shared,
    session: SessionId,
    category: &str,
    payload: &Map<String, Value>,
) -> Result<Ordered, Refused> {
    let value = text(payload, category)?.to_owned();
    take::name(category, &value)?;
    match shared.desk.ask(SessionRequest::Set { session, category: category.to_owned(), value }).await? {
        SessionAnswer::Done {} => Ok(accepted(None)),
        other => Err(odd(&other)),
    }
}

async fn decide(shared: &Shared, session: SessionId, payload: &Map<String, Value>) -> Result<Ordered, Refused> {
    let request = text(payload, "request_id")?;
    take::name("request_id", request)?;
    let word = text(payload, "decision")?;
    let decision = decision(word)?;
    let command = match payload.get("command") {
        None | Some(Value::Null) => None,
        Some(_) => Some(text(payload, "command")?.to_owned()),
    };
    if command.as_ref().is_some_and(|command| command.len() > MAX_COMMAND_BYTES) {
        return Err(Refused::bad(format!("`command` has at most {MAX_COMMAND_BYTES} bytes")));
    }
    // Says whether there is such a session, which an answer to a question does not.
    super::sessions::look(shared, session).await?;
    let (resolution, by) = shared.desk.decide(session, ApprovalId::from(request), decision, command).await?;
    let status = match by {
        AnsweredBy::You => "applied",
        AnsweredBy::Before => "already_resolved",
    };
    let detail = json!({ "request_id": request, "decision": vocabulary::decision(resolution) });
    Ok(Ordered { status: status.to_owned(), detail: Some(detail) })
}

/// A command that we do not know may be one that an agent elsewhere knows.
async fn pass_on(
    shared: &Shared,
    session: SessionId,
    name: String,
    payload: Map<String, Value>,
) -> Result<Ordered, Refused> {
    take::name("command", &name)?;
    match shared.desk.ask(SessionRequest::Order { session, name, payload: Value::Object(payload) }).await? {
        SessionAnswer::Ordered { status, detail } => Ok(Ordered { status, detail }),
        other => Err(odd(&other)),
    }
}

fn accepted(detail: Option<Value>) -> Ordered {
    Ordered { status: "accepted".to_owned(), detail }
}

fn decision(word: &str) -> Result<Decision, Refused> {
    let dashed = word.replace('_', "-");
    let found = DECISIONS.iter().find(|(known, _)| *known == dashed);
    found.map(|(_, decision)| *decision).ok_or_else(|| {
        let known: Vec<&str> = DECISIONS.iter().map(|(known, _)| *known).collect();
        Refused::bad("`decision` is not one that there is; nothing was answered").with(json!({ "known": known }))
    })
}

fn text<'a>(payload: &'a Map<String, Value>, field: &str) -> Result<&'a str, Refused> {
    let found = payload.get(field).and_then(Value::as_str);
    found.ok_or_else(|| Refused::bad(format!("`payload.{field}` must be there, as text")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_decision_is_known_in_both_spellings_and_no_other_is_taken_for_one() {
        for (word, wanted) in DECISIONS {
            assert_eq!(decision(word).unwrap(), wanted);
            assert_eq!(decision(&word.replace('-', "_")).unwrap(), wanted);
        }
        for word in ["", "allow", "deny", "allow_rule", "yes", "ALLOW-ONCE", "allow-once "] {
            assert!(decision(word).is_err(), "{word}");
        }
    }
}
