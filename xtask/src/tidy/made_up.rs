//! Trees that exist only for a test, in a folder of their own. Never reads the real repository.

use std::fs;

use crate::tidy::Check;
use crate::tidy::report::Report;
use crate::tidy::tree::Tree;

/// Writes the files into a fresh folder and reads them as a tree.
pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Tree::read(folder.path()).unwrap()
}

/// What one check has to say of such a tree.
pub(crate) fn report(check: Check, files: &[(&str, &str)]) -> Report {
    let mut report = Report::default();
    check(&tree(files), &mut report);
    report
}

/// The findings of one check, as they are printed.
pub(crate) fn findings(check: Check, files: &[(&str, &str)]) -> Vec<String> {
    report(check, files).lines()
}

/// Asserts that one check finds exactly one thing for each place, in order; the place is `path:line`.
pub(crate) fn assert_places(check: Check, files: &[(&str, &str)], expected: &[&str]) {
    let found = findings(check, files);
    let places: Vec<String> = found.iter().map(|line| line.split(": ").next().unwrap_or_default().to_owned()).collect();
    assert_eq!(places, expected, "{found:#?}");
}
