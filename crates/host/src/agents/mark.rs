//! What all descendants of a child bear, wherever they go: a variable in their environment, and a limit that nobody else has.
//! Ends nobody.
//!
//! The variable names the data folder, the host's process and the child, so that the next host finds what a dead one left.
//! The limit is that of message queues, which hardly any program uses: each child gets one that is a little lower than the
//! host's and its alone, and it passes from process to process even where the environment is wiped or cannot be read.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rustix::process::{Resource, Rlimit, getpid, getrlimit};

use super::proc;

/// The variable.
pub(super) const VARIABLE: &str = "SWITCHBOARD_LIFE";
/// How far below the host's own a child's limit may lie.
const SPAN: u32 = 32 * 1024;
/// The host's limit where there is none.
const UNLIMITED: u64 = 1 << 40;

/// The children of this process so far.
static NUMBER: AtomicU64 = AtomicU64::new(0);
/// Whose each limit is. Processes, and who reaps them, are the whole program's affair, so this is too.
static TAGS: LazyLock<Mutex<BTreeMap<u64, Holder>>> = LazyLock::new(Mutex::default);

/// Names a data folder and the process that serves it, in every mark of its children.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    folder: String,
    host: String,
}

/// What the descendants of one child bear.
#[derive(Debug)]
pub(super) struct Mark {
    value: String,
    tag: Option<u64>,
}

/// The child that a limit was given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// It is being started, and its number is not known yet.
    BeingBorn,
    /// It has this number, and somebody waits for it.
    Child(i32),
    /// It is gone, but not all that it left.
    Gone,
}

/// Who left a process that bears a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// The process that served the data folder: its number and when it started.
    pub(super) host: (i32, u64),
    /// The name of the child.
    pub(super) name: String,
}

impl Origin {
    /// This process, for this folder.
    pub(super) fn here(data: &Path) -> io::Result<Self> {
        let us = getpid().as_raw_nonzero().get();
        let start = proc::stat(us).map_or(0, |stat| stat.start);
        Ok(Self { folder: folder(data)?, host: format!("{us}-{start}") })
    }

    /// A mark for a child that is about to be started.
    pub(super) fn mark(&self, name: &str) -> Mark {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let Self { folder, host } = self;
        // A name is for people; what could end a variable's value is not in it.
        let name: String = name.chars().filter(|character| *character != '\0').collect();
        Mark { value: format!("{folder}.{host}.{number}.{name}"), tag: new_tag() }
    }
}

impl Mark {
    /// The variable's value.
    pub(super) fn value(&self) -> &str {
        &self.value
    }

    /// The limit for the child.
    pub(super) fn limit(&self) -> Option<Rlimit> {
        let (own, tag) = (getrlimit(Resource::Msgqueue), self.tag?);
        Some(Rlimit { current: Some(own.current.unwrap_or(tag).min(tag)), maximum: Some(tag) })
    }

    /// The child has a number now.
    pub(super) fn belongs_to(&self, pid: i32) {
        self.set(Holder::Child(pid));
    }

    /// Whether this process bears it.
    pub(super) fn is_borne_by(&self, pid: i32) -> bool {
        let by_limit = || self.tag.is_some() && proc::queue_limit(pid) == self.tag;
        let by_variable = || proc::variable(pid, VARIABLE).is_some_and(|value| value == self.value.as_bytes());
        by_limit() || by_variable()
    }

    /// Nobody bears it any more; the limit may be another's.
    pub(super) fn retire(mut self) {
        if let Some(tag) = self.tag.take() {
            tags().remove(&tag);
        }
    }

    fn set(&self, holder: Holder) {
        if let Some(tag) = self.tag {
            tags().insert(tag, holder);
        }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.set(Holder::Gone);
    }
}

/// Whose child a descendant of ours with this limit comes from; none if it has no limit of ours.
pub(super) fn holder(limit: u64) -> Option<Holder> {
    tags().get(&limit).copied()
}

/// Who left this process, if it comes from a host that served this folder.
pub(super) fn left_by(pid: i32, data: &Path) -> Option<Left> {
    let value = proc::variable(pid, VARIABLE)?;
    let value = String::from_utf8_lossy(&value);
    let rest = value.strip_prefix(&folder(data).ok()?)?.strip_prefix('.')?;
    let mut parts = rest.splitn(3, '.');
    let (host, _number, name) = (parts.next()?, parts.next()?, parts.next()?);
    let (pid, start) = host.split_once('-')?;
    Some(Left { host: (pid.parse().ok()?, start.parse().ok()?), name: name.to_owned() })
}

fn folder(data: &Path) -> io::Result<String> {
    let metadata = std::fs::metadata(data)?;
    Ok(format!("{:x}-{:x}", metadata.dev(), metadata.ino()))
}

/// A limit that no child has. By chance, so that a host within an agent hardly ever gives the same as the one around it.
fn new_tag() -> Option<u64> {
    let own = getrlimit(Resource::Msgqueue).maximum.unwrap_or(UNLIMITED);
    // So low a limit is somebody's wish; it is not for us to lower it further.
    own.checked_sub(2 * u64::from(SPAN))?;
    let mut tags = tags();
    let chance = getrandom::u32().unwrap_or_default();
    let lower = (0..SPAN).map(|more| u64::from(chance.wrapping_add(more) % SPAN) + 1);
    let tag = lower.map(|lower| own - lower).find(|tag| !tags.contains_key(tag))?;
    tags.insert(tag, Holder::BeingBorn);
    Some(tag)
}

fn tags() -> MutexGuard<'static, BTreeMap<u64, Holder>> {
    // Each change is one step, so whoever panicked left it whole.
    TAGS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_children_have_the_same_mark() {
        let folder = tempfile::tempdir().unwrap();
        let origin = Origin::here(folder.path()).unwrap();
        let marks: Vec<_> = (0..200).map(|_| origin.mark("x")).collect();
        let mut values: Vec<_> = marks.iter().map(|mark| (mark.value().to_owned(), mark.tag)).collect();
        values.sort();
        values.dedup_by(|one, other| one.0 == other.0 || one.1 == other.1);
        assert_eq!(values.len(), 200);
    }

    #[test]
    fn a_limit_is_its_childs_until_nobody_bears_it() {
        let folder = tempfile::tempdir().unwrap();
        let mark = Origin::here(folder.path()).unwrap().mark("x");
        let tag = mark.tag.expect("this machine has room for limits");
        assert_eq!(holder(tag), Some(Holder::BeingBorn));
        mark.belongs_to(7);
        assert_eq!(holder(tag), Some(Holder::Child(7)));
        mark.retire();
        assert_ne!(holder(tag), Some(Holder::Child(7)));
        assert!(!Origin::here(folder.path()).unwrap().mark("x").is_borne_by(1));
    }
}
