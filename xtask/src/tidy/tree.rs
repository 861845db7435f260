//! The files of the repository as the checks see them: read once, named with forward slashes. Never leaves the root and
//! never follows a link.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::tidy::modules;
use crate::tidy::source::Source;

/// Folders that are never ours, whatever `.gitignore` says.
const SKIPPED_FOLDERS: &[&str] = &[".git", "node_modules"];
/// Cargo leaves this in a target folder, wherever it was put.
const CACHE_MARK: &str = "CACHEDIR.TAG";

/// The repository at one moment.
#[derive(Debug)]
pub(crate) struct Tree {
    files: BTreeMap<String, Option<String>>,
    sources: Vec<Source>,
}

impl Tree {
    /// Reads every file under `root` but those that are built or downloaded.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let ignored = Ignored::read(root);
        let mut files = BTreeMap::new();
        walk(root, "", &ignored, &mut files)?;
        let mut sources: Vec<Source> = files
            .iter()
            .filter(|(path, _)| path.ends_with(".rs"))
            .filter_map(|(path, text)| Some(Source::read(path, text.as_deref()?)))
            .collect();
        modules::resolve(&files, &mut sources);
        Ok(Self { files, sources })
    }

    /// Every file with its text, in the order of their paths; what is no UTF-8 is left out.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Every file, whatever it holds.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// A file's text.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Every Rust source.
    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Whether there is such a file or folder; the root itself is one.
    pub(crate) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.files.contains_key(path) || self.has_folder(path)
    }

    /// Whether there is such a folder with at least one file in it.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        self.files.range(inside.clone()..).next().is_some_and(|(path, _)| path.starts_with(&inside))
    }
}

fn walk(folder: &Path, prefix: &str, ignored: &Ignored, files: &mut BTreeMap<String, Option<String>>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        let kind = entry.file_type()?;
        if SKIPPED_FOLDERS.contains(&name.as_str()) || ignored.covers(&path, &name) {
            continue;
        }
        if kind.is_dir() && !entry.path().join(CACHE_MARK).exists() {
            walk(&entry.path(), &path, ignored, files)?;
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).with_context(|| format!("{path} cannot be read"))?;
            files.insert(path, String::from_utf8(bytes).ok());
        }
    }
    Ok(())
}

/// The plain names in the root's `.gitignore`. Patterns are not understood; our own file needs none.
#[derive(Debug)]
struct Ignored {
    anywhere: Vec<String>,
    at_root: Vec<String>,
}

impl Ignored {
    fn read(root: &Path) -> Self {
        let text = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
        let (mut anywhere, mut at_root) = (Vec::new(), Vec::new());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let name = line.trim_end_matches('/');
            if name.contains('/') {
                at_root.push(name.trim_start_matches('/').to_owned());
            } else {
                anywhere.push(name.to_owned());
            }
        }
        Self { anywhere, at_root }
    }

    fn covers(&self, path: &str, name: &str) -> bool {
        self.at_root.iter().any(|ignored| ignored == path) || self.anywhere.iter().any(|ignored| ignored == name)
    }
}

#[cfg(test)]
mod tests {
    use crate::tidy::made_up;

    #[test]
    fn what_is_built_or_ignored_is_not_read() {
        let tree = made_up::tree(&[
            (".gitignore", "/out\n*.log\nnotes/\n# a comment\n"),
            ("out/a.txt", ""),
            ("web/out/b.txt", ""),
            ("web/notes/c.txt", ""),
            ("web/node_modules/d.js", ""),
            ("build/CACHEDIR.TAG", ""),
            ("build/e.rs", ""),
        ]);
        assert_eq!(tree.paths().collect::<Vec<_>>(), vec![".gitignore", "web/out/b.txt"]);
    }

    #[test]
    fn a_folder_exists_when_a_file_lies_in_it() {
        let tree = made_up::tree(&[("docs/agents/plain.md", "")]);
        assert!(tree.has("docs") && tree.has("docs/agents") && tree.has("docs/agents/plain.md") && tree.has(""));
        assert!(!tree.has("doc") && !tree.has("docs/agent") && !tree.has_folder("docs/agents/plain.md"));
    }
}
