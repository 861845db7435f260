//! How files look from outside: their opening, their names, their size. Never reads what the code does.

use crate::tidy::lexer::Kind;
use crate::tidy::report::Report;
use crate::tidy::tree::Tree;

const MAX_LINES: usize = 500;
const HINT_LINES: usize = 400;
/// Files that may be longer, each with the reason beside it.
const MAY_BE_LONG: &[&str] = &[
    // Made from the code, and read by nobody but a compiler.
    "web/wire/switchboard.ts",
];
const SOURCE_ENDINGS: &[&str] = &["css", "html", "js", "mjs", "py", "rs", "sh", "toml", "ts", "tsx"];

/// Names that say nothing of what a file owns.
const EMPTY_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc", "manager"];
/// Parts of type names that say nothing of what a type is.
const EMPTY_TYPE_PARTS: &[&str] = &["Manager", "Handler", "Util", "Helper"];

/// Every source says first what it owns.
pub(crate) fn openings(tree: &Tree, report: &mut Report) {
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".rs")) {
        if !text.starts_with("//!") {
            let what = "the file does not open with `//!`; begin with a sentence on what it owns and one on what it must \
                 never do";
            report.find(path, 1, what);
        }
    }
}

/// Files and folders are named by what they own.
pub(crate) fn file_names(tree: &Tree, report: &mut Report) {
    for path in tree.paths() {
        if path.ends_with("/mod.rs") {
            report.find(
                path,
                1,
                "`mod.rs` is not used here; name the file after its module and put it beside the folder",
            );
        }
        let empty = path.split('/').map(|part| part.split('.').next().unwrap_or(part));
        for name in empty.filter(|name| EMPTY_NAMES.contains(&name.to_lowercase().as_str())) {
            report.find(path, 1, format!("`{name}` says nothing of what is in it; name it after what it owns"));
        }
    }
}

/// Types are named by their role.
pub(crate) fn type_names(tree: &Tree, report: &mut Report) {
    for source in tree.sources() {
        for (at, token) in source.code.iter().enumerate().skip(1) {
            let declares =
                ["struct", "enum", "trait", "type", "union"].iter().any(|word| source.stands(at - 1, &[word]));
            let part = EMPTY_TYPE_PARTS.iter().find(|part| token.text.contains(**part));
            if let Some(part) = part.filter(|_| declares && token.kind == Kind::Word) {
                let what = format!("`{}`: `{part}` says nothing of its role; name it after what it is", token.text);
                report.find(&source.path, token.line, what);
            }
        }
    }
}

/// Files stay small enough to be read whole.
pub(crate) fn sizes(tree: &Tree, report: &mut Report) {
    for (path, text) in tree.texts() {
        let ending = path.rsplit('.').next().unwrap_or_default();
        if !SOURCE_ENDINGS.contains(&ending) || MAY_BE_LONG.contains(&path) {
            continue;
        }
        let lines = text.lines().count();
        if lines > MAX_LINES {
            report.find(path, lines, format!("{lines} lines are over {MAX_LINES}; split the file by responsibility"));
        } else if lines > HINT_LINES {
            report.hint(path, lines, format!("{lines} lines are over {HINT_LINES}; it may soon want to be split"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::made_up::{assert_places, report};

    #[test]
    fn a_source_without_an_opening_is_found() {
        let files = [("a.rs", "//! Owns a.\n"), ("b.rs", "\n//! Too late.\n"), ("c.rs", ""), ("d.md", "no source")];
        assert_places(openings, &files, &["b.rs:1", "c.rs:1"]);
    }

    #[test]
    fn names_that_say_nothing_are_found() {
        let files = [
            ("src/helpers.rs", ""),
            ("src/link/mod.rs", ""),
            ("src/manager.rs", ""),
            ("src/unions.rs", ""),
            ("tests/common/start.rs", ""),
            ("web/Utils.test.ts", ""),
        ];
        let expected = [
            "src/helpers.rs:1",
            "src/link/mod.rs:1",
            "src/manager.rs:1",
            "tests/common/start.rs:1",
            "web/Utils.test.ts:1",
        ];
        assert_places(file_names, &files, &expected);
    }

    #[test]
    fn type_names_that_say_nothing_are_found() {
        let text = "struct Log;\nstruct LogManager;\nenum PromptHandler {}\ntrait PathUtil {}\ntype H = HelperOf;\n\
             // struct LinkManager\ntype LinkHelper = H;\n";
        assert_places(type_names, &[("a.rs", text)], &["a.rs:2", "a.rs:3", "a.rs:4", "a.rs:7"]);
    }

    #[test]
    fn a_long_file_is_found_and_a_growing_one_is_hinted_at() {
        let (long, growing, fine) = ("x\n".repeat(501), "x\n".repeat(500), "x\n".repeat(400));
        let files = [
            ("long.rs", long.as_str()),
            ("growing.ts", growing.as_str()),
            ("fine.rs", fine.as_str()),
            ("long.md", long.as_str()),
        ];
        let report = report(sizes, &files);
        assert_eq!(report.lines(), vec!["long.rs:501: 501 lines are over 500; split the file by responsibility"]);
        let hint = "growing.ts:500: 500 lines are over 400; it may soon want to be split";
        assert_eq!(report.hint_lines(), vec![hint]);
    }
}
