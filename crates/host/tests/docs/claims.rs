//! What the pages say is held by a test is held by one: every test that they name is there, in the file that they name.

use super::pages::{read, rows};

/// A test or a file that a cell names.
#[derive(Debug, PartialEq)]
enum Named<'a> {
    /// A test in Rust; with `…`, all that begin so.
    Function(&'a str),
    /// The title of a test in TypeScript.
    Title(&'a str),
    File(&'a str),
}

/// What a cell names, in order: `name` and "title" stand before the `file` that they are in.
fn named(cell: &str) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    for (at, part) in cell.split('`').enumerate() {
        if at % 2 == 0 {
            found.extend(part.split('"').skip(1).step_by(2).map(Named::Title));
        } else if part.contains('/') && (part.ends_with(".rs") || part.ends_with(".ts")) {
            found.push(Named::File(part));
        } else if part.matches('_').count() >= 2 && part.chars().all(|c| c.is_ascii_alphanumeric() || "_…".contains(c))
        {
            found.push(Named::Function(part));
        }
    }
    found
}

/// What of a cell's names is not where the cell says; and how many tests it names.
fn missing(cell: &str) -> (Vec<String>, usize) {
    let (mut missing, mut waiting, mut tests) = (Vec::new(), Vec::<(&str, String)>::new(), 0);
    for named in named(cell) {
        match named {
            Named::File(path) => {
                let text = read(path);
                for (name, wanted) in waiting.drain(..) {
                    if !is_in(&text, &wanted) {
                        missing.push(format!("{path} has no test {name}"));
                    }
                }
            }
            Named::Function(name) => {
                tests += 1;
                let wanted = name.strip_suffix('…').map_or(format!("fn {name}("), |start| format!("fn {start}"));
                waiting.push((name, wanted));
            }
            Named::Title(title) => {
                tests += 1;
                waiting.push((title, title.to_owned()));
            }
        }
    }
    missing.extend(waiting.into_iter().map(|(name, _)| format!("it is not said where {name} is")));
    (missing, tests)
}

/// A Rust test must be one, not any function.
fn is_in(text: &str, wanted: &str) -> bool {
    let Some(before) = text.split(wanted).next().filter(|before| before.len() < text.len()) else { return false };
    !wanted.starts_with("fn ") || {
        let above = before.rsplit("\n\n").next().unwrap_or_default();
        above.contains("#[test]") || above.contains("#[tokio::test")
    }
}

#[test]
fn every_promise_names_tests_that_exist() {
    let promises: Vec<_> = rows("docs/promises.md").into_iter().filter(|row| row[0].parse::<u32>().is_ok()).collect();
    assert_eq!(promises.len(), 11);
    for row in promises {
        let (missing, tests) = missing(row.last().unwrap());
        assert_eq!(missing, Vec::<String>::new(), "promise {}", row[0]);
        assert!(tests > 0, "promise {} names no test", row[0]);
    }
}

#[test]
fn every_defence_names_tests_that_exist() {
    let defences: Vec<_> = rows("docs/security.md").into_iter().filter(|row| row.len() == 3).collect();
    assert!(defences.len() >= 20);
    for row in defences {
        let (missing, tests) = missing(&row[2]);
        assert_eq!(missing, Vec::<String>::new(), "{}", row[0]);
        assert!(tests > 0, "{} names no test", row[0]);
    }
}

#[test]
fn a_test_that_does_not_exist_is_missed() {
    let here = "crates/host/tests/docs/claims.rs";
    let good = format!("`every_promise_names_tests_that_exist` and `every_defence_…` in `{here}`");
    assert_eq!(missing(&good), (vec![], 2));
    for bad in [
        format!("`no_such_test_anywhere` in `{here}`"),
        // A function, but no test.
        "`all_that_is_said` in `crates/host/tests/docs/troubles.rs`".to_owned(),
        "\"no such title\" in `web/tests/browser/policy.test.ts`".to_owned(),
        "`every_promise_names_tests_that_exist`".to_owned(),
    ] {
        assert_ne!(missing(&bad).0, Vec::<String>::new(), "{bad}");
    }
}
