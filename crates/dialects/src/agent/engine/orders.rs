//! What the dialect wants done over HTTP and what comes of it, as plain data. Knows no address and no token.

use bytes::Bytes;
use switchboard_types::{SessionId, Word};

use crate::framing::SseEvent;

/// One request on its way; never used again in a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EngineRequest(pub u64);

/// One event stream; never used again in a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamNo(pub u64);

/// How a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It only looks.
    Get,
    /// It does something.
    Post,
    /// It takes something away.
    Delete,
}

/// What goes with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Nothing.
    None,
    /// JSON.
    Json(Vec<u8>),
    /// Files.
    Upload(Vec<Upload>),
}

/// A file that is uploaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// What to call it.
    pub name: String,
    /// What sort of thing it is.
    pub mime: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// A request to the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Comes back with the answer.
    pub no: EngineRequest,
    /// The session that it is about, if there is one.
    pub session: Option<SessionId>,
    /// How.
    pub method: Method,
    /// Below the engine's address, with the query.
    pub path: String,
    /// With what.
    pub payload: Payload,
    /// Where a good answer goes.
    pub answer: AnswerTo,
}

/// Where a good answer goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AnswerTo {
    /// To the dialect.
    #[default]
    Dialect,
    /// Onto the host's shelf, since it may be large and is no text; the dialect is answered `{name, mime, size, url}`.
    Shelf {
        /// What was asked for.
        path: String,
    },
}

/// An answer of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// As HTTP has it.
    pub status: u16,
    /// What it says.
    pub body: Bytes,
}

impl Response {
    /// Whether it is what was asked for.
    #[must_use]
    pub fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Whether the engine may have got the request all the same.
    pub sent: Sent,
    /// For a person.
    pub message: String,
}

/// Whether a request without an answer may have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It never left.
    No,
    /// Nobody knows.
    Perhaps,
}

/// What is wanted of event streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamOrder {
    /// Open one.
    Open {
        /// Comes back with all that is heard on it.
        stream: StreamNo,
        /// Whose it is.
        session: SessionId,
        /// Below the engine's address, with the query.
        path: String,
        /// What it is read on from, if it is.
        last_id: Option<String>,
    },
    /// Close one; nothing of it is heard any more.
    Close {
        /// Which one.
        stream: StreamNo,
    },
}

/// What is heard on an event stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It stands.
    Opened,
    /// An event.
    Event(SseEvent),
    /// A sign of life.
    Comment,
    /// How long to wait before it is opened again, in milliseconds.
    Retry(u64),
    /// It is over; the last of it.
    Ended(StreamEnd),
}

/// How an event stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The engine closed it properly.
    Clean,
    /// The engine would not open it.
    Refused(Response),
    /// It broke, or never came about; for a person.
    Broken(String),
}

/// What the dialect wants done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// What the engine says, in order.
    pub words: Vec<Word>,
    /// What it is to be asked, in order.
    pub requests: Vec<Request>,
    /// What is wanted of event streams, in order.
    pub streams: Vec<StreamOrder>,
}

/// Adds text to a path, or to a query, so that it means only itself.
pub(super) fn put_escaped(path: &mut String, text: &str) {
    use std::fmt::Write as _;
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => path.push(char::from(byte)),
            _ => {
                let _ = write!(path, "%{byte:02X}");
            }
        }
    }
}

/// The path of a session, with what follows it.
pub(super) fn session_path(there: &str, rest: &str) -> String {
    let mut path = "/v1/sessions/".to_owned();
    // A dot or two would be taken for a folder.
    match there {
        "." | ".." => path.push_str(&there.replace('.', "%2E")),
        _ => put_escaped(&mut path, there),
    }
    path.push_str(rest);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_path_means_only_itself() {
        assert_eq!(session_path("a b/../c?d#é", "/input"), "/v1/sessions/a%20b%2F..%2Fc%3Fd%23%C3%A9/input");
        assert_eq!(session_path("..", ""), "/v1/sessions/%2E%2E");
    }
}
