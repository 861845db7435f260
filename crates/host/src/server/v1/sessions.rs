//! Sessions and prompts at the HTTP door. Turns requests into what the desk is asked, and its answers into JSON.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use hyper::header::HeaderMap;
use hyper::{StatusCode, Uri};
use serde::Deserialize;
use switchboard_types::limits::MAX_HISTORY_ROWS;
use switchboard_types::{
    AgentName, HistoryPlace, PermissionMode, Prompt, SessionAnswer, SessionId, SessionRequest, SessionSummary, Setup,
    Time, TurnName, WorkspaceRoot,
};

use super::problem::Refused;
use super::shape::{Accepted, CreateSession, Created, Input, Session, Sessions, id};
use super::take;
use crate::attachments::AttachmentError;
use crate::server::accept::Shared;
use crate::server::answer::json as json_answer;
use crate::server::folder::{FolderError, canonical_folder};

/// Sessions in one answer if nobody says.
const USUAL_ROWS: usize = 50;
/// Bytes of a path at an agent elsewhere.
const MAX_PATH_BYTES: usize = 4096;
/// Random bytes of a name that we give to a turn.
const NAME_BYTES: usize = 16;

#[derive(Deserialize)]
struct Listing {
    limit: Option<usize>,
    before: Option<String>,
}

/// `GET /v1/sessions?limit=&before=`.
pub(crate) async fn list(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Response, Refused> {
    let listing: Listing = take::query(&uri)?;
    let limit = listing.limit.unwrap_or(USUAL_ROWS).clamp(1, MAX_HISTORY_ROWS);
    let before = listing.before.as_deref().map(place).transpose()?;
    match shared.desk.ask(SessionRequest::List { before, limit }).await? {
        SessionAnswer::Sessions { sessions, next } => {
            let next = next.map(|place| format!("{}:{}", place.updated.0, place.session));
            let sessions = sessions.iter().map(Session::from).collect();
            Ok(json_answer(StatusCode::OK, &Sessions { sessions, next }))
        }
        other => Err(odd(&other)),
    }
}

/// `POST /v1/sessions`.
pub(crate) async fn create(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let wanted: CreateSession = take::body(&headers, body).await?;
    for (field, value) in [("agent", &wanted.agent), ("model", &wanted.model)] {
        value.as_deref().map(|value| take::name(field, value)).transpose()?;
    }
    if wanted.config_path.as_ref().is_some_and(|path| path.len() > MAX_PATH_BYTES) {
        return Err(Refused::bad(format!("`config_path` has at most {MAX_PATH_BYTES} bytes")));
    }
    let permission = wanted.permission_mode.as_deref().map(permission).transpose()?;
    let workspace = match &wanted.workspace {
        Some(path) => Some(folder(path).await?),
        None => None,
    };
    let setup = Setup { config: wanted.config_path, model: wanted.model, permission };
    let agent = wanted.agent.as_deref().map(AgentName::from);
    let task = wanted.task.filter(|task| !task.is_empty());
    match shared.desk.ask(SessionRequest::Create { agent, workspace, setup, task }).await? {
        SessionAnswer::Created { session } => {
            let status = look(&shared, session).await?.status;
            Ok(json_answer(StatusCode::CREATED, &Created { session_id: id(session), status }))
        }
        other => Err(odd(&other)),
    }
}

/// `GET /v1/sessions/{session}`.
pub(crate) async fn get(State(shared): State<Arc<Shared>>, Path(session): Path<String>) -> Result<Response, Refused> {
    let session = take::session(&session)?;
    Ok(json_answer(StatusCode::OK, &look(&shared, session).await?))
}

/// `DELETE /v1/sessions/{session}`.
pub(crate) async fn delete(
    State(shared): State<Arc<Shared>>,
    Path(session): Path<String>,
) -> Result<Response, Refused> {
    let session = take::session(&session)?;
    shared.desk.ask(SessionRequest::Delete { session }).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

/// `POST /v1/sessions/{session}/input`.
pub(crate) async fn input(
    State(shared): State<Arc<Shared>>,
    Path(session): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let session = take::session(&session)?;
    let input: Input = take::body(&headers, body).await?;
    let attachments = input.attachments.unwrap_or_default();
    if input.content.is_empty() && attachments.is_empty() {
        return Err(Refused::bad("`content` is empty; say what is to be done"));
    }
    let message_id = match input.message_id {
        Some(name) => take::name("message_id", &name).map(|()| name)?,
        None => fresh_name()?,
    };
    let mut prompt = Prompt { text: input.content, context: Vec::new() };
    if !attachments.is_empty() {
        // Whether there is such a session is known before its attachments are looked for.
        look(&shared, session).await?;
        let kept = shared.attachments.clone();
        let resolved = tokio::task::spawn_blocking(move || kept.resolve(session, &attachments)).await;
        prompt.context = resolved.map_err(|_| Refused::stopping())?.map_err(|error| not_attached(&error))?;
    }
    let name = TurnName::from(message_id.as_str());
    let send = SessionRequest::Send { session, name, prompt, attachments: Vec::new() };
    match shared.desk.ask(send).await? {
        SessionAnswer::Queued { turn, position } => {
            let turn_id = message_id.clone();
            let accepted = Accepted { turn_id, turn: turn.0, queued: position > 0, position, message_id };
            Ok(json_answer(StatusCode::ACCEPTED, &accepted))
        }
        other => Err(odd(&other)),
    }
}

/// A session as it is.
pub(super) async fn look(shared: &Shared, session: SessionId) -> Result<Session, Refused> {
    summary(shared, session).await.map(|found| Session::from(&found))
}

async fn summary(shared: &Shared, session: SessionId) -> Result<SessionSummary, Refused> {
    match shared.desk.ask(SessionRequest::Look { session }).await? {
        SessionAnswer::Session(found) => Ok(*found),
        other => Err(odd(&other)),
    }
}

/// The host has answered something else than was asked.
pub(super) fn odd(answer: &SessionAnswer) -> Refused {
    tracing::error!(?answer, "this answers another question");
    Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", "the host has answered something else")
}

/// Why a file is not kept, or not found.
pub(super) fn not_attached(error: &AttachmentError) -> Refused {
    let (status, code) = match error {
        AttachmentError::TooMany | AttachmentError::TooLarge | AttachmentError::TooMuch => {
            (StatusCode::PAYLOAD_TOO_LARGE, "too_large")
        }
        AttachmentError::Unknown(_) => (StatusCode::NOT_FOUND, "not_found"),
        AttachmentError::Unreadable(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
        AttachmentError::Io(_) | AttachmentError::Random(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
    };
    Refused::new(status, code, error.to_string())
}

fn place(text: &str) -> Result<HistoryPlace, Refused> {
    let numbers = text.split_once(':').and_then(|(updated, session)| {
        Some(HistoryPlace { updated: Time(updated.parse().ok()?), session: SessionId(session.parse().ok()?) })
    });
    numbers.ok_or_else(|| Refused::bad("`before` is what an earlier answer said as `next`"))
}

fn permission(word: &str) -> Result<PermissionMode, Refused> {
    match word {
        "ask" | "prompt" | "interactive" => Ok(PermissionMode::Ask),
        "auto" | "auto_allow" => Ok(PermissionMode::Auto),
        _ => Err(Refused::bad("`permission_mode` is `ask` or `auto`")),
    }
}

async fn folder(path: &str) -> Result<WorkspaceRoot, Refused> {
    canonical_folder(path).await.map_err(|error| match error {
        FolderError::NotAbsolute | FolderError::NotFolder { .. } | FolderError::NotUnicode { .. } => {
            Refused::bad(error.to_string())
        }
        FolderError::Unreachable { .. } => Refused::not_found(error.to_string()),
        FolderError::Stopping => Refused::stopping(),
    })
}

fn fresh_name() -> Result<String, Refused> {
    let mut random = [0; NAME_BYTES];
    getrandom::fill(&mut random).map_err(|_| Refused::stopping())?;
    let hex: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("m-{hex}"))
}
