//! How a file would change, for people: a unified diff within bounds of time and size. Reads no file.

use similar::{ChangeTag, TextDiff};
use switchboard_types::{DiffHunk, DiffLine, FileDiff};

use super::limits::{DIFF_TIME, MAX_COMPARED_BYTES, MAX_DIFF_BYTES, MAX_DIFF_LINES, MAX_LINE_BYTES};

/// Lines around a change.
const AROUND: usize = 3;

/// A file before it is written.
pub(crate) enum Before<'a> {
    /// There is none.
    Absent,
    /// Its text.
    Text(&'a str),
    /// Something that is not shown, with its bytes.
    Other(u64),
}

/// The change of a file.
pub(crate) fn unified(path: &str, before: &Before<'_>, after: &str) -> String {
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

/// The same line by line; none if it cannot be worked out.
pub(crate) fn by_lines(before: &Before<'_>, after: &str) -> Option<FileDiff> {
    let old = match before {
        Before::Absent => "",
        Before::Text(text) => text,
        Before::Other(_) => return None,
    };
    if old.len() > MAX_COMPARED_BYTES || after.len() > MAX_COMPARED_BYTES {
        return None;
    }
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(old, after);
    let (mut change, mut room) = (FileDiff::default(), Room { lines: MAX_DIFF_LINES, bytes: MAX_DIFF_BYTES });
    for group in diff.grouped_ops(AROUND) {
        let Some(first) = group.first() else { continue };
        // Where nothing is, the lines begin after the one before it, as everybody writes it.
        let start = |range: std::ops::Range<usize>| line_number(range.start + 1);
        let mut hunk =
            DiffHunk { old_start: start(first.old_range()), new_start: start(first.new_range()), lines: Vec::new() };
        for one in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let counted = match one.tag() {
                ChangeTag::Insert => Some(&mut change.added),
                ChangeTag::Delete => Some(&mut change.removed),
                ChangeTag::Equal => None,
            };
            if let Some(counted) = counted {
                *counted = counted.saturating_add(1);
            }
            match room.take(one.value()) {
                Some(text) => hunk.lines.push(match one.tag() {
                    ChangeTag::Insert => DiffLine::Added { text },
                    ChangeTag::Delete => DiffLine::Removed { text },
                    ChangeTag::Equal => DiffLine::Same { text },
                }),
                None => change.left_out = change.left_out.saturating_add(1),
            }
        }
        if !hunk.lines.is_empty() {
            change.hunks.push(hunk);
        }
    }
    Some(change)
}

fn line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// What may still be shown.
struct Room {
    lines: usize,
    bytes: usize,
}

impl Room {
    /// A line without its end, cut with a mark if it is long; none if there is no room for it.
    fn take(&mut self, line: &str) -> Option<String> {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let kept = line.split_at_checked(line.floor_char_boundary(MAX_LINE_BYTES)).map_or(line, |(kept, _)| kept);
        self.lines = self.lines.checked_sub(1)?;
        self.bytes = self.bytes.checked_sub(kept.len())?;
        let left_out = line.len() - kept.len();
        Some(if left_out == 0 { kept.to_owned() } else { format!("{kept}… [{left_out} bytes more]") })
    }
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
    fn a_change_is_data_too() {
        let same = |text: &str| DiffLine::Same { text: text.into() };
        let added = |text: &str| DiffLine::Added { text: text.into() };
        let removed = |text: &str| DiffLine::Removed { text: text.into() };
        let change = by_lines(&Before::Text("1\n2\n3\n4\n5\n6\n"), "1\n2\n3\n4\nfive\r\n6\nseven").unwrap();
        let lines = vec![same("2"), same("3"), same("4"), removed("5"), added("five\r"), same("6"), added("seven")];
        let hunks = vec![DiffHunk { old_start: 2, new_start: 2, lines }];
        assert_eq!(change, FileDiff { hunks, added: 2, removed: 1, left_out: 0 });
        let change = by_lines(&Before::Absent, "a\n").unwrap();
        let hunks = vec![DiffHunk { old_start: 1, new_start: 1, lines: vec![added("a")] }];
        assert_eq!(change, FileDiff { hunks, added: 1, removed: 0, left_out: 0 });
        assert_eq!(by_lines(&Before::Text("x\n"), "x\n"), Some(FileDiff::default()));
        assert_eq!(by_lines(&Before::Other(3), "x\n"), None);
    }

    #[test]
    fn long_lines_and_many_lines_are_cut_and_said_to_be() {
        let change = by_lines(&Before::Absent, &"é".repeat(MAX_LINE_BYTES)).unwrap();
        let DiffLine::Added { text } = &change.hunks[0].lines[0] else { panic!("{change:?}") };
        assert!(text.ends_with("é… [1000 bytes more]"), "{text}");
        let many = by_lines(&Before::Absent, &"x\n".repeat(MAX_DIFF_LINES + 7)).unwrap();
        assert_eq!((many.hunks[0].lines.len(), many.left_out), (MAX_DIFF_LINES, 7));
        assert_eq!(usize::try_from(many.added), Ok(MAX_DIFF_LINES + 7));
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
