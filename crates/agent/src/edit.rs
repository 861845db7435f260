//! Changing a file's text by replacing an exact part of it. Tolerant only where nothing can go wrong; otherwise it refuses in words that
//! help a model to do better. Never writes.

mod nearest;

/// Which places are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// The only one.
    One,
    /// Every one.
    All,
}

/// A file's text after a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The whole text.
    pub after: String,
    /// How many places were changed.
    pub places: usize,
    /// The line of the first of them, from 1.
    pub line: usize,
}

/// How many bytes a file may have after a replacement: a short text in a thousand places becomes a long one.
pub const MAX_FILE_BYTES: usize = 10 * 1024 * 1024;

/// How many places are named when there are too many.
const NAMED_PLACES: usize = 10;

/// Replaces `old` by `new`. Refusals are written for the model.
///
/// # Errors
/// If `old` is empty, does not stand in the text, stands there more than once, or is what it shall become, or if the text would have
/// more than [`MAX_FILE_BYTES`].
pub fn replace(before: &str, old: &str, new: &str, places: Places) -> Result<Replaced, String> {
    if old.is_empty() {
        return Err("`old_text` is empty. Give the lines to replace; to add lines, give a line beside them in both texts; to replace the \
                    whole file, use write_file."
            .to_owned());
    }
    if old == new {
        return Err("`old_text` and `new_text` are the same; nothing would change.".to_owned());
    }
    let Some((old, new)) = as_it_stands(before, old, new) else {
        return Err(nearest::not_found(before, old));
    };
    let (Some(at), Some(last)) = (before.find(&old), before.rfind(&old)) else {
        return Err(nearest::not_found(before, &old));
    };
    let count = before.matches(&old).count();
    // Places that overlap are more than one too.
    if at != last && places == Places::One {
        return Err(too_many(before, &old, count.max(2)));
    }
    let grown =
        before.len().saturating_sub(count.saturating_mul(old.len())).saturating_add(count.saturating_mul(new.len()));
    if grown > MAX_FILE_BYTES {
        return Err(format!(
            "The file would have {grown} bytes then; at most {MAX_FILE_BYTES} are written. `old_text` stands in it {count} times: give \
             more of the lines around the place that you mean and leave `all` out, or make `new_text` shorter."
        ));
    }
    let line = line_of(before, at);
    let after = before.replace(&old, &new);
    if after == before {
        return Err("`old_text` and `new_text` differ in their line ends only; nothing would change.".to_owned());
    }
    Ok(Replaced { after, places: count, line })
}

/// Both texts as they have to be for this file: with its line ends, and without a line break at the end of a file that has none.
fn as_it_stands(before: &str, old: &str, new: &str) -> Option<(String, String)> {
    let windows = before.contains("\r\n") && !before.replace("\r\n", "").contains('\n');
    let ends = |text: &str| {
        let plain = text.replace("\r\n", "\n");
        if windows { plain.replace('\n', "\r\n") } else { plain }
    };
    if before.contains(old) {
        // A file whose lines all end alike goes on so.
        let new = if windows { ends(new) } else { new.to_owned() };
        return Some((old.to_owned(), new));
    }
    let (old, new) = (ends(old), ends(new));
    if old.is_empty() {
        return None;
    }
    if before.contains(&old) {
        return Some((old, new));
    }
    let short = old.strip_suffix("\r\n").or_else(|| old.strip_suffix('\n'))?;
    // Only the very end of the file, where the line break is missing.
    if short.is_empty() || !before.ends_with(short) || before.matches(short).count() != 1 {
        return None;
    }
    let new = new.strip_suffix("\r\n").or_else(|| new.strip_suffix('\n')).unwrap_or(&new);
    Some((short.to_owned(), new.to_owned()))
}

fn too_many(before: &str, old: &str, count: usize) -> String {
    let mut lines: Vec<usize> =
        before.match_indices(old).take(NAMED_PLACES).map(|(at, _)| line_of(before, at)).collect();
    lines.dedup();
    let lines: Vec<String> = lines.into_iter().map(|line| line.to_string()).collect();
    let more = if count > NAMED_PLACES { " and further on" } else { "" };
    format!(
        "`old_text` stands in the file {count} times, at lines {}{more}. Add more of the lines around it so that it is unique, or give \
         all: true to change every place.",
        lines.join(", ")
    )
}

/// The line, from 1, that a byte is in.
fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn after(before: &str, old: &str, new: &str) -> Result<String, String> {
        replace(before, old, new, Places::One).map(|replaced| replaced.after)
    }

    #[test]
    fn what_stands_once_is_replaced_and_the_rest_is_untouched() {
        let replaced = replace("a\nb\nc\n", "b\n", "x\ny\n", Places::One);
        assert_eq!(replaced, Ok(Replaced { after: "a\nx\ny\nc\n".to_owned(), places: 1, line: 2 }));
    }

    #[test]
    fn what_stands_more_than_once_is_refused_with_its_lines_unless_all_is_meant() {
        let said = after("a\nb\na\n", "a", "c").expect_err("twice");
        assert!(said.contains("2 times, at lines 1, 3") && said.contains("all: true"), "{said}");
        assert!(after("\n\n\n", "\n\n", "x").expect_err("twice").contains("2 times"));
        let replaced = replace("a\nb\na\n", "a", "c", Places::All);
        assert_eq!(replaced, Ok(Replaced { after: "c\nb\nc\n".to_owned(), places: 2, line: 1 }));
    }

    #[test]
    fn a_file_does_not_grow_without_bound() {
        let before = "a\n".repeat(500_000);
        let said = replace(&before, "a", &"x".repeat(50_000), Places::All).expect_err("25 GB");
        assert!(
            said.contains("25000500000 bytes") && said.contains("500000 times") && said.contains("shorter"),
            "{said}"
        );
        let most = "x".repeat(MAX_FILE_BYTES);
        assert_eq!(after("a", "a", &most), Ok(most.clone()));
        assert!(after("ab", "a", &most).is_err());
    }

    #[test]
    fn line_ends_of_the_file_are_kept() {
        assert_eq!(after("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n"), Ok("x\r\ny\r\nc\r\n".to_owned()));
        assert_eq!(after("a\r\nb\r\n", "b", "x\ny"), Ok("a\r\nx\r\ny\r\n".to_owned()));
        assert_eq!(after("a\nb\n", "a\r\nb\r\n", "x\r\n"), Ok("x\n".to_owned()));
        // A mixed file is changed only where it is named.
        assert_eq!(after("a\r\nb\nc\n", "b\nc", "x\ny"), Ok("a\r\nx\ny\n".to_owned()));
    }

    #[test]
    fn a_missing_line_break_at_the_end_of_the_file_does_not_matter() {
        assert_eq!(after("a\nlast", "last\n", "end\n"), Ok("a\nend".to_owned()));
        assert!(after("last\nlast", "x\nlast\n", "end\n").is_err());
    }

    #[test]
    fn nothing_to_replace_or_nothing_to_change_is_refused() {
        assert!(after("a", "", "b").expect_err("empty").contains("write_file"));
        assert!(after("a", "a", "a").expect_err("same").contains("the same"));
        assert!(after("a\nb\n", "a\r\nb", "a\nb").expect_err("same").contains("nothing would change"));
        assert!(after("", "a", "b").expect_err("empty file").contains("empty"));
    }

    #[test]
    fn indentation_that_differs_is_not_guessed_but_shown() {
        let file = "fn a() {\n    let x = 1;\n    x + 1\n}\n";
        let said = after(file, "  let x = 1;\n  x + 1", "y").expect_err("not there");
        assert!(said.contains("lines 2-3") && said.contains("    let x = 1;\n    x + 1"), "{said}");
        assert!(said.contains("spaces"), "{said}");
    }

    proptest! {
        #[test]
        fn a_replacement_is_the_old_text_cut_out_and_the_new_one_put_in(
            head in "[a-c\n]{0,20}", old in "[x-z\n]{1,8}", tail in "[a-c\n]{0,20}", new in "[a-z\n]{0,8}",
        ) {
            let before = format!("{head}{old}{tail}");
            prop_assume!(before.find(&old) == before.rfind(&old) && old != new);
            prop_assert_eq!(after(&before, &old, &new), Ok(format!("{head}{new}{tail}")));
        }

        #[test]
        fn whatever_is_asked_there_is_an_answer(before in "\\PC{0,60}", old in "\\PC{0,20}", new in "\\PC{0,20}") {
            let _ = replace(&before, &old, &new, Places::All);
        }
    }
}
