//! Sessions on the disk: one file each, a line for each thing that was kept, readable by this user only. A torn last line is
//! dropped; a file is open in one process at a time.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, OFlags, flock};
use serde::{Deserialize, Serialize};
use switchboard_agent::worker::Kept;
use thiserror::Error;

use crate::server::Secret;

/// Bytes of a session that are read again.
const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;
/// From here on a file is written anew when most of it is folded.
const LARGE_BYTES: u64 = 8 * 1024 * 1024;
/// Characters of an id.
const MAX_ID_CHARS: usize = 64;
/// How a file's name ends.
const ENDING: &str = ".jsonl";
/// Bytes of the first line, which says what a session is.
const MAX_FIRST_LINE: u64 = 64 * 1024;

/// Where sessions are.
#[derive(Debug)]
pub(super) struct Shelf {
    folder: PathBuf,
}

/// What a session is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    pub(super) cwd: String,
    pub(super) created_ms: u64,
    pub(super) mode: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
}

/// A line that is no [`Kept`]: what the session is, from here on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kept", rename_all = "snake_case")]
enum Line {
    Session { session: Header },
}

/// Why a session cannot be had.
#[derive(Debug, Error)]
pub(super) enum ShelfError {
    /// Nobody has kept it.
    #[error("there is no session `{0}` here")]
    NotThere(String),
    /// Another process has it.
    #[error("the session `{0}` is open in another process; close it there first")]
    Taken(String),
    /// It is no session of ours.
    #[error("the file of the session `{0}` cannot be understood")]
    Damaged(String),
    /// The system says no.
    #[error("sessions cannot be kept in `{}`: {source}", folder.display())]
    Io {
        /// Where.
        folder: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The file of one open session.
#[derive(Debug)]
pub(super) struct Book {
    path: PathBuf,
    file: File,
    /// How long the file is; what is beyond is no whole record.
    bytes: u64,
    /// Whether a part of a record is left at its end that could not be taken back.
    is_torn: bool,
    header: Header,
    /// Whether anything was said in it.
    is_used: bool,
}

/// A session that was taken up.
#[derive(Debug)]
pub(super) struct TakenUp {
    pub(super) kept: Vec<Kept>,
    pub(super) book: Book,
}

/// A session in the list.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) id: String,
    pub(super) header: Header,
    pub(super) updated: SystemTime,
}

impl Shelf {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn io(&self, source: io::Error) -> ShelfError {
        ShelfError::Io { folder: self.folder.clone(), source }
    }

    fn path(&self, id: &str) -> Option<PathBuf> {
        let is_id = !id.is_empty()
            && id.len() <= MAX_ID_CHARS
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_id.then(|| self.folder.join(format!("{id}{ENDING}")))
    }

    /// A new session.
    pub(super) fn begin(&self, header: Header) -> Result<(String, Book), ShelfError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(|error| self.io(error))?;
        let chance = Secret::random(16).map_err(|error| self.io(io::Error::other(error.to_string())))?;
        let id = chance.reveal().to_owned();
        let path = self.path(&id).ok_or_else(|| ShelfError::NotThere(id.clone()))?;
        let file = options().create_new(true).open(&path).map_err(|error| self.io(error))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|error| self.io(error.into()))?;
        let mut book = Book { path, file, bytes: 0, is_torn: false, header: header.clone(), is_used: false };
        book.write(&Line::Session { session: header }).map_err(|error| self.io(error))?;
        Ok((id, book))
    }

    /// One that was kept.
    pub(super) fn take_up(&self, id: &str) -> Result<TakenUp, ShelfError> {
        let not_there = || ShelfError::NotThere(id.chars().take(MAX_ID_CHARS).collect());
        let path = self.path(id).ok_or_else(not_there)?;
        let mut file = options().open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => not_there(),
            _ => self.io(error),
        })?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| ShelfError::Taken(id.to_owned()))?;
        if file.metadata().map_err(|error| self.io(error))?.len() > MAX_FILE_BYTES {
            return Err(ShelfError::Damaged(id.to_owned()));
        }
        let (header, kept, bytes) = read(&mut file).map_err(|error| self.io(error))?;
        let header = header.ok_or_else(|| ShelfError::Damaged(id.to_owned()))?;
        file.set_len(bytes).and_then(|()| file.seek(io::SeekFrom::End(0))).map_err(|error| self.io(error))?;
        let is_used = !kept.is_empty();
        let book = Book { path, file, bytes, is_torn: false, header, is_used };
        Ok(TakenUp { kept, book })
    }

    /// All of a folder, or all, the newest first. What cannot be read is left out.
    pub(super) fn list(&self, cwd: Option<&str>) -> Vec<Listed> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let mut all: Vec<Listed> = entries.flatten().filter_map(|entry| listed(&entry.path())).collect();
        all.retain(|one| one.header.title.is_some() && cwd.is_none_or(|cwd| one.header.cwd == cwd));
        all.sort_by(|one, other| other.updated.cmp(&one.updated).then_with(|| one.id.cmp(&other.id)));
        all
    }
}

impl Book {
    /// Keeps something, after all that was kept before.
    pub(super) fn keep(&mut self, kept: &Kept) -> io::Result<()> {
        self.is_used = true;
        if matches!(kept, Kept::Folded { .. }) && self.bytes > LARGE_BYTES {
            return self.write_anew(kept);
        }
        self.write(kept)
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// What the session is has changed.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Header)) -> io::Result<()> {
        let before = self.header.clone();
        change(&mut self.header);
        if self.header == before {
            return Ok(());
        }
        self.write(&Line::Session { session: self.header.clone() })
    }

    fn write(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        if self.is_torn {
            // What is left of another record gets a line of its own, so that it spoils no other.
            self.bytes = self.file.seek(io::SeekFrom::End(0))?;
            bytes.insert(0, b'\n');
        }
        match self.file.write_all(&bytes) {
            Ok(()) => {
                self.bytes += bytes.len() as u64;
                self.is_torn = false;
                Ok(())
            }
            Err(error) => {
                // A disk that is full takes a part of it. The next record must not be glued to that.
                let taken_back = self.file.set_len(self.bytes).and_then(|()| self.file.seek(io::SeekFrom::End(0)));
                self.is_torn |= taken_back.is_err();
                Err(error)
            }
        }
    }

    /// All that came before is in what was folded, so the file can begin with it.
    fn write_anew(&mut self, kept: &Kept) -> io::Result<()> {
        let fresh = self.path.with_extension("new");
        let _ = std::fs::remove_file(&fresh);
        let file = options().create_new(true).open(&fresh)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let (path, header) = (self.path.clone(), self.header.clone());
        let mut book = Self { path, file, bytes: 0, is_torn: false, header: header.clone(), is_used: true };
        book.write(&Line::Session { session: header })?;
        book.write(kept)?;
        book.file.sync_all()?;
        std::fs::rename(&fresh, &self.path)?;
        *self = book;
        Ok(())
    }

    /// The session is closed. One in which nothing was said leaves nothing.
    pub(super) fn close(&self) {
        if !self.is_used {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    options.read(true).write(true).mode(0o600).custom_flags(flags);
    options
}

/// What it is, what was kept, and where the last whole line ends.
fn read(file: &mut File) -> io::Result<(Option<Header>, Vec<Kept>, u64)> {
    let mut reader = BufReader::new(file);
    let (mut header, mut kept, mut good, mut line) = (None, Vec::new(), 0_u64, Vec::new());
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok((header, kept, good));
        }
        good += read as u64;
        if let Ok(Line::Session { session }) = serde_json::from_slice(&line) {
            header = Some(session);
        } else if let Ok(one) = serde_json::from_slice(&line) {
            kept.push(one);
        } else {
            tracing::warn!("a line of a session's file cannot be understood and is left out");
        }
    }
}

/// A session by its file's last header, which need not be its first line.
fn listed(path: &Path) -> Option<Listed> {
    let id = path.file_name()?.to_str()?.strip_suffix(ENDING)?.to_owned();
    let file = File::open(path).ok()?;
    let updated = file.metadata().ok()?.modified().unwrap_or(UNIX_EPOCH);
    let mut header = None;
    // The title comes with the first prompt, so it is near the beginning.
    for line in BufReader::new(file.take(MAX_FIRST_LINE)).lines().take(8).map_while(Result::ok) {
        if let Ok(Line::Session { session }) = serde_json::from_str(&line) {
            header = Some(session);
        }
    }
    Some(Listed { id, header: header?, updated })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use switchboard_agent::talk::{Message, Part};

    use super::*;

    fn header() -> Header {
        Header { cwd: "/w".to_owned(), created_ms: 1, mode: "agent".to_owned(), model: None, title: None }
    }

    fn said(text: &str) -> Kept {
        let parts = vec![Part::Text { text: text.to_owned() }];
        Kept::Message { message: Message::User { parts } }
    }

    #[test]
    fn a_session_comes_back_as_it_was_without_its_torn_last_line() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(folder.path().join("agent"));
        let (id, mut book) = shelf.begin(header()).unwrap();
        book.keep(&said("one")).unwrap();
        book.change(|header| header.title = Some("t".to_owned())).unwrap();
        let file = folder.path().join("agent").join(format!("{id}.jsonl"));
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(shelf.take_up(&id), Err(ShelfError::Taken(_))));
        book.file.write_all(b"{\"kept\":\"message\",\"mess").unwrap();
        drop(book);
        let mut taken = shelf.take_up(&id).unwrap();
        assert_eq!(
            (taken.book.header().title.as_deref(), taken.kept.as_slice()),
            (Some("t"), [said("one")].as_slice())
        );
        taken.book.keep(&said("two")).unwrap();
        drop(taken);
        assert_eq!(shelf.take_up(&id).unwrap().kept, [said("one"), said("two")]);
        assert_eq!(shelf.list(Some("/w")).len(), 1);
        assert_eq!(shelf.list(Some("/elsewhere")).len(), 0);
    }

    #[test]
    fn a_part_of_a_record_that_cannot_be_taken_back_spoils_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(folder.path().to_owned());
        let (id, mut book) = shelf.begin(header()).unwrap();
        book.keep(&said("one")).unwrap();
        book.file.write_all(b"{\"kept\":\"message\",\"mess").unwrap();
        book.is_torn = true;
        book.keep(&said("two")).unwrap();
        book.keep(&said("three")).unwrap();
        assert_eq!(book.bytes, book.file.metadata().unwrap().len());
        drop(book);
        assert_eq!(shelf.take_up(&id).unwrap().kept, [said("one"), said("two"), said("three")]);
    }

    #[test]
    fn what_is_no_session_is_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(folder.path().to_owned());
        for id in ["", "../x", "a/b", "nobody"] {
            assert!(matches!(shelf.take_up(id), Err(ShelfError::NotThere(_))), "{id}");
        }
        std::fs::write(folder.path().join("x.jsonl"), "noise\n").unwrap();
        assert!(matches!(shelf.take_up("x"), Err(ShelfError::Damaged(_))));
    }

    #[test]
    fn a_session_in_which_nothing_was_said_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(folder.path().to_owned());
        let (_, book) = shelf.begin(header()).unwrap();
        book.close();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
