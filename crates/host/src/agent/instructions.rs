//! What a workspace says to agents: its AGENTS.md, and those of folders within it. Reads nothing else.

use std::path::Path;

use switchboard_agent::worker::Instruction;

use super::place::Place;
use crate::runner::place::Root;
use crate::runner::reading::{self, Lines};
use crate::runner::stop::Brake;
use crate::runner::tools::{list::list_files, taken::ListFiles};

/// The file.
const NAME: &str = "AGENTS.md";
/// Bytes of one that are taken.
const MAX_BYTES: usize = 32 * 1024;
/// Bytes of all of them; those nearer to the root go first.
const MAX_ALL_BYTES: usize = 32 * 1024;
/// How many are looked for.
const MAX_FILES: usize = 16;
/// Folders within folders that are looked into.
const MAX_DEPTH: usize = 4;

/// All that there are, the root's first. A file that cannot be read is left out.
pub(super) fn read(place: &Place) -> Vec<Instruction> {
    let Ok(root) = Root::open(&place.root, &place.own) else { return Vec::new() };
    let (_brake, stop) = Brake::new();
    let asked = ListFiles {
        path: ".".to_owned(),
        glob: Some(NAME.to_owned()),
        depth: MAX_DEPTH,
        include_ignored: false,
        limit: MAX_FILES,
    };
    let listed = list_files(&root, &asked, &stop).unwrap_or_default();
    let entries = listed["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut paths: Vec<&str> = entries.iter().filter_map(|entry| entry["path"].as_str()).collect();
    paths.sort_by_key(|path| (Path::new(path).components().count(), path.to_owned()));
    let (mut room, mut all) = (MAX_ALL_BYTES, Vec::new());
    for path in paths {
        let whole = Lines { from: None, limit: None };
        let Ok(mut text) = reading::read(&root, path, whole) else { continue };
        if text.len() > MAX_BYTES {
            text.truncate(text.floor_char_boundary(MAX_BYTES));
            text.push_str("\n[the rest is left out]\n");
        }
        // The root's own is taken whatever its size; what would not fit beside it is left out.
        if all.is_empty() || text.len() <= room {
            room = room.saturating_sub(text.len());
            all.push(Instruction { path: path.to_owned(), text });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roots_own_comes_first_and_what_is_too_much_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        std::fs::write(folder.path().join("AGENTS.md"), "root").unwrap();
        std::fs::write(folder.path().join("a/AGENTS.md"), "x".repeat(MAX_BYTES)).unwrap();
        std::fs::write(folder.path().join("a/b/AGENTS.md"), "deep").unwrap();
        let place = Place::open(folder.path(), Path::new("/own")).unwrap();
        let found: Vec<_> = read(&place).into_iter().map(|one| (one.path, one.text)).collect();
        let named = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        assert_eq!(found, [named("AGENTS.md", "root"), named("a/b/AGENTS.md", "deep")]);
    }
}
