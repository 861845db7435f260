//! Where paths lead: below the workspace's folder, or nowhere. Every look goes through the folder's own descriptor, so no
//! link and no swapped folder leads out. Changes nothing.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use switchboard_types::{ErrandCode, ErrandFailure, WorkspaceRoot};

use super::limits::MAX_PATH_BYTES;
use crate::agents::shown::shown;

/// Characters of a path that an error repeats.
const SHOWN_PATH: usize = 300;

/// A workspace's folder, open.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    dir: Dir,
    /// The host's own data folder, which is for no agent.
    own: PathBuf,
}

/// A file that is there or could be made, by its way from the root; no part of the way is a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The folders that lead to it.
    pub(crate) folders: Vec<OsString>,
    /// Its name.
    pub(crate) name: OsString,
}

impl Target {
    fn of(path: &Path) -> Option<Self> {
        let mut folders = normal_parts(path)?;
        let name = folders.pop()?;
        Some(Self { folders, name })
    }

    /// The path from the root.
    pub(crate) fn path(&self) -> PathBuf {
        self.folders.iter().chain([&self.name]).collect()
    }
}

impl Root {
    /// Opens the folder. `own` is the host's data folder, canonical.
    pub(crate) fn open(root: &WorkspaceRoot, own: &Path) -> Result<Self, ErrandFailure> {
        let gone = |error: io::Error| {
            let message = format!("the workspace `{}` cannot be opened: {error}", shown(root.as_str(), SHOWN_PATH));
            ErrandFailure::new(ErrandCode::Failed, message)
        };
        let path = Path::new(root.as_str()).canonicalize().map_err(gone)?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(gone)?;
        Ok(Self { path, dir, own: own.to_owned() })
    }

    /// Where the folder is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What tells the folder from any other.
    pub(crate) fn identity(&self) -> io::Result<(u64, u64)> {
        let found = rustix::fs::fstat(&self.dir)?;
        Ok((found.st_dev, found.st_ino))
    }

    /// The host's own data folder.
    pub(crate) fn own(&self) -> &Path {
        &self.own
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Something that is there: its way from the root, without links.
    pub(crate) fn existing(&self, asked: &str) -> Result<PathBuf, ErrandFailure> {
        let below = self.below(asked)?;
        let found = self.canonical(&below).map_err(|error| self.failure(asked, &error))?;
        self.not_ours(asked, &found)?;
        Ok(found)
    }

    /// A file to be written, which need not be there, nor its folders.
    pub(crate) fn target(&self, asked: &str) -> Result<Target, ErrandFailure> {
        if asked.ends_with('/') {
            return Err(invalid(asked, "is the name of a folder, not of a file"));
        }
        let below = self.below(asked)?;
        let mut missing = Vec::new();
        let mut there = below.as_path();
        let found = loop {
            match self.canonical(there) {
                Ok(found) => break found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.failure(asked, &error)),
            }
            // What a link promises is not there; making it would write where the link points.
            if self.dir.symlink_metadata(there).is_ok() {
                return Err(invalid(asked, "is reached by a link that leads nowhere"));
            }
            let (Some(name), Some(parent)) = (there.file_name(), there.parent()) else {
                return Err(invalid(asked, "goes up from a folder that is not there"));
            };
            missing.push(name.to_owned());
            there = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        };
        let whole = found.join(missing.iter().rev().collect::<PathBuf>());
        self.not_ours(asked, &whole)?;
        Target::of(&whole).ok_or_else(|| invalid(asked, "is no file's name"))
    }

    /// Opens a folder by its way from the root, following no link at all: what was a folder when the way was found must
    /// still be one.
    pub(crate) fn walk(&self, folders: &[OsString], missing: Missing) -> Result<OwnedFd, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let mut folder = openat(&self.dir, ".", flags, Mode::empty())?;
        for name in folders {
            folder = match openat(&folder, name.as_os_str(), flags, Mode::empty()) {
                Err(Errno::NOENT) if missing == Missing::Make => {
                    match rustix::fs::mkdirat(&folder, name.as_os_str(), Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => openat(&folder, name.as_os_str(), flags, Mode::empty())?,
                        Err(error) => return Err(error),
                    }
                }
                other => other?,
            };
        }
        Ok(folder)
    }

    /// The asked path as one below the root; `..` and links in it are not followed yet.
    fn below(&self, asked: &str) -> Result<PathBuf, ErrandFailure> {
        if asked.is_empty() || asked.contains('\0') {
            return Err(invalid(asked, "is no path"));
        }
        if asked.len() > MAX_PATH_BYTES {
            let message = format!("the path has {} bytes and may have {MAX_PATH_BYTES}", asked.len());
            return Err(ErrandFailure::new(ErrandCode::TooLarge, message));
        }
        let path = Path::new(asked);
        let below = if path.is_absolute() { self.strip(path).ok_or_else(|| self.outside(asked))? } else { path.into() };
        Ok(if below.as_os_str().is_empty() { PathBuf::from(".") } else { below })
    }

    /// What follows the root in an absolute path, however the path spells the root.
    fn strip(&self, path: &Path) -> Option<PathBuf> {
        if let Ok(below) = path.strip_prefix(&self.path) {
            return Some(below.to_owned());
        }
        let own = self.path.metadata().ok()?;
        let is_root =
            |folder: &&Path| folder.metadata().is_ok_and(|found| (found.dev(), found.ino()) == (own.dev(), own.ino()));
        let spelled = path.ancestors().find(is_root)?;
        path.strip_prefix(spelled).ok().map(Path::to_owned)
    }

    fn canonical(&self, below: &Path) -> io::Result<PathBuf> {
        match self.beneath(below) {
            // A link with an absolute target may well lead to a place below the root.
            Err(error) if is_escape(&error) => {
                let real = self.path.join(below).canonicalize().map_err(|_| escape())?;
                let again = real.strip_prefix(&self.path).map_err(|_| escape())?;
                self.beneath(if again.as_os_str().is_empty() { Path::new(".") } else { again })
            }
            other => other,
        }
    }

    fn beneath(&self, below: &Path) -> io::Result<PathBuf> {
        let found = self.dir.canonicalize(below)?;
        self.dir.symlink_metadata(if found.as_os_str().is_empty() { Path::new(".") } else { &found })?;
        let parts = normal_parts(&found).ok_or_else(escape)?;
        Ok(parts.into_iter().collect())
    }

    /// Whether a path from the root is the host's own data folder.
    pub(crate) fn is_own(&self, found: &Path) -> bool {
        self.path.join(found).starts_with(&self.own)
    }

    fn not_ours(&self, asked: &str, found: &Path) -> Result<(), ErrandFailure> {
        if !self.is_own(found) {
            return Ok(());
        }
        let message =
            format!("`{}` is in the host's own data folder, which is not for agents", shown(asked, SHOWN_PATH));
        Err(ErrandFailure::new(ErrandCode::Denied, message))
    }

    fn outside(&self, asked: &str) -> ErrandFailure {
        let (asked, root) = (shown(asked, SHOWN_PATH), shown(&self.path.to_string_lossy(), SHOWN_PATH));
        let message = format!("`{asked}` leads out of the workspace `{root}`; only what is in it can be reached");
        ErrandFailure::new(ErrandCode::Outside, message)
    }

    /// What the system says of a path, in our words.
    pub(crate) fn failure(&self, asked: &str, error: &io::Error) -> ErrandFailure {
        if is_escape(error) {
            return self.outside(asked);
        }
        let asked = shown(asked, SHOWN_PATH);
        let (code, message) = match error.kind() {
            io::ErrorKind::NotFound => (ErrandCode::NotFound, format!("there is no file `{asked}`")),
            io::ErrorKind::NotADirectory => {
                (ErrandCode::NotFound, format!("there is no file `{asked}`: a part of the path is no folder"))
            }
            io::ErrorKind::PermissionDenied => {
                (ErrandCode::Failed, format!("`{asked}` may not be opened by the user of the host"))
            }
            _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                (ErrandCode::Invalid, format!("`{asked}` goes through links in a circle"))
            }
            io::ErrorKind::InvalidFilename => (ErrandCode::Invalid, format!("`{asked}` has too long a name in it")),
            _ => (ErrandCode::Failed, format!("`{asked}` cannot be opened: {error}")),
        };
        ErrandFailure::new(code, message)
    }
}

/// What becomes of folders that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// They are made.
    Make,
    /// They are an error.
    Fail,
}

/// A failure that is about the path itself.
pub(crate) fn invalid(asked: &str, what: &str) -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Invalid, format!("`{}` {what}", shown(asked, SHOWN_PATH)))
}

/// The parts of a relative path, if all of them are plain names.
fn normal_parts(path: &Path) -> Option<Vec<OsString>> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts
        .map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect()
}

fn escape() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "the path leads out")
}

/// Whether a path led out: that error is made by a library, so it has no number of the system.
fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}
