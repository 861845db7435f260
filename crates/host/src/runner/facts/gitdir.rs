//! Where git keeps a workspace's repository: `.git` may be a link, or a file that names another folder. What lies there
//! steers what git runs, whatever it is called. Reads two small files and changes nothing.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::trail::Trail;

/// Bytes of a file that names a folder.
const MAX_BYTES: u64 = 8 * 1024;

/// The folders that belong to the repository.
#[derive(Debug, Default)]
pub(super) struct Gitdirs(Vec<(u64, u64)>);

impl Gitdirs {
    /// Those of the workspace with this folder.
    pub(super) fn of(root: &Path) -> Self {
        let entry = root.join(".git");
        let Some(mut folder) = Trail::follow(&entry).map(|trail| trail.path()) else { return Self::default() };
        if let Some(named) = named(&folder, "gitdir:") {
            folder = root.join(named);
        }
        let common = named(&folder.join("commondir"), "").map(|named| folder.join(named));
        let all = std::iter::once(folder).chain(common);
        Self(all.filter_map(|folder| Trail::follow(&folder)?.identity()).collect())
    }

    /// Whether a way leads into one of them.
    pub(super) fn hold(&self, trail: &Trail) -> bool {
        self.0.iter().any(|folder| trail.below(*folder).is_some())
    }
}

/// The path that a small file names after a word.
fn named(file: &Path, word: &str) -> Option<PathBuf> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
    let mut options = File::options();
    let file = options.read(true).custom_flags(i32::try_from(flags.bits()).ok()?).open(file).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let named = text.lines().next()?.strip_prefix(word)?.trim();
    Some(PathBuf::from(named)).filter(|named| !named.as_os_str().is_empty())
}
