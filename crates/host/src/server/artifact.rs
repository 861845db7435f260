//! What can be fetched for a short while under a name that nobody guesses: results that are too large for whoever asked for
//! them, in memory and gone once they were fetched, and links to what a session has, read when they are followed, or held in
//! memory where it came from an agent elsewhere. Bounded; a name opens nothing to whoever has no token.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use hyper::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, HeaderValue};
use hyper::{Method, StatusCode};
use serde_json::json;
use switchboard_types::limits::MAX_FRAME_BYTES;
use switchboard_types::{Reject, RejectCode};

use super::accept::Shared;
use super::answer::{Problem, json as json_answer, with_type};
use super::control;
use super::secret::{Fingerprint, Secret};
use crate::files::{FilePlace, Opened, open_artifact};

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
/// How long a link leads somewhere.
const LINK_LIFE: Duration = Duration::from_secs(5 * 60);
/// How many links there are; with one more, the oldest goes.
const MAX_LINKS: usize = 1024;
/// Bytes of one thing from elsewhere.
const MAX_SHELVED_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of all things from elsewhere; with more, the oldest go.
const MAX_ALL_SHELVED_BYTES: usize = 4 * MAX_SHELVED_BYTES;
/// Bytes that are read at once of what a link leads to.
const CHUNK_BYTES: usize = 64 * 1024;

/// What is kept.
#[derive(Default)]
pub struct Artifacts {
    // Held for a walk over what is kept, never over an await.
    kept: Mutex<VecDeque<Artifact>>,
    // The same.
    links: Mutex<VecDeque<Link>>,
}

impl std::fmt::Debug for Artifacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Artifacts").finish_non_exhaustive()
    }
}

struct Link {
    name: Fingerprint,
    leads: Leads,
    good_until: Instant,
}

/// Where a link leads.
#[derive(Clone)]
enum Leads {
    /// To something that a session has, by its path. What is there is looked up when the link is followed.
    Place(FilePlace, String),
    /// To something that came from elsewhere.
    Shelved(Shelved),
}

/// Something that came from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelved {
    /// What to call the file.
    pub name: String,
    /// What a browser may take it for.
    pub mime: &'static str,
    /// All of it.
    pub bytes: Bytes,
}

impl Leads {
    fn bytes(&self) -> usize {
        match self {
            Self::Place(..) => 0,
            Self::Shelved(shelved) => shelved.bytes.len(),
        }
    }
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

    /// Makes a link to an artifact of a session; its address, relative to the host's. It can be followed more than once,
    /// since a download may be cut off.
    pub fn link(&self, place: &FilePlace, path: &str, now: Instant) -> Result<String, Reject> {
        self.lead(Leads::Place(place.clone(), path.to_owned()), now)
    }

    /// Keeps what came from elsewhere for as long as a link leads somewhere; the link, as [`Self::link`] makes it.
    pub fn shelve(&self, shelved: Shelved, now: Instant) -> Result<String, Reject> {
        if shelved.bytes.len() > MAX_SHELVED_BYTES {
            let message = format!("it is over {MAX_SHELVED_BYTES} bytes; fetch it where the agent works");
            return Err(Reject::new(RejectCode::TooLarge, message));
        }
        self.lead(Leads::Shelved(shelved), now)
    }

    fn lead(&self, leads: Leads, now: Instant) -> Result<String, Reject> {
        let failed = |error: getrandom::Error| Reject::new(RejectCode::Internal, error.to_string());
        let name = Secret::random(NAME_BYTES).map_err(failed)?;
        let fingerprint = Fingerprint::of(name.reveal().as_bytes());
        let mut links = self.links();
        links.retain(|link| now < link.good_until);
        if links.len() >= MAX_LINKS {
            links.pop_front();
        }
        let held = |links: &VecDeque<Link>| links.iter().map(|link| link.leads.bytes()).sum::<usize>();
        while leads.bytes() > 0 && held(&links) + leads.bytes() > MAX_ALL_SHELVED_BYTES {
            let Some(oldest) = links.iter().position(|link| link.leads.bytes() > 0) else { break };
            links.remove(oldest);
        }
        links.push_back(Link { name: fingerprint, leads, good_until: now + LINK_LIFE });
        Ok(format!("/artifact/{}", name.reveal()))
    }

    /// Where a link leads.
    fn followed(&self, name: &str, now: Instant) -> Option<Leads> {
        let mut links = self.links();
        links.retain(|link| now < link.good_until);
        links.iter().find(|link| link.name.matches(name.as_bytes())).map(|link| link.leads.clone())
    }

    fn links(&self) -> MutexGuard<'_, VecDeque<Link>> {
        // What is kept is whole at any time.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
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

/// `GET /artifact/{name}`: once for what is kept, for a while for what a link leads to.
pub(crate) async fn fetch(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    method: Method,
) -> Result<Response, Problem> {
    if method != Method::GET {
        let message = "what is here can be fetched only by GET, and some of it only once";
        return Ok(Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message).into_response());
    }
    if let Some(bytes) = shared.artifacts.take(&name, Instant::now()) {
        return Ok(with_type(StatusCode::OK, "application/json", Body::from(bytes)));
    }
    let gone = "there is nothing of this name; a large result is kept for ten minutes and can be fetched once, a link \
                leads somewhere for five minutes; ask for it again";
    let leads = shared.artifacts.followed(&name, Instant::now());
    let leads = leads.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "not_found", gone))?;
    let (place, path) = match leads {
        Leads::Place(place, path) => (place, path),
        Leads::Shelved(Shelved { name, mime, bytes }) => {
            let size = Some(bytes.len() as u64);
            return Ok(download(Opened { name, mime, size, reader: Box::new(std::io::Cursor::new(bytes)) }));
        }
    };
    let opened = tokio::task::spawn_blocking(move || open_artifact(&place, &path)).await;
    opened.map_err(|error| Problem::internal(error.to_string()))?.map(download).map_err(|reject| problem(&reject))
}

/// A refusal about files, as an answer.
fn problem(reject: &Reject) -> Problem {
    let (status, code) = match reject.code {
        RejectCode::NotFound | RejectCode::UnknownTab => (StatusCode::NOT_FOUND, "not_found"),
        RejectCode::BadJson | RejectCode::BadMessage | RejectCode::UnknownType => {
            (StatusCode::BAD_REQUEST, "bad_message")
        }
        RejectCode::Conflict | RejectCode::AgentUnavailable => (StatusCode::CONFLICT, "conflict"),
        RejectCode::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
        RejectCode::WorkspaceUntrusted => (StatusCode::FORBIDDEN, "workspace_untrusted"),
        RejectCode::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
    };
    Problem::new(status, code, reject.message.clone())
}

/// Something open as an answer that a browser saves and never shows, read no faster than it is taken.
pub(crate) fn download(opened: Opened) -> Response {
    let Opened { name, mime, size, reader } = opened;
    let chunks = futures_util::stream::try_unfold(reader, |mut reader| async move {
        let read = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; CHUNK_BYTES];
            let read = std::io::Read::read(&mut reader, &mut chunk)?;
            chunk.truncate(read);
            Ok::<_, std::io::Error>((!chunk.is_empty()).then(|| (Bytes::from(chunk), reader)))
        });
        read.await.map_err(std::io::Error::other)?
    });
    let mut response = with_type(StatusCode::OK, mime, Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(CONTENT_DISPOSITION, disposition(&name));
    if let Some(size) = size {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
    }
    response
}

/// `attachment`, with the file's name as all browsers understand it, and once more as it is.
fn disposition(name: &str) -> HeaderValue {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let plain: String =
        name.chars().map(|one| if one.is_ascii() && is_plain(one as u8) { one } else { '_' }).take(100).collect();
    let mut exact = String::new();
    for byte in name.bytes().take(255) {
        if is_plain(byte) {
            exact.push(char::from(byte));
        } else {
            exact.push_str(&format!("%{byte:02X}"));
        }
    }
    let value = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}");
    HeaderValue::from_str(&value).unwrap_or(HeaderValue::from_static("attachment"))
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
    fn what_came_from_elsewhere_can_be_fetched_again_until_it_is_old_or_there_is_too_much() {
        let (artifacts, now) = (Artifacts::default(), Instant::now());
        let shelved = |size| Shelved { name: "a".to_owned(), mime: "text/plain", bytes: Bytes::from(vec![b'0'; size]) };
        let shelve = |size| artifacts.shelve(shelved(size), now).map(|url| url.replace("/artifact/", ""));
        assert_eq!(shelve(MAX_SHELVED_BYTES + 1).unwrap_err().code, RejectCode::TooLarge);
        let names: Vec<String> = (0..5).map(|_| shelve(MAX_SHELVED_BYTES).unwrap()).collect();
        let found = |at: Instant| names.iter().map(|name| artifacts.followed(name, at).is_some()).collect::<Vec<_>>();
        assert_eq!(found(now), [false, true, true, true, true]);
        assert_eq!(found(now), [false, true, true, true, true]);
        assert_eq!(found(now + LINK_LIFE), [false; 5]);
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
