//! A path followed to where it leads, link by link, each step by the handle of the folder before it. What is not there
//! yet is taken as it is written. Opens folders only to look where they are.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat, readlinkat};
use rustix::io::Errno;

/// Links on one way.
const MAX_LINKS: usize = 40;
/// Folders on one way.
const MAX_STEPS: usize = 256;

/// The way to something, from `/` on.
#[derive(Debug)]
pub(super) struct Trail {
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    /// The name in the folder before; empty for `/`.
    name: OsString,
    /// What stands there; none if nothing does.
    there: Option<There>,
}

#[derive(Debug)]
struct There {
    handle: OwnedFd,
    identity: (u64, u64),
}

/// One part of what is still to be followed.
#[derive(Debug)]
enum Part {
    Root,
    Up,
    Name(OsString),
}

impl Trail {
    /// Follows an absolute path. None if nobody can say where it leads: it goes in a circle, or cannot be looked at.
    pub(super) fn follow(path: &Path) -> Option<Self> {
        let mut trail =
            Self { steps: vec![Step { name: OsString::new(), there: Some(There::open(None, Path::new("/")).ok()?) }] };
        let mut parts: VecDeque<Part> = parts_of(path).collect();
        let mut links = 0;
        while let Some(part) = parts.pop_front() {
            match part {
                Part::Root => trail.steps.truncate(1),
                Part::Up if trail.steps.len() > 1 => drop(trail.steps.pop()),
                Part::Up => {}
                Part::Name(name) => {
                    if let Some(link) = trail.step(name)? {
                        links += 1;
                        for part in parts_of(&link).collect::<Vec<_>>().into_iter().rev() {
                            parts.push_front(part);
                        }
                    }
                }
            }
            if links > MAX_LINKS || trail.steps.len() > MAX_STEPS || parts.len() > 4 * MAX_STEPS {
                return None;
            }
        }
        Some(trail)
    }

    /// Goes one name further; gives what a link says instead of going there.
    fn step(&mut self, name: OsString) -> Option<Option<PathBuf>> {
        let Some(here) = self.steps.last()?.there.as_ref() else {
            // What comes after something that is not there is not there either.
            self.steps.push(Step { name, there: None });
            return Some(None);
        };
        let there = match There::open(Some(&here.handle), Path::new(&name)) {
            Ok(there) => there,
            Err(Errno::NOENT) => {
                self.steps.push(Step { name, there: None });
                return Some(None);
            }
            Err(_) => return None,
        };
        if there.is_link()? {
            // What such a link says is about the host itself, not about the command.
            if self.steps.get(1).is_some_and(|step| step.name == "proc") {
                return None;
            }
            let link = readlinkat(&there.handle, "", Vec::new()).ok()?;
            let link = OsString::from_vec(link.into_bytes());
            return if link.is_empty() { None } else { Some(Some(PathBuf::from(link))) };
        }
        self.steps.push(Step { name, there: Some(there) });
        Some(None)
    }

    /// The whole path, without links.
    pub(super) fn path(&self) -> PathBuf {
        let names = self.steps.iter().skip(1).map(|step| &step.name);
        std::iter::once(OsString::from("/")).chain(names.cloned()).collect()
    }

    /// The rest of the path below a folder, if the way goes through that folder.
    pub(super) fn below(&self, folder: (u64, u64)) -> Option<PathBuf> {
        let at = self.steps.iter().position(|step| step.is(folder))?;
        Some(self.steps.iter().skip(at + 1).map(|step| &step.name).collect())
    }

    /// What tells the last thing on the way from any other, if it is there.
    pub(super) fn identity(&self) -> Option<(u64, u64)> {
        self.steps.last().and_then(|step| step.there.as_ref()).map(|there| there.identity)
    }
}

impl Step {
    fn is(&self, identity: (u64, u64)) -> bool {
        self.there.as_ref().is_some_and(|there| there.identity == identity)
    }
}

impl There {
    fn open(folder: Option<&OwnedFd>, name: &Path) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = match folder {
            Some(folder) => openat(folder, name, flags, Mode::empty())?,
            None => openat(CWD, name, flags, Mode::empty())?,
        };
        let found = fstat(&handle)?;
        Ok(Self { handle, identity: (found.st_dev, found.st_ino) })
    }

    fn is_link(&self) -> Option<bool> {
        let found = fstat(&self.handle).ok()?;
        Some(FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
    }
}

fn parts_of(path: &Path) -> impl Iterator<Item = Part> {
    path.components().filter_map(|part| match part {
        Component::RootDir => Some(Part::Root),
        Component::ParentDir => Some(Part::Up),
        Component::Normal(name) => Some(Part::Name(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    })
}
