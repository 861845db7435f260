//! The door to a session's recorded wire: the switch, and the record as lines of JSON, followed as it grows. Reads files
//! off the async threads; the host's task alone decides what is recorded.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::response::Response;
use futures_util::stream;
use hyper::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::json;
use switchboard_types::SessionId;
use tokio::sync::{OwnedSemaphorePermit, oneshot, watch};

use super::accept::{Phase, Shared};
use super::answer::{Problem, json as json_answer, with_type};
use super::control::history::{no_session, query, stored};
use super::control::{read, send};
use crate::history;
use crate::link::ViewInput;
use crate::wire::{Recorder, Switch, Tail};

/// Readers of records at once.
pub(crate) const MAX_READERS: usize = 64;
/// A reader that follows hears at least this often that the host is there.
const HEARTBEAT: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    after: u64,
    #[serde(default)]
    follow: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchRequest {
    record: bool,
}

/// `POST /wire/SESSION {record}`: whether it is recorded from now on.
pub(crate) async fn switch(
    State(shared): State<Arc<Shared>>,
    Path(session): Path<String>,
    body: Body,
) -> Result<Response, Problem> {
    let SwitchRequest { record } = read(body).await?;
    let session = known(&shared, &session).await?;
    let switch = if record { Switch::On } else { Switch::Off };
    let recording = ask(&shared, session, Some(switch)).await?;
    Ok(json_answer(StatusCode::OK, &json!({"session": session, "recording": recording})))
}

/// `GET /wire/SESSION?after=N&follow=1`: first whether it is recorded, then each entry after that number, one JSON value a
/// line. Who follows gets what comes later as well, and an empty line now and then.
pub(crate) async fn lines(
    State(shared): State<Arc<Shared>>,
    Path(session): Path<String>,
    uri: Uri,
) -> Result<Response, Problem> {
    let Wanted { after, follow } = query(&uri)?;
    let session = known(&shared, &session).await?;
    let Ok(permit) = Arc::clone(&shared.wire_readers).try_acquire_owned() else {
        let message = format!("{MAX_READERS} readers follow records already; close one first");
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_large", message));
    };
    let recording = ask(&shared, session, None).await?;
    let reader = Reader {
        first: Some(format!("{}\n", json!({"session": session, "recording": recording}))),
        tail: Some(Tail::new(shared.recorder.folder().clone(), session, after)),
        session,
        ends: if follow == 0 { Ends::WithTheRecord } else { Ends::WithTheSession },
        written: shared.recorder.written(),
        recorder: shared.recorder.clone(),
        phase: shared.phase.clone(),
        _permit: permit,
    };
    let lines = stream::unfold(reader, |mut reader| async move { Some((reader.next().await?, reader)) });
    Ok(with_type(StatusCode::OK, "application/x-ndjson", Body::from_stream(lines)))
}

async fn known(shared: &Shared, session: &str) -> Result<SessionId, Problem> {
    let number = session.parse().map_err(|_| Problem::bad_message("a session's id is a number"))?;
    let session = SessionId(number);
    let found = stored(shared, move |store| history::session(store, session)).await?;
    found.map(|_| session).ok_or_else(|| no_session(session))
}

async fn ask(shared: &Shared, session: SessionId, switch: Option<Switch>) -> Result<bool, Problem> {
    let (answer, answered) = oneshot::channel();
    send(shared, ViewInput::Record { session, switch, answer }).await?;
    answered.await.map_err(|_| Problem::stopping())?.map_err(Problem::internal)
}

/// When a reader has seen enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    WithTheRecord,
    WithTheSession,
}

struct Reader {
    first: Option<String>,
    /// Away while its file is read.
    tail: Option<Tail>,
    session: SessionId,
    ends: Ends,
    written: watch::Receiver<u64>,
    recorder: Recorder,
    phase: watch::Receiver<Phase>,
    _permit: OwnedSemaphorePermit,
}

impl Reader {
    /// The next piece of the answer; none at its end.
    async fn next(&mut self) -> Option<Result<Bytes, std::io::Error>> {
        if let Some(first) = self.first.take() {
            return Some(Ok(Bytes::from(first)));
        }
        loop {
            // Before the reading, so that what is written meanwhile is noticed after it.
            self.written.borrow_and_update();
            let mut tail = self.tail.take()?;
            let read = tokio::task::spawn_blocking(move || tail.read_on().map(|lines| (lines, tail))).await;
            let (lines, tail) = match read {
                Ok(Ok(read)) => read,
                Ok(Err(error)) => return Some(Err(error)),
                Err(_) => return None,
            };
            let seen = tail.after();
            self.tail = Some(tail);
            if !lines.is_empty() {
                return Some(Ok(Bytes::from(lines)));
            }
            let is_gone = seen > 0 && !self.recorder.folder().has(self.session);
            if self.ends == Ends::WithTheRecord || is_gone {
                return None;
            }
            tokio::select! {
                changed = self.written.changed() => changed.ok()?,
                () = tokio::time::sleep(HEARTBEAT) => return Some(Ok(Bytes::from_static(b"\n"))),
                _ = self.phase.wait_for(|phase| *phase >= Phase::Draining) => return None,
            }
        }
    }
}
