//! Listing and searching, by the very code that the host's own tools use: below the workspace's folder, what is ignored left out.

use std::path::Path;

use serde_json::Value;
use switchboard_agent::deed::Outcome;
use switchboard_types::ErrandFailure;

use super::{Hands, failed, off_task};
use crate::agent::place::Place;
use crate::runner::limits::MAX_WALK_DEPTH;
use crate::runner::place::Root;
use crate::runner::tools::list::list_files;
use crate::runner::tools::search::search_workspace;
use crate::runner::tools::taken::{ListFiles, SearchWorkspace};

/// Entries of one listing.
const MAX_ENTRIES: usize = 500;
/// Folders within folders that a listing without a glob goes into.
const LIST_DEPTH: usize = 3;
/// Lines of one search.
const MAX_MATCHES: usize = 100;

impl Hands {
    pub(super) async fn list(&self, path: String, glob: Option<String>) -> Outcome {
        let (place, stop) = (self.place.clone(), self.stop.clone());
        off_task(move || {
            let depth = if glob.is_some() { MAX_WALK_DEPTH } else { LIST_DEPTH };
            let listed = within(&place, &path).and_then(|path| {
                let asked = ListFiles { path, glob, depth, include_ignored: false, limit: MAX_ENTRIES };
                list_files(&open(&place)?, &asked, &stop).map_err(failed)
            });
            listed.map_or_else(|outcome| outcome, |listed| Outcome::Done(entries(&listed)))
        })
        .await
    }

    pub(super) async fn search(&self, pattern: String, path: Option<String>, glob: Option<String>) -> Outcome {
        let (place, stop) = (self.place.clone(), self.stop.clone());
        off_task(move || {
            let found = path.map(|path| within(&place, &path)).transpose().and_then(|path| {
                let (below, glob) = folder_and_glob(&place, path, glob);
                let asked = SearchWorkspace {
                    query: pattern,
                    below,
                    regex: true,
                    glob,
                    case_sensitive: true,
                    max_results: MAX_MATCHES,
                    context: 0,
                };
                search_workspace(&open(&place)?, &asked, &stop).map_err(failed)
            });
            found.map_or_else(|outcome| outcome, |found| Outcome::Done(matches(&found)))
        })
        .await
    }
}

fn open(place: &Place) -> Result<Root, Outcome> {
    Root::open(&place.root, &place.own).map_err(|failure: ErrandFailure| failed(failure))
}

fn within(place: &Place, path: &str) -> Result<String, Outcome> {
    place.whole(path).map(|path| path.to_string_lossy().into_owned()).map_err(Outcome::Failed)
}

/// A file to be searched is a folder and a glob that only it matches.
fn folder_and_glob(place: &Place, path: Option<String>, glob: Option<String>) -> (Option<String>, Option<String>) {
    let Some(path) = path else { return (None, glob) };
    let whole = Path::new(&path);
    match (whole.is_file(), whole.parent(), whole.file_name().and_then(|name| name.to_str())) {
        (true, Some(parent), Some(name)) if whole != place.given => {
            (Some(parent.to_string_lossy().into_owned()), Some(globset::escape(name)))
        }
        _ => (Some(path), glob),
    }
}

fn entries(listed: &Value) -> String {
    let entries = listed["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |entry: &Value| {
        let path = entry["path"].as_str().unwrap_or_default();
        match (entry["type"].as_str(), entry["size"].as_u64()) {
            (Some("folder"), _) => format!("{path}/"),
            (Some("link"), _) => format!("{path} (link)"),
            (_, Some(size)) => format!("{path} ({size} bytes)"),
            _ => path.to_owned(),
        }
    };
    let mut lines: Vec<_> = entries.iter().map(line).collect();
    if lines.is_empty() {
        lines.push("nothing".to_owned());
    }
    if listed["truncated"] == true {
        lines.push(format!("[only the first {} are listed; give a folder or a glob]", entries.len()));
    }
    lines.join("\n")
}

fn matches(found: &Value) -> String {
    let all = found["matches"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |one: &Value| {
        let (path, text) = (one["path"].as_str().unwrap_or_default(), one["text"].as_str().unwrap_or_default());
        format!("{path}:{}: {text}", one["line"])
    };
    let mut lines: Vec<_> = all.iter().map(line).collect();
    if lines.is_empty() {
        lines.push(format!("nothing found in {} files", found["filesSearched"]));
    }
    if found["truncated"] == true {
        lines.push(format!("[only the first {} are shown; search for something rarer, or in a folder]", all.len()));
    }
    lines.join("\n")
}
