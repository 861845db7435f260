//! What our own command line asks a running host about rules. Reads the store; what is to be taken out goes to the host's
//! task, which forgets it in the same moment.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::json;
use switchboard_types::RuleId;
use tokio::sync::oneshot;

use super::history::stored;
use super::{read, send};
use crate::link::ViewInput;
use crate::server::accept::Shared;
use crate::server::answer::{Problem, json as json_answer};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    id: RuleId,
}

/// `GET /control/rules`: all of them, the oldest first.
pub(crate) async fn list(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    let rules = stored(&shared, |store| store.rules()).await?;
    Ok(json_answer(StatusCode::OK, &json!({"rules": rules})))
}

/// `POST /control/rules/remove {id}`.
pub(crate) async fn remove(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let One { id } = read(body).await?;
    let (answer, answered) = oneshot::channel();
    send(&shared, ViewInput::RemoveRule { rule: id.clone(), answer }).await?;
    match answered.await.map_err(|_| Problem::stopping())?.map_err(Problem::internal)? {
        true => Ok(json_answer(StatusCode::OK, &json!({"id": id}))),
        false => Err(Problem::new(StatusCode::NOT_FOUND, "not_found", format!("there is no rule {id}"))),
    }
}
