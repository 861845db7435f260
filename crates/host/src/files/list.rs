//! What a folder of the workspace holds, by name. Opens no file and follows no link.

use switchboard_types::{FileAnswer, FileEntry, FileEntryKind, Reject, RejectCode};

use super::{FilePlace, SHOWN_PATH, plain, refused, slashed};
use crate::agents::shown::shown;
use crate::runner::stop::Brake;
use crate::runner::tools::walk::{Entry, Ignored, Manner, Onward, Seen, Sort, walk};

/// Entries that are listed, whatever a folder holds.
const MAX_ENTRIES: usize = 2000;

/// Lists a folder: folders first, each by name.
pub(super) fn list(place: &FilePlace, asked: &str) -> Result<FileAnswer, Reject> {
    let asked = asked.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(asked);
    let asked = if asked.is_empty() { "." } else { plain(asked)? };
    let root = place.open()?;
    let start = root.existing(asked).map_err(|failure| refused(&failure))?;
    let looked = if start.as_os_str().is_empty() { ".".as_ref() } else { start.as_path() };
    let found = root.dir().symlink_metadata(looked).map_err(|error| refused(&root.failure(asked, &error)))?;
    if !found.is_dir() {
        let message = format!("`{}` is no folder; ask for its content instead", shown(asked, SHOWN_PATH));
        return Err(Reject::new(RejectCode::BadMessage, message));
    }
    let (mut folders, mut others, mut left_out) = (Vec::new(), Vec::new(), false);
    // Nobody ends it early: one folder is looked at, and how many names it may have is bounded.
    let (_brake, stop) = Brake::new();
    let manner = Manner { depth: 1, ignored: Ignored::Taken };
    let seen = walk(&root, &start, manner, &stop, |entry| {
        let kept = if entry.sort == Sort::Folder { &mut folders } else { &mut others };
        if kept.len() < MAX_ENTRIES {
            kept.push(entry_of(entry));
        } else {
            left_out = true;
        }
        Ok(Onward::Go)
    });
    let seen = seen.map_err(|failure| refused(&failure))?;
    let mut entries = folders;
    entries.append(&mut others);
    let truncated = left_out || seen == Seen::Some || entries.len() > MAX_ENTRIES;
    entries.truncate(MAX_ENTRIES);
    Ok(FileAnswer::Entries { entries, truncated })
}

fn entry_of(entry: &Entry<'_>) -> FileEntry {
    let path = slashed(entry.path);
    let name = slashed(entry.below);
    let kind = match entry.sort {
        // A name that is no UTF-8 can be shown but not asked for, whatever has it.
        _ if entry.path.to_str().is_none() => FileEntryKind::Other,
        Sort::File => FileEntryKind::File,
        Sort::Folder => FileEntryKind::Directory,
        Sort::Link => FileEntryKind::Symlink,
        Sort::Other => FileEntryKind::Other,
    };
    let size = if kind == FileEntryKind::File { entry.size() } else { None };
    FileEntry { name, path, kind, size }
}
