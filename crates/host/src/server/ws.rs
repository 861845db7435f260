//! WebSocket links of views: the handshake, done by hand so that the link keeps the bare socket. The guard has let the
//! request in already.
//!
//! | module | owns |
//! | --- | --- |
//! | [`batch`] | what goes out in one write |
//! | [`closing`] | the end of a link that the other side can still read |
//! | [`frames`] | server frames as bytes, encoded once for all links |
//! | [`link`] | the task of one link |
//! | [`tape`] | what goes out on a link, for the records of its sessions |

mod batch;
mod closing;
mod frames;
mod link;
mod tape;

use std::sync::{Arc, LazyLock};

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use hyper::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::upgrade::Upgraded;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use switchboard_dialects::view::bb::Checks;
use switchboard_dialects::view::{Bb, ViewDialect, ViewKind};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use switchboard_types::limits::MAX_FRAME_BYTES;

use super::accept::{Place, Shared};
use super::answer::Problem;
use super::credential::{SUBPROTOCOL, offers_our_subprotocol, only};

/// Makes the dialect of one link.
pub type MakeDialect = fn(ViewKind) -> Box<dyn ViewDialect>;

/// Makes the dialect of one link; what takes long is made once for all of them.
#[must_use]
pub fn make_dialect(kind: ViewKind) -> Box<dyn ViewDialect> {
    static CHECKS: LazyLock<Checks> = LazyLock::new(Checks::new);
    match kind {
        ViewKind::Bb => Box::new(Bb::with(CHECKS.clone())),
        ViewKind::Tabs | ViewKind::Tools | ViewKind::Chat | ViewKind::Switchboard => kind.make(),
    }
}

/// The version of the WebSocket protocol that there is.
const VERSION: &str = "13";
/// Characters of a handshake's key: sixteen bytes in base64.
const KEY_CHARS: usize = 24;
/// What a link that says nothing keeps for reading.
const READ_BUFFER_BYTES: usize = 1024;

/// `GET /ws/tabs`.
pub(crate) async fn tabs(
    State(shared): State<Arc<Shared>>,
    Extension(place): Extension<Place>,
    request: Request<Body>,
) -> Response {
    open(shared, place, request, ViewKind::Tabs)
}

/// `GET /ws/tools`.
pub(crate) async fn tools(
    State(shared): State<Arc<Shared>>,
    Extension(place): Extension<Place>,
    request: Request<Body>,
) -> Response {
    open(shared, place, request, ViewKind::Tools)
}

/// `GET /ws/bb`.
pub(crate) async fn bb(
    State(shared): State<Arc<Shared>>,
    Extension(place): Extension<Place>,
    request: Request<Body>,
) -> Response {
    open(shared, place, request, ViewKind::Bb)
}

/// `GET /ws/chat`.
pub(crate) async fn chat(
    State(shared): State<Arc<Shared>>,
    Extension(place): Extension<Place>,
    request: Request<Body>,
) -> Response {
    open(shared, place, request, ViewKind::Chat)
}

/// `GET /ws/switchboard`.
pub(crate) async fn switchboard(
    State(shared): State<Arc<Shared>>,
    Extension(place): Extension<Place>,
    request: Request<Body>,
) -> Response {
    open(shared, place, request, ViewKind::Switchboard)
}

/// Answers the handshake and starts the link.
fn open(shared: Arc<Shared>, place: Place, mut request: Request<Body>, kind: ViewKind) -> Response {
    let key = match handshake_key(request.method(), request.headers()) {
        Ok(key) => key,
        Err(problem) => return with_version(problem),
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    if offers_our_subprotocol(request.headers()) {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    match HeaderValue::from_str(&derive_accept_key(key.as_bytes())) {
        Ok(accept) => headers.insert(SEC_WEBSOCKET_ACCEPT, accept),
        Err(error) => return Problem::internal(error.to_string()).into_response(),
    };
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        match upgrade.await {
            Ok(upgraded) => start(upgraded, shared, place, kind).await,
            Err(error) => tracing::debug!(%error, "a view left during the handshake"),
        }
    });
    response
}

/// Takes the bare socket out of hyper's hands and starts the link on it.
async fn start(upgraded: Upgraded, shared: Arc<Shared>, place: Place, kind: ViewKind) {
    let Ok(parts) = upgraded.downcast::<TokioIo<TcpStream>>() else {
        tracing::error!("a link's socket is not the one that was accepted");
        return;
    };
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(0)
        .max_message_size(Some(MAX_FRAME_BYTES))
        .max_frame_size(Some(MAX_FRAME_BYTES));
    let early = parts.read_buf.to_vec();
    let socket = WebSocketStream::from_partially_read(parts.io.into_inner(), early, Role::Server, Some(config)).await;
    // A task of its own, since this one has grown with the handshake.
    tokio::spawn(link::task(socket, shared, place, kind));
}

fn handshake_key<'a>(method: &Method, headers: &'a HeaderMap) -> Result<&'a str, Problem> {
    if method != Method::GET || !names(headers, CONNECTION, "upgrade") || !names(headers, UPGRADE, "websocket") {
        let message = "this door speaks WebSocket: connect to it with a WebSocket library";
        return Err(Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", message));
    }
    if only(headers, SEC_WEBSOCKET_VERSION) != Some(VERSION) {
        let message = "only version 13 of the WebSocket protocol is spoken here";
        return Err(Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", message));
    }
    only(headers, SEC_WEBSOCKET_KEY)
        .filter(|key| key.len() == KEY_CHARS)
        .ok_or_else(|| Problem::bad_message("the header Sec-WebSocket-Key is missing or wrong"))
}

/// Whether a header that lists words has this one.
fn names(headers: &HeaderMap, header: HeaderName, word: &str) -> bool {
    let lines = headers.get_all(header).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|listed| listed.trim().eq_ignore_ascii_case(word))
}

fn with_version(problem: Problem) -> Response {
    let mut response = problem.into_response();
    response.headers_mut().insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
    if response.status() == StatusCode::UPGRADE_REQUIRED {
        response.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    }
    response
}
