//! One file in an open folder: looked at, and replaced as a whole or not at all. Follows no link and knows no workspace.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    Access, AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, accessat, fchmod, fchown, fstat, fsync,
    openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::digest::FileDigest;
use super::limits::{MAX_COMPARED_BYTES, MAX_REPLACED_BYTES};

/// A file that is there.
#[derive(Debug)]
pub(super) struct Found {
    /// Of all its bytes.
    pub(super) digest: [u8; 32],
    /// Its bytes, if they are few.
    pub(super) bytes: Option<Vec<u8>>,
    /// What the system says of it.
    pub(super) stat: Stat,
}

/// Why a file cannot be looked at.
#[derive(Debug)]
pub(super) enum LookError {
    /// It is a folder.
    Folder,
    /// It is a link, a pipe, a device, …
    NoFile,
    /// It is over the limit.
    TooLarge(u64),
    /// The user of the host may not write it.
    ReadOnly,
    /// The system refused.
    System(io::Error),
}

impl From<Errno> for LookError {
    fn from(error: Errno) -> Self {
        Self::System(error.into())
    }
}

impl From<io::Error> for LookError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Looks at a file of a folder. None if there is none.
pub(super) fn look(folder: &OwnedFd, name: &OsStr) -> Result<Option<Found>, LookError> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(None),
        other => regular(&other?)?,
    }
    accessat(folder, name, Access::WRITE_OK, AtFlags::EACCESS).map_err(|_| LookError::ReadOnly)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::empty())?;
    let stat = fstat(&file)?;
    regular(&stat)?;
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    if size > MAX_REPLACED_BYTES {
        return Err(LookError::TooLarge(size));
    }
    let (digest, bytes) = digest(&mut File::from(file).take(MAX_REPLACED_BYTES))?;
    Ok(Some(Found { digest, bytes, stat }))
}

fn regular(stat: &Stat) -> Result<(), LookError> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(LookError::Folder),
        _ => Err(LookError::NoFile),
    }
}

fn digest(file: &mut impl Read) -> io::Result<([u8; 32], Option<Vec<u8>>)> {
    let (mut digest, mut kept) = (FileDigest::default(), Some(Vec::new()));
    let mut piece = vec![0; 64 * 1024];
    loop {
        let read = match file.read(&mut piece) {
            Ok(0) => return Ok((digest.end(), kept)),
            Ok(read) => piece.get(..read).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        digest.feed(read);
        kept = kept.filter(|kept: &Vec<u8>| kept.len() + read.len() <= MAX_COMPARED_BYTES);
        if let Some(kept) = kept.as_mut() {
            kept.extend_from_slice(read);
        }
    }
}

/// Why a file was not replaced. Nothing has changed.
#[derive(Debug)]
pub(super) enum ReplaceError {
    /// It is not what it was any more.
    Changed,
    /// The system refused.
    System(io::Error),
}

impl From<Errno> for ReplaceError {
    fn from(error: Errno) -> Self {
        Self::System(error.into())
    }
}

impl From<io::Error> for ReplaceError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Puts a new file in the place of the one that was found, or of none. Whoever reads it sees the old bytes or the new ones.
pub(super) fn replace(
    folder: &OwnedFd,
    name: &OsStr,
    found: Option<&Found>,
    content: &[u8],
) -> Result<(), ReplaceError> {
    let fresh = Fresh::make(folder, if found.is_some() { 0o600 } else { 0o666 })?;
    let mut file = File::from(fresh.file.as_fd().try_clone_to_owned()?);
    file.write_all(content)?;
    if let Some(found) = found {
        keep_owner_and_mode(&file, &found.stat)?;
    }
    file.sync_all()?;
    fresh.put(name, found)?;
    // The file is in its place; that the folder's own change may be lost in a power cut changes nothing of that.
    if let Err(error) = fsync(folder) {
        tracing::warn!(%error, "a folder could not be made durable");
    }
    Ok(())
}

fn keep_owner_and_mode(file: &File, stat: &Stat) -> Result<(), Errno> {
    let now = fstat(file)?;
    if (now.st_uid, now.st_gid) != (stat.st_uid, stat.st_gid) {
        // Only root may do this; for others the new file is theirs.
        let _ = fchown(file, Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)));
    }
    fchmod(file, Mode::from_raw_mode(stat.st_mode & 0o777))
}

/// A new file under a name of its own, gone again unless it is put into its place.
struct Fresh<'a> {
    folder: &'a OwnedFd,
    file: OwnedFd,
    name: String,
    placed: bool,
}

impl<'a> Fresh<'a> {
    fn make(folder: &'a OwnedFd, mode: u32) -> Result<Self, ReplaceError> {
        let chance = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
        let name = format!(".switchboard-{chance:016x}.tmp");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(folder, name.as_str(), flags, Mode::from_raw_mode(mode))?;
        Ok(Self { folder, file, name, placed: false })
    }

    fn put(mut self, name: &OsStr, found: Option<&Found>) -> Result<(), ReplaceError> {
        let now = statat(self.folder, name, AtFlags::SYMLINK_NOFOLLOW);
        match (found, now) {
            (None, Err(Errno::NOENT)) => self.put_new(name)?,
            (Some(found), Ok(now)) if same(&found.stat, &now) => {
                renameat(self.folder, self.name.as_str(), self.folder, name)?;
            }
            (None | Some(_), _) => return Err(ReplaceError::Changed),
        }
        self.placed = true;
        Ok(())
    }

    fn put_new(&self, name: &OsStr) -> Result<(), ReplaceError> {
        match renameat_with(self.folder, self.name.as_str(), self.folder, name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(ReplaceError::Changed),
            // Not every file system knows how to replace nothing; it was looked at a moment ago.
            Err(Errno::INVAL | Errno::NOSYS) => Ok(renameat(self.folder, self.name.as_str(), self.folder, name)?),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        if !self.placed
            && let Err(error) = unlinkat(self.folder, self.name.as_str(), AtFlags::empty())
        {
            tracing::warn!(file = self.name, %error, "a file that is not needed could not be removed");
        }
    }
}

/// Whether nobody has written it or put another in its place.
fn same(one: &Stat, other: &Stat) -> bool {
    let facts = |stat: &Stat| {
        (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec)
    };
    facts(one) == facts(other)
}
