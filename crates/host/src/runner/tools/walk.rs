//! The workspace's files, one after the other, each folder opened through the one that it lies in: no link is followed and
//! no swapped folder leads out. Gives names only; opens no file but those that say what is ignored.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;
use switchboard_types::ErrandFailure;

use crate::runner::limits::{MAX_IGNORE_BYTES, MAX_WALK_DEPTH, MAX_WALK_ENTRIES};
use crate::runner::place::{Missing, Root};
use crate::runner::stop::Stop;

/// How to walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Folders within folders that are looked into; 1 is the first only.
    pub(crate) depth: usize,
    pub(crate) ignored: Ignored,
}

/// What becomes of what is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ignored {
    LeftOut,
    Taken,
}

/// Something in a folder.
pub(crate) struct Entry<'a> {
    /// From the workspace's folder.
    pub(crate) path: &'a Path,
    /// From the folder that the walk began in.
    pub(crate) below: &'a Path,
    pub(crate) sort: Sort,
    folder: BorrowedFd<'a>,
    name: &'a OsStr,
}

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    File,
    Folder,
    Link,
    Other,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onward {
    Go,
    Halt,
}

/// Whether all was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    All,
    Some,
}

impl Entry<'_> {
    /// Opens a file, if it still is one.
    pub(crate) fn open(&self) -> Result<File, Errno> {
        open_file(self.folder, self.name)
    }

    /// Its bytes.
    pub(crate) fn size(&self) -> Option<u64> {
        let found = statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        u64::try_from(found.st_size).ok()
    }
}

/// A folder that is being looked into.
struct Frame {
    folder: OwnedFd,
    entries: std::vec::IntoIter<(OsString, Sort)>,
    /// From the workspace's folder.
    path: PathBuf,
}

/// Walks through a folder, names in order, and shows each entry.
pub(crate) fn walk(
    root: &Root,
    start: &Path,
    manner: Manner,
    stop: &Stop,
    mut show: impl FnMut(&Entry<'_>) -> Result<Onward, ErrandFailure>,
) -> Result<Seen, ErrandFailure> {
    let failed = |error: Errno| root.failure(&start.to_string_lossy(), &error.into());
    let mut rules = Rules { layers: Vec::new(), ignored: manner.ignored };
    let mut way = Vec::new();
    let mut folder = root.walk(&way, Missing::Fail).map_err(failed)?;
    for name in start {
        rules.enter(&folder, &way.iter().collect::<PathBuf>());
        way.push(name.to_owned());
        folder = root.walk(&way, Missing::Fail).map_err(failed)?;
    }
    let mut left = MAX_WALK_ENTRIES;
    rules.enter(&folder, start);
    let first = Frame { entries: entries(&folder, &mut left, stop).map_err(failed)?, folder, path: start.to_owned() };
    let mut frames = vec![first];
    let mut seen = Seen::All;
    while let Some(frame) = frames.last_mut() {
        stop.look()?;
        let Some((name, sort)) = frame.entries.next() else {
            frames.pop();
            rules.leave();
            continue;
        };
        let path = frame.path.join(&name);
        if rules.leave_out(&name, &path, sort) || root.is_own(&path) {
            continue;
        }
        let below = path.strip_prefix(start).unwrap_or(&path);
        let entry = Entry { path: &path, below, sort, folder: frame.folder.as_fd(), name: &name };
        if show(&entry)? == Onward::Halt {
            return Ok(Seen::Some);
        }
        if sort != Sort::Folder || frames.len() >= manner.depth {
            continue;
        }
        match frames.last().and_then(|frame| open_folder(&frame.folder, &name).ok()) {
            Some(folder) if frames.len() < MAX_WALK_DEPTH && left > 0 => {
                rules.enter(&folder, &path);
                // A folder that cannot be read is passed over.
                let entries = entries(&folder, &mut left, stop).unwrap_or_default();
                frames.push(Frame { entries, folder, path });
            }
            Some(_) => seen = Seen::Some,
            None => {}
        }
    }
    stop.look()?;
    Ok(if left == 0 { Seen::Some } else { seen })
}

fn open_folder(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    openat(folder, name, flags, Mode::empty())
}

fn open_file(folder: BorrowedFd<'_>, name: &OsStr) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // Opening a device can do something, so it is looked at first; and again after, since it may be another by then.
    regular(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)?;
    let file = openat(folder, name, flags, Mode::empty())?;
    regular(fstat(&file)?.st_mode)?;
    Ok(File::from(file))
}

fn regular(mode: u32) -> Result<(), Errno> {
    if FileType::from_raw_mode(mode) == FileType::RegularFile { Ok(()) } else { Err(Errno::INVAL) }
}

/// What is in a folder, by name; no more than is left to be looked at.
fn entries(folder: &OwnedFd, left: &mut usize, stop: &Stop) -> Result<std::vec::IntoIter<(OsString, Sort)>, Errno> {
    let mut all = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if *left == 0 || stop.is_told() {
            break;
        }
        *left -= 1;
        let sort = match entry.file_type() {
            FileType::Unknown => statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |found| FileType::from_raw_mode(found.st_mode)),
            known => known,
        };
        all.push((name.to_owned(), sort_of(sort)));
    }
    all.sort();
    Ok(all.into_iter())
}

impl PartialOrd for Sort {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sort {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (*self as u8).cmp(&(*other as u8))
    }
}

fn sort_of(found: FileType) -> Sort {
    match found {
        FileType::RegularFile => Sort::File,
        FileType::Directory => Sort::Folder,
        FileType::Symlink => Sort::Link,
        _ => Sort::Other,
    }
}

/// What is ignored, folder by folder; what lies deeper says more.
struct Rules {
    layers: Vec<Option<Gitignore>>,
    ignored: Ignored,
}

impl Rules {
    /// Takes the rules of a folder; `path` is from the workspace's folder.
    fn enter(&mut self, folder: &OwnedFd, path: &Path) {
        let layer = if self.ignored == Ignored::Taken { None } else { rules_of(folder, path) };
        self.layers.push(layer);
    }

    fn leave(&mut self) {
        self.layers.pop();
    }

    fn leave_out(&self, name: &OsStr, path: &Path, sort: Sort) -> bool {
        if self.ignored == Ignored::Taken {
            return false;
        }
        if name == ".git" {
            return true;
        }
        let said = self.layers.iter().rev().flatten().map(|layer| layer.matched(path, sort == Sort::Folder));
        said.into_iter().find(|said| !said.is_none()).is_some_and(|said| said.is_ignore())
    }
}

/// The rules that a folder's own files say; the later of them count more.
fn rules_of(folder: &OwnedFd, path: &Path) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(path);
    let mut any = false;
    let exclude = if path.as_os_str().is_empty() { exclude_of(folder) } else { None };
    for text in [exclude, text_of(folder, ".gitignore"), text_of(folder, ".ignore")].into_iter().flatten() {
        for line in text.lines() {
            // A line that says nothing sensible is passed over, as git does.
            any |= builder.add_line(None, line).is_ok();
        }
    }
    builder.build().ok().filter(|_| any)
}

fn exclude_of(folder: &OwnedFd) -> Option<String> {
    let info = open_folder(folder, OsStr::new(".git")).and_then(|git| open_folder(&git, OsStr::new("info")));
    text_of(&info.ok()?, "exclude")
}

fn text_of(folder: &OwnedFd, name: &str) -> Option<String> {
    let file = open_file(folder.as_fd(), OsStr::new(name)).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_IGNORE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
