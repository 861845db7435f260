//! The crates that may only compute: no I/O, clock, lock or async in them, and no dependency that brings any. What is
//! compiled for tests is free.

use crate::tidy::report::Report;
use crate::tidy::source::{Reach, Source};
use crate::tidy::tree::Tree;

const PURE_CRATES: &[&str] = &["crates/types", "crates/core", "crates/dialects", "crates/agent"];

/// Dependencies that only compute. Another one is added here by somebody who has read what it does.
const PURE_DEPENDENCIES: &[&str] = &[
    "agent-client-protocol-schema",
    "bytes",
    "globset",
    "itoa",
    "jsonschema",
    "memchr",
    "schemars",
    "serde",
    "serde_json",
    "similar",
    "switchboard-dialects",
    "switchboard-types",
    "thiserror",
    "tree-sitter",
    "tree-sitter-bash",
    "ts-rs",
    "unicode-normalization",
];

/// Words that are out wherever they stand.
const WORDS: &[(&str, &str)] = &[
    ("async", "async"),
    ("await", "async"),
    ("tokio", "I/O and async"),
    ("getrandom", "chance"),
    ("Instant", "a clock"),
    ("SystemTime", "a clock"),
    ("Mutex", "a lock"),
    ("RwLock", "a lock"),
    ("OnceLock", "a lock"),
    ("LazyLock", "a lock"),
    ("Condvar", "a lock"),
];

/// Macros that are out.
const MACROS: &[&str] = &["print", "println", "eprint", "eprintln", "dbg", "thread_local"];

/// What of `std::io` is data or a trait over memory.
const HARMLESS_IO: &[&str] = &["BufRead", "Cursor", "Error", "ErrorKind", "IoSlice", "Read", "Result", "Write"];

const ADVICE: &str = "the edges do that: take it as an argument or return it as something to do";

/// Looks through the code of the pure crates.
pub(crate) fn code(tree: &Tree, report: &mut Report) {
    let is_pure = |source: &&Source| {
        let within = |of: &str| source.path.strip_prefix(of).is_some_and(|rest| rest.starts_with("/src/"));
        PURE_CRATES.iter().any(|of| within(of)) && source.reach != Reach::Tests
    };
    for source in tree.sources().iter().filter(is_pure) {
        check_words(source, report);
        check_paths(source, report);
    }
}

fn check_words(source: &Source, report: &mut Report) {
    for at in (0..source.code.len()).filter(|at| !source.is_test(*at)) {
        let found = WORDS.iter().find(|(word, _)| source.stands(at, &[word]));
        if let Some((word, brings)) = found {
            report.find(&source.path, source.line(at), format!("`{word}` brings {brings} into a pure crate; {ADVICE}"));
        }
        if let Some(name) = MACROS.iter().find(|name| source.stands(at, &[name, "!"])) {
            report.find(&source.path, source.line(at), format!("`{name}!` has no place in a pure crate; {ADVICE}"));
        }
        if source.stands(at, &["rand", ":", ":"]) {
            report.find(&source.path, source.line(at), format!("`rand` brings chance into a pure crate; {ADVICE}"));
        }
        let atomic = source.code[at].text.strip_prefix("Atomic").is_some_and(|rest| !rest.is_empty());
        if atomic && source.stands(at, &[&source.code[at].text]) {
            report.find(&source.path, source.line(at), format!("an atomic is shared state in a pure crate; {ADVICE}"));
        }
    }
}

fn check_paths(source: &Source, report: &mut Report) {
    for path in source.paths_from(&["std", "core", "alloc"]) {
        let told_already = path.parts.iter().any(|part| WORDS.iter().any(|(word, _)| part == word));
        if told_already || source.is_test(path.at) {
            continue;
        }
        let parts: Vec<&str> = path.parts.iter().map(String::as_str).collect();
        if let Some(brings) = brings(&parts) {
            let what = format!("`{}` brings {brings} into a pure crate; {ADVICE}", parts.join("::"));
            report.find(&source.path, path.line, what);
        }
    }
}

/// What a path into the standard library brings, if it is not pure.
fn brings(parts: &[&str]) -> Option<&'static str> {
    let third = parts.get(2).copied();
    match parts.get(1).copied() {
        None | Some("*") => Some("everything"),
        Some("fs" | "net" | "process" | "env" | "os") => Some("I/O"),
        Some("thread") => Some("threads"),
        Some("future" | "task") => Some("async"),
        Some("io") if !third.is_some_and(|name| HARMLESS_IO.contains(&name)) => Some("I/O"),
        Some("time") if third != Some("Duration") => Some("a clock"),
        Some("sync") if !matches!(third, Some("Arc" | "Weak")) => Some("locks"),
        Some(_) => None,
    }
}

/// Looks through the dependencies of the pure crates.
pub(crate) fn dependencies(tree: &Tree, report: &mut Report) {
    for folder in PURE_CRATES {
        let path = format!("{folder}/Cargo.toml");
        let mut section = String::new();
        for (at, line) in tree.text(&path).unwrap_or_default().lines().enumerate() {
            let line = line.trim();
            if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                header.clone_into(&mut section);
                let named = section.split_once("dependencies.").map(|(before, name)| (before.ends_with("dev-"), name));
                if let Some((false, name)) = named {
                    check_dependency(&path, at + 1, name, report);
                }
            } else if section.ends_with("dependencies") && !section.ends_with("dev-dependencies") {
                let name = line.split(['.', '=', ' ']).next().unwrap_or_default().trim_matches('"');
                if !name.is_empty() && !name.starts_with('#') {
                    check_dependency(&path, at + 1, name, report);
                }
                if line.contains("package") && line.contains('=') && !line.starts_with('#') {
                    report.find(&path, at + 1, "a renamed dependency cannot be checked; give it its own name");
                }
            }
        }
    }
}

fn check_dependency(path: &str, line: usize, name: &str, report: &mut Report) {
    if !PURE_DEPENDENCIES.contains(&name) {
        let advice = "move what needs it to crates/host, or, if it only computes, add it to the list in xtask";
        report.find(path, line, format!("a pure crate may not depend on `{name}`; {advice}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::made_up::{assert_places, findings};

    const MANIFEST: (&str, &str) = ("crates/core/Cargo.toml", "[package]\nname = \"switchboard-core\"\n");

    fn places(text: &str) -> usize {
        findings(code, &[MANIFEST, ("crates/core/src/lib.rs", text)]).len()
    }

    #[test]
    fn io_clocks_locks_and_async_are_found_in_a_pure_crate() {
        for text in [
            "use std::fs;",
            "use std::{fmt, net::TcpStream};",
            "fn a() { std::process::exit(1) }",
            "use std::thread;",
            "fn a() { ::std::env::var(\"A\"); }",
            "use std::io;",
            "use std::io::stdout;",
            "use std::time::Instant;",
            "use std::time;",
            "use std::time::{Duration, SystemTime};",
            "struct A(std::sync::Mutex<u8>);",
            "use std::sync::{Arc, RwLock};",
            "use std::sync::mpsc;",
            "use std::sync::atomic::{self, Ordering};",
            "static A: AtomicU64 = B;",
            "use std::*;",
            "async fn a() {}",
            "fn a() { b.await }",
            "use tokio::sync;",
            "fn a() { println!(\"b\") }",
            "fn a() { dbg!(b) }",
            "fn a() { rand::random() }",
            "fn a() { getrandom::fill(b) }",
        ] {
            assert!(places(text) > 0, "{text}");
        }
    }

    #[test]
    fn the_finding_names_place_cause_and_cure() {
        let found = findings(code, &[MANIFEST, ("crates/core/src/lib.rs", "//! A.\n\nuse std::{fmt, fs::File};\n")]);
        let what = "`std::fs::File` brings I/O into a pure crate; \
             the edges do that: take it as an argument or return it as something to do";
        assert_eq!(found, vec![format!("crates/core/src/lib.rs:3: {what}")]);
    }

    #[test]
    fn pure_code_comments_and_strings_are_left_alone() {
        let text = "//! No async, no Mutex, std::fs or println!\n\
             use std::{fmt, sync::Arc, time::Duration, io::Write, collections::HashMap};\n\
             fn a() -> &'static str { \"std::fs tokio async\" }\n";
        assert_eq!(places(text), 0);
    }

    #[test]
    fn tests_and_other_crates_are_free() {
        let unfit = "use std::fs; async fn a() {}";
        let files = [
            MANIFEST,
            ("crates/core/src/lib.rs", "#[cfg(test)] mod tests; #[cfg(test)] mod more { use std::fs; }"),
            ("crates/core/src/tests.rs", unfit),
            ("crates/core/tests/whole.rs", unfit),
            ("crates/host/Cargo.toml", ""),
            ("crates/host/src/lib.rs", unfit),
        ];
        assert_places(code, &files, &[]);
    }

    #[test]
    fn a_dependency_that_is_not_on_the_list_is_found() {
        let manifest = "[dependencies]\nserde.workspace = true\ntokio = \"1\"\n\n[dependencies.rusqlite]\nversion = \"1\"\n\
             [target.'cfg(unix)'.dependencies]\nrustix.workspace = true\nbytes = { package = \"tokio\", version = \"1\" }\n\
             [build-dependencies]\ncc = \"1\"\n[dev-dependencies]\nproptest = \"1\"\n[lints]\nworkspace = true\n";
        let expected = ["3", "5", "8", "9", "11"].map(|line| format!("crates/dialects/Cargo.toml:{line}"));
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        assert_places(dependencies, &[("crates/dialects/Cargo.toml", manifest)], &expected);
    }
}
