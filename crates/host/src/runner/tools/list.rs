//! `list_files`: what is in the workspace, by name. Opens no file.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Value, json};
use switchboard_types::{ErrandCode, ErrandFailure};

use super::taken::ListFiles;
use super::walk::{Ignored, Manner, Onward, Seen, Sort, walk};
use crate::agents::shown::shown;
use crate::runner::limits::MAX_FOUND_BYTES;
use crate::runner::place::Root;
use crate::runner::stop::Stop;

pub(crate) fn list_files(root: &Root, asked: &ListFiles, stop: &Stop) -> Result<Value, ErrandFailure> {
    let start = root.existing(&asked.path)?;
    let glob = asked.glob.as_deref().map(Globbed::new).transpose()?;
    let ignored = if asked.include_ignored { Ignored::Taken } else { Ignored::LeftOut };
    let manner = Manner { depth: asked.depth, ignored };
    let (mut entries, mut room) = (Vec::new(), MAX_FOUND_BYTES);
    let seen = walk(root, &start, manner, stop, |entry| {
        let is_meant = match &glob {
            Some(glob) => entry.sort != Sort::Folder && glob.matches(entry.below),
            None => true,
        };
        if !is_meant {
            return Ok(Onward::Go);
        }
        let path = entry.path.to_string_lossy();
        if entries.len() == asked.limit || room < path.len() {
            return Ok(Onward::Halt);
        }
        room -= path.len();
        entries.push(match entry.sort {
            Sort::File => json!({"path": path, "type": "file", "size": entry.size()}),
            Sort::Folder => json!({"path": path, "type": "folder"}),
            Sort::Link => json!({"path": path, "type": "link"}),
            Sort::Other => json!({"path": path, "type": "other"}),
        });
        Ok(Onward::Go)
    })?;
    let folder = if start.as_os_str().is_empty() { ".".into() } else { start.to_string_lossy() };
    Ok(json!({"path": folder, "entries": entries, "truncated": seen == Seen::Some}))
}

/// A glob for paths, or for names if it has no slash.
pub(super) struct Globbed {
    matcher: GlobMatcher,
    is_for_names: bool,
}

impl Globbed {
    pub(super) fn new(glob: &str) -> Result<Self, ErrandFailure> {
        let built = GlobBuilder::new(glob.strip_prefix("./").unwrap_or(glob)).literal_separator(true).build();
        match built {
            Ok(glob_built) => Ok(Self { matcher: glob_built.compile_matcher(), is_for_names: !glob.contains('/') }),
            Err(error) => {
                let message = format!("the glob `{}` is wrong: {}", shown(glob, 200), shown(&error.to_string(), 300));
                Err(ErrandFailure::new(ErrandCode::Invalid, message))
            }
        }
    }

    pub(super) fn matches(&self, path: &Path) -> bool {
        let name = path.file_name().map(Path::new);
        self.matcher.is_match(if self.is_for_names { name.unwrap_or(path) } else { path })
    }
}
