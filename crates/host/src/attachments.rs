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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    fn keep(attachments: &Attachments, name: &str, bytes: &[u8]) -> Result<Attachment, AttachmentError> {
        let mut arriving = attachments.begin(SessionId(7), name)?;
        bytes.chunks(1024 * 1024).try_for_each(|chunk| arriving.add(chunk))?;
        arriving.finish()
    }

    #[test]
    fn what_was_uploaded_goes_with_a_prompt_and_goes_with_its_session() {
        let data = tempfile::tempdir().unwrap();
        let attachments = Attachments::within(data.path());
        let text = keep(&attachments, "../a/notes.md", "é".as_bytes()).unwrap();
        let picture = keep(&attachments, "p.png", PNG).unwrap();
        assert_eq!((text.name.as_str(), text.size), ("notes.md", 2));
        let ids = [text.id.clone(), picture.id.clone()];
        let items = attachments.resolve(SessionId(7), &ids).unwrap();
        assert_eq!((items[0].path.as_deref(), items[0].content.as_deref()), (Some("notes.md"), Some("é")));
        let image = items[1].image.as_ref().unwrap();
        assert_eq!((image.mime.as_str(), image.data.as_str()), ("image/png", "iVBORw0KGgpyZXN0"));
        let path = data.path().join("attachments/7").join(&text.id);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(attachments.resolve(SessionId(8), &ids), Err(AttachmentError::Unknown(_))));
        let half = data.path().join("attachments/7/att-0000000000.part");
        fs::write(&half, "half").unwrap();
        attachments.sweep(|session| session == SessionId(7));
        assert!(path.exists() && !half.exists());
        attachments.sweep(|_| false);
        assert!(!path.exists());
        attachments.forget(SessionId(7)).unwrap();
        attachments.forget(SessionId(7)).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn ids_lead_nowhere_else_and_what_no_agent_reads_is_refused() {
        let data = tempfile::tempdir().unwrap();
        let attachments = Attachments::within(data.path());
        let binary = keep(&attachments, "b.bin", &[0, 159, 146, 150]).unwrap();
        let refused = attachments.resolve(SessionId(7), &[binary.id]);
        assert!(matches!(refused, Err(AttachmentError::Unreadable(name)) if name == "b.bin"));
        for id in ["", "att-", "att-../../token", "att-00000000000", "../7", "att-zzzzzzzzzz", "att-0000000000"] {
            let found = attachments.resolve(SessionId(7), &[id.to_owned()]);
            assert!(matches!(found, Err(AttachmentError::Unknown(_))), "{id}");
        }
    }

    #[test]
    fn there_is_a_limit_to_each_to_all_and_to_their_number_and_half_a_file_is_none() {
        let data = tempfile::tempdir().unwrap();
        let attachments = Attachments::within(data.path());
        let large = vec![b'x'; usize::try_from(MAX_FILE_BYTES).unwrap()];
        let mut over = large.clone();
        over.push(b'x');
        assert!(matches!(keep(&attachments, "over", &over), Err(AttachmentError::TooLarge)));
        for _ in 0..4 {
            keep(&attachments, "large", &large).unwrap();
        }
        assert!(matches!(keep(&attachments, "more", b"x"), Err(AttachmentError::TooMuch)));
        for _ in 4..MAX_FILES {
            keep(&attachments, "empty", b"").unwrap();
        }
        assert!(matches!(keep(&attachments, "more", b""), Err(AttachmentError::TooMany)));
        let files = fs::read_dir(data.path().join("attachments/7")).unwrap().count();
        assert_eq!(files, 2 * MAX_FILES);
    }
}
