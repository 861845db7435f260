//! The lines of a file that resemble what a model looked for, at a bounded cost. Only words; changes nothing.

/// How many lines of a file are looked at.
const MAX_LINES: usize = 20_000;

/// How many lines of the text that was looked for are compared.
const COMPARED_LINES: usize = 8;

/// How many lines are shown.
const SHOWN_LINES: usize = 20;

/// How much of a line is compared and shown.
const LINE_CHARS: usize = 200;

/// From here on, of 100, lines resemble each other.
const ALIKE: usize = 55;

/// Why `old` does not stand in the file, with the lines that are nearest to it.
pub(super) fn not_found(before: &str, old: &str) -> String {
    if before.trim().is_empty() {
        return "`old_text` is not in the file: the file is empty. Use write_file to fill it.".to_owned();
    }
    if old.contains("\\n") && before.contains(&old.replace("\\n", "\n")) {
        return "`old_text` has a backslash and an n where the file has a line break. In JSON a line break is written \\n, with one \
                backslash; write both texts so."
            .to_owned();
    }
    let wanted: Vec<&str> = old.lines().skip_while(|line| line.trim().is_empty()).collect();
    let lines: Vec<&str> = before.lines().take(MAX_LINES).collect();
    let Some((at, likeness)) = best(&lines, &wanted).filter(|(_, likeness)| *likeness >= ALIKE) else {
        return "`old_text` is not in the file, and no lines resemble it. Read the file again and copy the lines exactly.".to_owned();
    };
    let shown = wanted.len().clamp(1, SHOWN_LINES);
    let near: Vec<String> = lines.iter().skip(at).take(shown).map(|line| clipped(line)).collect();
    let end = at + near.len();
    let why = if likeness == 100 && wanted.len() <= COMPARED_LINES {
        "They differ from it in spaces, tabs or empty lines only. "
    } else {
        ""
    };
    format!(
        "`old_text` is not in the file exactly as given. The nearest are lines {}-{end}:\n{}\n{why}Copy the lines exactly as they are, \
         or read the file again.",
        at + 1,
        near.join("\n")
    )
}

/// Where the lines are most alike, and how much of 100.
fn best(lines: &[&str], wanted: &[&str]) -> Option<(usize, usize)> {
    let wanted: Vec<Vec<char>> = wanted.iter().take(COMPARED_LINES).map(|line| characters(line)).collect();
    if wanted.is_empty() {
        return None;
    }
    let lines: Vec<Vec<char>> = lines.iter().map(|line| characters(line)).collect();
    let mut best: Option<(usize, usize)> = None;
    for at in 0..lines.len() {
        let sum: usize =
            wanted.iter().enumerate().map(|(n, line)| lines.get(at + n).map_or(0, |other| likeness(line, other))).sum();
        let likeness = sum / wanted.len();
        if best.is_none_or(|(_, most)| likeness > most) {
            best = Some((at, likeness));
        }
    }
    best
}

/// How much two lines are alike, of 100: what they share at their beginnings and ends.
fn likeness(a: &[char], b: &[char]) -> usize {
    let (shorter, longer) = (a.len().min(b.len()), a.len().max(b.len()));
    if longer == 0 {
        return 100;
    }
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let tail = a.iter().rev().zip(b.iter().rev()).take(shorter - head).take_while(|(a, b)| a == b).count();
    (head + tail) * 100 / longer
}

fn characters(line: &str) -> Vec<char> {
    line.trim().chars().take(LINE_CHARS).collect()
}

fn clipped(line: &str) -> String {
    line.chars().take(LINE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_line_is_found() {
        let file = "fn one() {}\nfn two(count: usize) -> usize { count }\nfn three() {}\n";
        let said = not_found(file, "fn two(count: u32) -> usize { count }");
        assert!(said.contains("lines 2-2:\nfn two(count: usize) -> usize { count }"), "{said}");
    }

    #[test]
    fn line_breaks_that_were_escaped_twice_are_named() {
        assert!(not_found("a\nb\n", "a\\nb").contains("a backslash and an n"));
    }

    #[test]
    fn nothing_alike_is_said_so() {
        assert!(not_found("alpha\nbeta\n", "something else altogether").contains("no lines resemble it"));
    }

    #[test]
    fn a_huge_file_is_looked_at_in_part_only() {
        let file = "x".repeat(500).to_string() + "\n";
        let said = not_found(&file.repeat(30_000), &"xy".repeat(100));
        assert!(said.len() < 2000);
    }
}
