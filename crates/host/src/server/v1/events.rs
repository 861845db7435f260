//! `GET /v1/sessions/{session}/events`: a session's events as they come, each stream a link of its own with its own cursor.
//! A page is encoded once for all streams that get it; a reader that does not read costs a cursor.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{StatusCode, Uri};
use serde::Deserialize;
use switchboard_dialects::view::events;
use switchboard_types::limits::LINK_WINDOW_BYTES;
use switchboard_types::record::Peek;
use switchboard_types::{
    Command, Epoch, FollowFrom, LinkId, Reject, RequestNo, Seq, SessionAnswer, SessionId, SessionRequest, Told,
};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::problem::Refused;
use super::sessions::odd;
use super::take;
use crate::link::{OUTBOX_MESSAGES, Outgoing, SharedPage, ViewInput};
use crate::server::accept::{Place, Shared};
use crate::server::answer::with_type;

/// Where a browser says what it has read last.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Tells proxies to pass on what comes as it comes.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// How long a stream is silent before it says that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long the host may take to seat a stream.
const SEAT_TIME: Duration = Duration::from_secs(60);
/// Written event bytes that are worth a report; well below the half of the window that lets the host read on.
const REPORT_BYTES: usize = LINK_WINDOW_BYTES / 4;

#[derive(Deserialize)]
struct Wanted {
    from_id: Option<String>,
    replay: Option<String>,
}

/// `GET /v1/sessions/{session}/events`.
pub(crate) async fn stream(
    State(shared): State<Arc<Shared>>,
    Extension(place): Extension<Place>,
    Path(session): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Refused> {
    let session = take::session(&session)?;
    let wanted: Wanted = take::query(&uri)?;
    let replay = match wanted.replay.as_deref() {
        None | Some("false" | "0") => false,
        Some("" | "true" | "1") => true,
        Some(_) => return Err(Refused::bad("`replay` is `true` or `false`")),
    };
    // A browser that reconnects asks for the same address again and says only in the header how far it has come.
    let last = headers.get(LAST_EVENT_ID).map(|last| last.to_str().unwrap_or("?").to_owned());
    let last = last.or(wanted.from_id).filter(|last| !last.is_empty());
    let from = match &last {
        // What is no id of ours may be one of the log that the event came from.
        Some(last) => {
            events::seen(last).map_or_else(|| FollowFrom::AfterSource(last.as_str().into()), FollowFrom::After)
        }
        None if replay => FollowFrom::Start,
        None => FollowFrom::Live,
    };
    let mut stream = Stream::open(shared, place, session).await?;
    if let Err(reject) = stream.follow(from).await? {
        return Err(match reject.window {
            Some((first, last)) => Refused::window(first, last),
            None => reject.into(),
        });
    }
    let chunks = futures_util::stream::unfold(stream, |mut stream| async move {
        let chunk = stream.next().await?;
        Some((Ok::<_, Infallible>(chunk), stream))
    });
    let mut response = with_type(StatusCode::OK, "text/event-stream", Body::from_stream(chunks));
    response.headers_mut().insert(BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}

/// How far a stream is.
enum Going {
    /// It has not said anything.
    New,
    /// It goes on.
    On,
    /// The last thing is said.
    Over,
}

/// One stream from its seat to its end.
struct Stream {
    link: LinkId,
    session: SessionId,
    epoch: Epoch,
    /// The last event when the stream began.
    head: Seq,
    last_request: u64,
    from_host: mpsc::Receiver<Outgoing>,
    shared: Arc<Shared>,
    going: Going,
    silent_until: Instant,
    /// Event bytes that were handed over and are not reported yet.
    written: usize,
    _place: Place,
}

impl Stream {
    async fn open(shared: Arc<Shared>, place: Place, session: SessionId) -> Result<Self, Refused> {
        let (outbox, from_host) = mpsc::channel(OUTBOX_MESSAGES);
        let link = shared.next_link();
        shared.inbox.send(ViewInput::Opened { link, outbox }).await.map_err(|_| Refused::stopping())?;
        shared.metrics.links_open.up();
        Ok(Self {
            link,
            session,
            epoch: Epoch::default(),
            head: Seq::START,
            last_request: 0,
            from_host,
            shared,
            going: Going::New,
            silent_until: Instant::now() + KEEP_ALIVE,
            written: 0,
            _place: place,
        })
    }

    /// Takes the seat.
    async fn follow(&mut self, from: FollowFrom) -> Result<Result<(), Reject>, Refused> {
        self.last_request += 1;
        let request = RequestNo(self.last_request);
        let what = SessionRequest::Follow { session: self.session, from };
        let command = Command::Session { request, what };
        let input = ViewInput::Command { link: self.link, command };
        self.shared.inbox.send(input).await.map_err(|_| Refused::stopping())?;
        let answered = tokio::time::timeout(SEAT_TIME, self.answer(request)).await;
        let slow =
            || Refused::new(StatusCode::GATEWAY_TIMEOUT, "timeout", "the session was not read in time; try again");
        match answered.map_err(|_| slow())?? {
            Ok(answer) => match *answer {
                SessionAnswer::Following { epoch, head, .. } => {
                    (self.epoch, self.head) = (epoch, head);
                    Ok(Ok(()))
                }
                other => Err(odd(&other)),
            },
            Err(reject) => Ok(Err(reject)),
        }
    }

    async fn answer(&mut self, wanted: RequestNo) -> Result<Result<Box<SessionAnswer>, Reject>, Refused> {
        loop {
            match self.from_host.recv().await.map(bare) {
                Some(Outgoing::Told(told)) => match *told {
                    Told::Answer { request, result } if request == wanted => return Ok(result),
                    Told::Refused(reject) => return Ok(Err(reject)),
                    _ => {}
                },
                Some(Outgoing::Events(_) | Outgoing::Taped(..)) => {}
                Some(Outgoing::Close(_)) | None => return Err(Refused::stopping()),
            }
        }
    }

    /// What is to be written next; none at the end. It is asked for when there is room for it.
    async fn next(&mut self) -> Option<Bytes> {
        match self.going {
            Going::New => {
                self.going = Going::On;
                return Some(comment("switchboard"));
            }
            Going::On => {}
            Going::Over => return None,
        }
        self.report().await;
        loop {
            let outgoing = tokio::select! {
                biased;
                outgoing = self.from_host.recv() => outgoing,
                () = tokio::time::sleep_until(self.silent_until) => {
                    self.silent_until = Instant::now() + KEEP_ALIVE;
                    return Some(comment("keep-alive"));
                }
            };
            if let Some(chunk) = self.take(outgoing) {
                self.silent_until = Instant::now() + KEEP_ALIVE;
                self.shared.metrics.bytes_out.add(chunk.len() as u64);
                return Some(chunk);
            }
        }
    }

    fn take(&mut self, outgoing: Option<Outgoing>) -> Option<Bytes> {
        match outgoing.map(bare) {
            Some(Outgoing::Events(page)) => Some(self.page(&page)),
            Some(Outgoing::Told(told)) => self.told(&told),
            Some(Outgoing::Taped(..)) => None,
            Some(Outgoing::Close(_)) | None => Some(self.end("the host has ended this stream; come back later")),
        }
    }

    fn page(&mut self, shared: &SharedPage) -> Bytes {
        let bytes = shared.events.get_or_init(|| {
            let mut out = Vec::new();
            events::put_page(&mut out, self.session, shared.epoch, &shared.page, &shared.names);
            Bytes::from(out)
        });
        self.written += shared.page.cost();
        self.shared.metrics.events_out.add(shared.page.count());
        let closed = |json: &[u8]| json.starts_with(br#"{"type":"sessionClosed""#);
        let last = shared.page.events().last();
        let is_closed =
            last.is_some_and(|last| last.seq > self.head && matches!(last.peek(), Peek::Json(json) if closed(json)));
        if !is_closed {
            return bytes.clone();
        }
        let mut out = bytes.to_vec();
        out.extend_from_slice(&self.end("the session is closed"));
        Bytes::from(out)
    }

    fn told(&mut self, told: &Told) -> Option<Bytes> {
        match told {
            Told::Gap { from, to, .. } => {
                let mut out = Vec::new();
                let now = self.shared.recorder.now();
                events::put_gap(&mut out, self.session, self.epoch, (*from, *to), now.0);
                Some(Bytes::from(out))
            }
            Told::Reset { .. } => Some(self.end("the log was made anew; read it from the start with `?replay=true`")),
            Told::Refused(reject) => Some(self.end(&reject.message)),
            _ => None,
        }
    }

    fn end(&mut self, why: &str) -> Bytes {
        self.going = Going::Over;
        comment(why)
    }

    /// Whoever is asked for more has got rid of what it had.
    async fn report(&mut self) {
        if self.written >= REPORT_BYTES {
            let bytes = std::mem::take(&mut self.written);
            // If the host's task is gone, the queue from it says so.
            let _ = self.shared.inbox.send(ViewInput::Drained { link: self.link, bytes }).await;
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.metrics.links_open.down();
        let (inbox, link) = (self.shared.inbox.clone(), self.link);
        if let Err(mpsc::error::TrySendError::Full(input)) = inbox.try_send(ViewInput::Closed { link })
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            // If the host's task is gone, nobody needs to know.
            runtime.spawn(async move { inbox.send(input).await });
        }
    }
}

/// What goes out, whether it is recorded or not.
fn bare(outgoing: Outgoing) -> Outgoing {
    match outgoing {
        Outgoing::Taped(outgoing, _) => *outgoing,
        other => other,
    }
}

fn comment(text: &str) -> Bytes {
    let mut out = Vec::new();
    events::put_comment(&mut out, text);
    Bytes::from(out)
}
