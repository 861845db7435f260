//! What only the engine can do, for a view that asked: its own commands, its files. Each gets exactly one answer.

use serde_json::{Value, json};
use switchboard_types::agent::Wish;
use switchboard_types::desk::{FileAnswer, FileEntry, FileEntryKind, FileRequest, SessionAnswer, SnippetCut};
use switchboard_types::{AgentRequest, Reject, RejectCode, SessionId, Word};

use super::field::{cut, field, is_true, number, raw, value};
use super::orders::{AnswerTo, Failure, Method, Payload, Response, put_escaped, session_path};
use super::{Engine, Purpose};
use crate::json::items;

/// Entries of a folder that are shown.
const MAX_ENTRIES: usize = 10_000;

/// What an answer will be.
#[derive(Debug)]
pub(super) enum WishKind {
    Order,
    Delete,
    List,
    Read { path: String },
    Artifact,
}

impl Engine {
    pub(super) fn wish(&mut self, session: SessionId, request: AgentRequest, wish: Wish) {
        let Some(there) = self.sessions.get(&session).and_then(|session| session.there.clone()) else {
            let message = "the engine has no session for this one yet; send a prompt first";
            let result = Err(Reject::new(RejectCode::Conflict, message));
            return self.say(Word::Replied { session, request, result });
        };
        let there = there.as_str();
        let (kind, to, payload) = match wish {
            Wish::Order { name, payload } => {
                let body = json!({ "command": name, "payload": payload }).to_string().into_bytes();
                (WishKind::Order, (Method::Post, session_path(there, "/command")), Payload::Json(body))
            }
            Wish::Delete {} => (WishKind::Delete, (Method::Delete, session_path(there, "")), Payload::None),
            Wish::Files(FileRequest::List { path }) => {
                let mut to = session_path(there, "/files?path=");
                put_escaped(&mut to, &path);
                (WishKind::List, (Method::Get, to), Payload::None)
            }
            Wish::Files(FileRequest::Read { path, cut }) => {
                let to = (Method::Get, snippet_path(there, &path, cut));
                (WishKind::Read { path }, to, Payload::None)
            }
            Wish::Files(FileRequest::Artifact { path }) => {
                let mut to = session_path(there, "/download?artifact=");
                put_escaped(&mut to, &path);
                let purpose = Purpose::Wish { session, request, kind: WishKind::Artifact };
                self.request(Some(session), (Method::Get, to), Payload::None, purpose);
                if let Some(asked) = self.out.requests.last_mut() {
                    asked.answer = AnswerTo::Shelf { path };
                }
                return;
            }
            Wish::Files(FileRequest::Diff { .. }) => {
                let message = "the engine does not compare revisions; without them, the session's own log is searched";
                let result = Err(Reject::new(RejectCode::NotFound, message));
                return self.say(Word::Replied { session, request, result });
            }
        };
        self.request(Some(session), to, payload, Purpose::Wish { session, request, kind });
    }

    pub(super) fn granted(
        &self,
        kind: &WishKind,
        answer: Result<Response, Failure>,
    ) -> Result<Box<SessionAnswer>, Reject> {
        let unavailable = |failure: Failure| {
            Reject::new(RejectCode::AgentUnavailable, format!("the engine did not answer: {}", failure.message))
        };
        let response = answer.map_err(unavailable)?;
        // What is gone is deleted.
        let gone = matches!(kind, WishKind::Delete) && response.status == 404;
        if !response.is_good() && !gone {
            let code = match response.status {
                400 | 422 | 501 => RejectCode::BadMessage,
                404 | 410 => RejectCode::NotFound,
                409 => RejectCode::Conflict,
                413 => RejectCode::TooLarge,
                _ => RejectCode::AgentUnavailable,
            };
            return Err(Reject::new(code, format!("the engine says: {}", self.complaint(&response))));
        }
        let body = String::from_utf8_lossy(&response.body);
        Ok(Box::new(match kind {
            WishKind::Order => ordered(&body),
            WishKind::Delete => SessionAnswer::Done {},
            WishKind::List => SessionAnswer::Files(Box::new(entries(&body)?)),
            WishKind::Read { path } => SessionAnswer::Files(Box::new(snippet(&body, path))),
            WishKind::Artifact => SessionAnswer::Files(Box::new(shelved(&body)?)),
        }))
    }
}

fn snippet_path(there: &str, path: &str, cut: SnippetCut) -> String {
    let SnippetCut { head_lines, tail_lines, max_bytes } = cut;
    let mut to = session_path(there, "/files/content?path=");
    put_escaped(&mut to, path);
    to.push_str(&format!("&head_lines={head_lines}&tail_lines={tail_lines}&max_bytes={max_bytes}"));
    to
}

fn ordered(body: &str) -> SessionAnswer {
    let status = field(body, "status").map_or_else(|| "accepted".to_owned(), |status| cut(&status));
    SessionAnswer::Ordered {
        status,
        detail: raw(body, "detail").and_then(value).filter(|detail| *detail != Value::Null),
    }
}

fn entries(body: &str) -> Result<FileAnswer, Reject> {
    let list = raw(body, "entries").unwrap_or(body);
    let unreadable = || Reject::new(RejectCode::AgentUnavailable, "the engine's list of files cannot be read");
    let listed = items(list, MAX_ENTRIES).ok_or_else(unreadable)?;
    let listed = listed.map_err(|_| Reject::new(RejectCode::TooLarge, "the engine's folder holds too many files"))?;
    let entry = |item: &str| {
        let path = field(item, "path").or_else(|| field(item, "name"))?;
        let name = field(item, "name").unwrap_or_else(|| path.rsplit('/').next().unwrap_or_default().to_owned());
        let kind = match field(item, "kind").or_else(|| field(item, "type")).as_deref() {
            Some("file") => FileEntryKind::File,
            Some("dir" | "directory" | "folder") => FileEntryKind::Directory,
            Some("symlink" | "link") => FileEntryKind::Symlink,
            _ => FileEntryKind::Other,
        };
        Some(FileEntry { name, path, kind, size: number(item, "size") })
    };
    let entries = listed.into_iter().filter_map(entry).collect();
    Ok(FileAnswer::Entries { entries, truncated: is_true(body, "truncated") })
}

/// Where the host has put what it fetched.
fn shelved(body: &str) -> Result<FileAnswer, Reject> {
    let read = || {
        let (name, mime) = (field(body, "name")?, field(body, "mime")?);
        Some(FileAnswer::Artifact { name, mime, size: number(body, "size")?, url: field(body, "url")? })
    };
    read().ok_or_else(|| Reject::new(RejectCode::Internal, "what the engine gave could not be kept; ask again"))
}

fn snippet(body: &str, path: &str) -> FileAnswer {
    let content = field(body, "content").unwrap_or_default();
    let total = |snake, camel| number(body, snake).or_else(|| number(body, camel));
    FileAnswer::Snippet {
        path: field(body, "path").unwrap_or_else(|| path.to_owned()),
        truncated: is_true(body, "truncated"),
        total_bytes: total("total_bytes", "totalBytes").unwrap_or(content.len() as u64),
        total_lines: total("total_lines", "totalLines").unwrap_or(content.lines().count() as u64),
        binary: is_true(body, "binary"),
        content,
    }
}
