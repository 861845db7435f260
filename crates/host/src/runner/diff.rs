//! How a file would change, for people: a unified diff within bounds of time and size. Reads no file.

use similar::TextDiff;

use super::limits::{DIFF_TIME, MAX_COMPARED_BYTES, MAX_DIFF_BYTES};

/// Lines around a change.
const AROUND: usize = 3;

/// A file before it is written.
pub(super) enum Before<'a> {
    /// There is none.
    Absent,
    /// Its text.
    Text(&'a str),
    /// Something that is not shown, with its bytes.
    Other(u64),
}

/// The change of a file.
pub(super) fn unified(path: &str, before: &Before<'_>, after: &str) -> String {
    let (from, old) = match before {
        Before::Absent => ("/dev/null".to_owned(), ""),
        Before::Text(text) => (format!("a/{path}"), *text),
        Before::Other(size) => {
            return format!("The file is too large or no text, so its change is not shown.\n{}", sizes(*size, after));
        }
    };
    if old.len() > MAX_COMPARED_BYTES || after.len() > MAX_COMPARED_BYTES {
        return format!("The file is too large to show its change.\n{}", sizes(old.len() as u64, after));
    }
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(old, after);
    let text = diff.unified_diff().context_radius(AROUND).header(&from, &format!("b/{path}")).to_string();
    cut(text, old, after)
}

fn cut(mut text: String, old: &str, after: &str) -> String {
    if text.len() > MAX_DIFF_BYTES {
        text.truncate(text.floor_char_boundary(MAX_DIFF_BYTES));
        text.push_str("\n… the rest of the change is not shown.\n");
        text.push_str(&sizes(old.len() as u64, after));
    }
    text
}

fn sizes(before: u64, after: &str) -> String {
    format!("Before: {before} bytes. After: {} bytes in {} lines.\n", after.len(), after.lines().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_line_by_line() {
        let diff = unified("a.txt", &Before::Text("one\ntwo\n"), "one\nthree\n");
        assert_eq!(diff, "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n");
        let diff = unified("a.txt", &Before::Absent, "new");
        assert_eq!(diff, "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n");
        assert_eq!(unified("a.txt", &Before::Text("x\n"), "x\n"), "");
    }

    #[test]
    fn what_is_too_large_is_told_in_numbers() {
        let large = "line\n".repeat(MAX_COMPARED_BYTES);
        let diff = unified("a.txt", &Before::Text("old\n"), &large);
        assert_eq!(
            diff,
            "The file is too large to show its change.\nBefore: 4 bytes. After: 5242880 bytes in 1048576 lines.\n"
        );
        let long: String = (0..60_000).map(|line| format!("é line {line}\n")).collect();
        let diff = unified("a.txt", &Before::Absent, &long);
        assert!(diff.len() < MAX_DIFF_BYTES + 200);
        assert!(
            diff.ends_with(
                "the rest of the change is not shown.\nBefore: 0 bytes. After: 828890 bytes in 60000 lines.\n"
            )
        );
    }
}
