//! What can be fetched as a whole: an event, the log, the conversation, a file of the workspace, something that was uploaded. Read as it goes,
//! never held whole in memory.

use std::io::{self, Cursor, Read};
use std::sync::Weak;

use switchboard_types::desk::artifact;
use switchboard_types::{Reject, RejectCode, Seq, SessionId};

use super::{FilePlace, SHOWN_PATH, no_session, not_stored, plain, refused};
use crate::agents::shown::shown;
use crate::history;
use crate::history::conversation::ConversationReader;
use crate::runner::reading;
use crate::runner::tools::view_file::mime;
use crate::store::{Store, Which};

/// Bytes at the beginning of a file that say what it is.
const TELLING_BYTES: u64 = 8 * 1024;
/// What is not known, or better not known by a browser.
const ANY: &str = "application/octet-stream";
const TEXT: &str = "text/plain; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const JSON: &str = "application/json";
const JSON_LINES: &str = "application/x-ndjson";

/// Something open to be fetched.
pub struct Opened {
    /// What to call the file.
    pub name: String,
    /// What sort of thing it is; never one that a browser would run.
    pub mime: &'static str,
    /// Its bytes, where they are known before it was read.
    pub size: Option<u64>,
    /// The bytes. Reading blocks on the disk.
    pub reader: Box<dyn Read + Send>,
}

/// Opens an artifact of a session by its path, as `switchboard_types::desk::artifact` names it.
pub fn open_artifact(place: &FilePlace, path: &str) -> Result<Opened, Reject> {
    if path == artifact::LOG {
        return log(place);
    }
    if path == artifact::CONVERSATION {
        return conversation(place);
    }
    if let Some(file) = path.strip_prefix(artifact::FILES) {
        return workspace_file(place, file);
    }
    if let Some(id) = path.strip_prefix(artifact::ATTACHMENTS) {
        return attachment(place, id);
    }
    let seq = path.strip_prefix("events/").and_then(|rest| rest.strip_suffix(".json"));
    let seq = seq.filter(|seq| seq.bytes().all(|byte| byte.is_ascii_digit())).and_then(|seq| seq.parse().ok());
    match seq {
        Some(seq) => event(place, Seq(seq)),
        None => Err(nothing(path)),
    }
}

/// What an artifact is called, what it is, and how large it is now.
pub(super) fn look(place: &FilePlace, path: &str) -> Result<(String, &'static str, u64), Reject> {
    let mut opened = open_artifact(place, path)?;
    let size = match opened.size {
        Some(size) => size,
        None => io::copy(&mut opened.reader, &mut io::sink())
            .map_err(|error| Reject::new(RejectCode::Internal, error.to_string()))?,
    };
    Ok((opened.name, opened.mime, size))
}

fn nothing(path: &str) -> Reject {
    let message = format!(
        "there is no artifact `{}`; there are events/N.json, log.jsonl, conversation.md, files/PATH and attachments/ID",
        shown(path, SHOWN_PATH)
    );
    Reject::new(RejectCode::NotFound, message)
}

fn event(place: &FilePlace, seq: Seq) -> Result<Opened, Reject> {
    let store = place.store()?;
    let before = Seq(seq.0.checked_sub(1).ok_or_else(|| nothing(&artifact::event(seq)))?);
    let line = history::event(store.as_ref(), place.session, before).map_err(|error| not_stored(&error))?;
    let line = line.ok_or_else(|| nothing(&artifact::event(seq)))?;
    let name = format!("session-{}-event-{seq}.json", place.session);
    Ok(Opened { name, mime: JSON, size: Some(line.len() as u64), reader: Box::new(Cursor::new(line)) })
}

fn log(place: &FilePlace) -> Result<Opened, Reject> {
    let stored = place.store()?.sessions(Which::One(place.session)).map_err(|error| not_stored(&error))?;
    let until = stored.first().ok_or_else(no_session)?.head;
    let log = LogReader {
        store: Weak::clone(&place.store),
        session: place.session,
        after: Seq::START,
        until,
        lines: Cursor::new(Vec::new()),
    };
    Ok(Opened { name: format!("session-{}.jsonl", place.session), mime: JSON_LINES, size: None, reader: Box::new(log) })
}

/// The conversation for people.
fn conversation(place: &FilePlace) -> Result<Opened, Reject> {
    let mut stored = place.store()?.sessions(Which::One(place.session)).map_err(|error| not_stored(&error))?;
    let stored = stored.pop().ok_or_else(no_session)?;
    let until = stored.head;
    let reader = ConversationReader::new(Weak::clone(&place.store), &stored.row.into(), until);
    let name = format!("session-{}.md", place.session);
    Ok(Opened { name, mime: MARKDOWN, size: None, reader: Box::new(reader) })
}

/// The log, read a page at a time, up to where it ended when it was opened, or a little further.
struct LogReader {
    store: Weak<dyn Store>,
    session: SessionId,
    after: Seq,
    until: Seq,
    lines: Cursor<Vec<u8>>,
}

impl Read for LogReader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.lines.read(room)?;
            if read > 0 || room.is_empty() || self.after >= self.until {
                return Ok(read);
            }
            let store = self.store.upgrade().ok_or_else(|| io::Error::other("the host is stopping"))?;
            let part = history::log_part(store.as_ref(), self.session, self.after).map_err(io::Error::other)?;
            let part = part.ok_or_else(|| io::Error::other("the session was deleted"))?;
            let Some(last) = part.last else { return Ok(0) };
            self.after = last;
            self.lines = Cursor::new(part.lines);
        }
    }
}

fn workspace_file(place: &FilePlace, asked: &str) -> Result<Opened, Reject> {
    let asked = plain(asked)?;
    let root = place.open()?;
    let file = reading::open(&root, asked).map_err(|failure| refused(&failure))?;
    opened(asked, file).map_err(|error| refused(&root.failure(asked, &error)))
}

/// A file, up to where it ends now: what is added while it is read does not make it longer than was said.
fn opened(asked: &str, file: std::fs::File) -> io::Result<Opened> {
    use std::os::unix::fs::FileExt as _;

    let size = file.metadata()?.len();
    let mut head = vec![0; usize::try_from(size.min(TELLING_BYTES)).unwrap_or_default()];
    let read = file.read_at(&mut head, 0)?;
    head.truncate(read);
    let name = asked.rsplit('/').next().unwrap_or(asked).to_owned();
    Ok(Opened { name, mime: safe_mime(&head), size: Some(size), reader: Box::new(file.take(size)) })
}

/// Pictures and text are named; whatever a browser could run, or might take for something else, is only bytes.
pub(crate) fn safe_mime(head: &[u8]) -> &'static str {
    match mime(head) {
        picture @ ("image/png" | "image/jpeg" | "image/gif" | "image/webp") => picture,
        "text/plain" => TEXT,
        _ => ANY,
    }
}

/// Something that was uploaded for the session, by the name that it was given then.
fn attachment(place: &FilePlace, id: &str) -> Result<Opened, Reject> {
    const MAX_ID_BYTES: usize = 64;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if id.is_empty() || id.len() > MAX_ID_BYTES || !id.bytes().all(is_plain) {
        return Err(nothing(&format!("{}{id}", artifact::ATTACHMENTS)));
    }
    let missing = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => nothing(&format!("{}{id}", artifact::ATTACHMENTS)),
        _ => Reject::new(RejectCode::Internal, format!("the attachment cannot be read: {error}")),
    };
    let path = place.data.join("attachments").join(place.session.to_string()).join(id);
    let file = std::fs::File::open(path).map_err(|error| missing(&error))?;
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return Err(nothing(&format!("{}{id}", artifact::ATTACHMENTS)));
    }
    opened(id, file).map_err(|error| missing(&error))
}
