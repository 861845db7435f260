//! One event stream: bytes to what is heard, in batches. Reads on only when the last batch was taken.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::header::CONTENT_TYPE;
use switchboard_dialects::agent::engine::{Heard, Response, StreamEnd, StreamNo};
use switchboard_dialects::framing::{Sse, SseItem};
use tokio::sync::mpsc;

use crate::calling::{Caller, Hush, broke, whole};

/// Bytes of the answer of an engine that does not open its stream.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;
/// Things in one batch.
const MAX_BATCH: usize = 256;

/// What was heard on a stream at once.
pub(super) type Batch = (StreamNo, Vec<Heard>);

/// Reads a stream to its end; the last thing that is heard says how that was.
pub(super) async fn read(
    caller: Arc<Caller>,
    stream: StreamNo,
    (path, last_id): (String, Option<String>),
    taken: mpsc::Sender<Batch>,
) {
    let end = match open(&caller, &path, last_id.as_deref()).await {
        Ok(body) => {
            if taken.send((stream, vec![Heard::Opened])).await.is_err() {
                return;
            }
            match follow(body, caller.hush(), stream, &taken).await {
                Some(end) => end,
                None => return,
            }
        }
        Err(end) => end,
    };
    // An error means that nobody listens any more.
    let _ = taken.send((stream, vec![Heard::Ended(end)])).await;
}

async fn open(caller: &Caller, path: &str, last_id: Option<&str>) -> Result<hyper::body::Incoming, StreamEnd> {
    let response = caller.open(path, last_id).await.map_err(StreamEnd::Broken)?;
    let status = response.status().as_u16();
    if status != 200 {
        let body = whole(response.into_body(), MAX_REFUSAL_BYTES).await.unwrap_or_else(|_| Bytes::new());
        return Err(StreamEnd::Refused(Response { status, body: caller.hush().body(body) }));
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
        return Err(StreamEnd::Broken("what answers there is no event stream".to_owned()));
    }
    Ok(response.into_body())
}

/// Until it ends; none if nobody listens any more.
async fn follow(
    mut body: hyper::body::Incoming,
    hush: &Hush,
    stream: StreamNo,
    taken: &mpsc::Sender<Batch>,
) -> Option<StreamEnd> {
    let (mut sse, mut buffer) = (Sse::new(), BytesMut::new());
    loop {
        match body.frame().await {
            None => return Some(StreamEnd::Clean),
            Some(Err(error)) => return Some(StreamEnd::Broken(broke(&error))),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    buffer.extend_from_slice(&data);
                }
            }
        }
        loop {
            let (heard, fault) = batch(&mut sse, &mut buffer, hush);
            let full = heard.len() >= MAX_BATCH;
            if !heard.is_empty() {
                taken.send((stream, heard)).await.ok()?;
            }
            if let Some(fault) = fault {
                return Some(StreamEnd::Broken(fault));
            }
            if !full {
                break;
            }
        }
    }
}

fn batch(sse: &mut Sse, buffer: &mut BytesMut, hush: &Hush) -> (Vec<Heard>, Option<String>) {
    let mut heard = Vec::new();
    while heard.len() < MAX_BATCH {
        match sse.next(buffer) {
            Ok(Some(SseItem::Event(mut event))) => {
                event.data = hush.body(event.data);
                heard.push(Heard::Event(event));
            }
            Ok(Some(SseItem::Comment)) => heard.push(Heard::Comment),
            Ok(Some(SseItem::Retry(ms))) => heard.push(Heard::Retry(ms)),
            Ok(None) => break,
            Err(error) => return (heard, Some(error.to_string())),
        }
    }
    (heard, None)
}
