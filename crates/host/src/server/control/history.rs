//! What our own command line asks a running host about what is stored, and the deletion of a session. Reads the store off
//! the async threads, where waiting for the disk is fine.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::response::Response;
use hyper::{StatusCode, Uri};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use switchboard_types::{HistoryPlace, SearchQuery, Seq, SessionId, SessionRequest, Time};
use tokio::sync::oneshot;

use super::{read, send};
use crate::history;
use crate::library::{Library, LibraryError};
use crate::link::ViewInput;
use crate::server::accept::Shared;
use crate::server::answer::{Problem, json as json_answer, with_type};
use crate::store::{Store, StoreError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct After {
    updated_ms: Option<u64>,
    id: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    id: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LogPlace {
    id: u64,
    #[serde(default)]
    after: u64,
}

/// `GET /control/sessions?updated_ms=…&id=…`: a part of the list of all sessions, after that place if one is named.
pub(crate) async fn sessions(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Response, Problem> {
    let after: After = query(&uri)?;
    let before = match (after.updated_ms, after.id) {
        (Some(updated), Some(id)) => Some(HistoryPlace { updated: Time(updated), session: SessionId(id) }),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => {
            return Err(Problem::bad_message("a place in the list is `updated_ms` and `id` together"));
        }
    };
    let library = shared.library.upgrade();
    let part = stored(&shared, move |store| {
        let mut part = history::sessions(store, before)?;
        if let Some(library) = library {
            part.add_usage(&library);
        }
        Ok(part)
    });
    Ok(json_answer(StatusCode::OK, &part.await?))
}

/// `GET /control/session?id=…`.
pub(crate) async fn session(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Response, Problem> {
    let id = SessionId(query::<One>(&uri)?.id);
    let found = stored(&shared, move |store| history::session(store, id)).await?;
    Ok(json_answer(StatusCode::OK, &found.ok_or_else(|| no_session(id))?))
}

/// `GET /control/log?id=…&after=…`: the next events, one JSON value a line; empty at the end.
pub(crate) async fn log(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Response, Problem> {
    let place: LogPlace = query(&uri)?;
    let (id, after) = (SessionId(place.id), Seq(place.after));
    let lines = stored(&shared, move |store| history::log(store, id, after)).await?;
    let lines = lines.ok_or_else(|| no_session(id))?;
    Ok(with_type(StatusCode::OK, "application/x-ndjson", Body::from(lines)))
}

/// `POST /control/search`, the query as its body.
pub(crate) async fn search(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let query: SearchQuery = read(body).await?;
    let found = library(&shared, move |library, store| library.search(store, &query)).await?;
    Ok(json_answer(StatusCode::OK, &found))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewTitle {
    id: u64,
    title: String,
}

/// `POST /control/rename {id, title}`.
pub(crate) async fn rename(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let NewTitle { id, title } = read(body).await?;
    let session = SessionId(id);
    shared.desk.ask(SessionRequest::Rename { session, title }).await.map_err(crate::server::v1::plain_problem)?;
    Ok(json_answer(StatusCode::OK, &json!({"id": session})))
}

/// `GET /control/workspaces`.
pub(crate) async fn workspaces(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    Ok(json_answer(StatusCode::OK, &stored(&shared, history::workspaces).await?))
}

/// `POST /control/delete {id}`.
pub(crate) async fn delete(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let One { id } = read(body).await?;
    let session = SessionId(id);
    let found = stored(&shared, move |store| history::session(store, session)).await?;
    found.ok_or_else(|| no_session(session))?;
    let (answer, answered) = oneshot::channel();
    send(&shared, ViewInput::Delete { session, answer }).await?;
    answered.await.map_err(|_| Problem::stopping())?.map_err(Problem::internal)?;
    Ok(json_answer(StatusCode::OK, &json!({"id": session})))
}

/// Asks the library something, where waiting for the disk is fine.
async fn library<T: Send + 'static>(
    shared: &Shared,
    ask: impl FnOnce(&Library, &dyn Store) -> Result<T, LibraryError> + Send + 'static,
) -> Result<T, Problem> {
    let none = || Problem::internal("the index of what was said could not be opened; the host's log says why");
    let (library, store) = (shared.library.upgrade().ok_or_else(none)?, shared.store.upgrade());
    let store = store.ok_or_else(Problem::stopping)?;
    let asked = tokio::task::spawn_blocking(move || ask(&library, store.as_ref())).await;
    asked.map_err(|_| Problem::stopping())?.map_err(|error| match error {
        LibraryError::TooLong(_) => Problem::bad_message(error.to_string()),
        other => Problem::internal(other.to_string()),
    })
}

pub(in crate::server) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let read = Query::<T>::try_from_uri(uri);
    read.map(|Query(value)| value).map_err(|error| Problem::bad_message(error.body_text()))
}

pub(in crate::server) fn no_session(id: SessionId) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "not_found", format!("there is no session {id}"))
}

pub(in crate::server) async fn stored<T: Send + 'static>(
    shared: &Shared,
    ask: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Problem> {
    let store = shared.store.upgrade().ok_or_else(Problem::stopping)?;
    let asked = tokio::task::spawn_blocking(move || ask(store.as_ref())).await;
    asked.map_err(|_| Problem::stopping())?.map_err(|error| Problem::internal(error.to_string()))
}
