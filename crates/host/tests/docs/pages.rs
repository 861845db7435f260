//! The pages, and the fenced blocks, table rows and code spans in them. Judges nothing.

use std::path::{Path, PathBuf};

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Block {
    /// Page and line, for whoever has to mend it.
    pub(crate) place: String,
    /// What stands behind the fence, word by word: the language first.
    pub(crate) words: Vec<String>,
    pub(crate) text: String,
}

impl Block {
    pub(crate) fn language(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the repository.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The README and every page of the documentation, by path.
pub(crate) fn all() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.ends_with(".md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The fenced blocks of a page.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let text = read(page);
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => block.text += &format!("{line}\n"),
            (None, Some(words)) => {
                let words = words.split_whitespace().map(str::to_owned).collect();
                open = Some(Block { place: format!("{page}:{}", at + 1), words, text: String::new() });
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{page} has a block without an end");
    blocks
}

/// The blocks of a language on all pages.
pub(crate) fn blocks_of(language: &str) -> Vec<Block> {
    all().iter().flat_map(|page| blocks(page)).filter(|block| block.language() == language).collect()
}

/// The only block of a language on a page.
pub(crate) fn only(page: &str, language: &str) -> Block {
    let mut found: Vec<_> = blocks(page).into_iter().filter(|block| block.language() == language).collect();
    assert_eq!(found.len(), 1, "{page} is to have one block of {language}");
    found.remove(0)
}

/// The rows of a page's tables, each as its cells; headings and rulers are left out.
pub(crate) fn rows(page: &str) -> Vec<Vec<String>> {
    rows_of(&read(page))
}

/// The rows of the tables below one heading of a page.
pub(crate) fn rows_below(page: &str, heading: &str) -> Vec<Vec<String>> {
    let text = read(page);
    let below = text.split(&format!("\n## {heading}\n")).nth(1);
    let below = below.unwrap_or_else(|| panic!("{page} has no heading {heading:?}"));
    rows_of(below.split("\n## ").next().unwrap_or(below))
}

fn rows_of(text: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = text.lines().collect();
    let is_ruler = |line: &str| line.starts_with("| ---");
    let mut rows = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let heads = lines.get(at + 1).is_some_and(|next| is_ruler(next));
        if let Some(row) = line.strip_prefix('|').filter(|_| !heads && !is_ruler(line)) {
            let row = row.trim_end().strip_suffix('|').unwrap_or(row);
            rows.push(row.split(" | ").map(|cell| cell.trim().to_owned()).collect());
        }
    }
    rows
}

/// The code spans of a text, in order.
pub(crate) fn spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}
