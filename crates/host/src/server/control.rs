//! What our own command line asks of a running host: a login link, trust, another workspace. Carries it to the host's
//! task; decides nothing. What it asks of the store is in `control/history.rs`, about rules in `control/rules.rs`.

pub(crate) mod history;
pub(crate) mod rules;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use switchboard_types::WorkspaceRoot;
use tokio::sync::oneshot;

use super::accept::Shared;
use super::answer::{Problem, json as json_answer};
use super::folder::{FolderError, canonical_folder};
use crate::link::{Trust, ViewInput};

/// The body of a request.
const MAX_BODY_BYTES: usize = 64 * 1024;
/// How long a body may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustRequest {
    root: String,
    trust: TrustWord,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TrustWord {
    Trusted,
    Untrusted,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkspaceRequest {
    root: String,
}

/// `POST /control/login`: a fresh one-time link.
pub(crate) async fn login(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    let link = shared.login_link(Instant::now()).map_err(|error| Problem::internal(error.to_string()))?;
    Ok(json_answer(StatusCode::OK, &json!({"login": link})))
}

/// `POST /control/trust {root, trust}`.
pub(crate) async fn trust(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let TrustRequest { root, trust: word } = read(body).await?;
    // A folder that is gone can be trusted no longer, but not trusted.
    let root = match (folder(&root).await, word) {
        (Err(_), TrustWord::Untrusted) if Path::new(&root).is_absolute() => WorkspaceRoot::from(root.as_str()),
        (found, _) => found?,
    };
    let (trust, said) = match word {
        TrustWord::Trusted => (Trust::Trusted, "trusted"),
        TrustWord::Untrusted => (Trust::Untrusted, "untrusted"),
    };
    let (answer, answered) = oneshot::channel();
    send(&shared, ViewInput::Trust { root: root.clone(), trust, answer }).await?;
    answered.await.map_err(|_| Problem::stopping())?.map_err(Problem::internal)?;
    Ok(json_answer(StatusCode::OK, &json!({"root": root, "trust": said})))
}

/// `POST /control/workspace {root}`.
pub(crate) async fn workspace(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let WorkspaceRequest { root } = read(body).await?;
    let root = folder(&root).await?;
    let (answer, answered) = oneshot::channel();
    send(&shared, ViewInput::AddWorkspace { root: root.clone(), answer }).await?;
    answered.await.map_err(|_| Problem::stopping())?;
    Ok(json_answer(StatusCode::OK, &json!({"root": root})))
}

/// `GET /control/configuration`: what is wrong in it.
pub(crate) async fn configuration(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    let (answer, answered) = oneshot::channel();
    send(&shared, ViewInput::Configuration { answer }).await?;
    let errors = answered.await.map_err(|_| Problem::stopping())?;
    Ok(json_answer(StatusCode::OK, &json!({"errors": errors})))
}

pub(super) async fn send(shared: &Shared, input: ViewInput) -> Result<(), Problem> {
    shared.inbox.send(input).await.map_err(|_| Problem::stopping())
}

async fn folder(path: &str) -> Result<WorkspaceRoot, Problem> {
    canonical_folder(path).await.map_err(|error| match error {
        FolderError::NotAbsolute | FolderError::NotFolder { .. } | FolderError::NotUnicode { .. } => {
            Problem::bad_message(error.to_string())
        }
        FolderError::Unreachable { .. } => Problem::new(StatusCode::NOT_FOUND, "not_found", error.to_string()),
        FolderError::Stopping => Problem::stopping(),
    })
}

pub(super) async fn read<T: DeserializeOwned>(body: Body) -> Result<T, Problem> {
    let bytes = collect(body, MAX_BODY_BYTES).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Problem::bad_message(format!("the body is not as it should be: {error}")))
}

/// A body of at most so many bytes.
pub(super) async fn collect(body: Body, most: usize) -> Result<Bytes, Problem> {
    let whole = tokio::time::timeout(BODY_TIME, Limited::new(body, most).collect()).await;
    match whole {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the body is over the limit of {most} bytes");
            Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message))
        }
        Ok(Err(error)) => Err(Problem::bad_message(format!("the body did not arrive: {error}"))),
        Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "bad_message", "the body did not arrive in time")),
    }
}
