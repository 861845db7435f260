//! Results that are too large for whoever asked for them, kept for a short while under a name that nobody guesses. In memory,
//! bounded, and gone once they were fetched.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use hyper::{Method, StatusCode};
use serde_json::json;
use switchboard_types::limits::MAX_FRAME_BYTES;

use super::accept::Shared;
use super::answer::{Problem, json as json_answer, with_type};
use super::control;
use super::secret::{Fingerprint, Secret};

/// How long one is kept.
const LIFE: Duration = Duration::from_secs(10 * 60);
/// Bytes of one: an answer with all its results.
const MAX_ONE_BYTES: usize = 4 * MAX_FRAME_BYTES;
/// Bytes of all of them; with more, the oldest go.
const MAX_ALL_BYTES: usize = 2 * MAX_ONE_BYTES;
/// How many there are; with one more, the oldest goes.
const MAX_KEPT: usize = 1024;
/// Random bytes of a name.
const NAME_BYTES: usize = 32;

/// What is kept.
#[derive(Default)]
pub(crate) struct Artifacts {
    // Held for a walk over what is kept, never over an await.
    kept: Mutex<VecDeque<Artifact>>,
}

struct Artifact {
    name: Fingerprint,
    bytes: Bytes,
    good_until: Instant,
}

impl Artifacts {
    /// Keeps something; its name.
    fn keep(&self, bytes: Bytes, now: Instant) -> Result<Secret, getrandom::Error> {
        let name = Secret::random(NAME_BYTES)?;
        let mut kept = self.kept();
        kept.retain(|artifact| now < artifact.good_until);
        let mut all: usize = kept.iter().map(|artifact| artifact.bytes.len()).sum();
        while kept.len() >= MAX_KEPT || all + bytes.len() > MAX_ALL_BYTES {
            let Some(oldest) = kept.pop_front() else { break };
            all -= oldest.bytes.len();
        }
        let fingerprint = Fingerprint::of(name.reveal().as_bytes());
        kept.push_back(Artifact { name: fingerprint, bytes, good_until: now + LIFE });
        Ok(name)
    }

    /// Gives something away for good.
    fn take(&self, name: &str, now: Instant) -> Option<Bytes> {
        let mut kept = self.kept();
        kept.retain(|artifact| now < artifact.good_until);
        let at = kept.iter().position(|artifact| artifact.name.matches(name.as_bytes()))?;
        kept.remove(at).map(|artifact| artifact.bytes)
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Artifact>> {
        // What is kept is whole at any time.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `POST /control/artifact`: keeps the body, which is JSON.
pub(crate) async fn keep(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let bytes = control::collect(body, MAX_ONE_BYTES).await?;
    let name = shared.artifacts.keep(bytes, Instant::now()).map_err(|error| Problem::internal(error.to_string()))?;
    Ok(json_answer(StatusCode::OK, &json!({"path": format!("/artifact/{}", name.reveal())})))
}

/// `GET /artifact/{name}`: once.
pub(crate) async fn fetch(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    method: Method,
) -> Result<Response, Problem> {
    if method != Method::GET {
        let message = "what is here can be fetched once, and only by GET";
        return Ok(Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message).into_response());
    }
    let found = shared.artifacts.take(&name, Instant::now());
    let gone = "there is nothing of this name; what was here is kept for ten minutes and can be fetched once";
    let bytes = found.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "not_found", gone))?;
    Ok(with_type(StatusCode::OK, "application/json", Body::from(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_given_away_once_and_only_for_ten_minutes() {
        let (artifacts, now) = (Artifacts::default(), Instant::now());
        let first = artifacts.keep(Bytes::from_static(b"1"), now).unwrap();
        let second = artifacts.keep(Bytes::from_static(b"2"), now).unwrap();
        assert_eq!(artifacts.take("something else", now), None);
        assert_eq!(artifacts.take(first.reveal(), now), Some(Bytes::from_static(b"1")));
        assert_eq!(artifacts.take(first.reveal(), now), None);
        assert_eq!(artifacts.take(second.reveal(), now + LIFE), None);
    }

    #[test]
    fn the_oldest_go_when_there_is_too_much() {
        let (artifacts, now) = (Artifacts::default(), Instant::now());
        let names: Vec<Secret> =
            (0..5).map(|_| artifacts.keep(Bytes::from(vec![b'0'; MAX_ALL_BYTES / 4]), now).unwrap()).collect();
        let found: Vec<bool> = names.iter().map(|name| artifacts.take(name.reveal(), now).is_some()).collect();
        assert_eq!(found, [false, true, true, true, true]);
        let names: Vec<Secret> = (0..=MAX_KEPT).map(|_| artifacts.keep(Bytes::new(), now).unwrap()).collect();
        assert_eq!(artifacts.take(names[0].reveal(), now), None);
        assert!(artifacts.take(names[1].reveal(), now).is_some());
    }
}
