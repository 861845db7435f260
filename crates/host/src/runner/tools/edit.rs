//! `edit_file`: one text in a file replaced by another. Exact, and nothing where it is not clear what is meant.

use std::fmt::Write as _;

use switchboard_types::{ErrandCode, ErrandFailure};

use super::taken::EditFile;
use crate::runner::limits::MAX_WRITE_BYTES;
use crate::runner::place::invalid;

/// Lines that an error names.
const NAMED_LINES: usize = 10;
/// Places that are looked for: a text may stand at every byte of a file, and each look costs.
const MAX_PLACES: usize = 100;

/// What the file would say, and how often the text was replaced.
pub(super) fn replaced(asked: &EditFile, before: &str) -> Result<(String, usize), ErrandFailure> {
    let (old, new) = (asked.old_text.as_str(), asked.new_text.as_str());
    if old == new {
        return Err(ErrandFailure::new(ErrandCode::Invalid, "oldText and newText are the same; nothing would change"));
    }
    if asked.replace_all {
        return all(asked, before);
    }
    let lines = places(before, old);
    match lines.len() {
        0 => Err(absent(asked, before)),
        1 => Ok((before.replacen(old, new, 1), 1)),
        count => {
            let more = if count == MAX_PLACES { "at least " } else { "" };
            let what = format!(
                "has oldText {more}{count} times, {}; give more of the text around the one that is meant, or set \
                 replaceAll",
                named(&lines)
            );
            Err(invalid(&asked.path, &what))
        }
    }
}

fn all(asked: &EditFile, before: &str) -> Result<(String, usize), ErrandFailure> {
    let (old, new) = (asked.old_text.as_str(), asked.new_text.as_str());
    let count = before.matches(old).count();
    if count == 0 {
        return Err(absent(asked, before));
    }
    // Known before it is made, since a short text may become a long one many times.
    let size = before.len().saturating_add(count.saturating_mul(new.len())).saturating_sub(count * old.len());
    if size > MAX_WRITE_BYTES {
        let what = format!("would have {size} bytes and {MAX_WRITE_BYTES} can be written at once");
        return Err(ErrandFailure { code: ErrandCode::TooLarge, ..invalid(&asked.path, &what) });
    }
    Ok((before.replace(old, new), count))
}

/// The line of each place where the text stands; places may overlap, since either could be meant.
fn places(before: &str, old: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    let (mut from, mut line, mut counted) = (0, 1, 0);
    while let Some(at) = before.get(from..).and_then(|rest| rest.find(old)).map(|at| from + at) {
        line += before.get(counted..at).map_or(0, |passed| passed.matches('\n').count());
        counted = at;
        lines.push(line);
        if lines.len() == MAX_PLACES {
            break;
        }
        from = at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    }
    lines
}

fn named(lines: &[usize]) -> String {
    let mut text = String::from("in line");
    if lines.len() > 1 {
        text.push('s');
    }
    for (at, line) in lines.iter().take(NAMED_LINES).enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{} {line}", if at == 0 { "" } else { "," });
    }
    if lines.len() > NAMED_LINES {
        text.push_str(", …");
    }
    text
}

fn absent(asked: &EditFile, before: &str) -> ErrandFailure {
    let loosely = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = loosely(&asked.old_text);
    let what = if !wanted.is_empty() && loosely(before).contains(&wanted) {
        "does not have oldText exactly, only with other white space; read the file again and copy the text as it is"
    } else {
        "does not have oldText; read the file again and copy the text as it is"
    };
    invalid(&asked.path, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str, replace_all: bool) -> EditFile {
        EditFile { path: "f".into(), old_text: old.into(), new_text: new.into(), replace_all }
    }

    #[test]
    fn a_text_that_is_there_once_is_replaced() {
        assert_eq!(replaced(&edit("b\n", "", false), "a\nb\nc\n").unwrap(), ("a\nc\n".into(), 1));
        assert_eq!(replaced(&edit("é", "$1", false), "aéb").unwrap(), ("a$1b".into(), 1));
        assert_eq!(replaced(&edit("x", "y", true), "x x\nx").unwrap(), ("y y\ny".into(), 3));
    }

    #[test]
    fn what_is_absent_or_ambiguous_is_refused_with_what_to_do() {
        let why = |asked: EditFile, before: &str| replaced(&asked, before).unwrap_err().message;
        assert!(why(edit("x", "y", false), "x\n\nx x\n").contains("3 times, in lines 1, 3, 3;"));
        // Either of two places that overlap could be meant.
        assert!(why(edit("aa", "b", false), "aaa").contains("2 times"));
        assert!(why(edit("ßß", "b", false), "ßßß").contains("2 times"));
        assert!(why(edit("z", "y", false), "x").contains("does not have oldText;"));
        assert!(why(edit("a  b", "y", false), "a\tb").contains("other white space"));
        assert!(why(edit("x", "x", false), "x").contains("the same"));
        let many = why(edit("x", "y", false), &"x\n".repeat(50));
        assert!(many.contains("50 times") && many.contains("9, 10, …"), "{many}");
        assert!(why(edit(&"a".repeat(500_000), "y", false), &"a".repeat(1_000_000)).contains("at least 100 times"));
        let huge = replaced(&edit("x", &"y".repeat(1_000_000), true), &"x".repeat(100)).unwrap_err();
        assert_eq!(huge.code, ErrandCode::TooLarge);
    }
}
