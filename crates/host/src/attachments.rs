//! What was uploaded for sessions, each file under a name that we gave it, in the data folder until its session is deleted.
//! Bounded in number and bytes. Blocks on the disk: to be called where that is fine.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use switchboard_types::{ContextItem, Image, SessionId};
use thiserror::Error;

use crate::runner::tools::view_file::{base64, mime};

/// Bytes of one file.
pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Files that one session keeps.
pub const MAX_FILES: usize = 32;
/// Bytes that one session keeps.
pub const MAX_SESSION_BYTES: u64 = 64 * 1024 * 1024;
/// A file's own name, in bytes; a longer one is cut.
const MAX_NAME_BYTES: usize = 255;
/// Random bytes of an id.
const ID_BYTES: usize = 5;
const ID_PREFIX: &str = "att-";
/// Beside each file, what it was called where it came from.
const NAME_SUFFIX: &str = ".name";
/// What is still being written, or was when the host died.
const PART_SUFFIX: &str = ".part";

/// Why something is not kept, or not found.
#[derive(Debug, Error)]
pub enum AttachmentError {
    /// One file too many.
    #[error("a session keeps at most {MAX_FILES} attachments; delete the session or use those that are there")]
    TooMany,
    /// It is too large.
    #[error("an attachment has at most {MAX_FILE_BYTES} bytes")]
    TooLarge,
    /// All of them are.
    #[error("the attachments of a session have at most {MAX_SESSION_BYTES} bytes")]
    TooMuch,
    /// There is none of this name.
    #[error("there is no attachment `{0}` in this session; upload it first")]
    Unknown(String),
    /// Nothing that an agent could be given.
    #[error(
        "the attachment `{0}` is neither text in UTF-8 nor a picture (PNG, JPEG, GIF, WebP); send it as a file of the workspace"
    )]
    Unreadable(String),
    /// The system says no.
    #[error("the attachment cannot be kept or read: {0}")]
    Io(#[from] io::Error),
    /// The system has no randomness.
    #[error("no randomness: {0}")]
    Random(#[from] getrandom::Error),
}

/// Something that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its name here.
    pub id: String,
    /// What it was called where it came from.
    pub name: String,
    /// Its bytes.
    pub size: u64,
}

/// All attachments of a host.
#[derive(Clone, Debug)]
pub struct Attachments {
    folder: PathBuf,
}

impl Attachments {
    /// Those in a data folder; nothing is made before something is kept.
    #[must_use]
    pub fn within(data: &Path) -> Self {
        Self { folder: data.join("attachments") }
    }

    /// Begins to keep a file.
    pub fn begin(&self, session: SessionId, name: &str) -> Result<Arriving, AttachmentError> {
        let folder = self.of(session);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let (count, bytes) = kept(&folder)?;
        if count >= MAX_FILES {
            return Err(AttachmentError::TooMany);
        }
        let mut random = [0; ID_BYTES];
        getrandom::fill(&mut random)?;
        let hex: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let id = format!("{ID_PREFIX}{hex}");
        let part = folder.join(format!("{id}{PART_SUFFIX}"));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        Ok(Arriving { folder, id, name: cut(name), file, part, size: 0, before: bytes })
    }

    /// What was uploaded, as what goes with a prompt.
    pub fn resolve(&self, session: SessionId, ids: &[String]) -> Result<Vec<ContextItem>, AttachmentError> {
        if ids.len() > MAX_FILES {
            return Err(AttachmentError::TooMany);
        }
        ids.iter().map(|id| self.item(session, id)).collect()
    }

    /// Removes all that was uploaded for a session.
    pub fn forget(&self, session: SessionId) -> io::Result<()> {
        match fs::remove_dir_all(self.of(session)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Removes what sessions that are gone have left, and what was half-written when an earlier host ended. To be called
    /// before anything is kept.
    pub fn sweep(&self, is_stored: impl Fn(SessionId) -> bool) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let id = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok().map(SessionId);
        for session in entries.filter_map(id) {
            if !is_stored(session) {
                // What cannot be removed now is tried again at the next start.
                let _ = self.forget(session);
                continue;
            }
            let Ok(files) = fs::read_dir(self.of(session)) else { continue };
            for file in files.filter_map(Result::ok) {
                if file.file_name().to_string_lossy().ends_with(PART_SUFFIX) {
                    let _ = fs::remove_file(file.path());
                }
            }
        }
    }

    fn of(&self, session: SessionId) -> PathBuf {
        self.folder.join(session.to_string())
    }

    fn item(&self, session: SessionId, id: &str) -> Result<ContextItem, AttachmentError> {
        let unknown = || AttachmentError::Unknown(id.chars().take(64).collect());
        let digits = id.strip_prefix(ID_PREFIX).ok_or_else(unknown)?;
        if digits.len() != 2 * ID_BYTES || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        let folder = self.of(session);
        let open = |path: PathBuf| match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(unknown()),
            other => other.map_err(AttachmentError::Io),
        };
        let mut bytes = Vec::new();
        open(folder.join(id))?.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        let mut name = String::new();
        open(folder.join(format!("{id}{NAME_SUFFIX}")))?.take(MAX_NAME_BYTES as u64).read_to_string(&mut name)?;
        let item = ContextItem { path: Some(name), content: None, image: None };
        match mime(&bytes) {
            picture @ ("image/png" | "image/jpeg" | "image/gif" | "image/webp") => {
                let image = Image { mime: picture.to_owned(), data: base64(&bytes) };
                Ok(ContextItem { image: Some(image), ..item })
            }
            _ => match String::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => Ok(ContextItem { content: Some(text), ..item }),
                _ => Err(AttachmentError::Unreadable(item.path.unwrap_or_default())),
            },
        }
    }
}

/// Files and bytes that a session keeps, with what is under way.
fn kept(folder: &Path) -> io::Result<(usize, u64)> {
    let (mut count, mut bytes) = (0, 0);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().ends_with(NAME_SUFFIX) {
            continue;
        }
        count += 1;
        bytes += entry.metadata()?.len();
    }
    Ok((count, bytes))
}

/// The last part of a path, short, without what no file is called.
fn cut(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let mut cut = String::new();
    for letter in last.chars().filter(|letter| !letter.is_control()) {
        if cut.len() + letter.len_utf8() > MAX_NAME_BYTES {
            break;
        }
        cut.push(letter);
    }
    if cut.is_empty() { "attachment".to_owned() } else { cut }
}

/// A file that is being uploaded. Gone again if it is dropped before it is whole.
#[derive(Debug)]
pub struct Arriving {
    folder: PathBuf,
    id: String,
    name: String,
    file: File,
    part: PathBuf,
    size: u64,
    before: u64,
}

impl Arriving {
    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), AttachmentError> {
        self.size += bytes.len() as u64;
        if self.size > MAX_FILE_BYTES {
            return Err(AttachmentError::TooLarge);
        }
        if self.before + self.size > MAX_SESSION_BYTES {
            return Err(AttachmentError::TooMuch);
        }
        self.file.write_all(bytes)?;
        Ok(())
    }

    /// All bytes are there.
    pub fn finish(self) -> Result<Attachment, AttachmentError> {
        self.file.sync_all()?;
        // Others may have come at the same time, and none of them counted the rest of this one.
        let (count, bytes) = kept(&self.folder)?;
        if count > MAX_FILES {
            return Err(AttachmentError::TooMany);
        }
        if bytes > MAX_SESSION_BYTES {
            return Err(AttachmentError::TooMuch);
        }
        let name_path = self.folder.join(format!("{}{NAME_SUFFIX}", self.id));
        let mut name = OpenOptions::new().write(true).create_new(true).mode(0o600).open(name_path)?;
        name.write_all(self.name.as_bytes())?;
        name.sync_all()?;
        fs::rename(&self.part, self.folder.join(&self.id))?;
        File::open(&self.folder)?.sync_all()?;
        Ok(Attachment { id: self.id.clone(), name: self.name.clone(), size: self.size })
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        // Not there any more if it is whole.
        let _ = fs::remove_file(&self.part);
    }
}
