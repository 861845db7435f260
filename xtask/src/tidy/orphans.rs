//! Files that nothing leads to: sources that no `mod` names, test data that no test or page names. Never deletes one.

use crate::tidy::report::Report;
use crate::tidy::source::Reach;
use crate::tidy::tree::Tree;

const TESTDATA: &str = "testdata/";
/// Where test data may be named.
const NAMING_ENDINGS: &[&str] = &[".rs", ".ts", ".tsx", ".js", ".mjs", ".py", ".md"];

/// Every source is compiled, and found where its module path says.
pub(crate) fn modules(tree: &Tree, report: &mut Report) {
    for source in tree.sources() {
        if source.reach == Reach::Nobody && !source.path.contains(TESTDATA) {
            let what = "no `mod` leads to this file, so it is never compiled; declare it or delete it";
            report.find(&source.path, 1, what);
        }
        for run in source.attributes() {
            if source.stands(run.start, &["#", "[", "path", "="]) {
                let what = "`#[path]` hides where a module lies; put the file where its name says";
                report.find(&source.path, source.line(run.start), what);
            }
        }
    }
}

/// Every file of test data is used or explained.
pub(crate) fn testdata(tree: &Tree, report: &mut Report) {
    let naming: Vec<&str> = tree
        .texts()
        .filter(|(path, _)| NAMING_ENDINGS.iter().any(|ending| path.ends_with(ending)))
        .map(|(_, text)| text)
        .collect();
    for path in tree.paths() {
        let Some(inner) = below_testdata(path).filter(|inner| !inner.ends_with(".md")) else { continue };
        let names = names_of(inner);
        if !naming.iter().any(|text| names.iter().any(|name| mentions(text, name))) {
            let what = "no test and no page names this file; use it, explain it in a README beside it, or delete it";
            report.find(path, 1, what);
        }
    }
}

/// The part of a path below a folder `testdata`.
fn below_testdata(path: &str) -> Option<&str> {
    let (before, inner) = path.split_once(TESTDATA)?;
    (before.is_empty() || before.ends_with('/')).then_some(inner)
}

/// All that counts as naming the file: its name, its path below `testdata` with or without its ending, its quoted stem, or
/// a folder that holds it.
fn names_of(inner: &str) -> Vec<String> {
    let file = inner.rsplit('/').next().unwrap_or(inner);
    let mut names = vec![file.to_owned(), format!("\"{}\"", stem(file))];
    if inner.contains('/') {
        names.push(stem(inner).to_owned());
    }
    let mut folder = inner;
    while let Some((above, _)) = folder.rsplit_once('/') {
        names.push(format!("{TESTDATA}{above}"));
        folder = above;
    }
    names
}

fn stem(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(stem, _)| stem)
}

/// Whether the name stands in the text, not as a part of a longer word.
fn mentions(text: &str, name: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(joins) && !after.is_some_and(joins)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::made_up::assert_places;

    #[test]
    fn a_source_that_no_mod_names_is_found() {
        let files = [
            ("a/Cargo.toml", ""),
            ("a/src/lib.rs", "// mod forgotten;\nmod kept;\n#[path = \"far.rs\"] mod near;"),
            ("a/src/kept.rs", ""),
            ("a/src/far.rs", ""),
            ("a/src/forgotten.rs", ""),
        ];
        assert_places(modules, &files, &["a/src/far.rs:1", "a/src/forgotten.rs:1", "a/src/lib.rs:3"]);
    }

    #[test]
    fn test_data_that_nobody_names_is_found() {
        let files = [
            ("testdata/README.md", "`explained.bin` is what it is."),
            ("testdata/explained.bin", ""),
            ("testdata/plain/turn.jsonl", ""),
            ("testdata/tabs/hello.jsonl", ""),
            ("testdata/tabs/old-hello.jsonl", ""),
            ("testdata/whole/one.jsonl", ""),
            ("testdata/whole/deep/two.jsonl", ""),
            ("crates/a/tests/b.rs", "read(\"testdata/whole\"); play(\"plain/turn\"); open(\"hello.jsonl\");"),
        ];
        assert_places(testdata, &files, &["testdata/tabs/old-hello.jsonl:1"]);
    }

    #[test]
    fn naming_the_top_folder_names_none_of_its_files() {
        let files = [("testdata/one.jsonl", ""), ("crates/a/tests/b.rs", "walk(\"testdata\"); // testdata/")];
        assert_places(testdata, &files, &["testdata/one.jsonl:1"]);
    }
}
