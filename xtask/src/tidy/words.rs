//! Words that must not stand in the code or in any text of ours. Looks at code as code: a string or a comment that speaks
//! of such a word is fine, unless the rule is about comments.

use crate::tidy::report::Report;
use crate::tidy::source::Source;
use crate::tidy::tree::Tree;

/// Marks of unfinished work, each as a whole word.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
/// Words from the place where the project is worked on; they mean nothing to whoever reads the repository. Taken apart, so
/// that this file may name them.
const WORKING_PLACE: &[&str] = &[concat!("../", "shared"), concat!("/wo", "rk/"), concat!("issue", " #")];

/// Rules about code.
pub(crate) fn code(tree: &Tree, report: &mut Report) {
    for source in tree.sources() {
        check_attributes(source, report);
        check_places(source, report);
        check_waiting(source, report);
        for comment in &source.comments {
            for (below, line) in comment.text.lines().enumerate() {
                check_unfinished(&source.path, comment.line + below, line, report);
            }
        }
    }
}

fn check_attributes(source: &Source, report: &mut Report) {
    for run in source.attributes() {
        let line = source.line(run.start);
        if run.clone().any(|at| source.stands(at, &["allow", "("])) {
            let what = "`#[allow]` silences a lint for good; mend the code or write `#[expect(lint, reason = \"…\")]`";
            report.find(&source.path, line, what);
        }
        let is_serde = source.path.starts_with("crates/types/") && source.mentions(run.clone(), "serde");
        for word in ["untagged", "flatten"] {
            if is_serde && source.mentions(run.clone(), word) {
                let what = format!("serde's `{word}` makes a wire type ambiguous; use `serde(tag = \"type\")`");
                report.find(&source.path, line, what);
            }
        }
    }
}

fn check_places(source: &Source, report: &mut Report) {
    let rules: &[(&[&str], &str)] = &[
        (&["unbounded_channel"], "an unbounded queue lets a peer fill the memory; give it a named limit"),
        (&["mpsc", ":", ":", "channel", "(", ")"], "this queue has no bound; use one with a named limit"),
        (&["todo", "!"], "unfinished code is not kept; write it or take the path away"),
        (&["unimplemented", "!"], "unfinished code is not kept; write it or take the path away"),
    ];
    for (words, advice) in rules {
        for at in source.places(words) {
            report.find(&source.path, source.line(at), format!("`{}`: {advice}", words.concat()));
        }
    }
}

/// Tests own the time or wait for what they wait for; they never sleep.
fn check_waiting(source: &Source, report: &mut Report) {
    let what = "a test that sleeps is slow or flaky; use virtual time, or wait for the thing itself";
    for module in ["thread", "time"] {
        for at in source.places(&[module, ":", ":", "sleep"]).filter(|at| source.is_test(*at)) {
            report.find(&source.path, source.line(at), what);
        }
    }
    for path in source.paths_from(&["std", "tokio"]) {
        let ends = path.parts.ends_with(&["thread".to_owned(), "sleep".to_owned()])
            || path.parts.ends_with(&["time".to_owned(), "sleep".to_owned()]);
        if ends && source.is_test(path.at) {
            report.find(&source.path, path.line, what);
        }
    }
}

/// Rules about every text, whatever its language.
pub(crate) fn text(tree: &Tree, report: &mut Report) {
    for (path, text) in tree.texts() {
        let foreign = path.ends_with(".lock") || path.ends_with("-lock.json") || path.contains("testdata/");
        for (at, line) in text.lines().enumerate() {
            // Rust comments are looked at as comments, and what others wrote is not ours to word.
            if !path.ends_with(".rs") && !foreign {
                check_unfinished(path, at + 1, line, report);
            }
            let lower = line.to_lowercase();
            for word in WORKING_PLACE.iter().filter(|word| stands_alone(&lower, word)) {
                let what = format!("`{word}` means nothing to whoever reads the repository; say it without");
                report.find(path, at + 1, what);
            }
        }
    }
}

fn check_unfinished(path: &str, line: usize, text: &str, report: &mut Report) {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    if let Some(word) = words.find(|word| UNFINISHED.contains(word)) {
        report.find(path, line, format!("`{word}` is a note to nobody; do it, or leave it out"));
    }
}

/// Whether a word stands in a line and is not the end of a longer path or word.
fn stands_alone(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | '~'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::made_up::assert_places;

    #[test]
    fn a_silenced_lint_is_found_and_an_expected_one_is_not() {
        let text = "#![allow(dead_code)]\n#[allow(unused)]\nfn a() {}\n#[cfg_attr(unix, allow(unused))]\nfn b() {}\n\
             #[expect(unused, reason = \"c\")]\nfn allow(d: u8) { allow(d) }\n";
        assert_places(code, &[("a.rs", text)], &["a.rs:1", "a.rs:2", "a.rs:4"]);
    }

    #[test]
    fn unbounded_queues_and_unfinished_code_are_found() {
        let text = "fn a() { unbounded_channel() }\nfn b() { mpsc::channel() }\nfn c() { mpsc::channel(LIMIT) }\n\
             fn d() { todo!() }\nfn e() { unimplemented!(\"later\") }\n// todo! and unbounded_channel in words are fine.\n";
        assert_places(code, &[("a.rs", text)], &["a.rs:1", "a.rs:2", "a.rs:4", "a.rs:5"]);
    }

    #[test]
    fn a_note_to_nobody_is_found_in_comments_and_in_other_texts() {
        let note = UNFINISHED[0];
        let rust = format!("fn a() {{ b(\"{note}\") }}\n/* c\n{note}: d */\nfn e() {{ {note}S }}\n");
        assert_places(code, &[("a.rs", &rust)], &["a.rs:3"]);
        let page = format!("fine\nsee {note}\n{note}S\n");
        assert_places(text, &[("a.md", &page), ("testdata/b.jsonl", &page)], &["a.md:2"]);
    }

    #[test]
    fn a_test_that_sleeps_is_found_and_a_program_that_sleeps_is_not() {
        let files = [
            ("a/Cargo.toml", ""),
            (
                "a/src/lib.rs",
                "fn a() { tokio::time::sleep(b) }\n#[cfg(test)]\nmod tests {\nfn c() { thread::sleep(d) }\n}\n",
            ),
            ("a/tests/e.rs", "use tokio::{net, time::{sleep, timeout}};\n"),
        ];
        assert_places(code, &files, &["a/src/lib.rs:4", "a/tests/e.rs:1"]);
    }

    #[test]
    fn ambiguous_wire_types_are_found_in_the_types_alone() {
        let text = "#[derive(A)]\n#[serde(untagged)]\nenum B {}\nstruct C {\n#[serde(default, flatten)]\nd: E,\n}\n";
        let files = [("crates/types/src/lib.rs", text), ("crates/dialects/src/lib.rs", text)];
        assert_places(code, &files, &["crates/types/src/lib.rs:2", "crates/types/src/lib.rs:5"]);
    }

    #[test]
    fn words_of_the_working_place_are_found() {
        let page: String = WORKING_PLACE.iter().map(|word| format!("see {word}a\n")).collect();
        assert_places(text, &[("a.md", &page)], &["a.md:1", "a.md:2", "a.md:3"]);
        let fine = format!("/home/me{}x and {}", WORKING_PLACE[1], "an issue");
        assert_places(text, &[("a.md", &fine)], &[]);
    }
}
