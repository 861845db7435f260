//! The data folder itself: found, made, kept private. Never makes somebody else's folder ours.

use std::env;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;
use thiserror::Error;

use super::token::{FolderId, Token};

/// What is in every folder of ours.
const ID_FILE: &str = "id";
/// The bits of a mode that let others in.
const OTHERS: u32 = 0o077;

/// Why there is no data folder.
#[derive(Debug, Error)]
pub enum FolderError {
    /// Neither XDG_DATA_HOME nor HOME says where.
    #[error("there is no home folder to keep data in; set HOME or give `--data DIR`")]
    NoHome,
    /// Not ours.
    #[error("`{0}` belongs to another user; give `--data DIR` with a folder of your own")]
    NotOurs(PathBuf),
    /// Others may look into it and it is not clear that it is ours to close.
    #[error(
        "`{0}` is open to other users and holds files that are not Switchboard's; `chmod 700` it or choose another"
    )]
    OpenToOthers(PathBuf),
    /// A file of ours does not hold what it should.
    #[error("`{0}` is damaged; delete it and start again to get a new one")]
    Damaged(PathBuf),
    /// The system says no.
    #[error("`{path}` cannot be used: {source}")]
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl FolderError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// A data folder that only its owner can look into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Where the data is kept: the named folder, else the usual one.
    pub fn usual_or(named: Option<&Path>) -> Result<PathBuf, FolderError> {
        match named {
            Some(path) => std::path::absolute(path).map_err(FolderError::io(path)),
            None => usual(env::var_os("XDG_DATA_HOME").map(PathBuf::from), env::var_os("HOME").map(PathBuf::from)),
        }
    }

    /// Opens the folder, making it if it is not there. One that is open to others is closed, and the log says so.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(FolderError::io(path))?;
        let folder = Self { path: checked(path)? };
        folder.close_to_others()?;
        Ok(folder)
    }

    /// The folder as it is, to be looked at: nothing is made, checked or mended.
    #[must_use]
    pub fn as_it_is(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Where it is, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The host's token; made at the first call, the same ever after.
    pub fn token(&self) -> Result<Token, FolderError> {
        Token::kept_in(&self.file("token"))
    }

    /// The folder's id; made at the first call, the same ever after.
    pub fn id(&self) -> Result<FolderId, FolderError> {
        FolderId::kept_in(&self.file(ID_FILE))
    }

    fn close_to_others(&self) -> Result<(), FolderError> {
        let error = |source| FolderError::Io { path: self.path.clone(), source };
        // By handle, so that what is checked is what is changed.
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let handle = OpenOptions::new().read(true).custom_flags(flags).open(&self.path).map_err(error)?;
        let metadata = handle.metadata().map_err(error)?;
        if metadata.uid() != geteuid().as_raw() {
            return Err(FolderError::NotOurs(self.path.clone()));
        }
        if metadata.mode() & OTHERS == 0 {
            return Ok(());
        }
        let is_empty = fs::read_dir(&self.path).map_err(error)?.next().is_none();
        if !is_empty && !self.file(ID_FILE).exists() {
            return Err(FolderError::OpenToOthers(self.path.clone()));
        }
        handle.set_permissions(Permissions::from_mode(0o700)).map_err(error)?;
        tracing::warn!(folder = %self.path.display(), "the data folder was open to other users; it is closed now");
        Ok(())
    }
}

fn usual(xdg: Option<PathBuf>, home: Option<PathBuf>) -> Result<PathBuf, FolderError> {
    // The standard says that a relative path there is to be ignored.
    let base = xdg.filter(|path| path.is_absolute());
    let base = base.or_else(|| home.filter(|path| path.is_absolute()).map(|home| home.join(".local/share")));
    base.map(|base| base.join("switchboard")).ok_or(FolderError::NoHome)
}

/// Follows a link only if the owner of the folder, or the system's, could have made it.
fn checked(path: &Path) -> Result<PathBuf, FolderError> {
    let link = fs::symlink_metadata(path).map_err(FolderError::io(path))?;
    if link.is_symlink() && !is_ours_or_roots(&link) {
        return Err(FolderError::NotOurs(path.to_owned()));
    }
    path.canonicalize().map_err(FolderError::io(path))
}

fn is_ours_or_roots(metadata: &Metadata) -> bool {
    metadata.uid() == geteuid().as_raw() || metadata.uid() == 0
}

/// Opens a file of the folder without following a link. One that is open to others is closed, and the log says so.
pub(super) fn open_private(path: &Path) -> Result<File, FolderError> {
    let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(FolderError::io(path))?;
    let metadata = file.metadata().map_err(FolderError::io(path))?;
    if metadata.uid() != geteuid().as_raw() {
        return Err(FolderError::NotOurs(path.to_owned()));
    }
    if !metadata.is_file() {
        return Err(FolderError::Damaged(path.to_owned()));
    }
    if metadata.mode() & OTHERS != 0 {
        file.set_permissions(Permissions::from_mode(0o600)).map_err(FolderError::io(path))?;
        tracing::warn!(file = %path.display(), "the file was open to other users; it is closed now");
    }
    Ok(file)
}

/// How long what is written must last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasts {
    /// As long as this process: a power loss ends both, so the disk is not waited for.
    WithTheProcess,
    /// For good.
    ForGood,
}

/// Writes a private file beside its place, to be put there in one step.
pub(super) fn write_fresh(path: &Path, content: &[u8], lasts: Lasts) -> io::Result<PathBuf> {
    use std::io::Write as _;

    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    // What a dead process of the same number left.
    let _ = fs::remove_file(&fresh);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.write_all(content)?;
    if lasts == Lasts::ForGood {
        file.sync_all()?;
    }
    Ok(fresh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_folder_follows_xdg() {
        let at = |xdg: Option<&str>, home: Option<&str>| {
            usual(xdg.map(PathBuf::from), home.map(PathBuf::from)).map(|path| path.display().to_string()).ok()
        };
        assert_eq!(at(Some("/x"), Some("/h")).as_deref(), Some("/x/switchboard"));
        assert_eq!(at(Some("relative"), Some("/h")).as_deref(), Some("/h/.local/share/switchboard"));
        assert_eq!(at(None, None), None);
    }
}
