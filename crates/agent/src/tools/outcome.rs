//! What a model is given to read of what came of a call: never more than a named part of its context, and always told what is left out.

/// The most that one result may have, however large the model's window is.
const MAX_OUTPUT_BYTES: usize = 32 * 1024;

/// The least that one result may have.
const MIN_OUTPUT_BYTES: usize = 2 * 1024;

/// How many bytes a result may have for a window of so many tokens: a quarter of it.
pub(crate) fn output_limit(window: u64) -> usize {
    usize::try_from(window).unwrap_or(usize::MAX).clamp(MIN_OUTPUT_BYTES, MAX_OUTPUT_BYTES)
}

/// The largest index not after `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The head and the tail of a text, with what was left out between them.
pub(crate) fn bounded(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = floor(text, limit * 2 / 3);
    let tail = floor(text, text.len() - limit / 3);
    let (head, tail) = (text.split_at(head).0, text.split_at(tail).1);
    let left = text.len() - head.len() - tail.len();
    format!("{head}\n[… {left} of {} bytes left out here …]\n{tail}", text.len())
}

/// A file or a part of it, in whole lines, with a first line that says which.
pub(crate) fn reading(path: &str, line: Option<u32>, limit: Option<u32>, text: &str, most: usize) -> String {
    let first = line.unwrap_or(1).max(1) as usize;
    let total = text.lines().count();
    if total == 0 {
        return match line {
            None | Some(0 | 1) => format!("[{path} is empty]"),
            Some(line) => format!("[{path} has no line {line}]"),
        };
    }
    let mut end = 0;
    let mut lines = 0;
    for piece in text.split_inclusive('\n') {
        if end + piece.len() > most {
            break;
        }
        end += piece.len();
        lines += 1;
    }
    if lines == 0 {
        // One line that is longer than all that may be shown.
        return format!("[{path}, line {first}, which is too long to be shown whole]\n{}", bounded(text, most));
    }
    let (shown, next) = (text.split_at(end).0, first + lines);
    let span = format!("lines {first}-{}", next - 1);
    let whole = line.is_none() && limit.is_none();
    let span = match (lines == total, whole) {
        (true, true) => format!("{span}, the whole file"),
        (true, false) if limit.is_some_and(|limit| total >= limit as usize) => {
            format!("{span}; read on with line {next}")
        }
        (true, false) => span,
        (false, true) => format!("{span} of {total}; read on with line {next}"),
        (false, false) => format!("{span}; read on with line {next}"),
    };
    format!("[{path}, {span}]\n{shown}")
}

/// What was listed: whole lines from the beginning.
pub(crate) fn listing(text: &str, limit: usize) -> String {
    lines(text, limit, "[nothing there]", "give a narrower path or glob")
}

/// What was found: whole lines from the beginning.
pub(crate) fn findings(text: &str, limit: usize) -> String {
    lines(text, limit, "[nothing found]", "narrow the pattern, the path or the glob")
}

fn lines(text: &str, limit: usize, nothing: &str, advice: &str) -> String {
    if text.trim().is_empty() {
        return nothing.to_owned();
    }
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut count = 0;
    for line in text.lines() {
        if shown.len() + line.len() + 1 > limit {
            break;
        }
        shown.push_str(line);
        shown.push('\n');
        count += 1;
    }
    if count == 0 {
        return bounded(text, limit);
    }
    let left = text.lines().count() - count;
    format!("{shown}[… {left} more lines left out; {advice} …]")
}

/// How a command ended and what it printed.
pub(crate) fn ran(output: &str, truncated: bool, code: Option<i32>, late_after: Option<u64>, limit: usize) -> String {
    let end = match (late_after, code) {
        (Some(ms), _) => format!(
            "[ended because it took longer than {} s, which is the limit; run something shorter or in parts]",
            ms.div_ceil(1000)
        ),
        (None, Some(code)) => format!("[exit code {code}]"),
        (None, None) => "[ended by a signal]".to_owned(),
    };
    let cut = if truncated { "\n[more was printed than was kept]" } else { "" };
    if output.trim().is_empty() {
        return format!("{end}{cut}\n[nothing was printed]");
    }
    format!("{end}{cut}\n{}", bounded(output, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_output_keeps_its_head_and_tail_and_says_what_is_missing() {
        let text = format!("first{}last", "ö".repeat(5000));
        let short = bounded(&text, 3000);
        assert!(short.starts_with("first") && short.ends_with("last") && short.len() < 3100);
        assert!(short.contains("bytes left out here"), "{short}");
        assert_eq!(bounded("all", 3), "all");
    }

    #[test]
    fn a_file_is_read_on_where_it_was_cut() {
        let text: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
        let first = reading("a.txt", None, None, &text, 2048);
        assert!(first.starts_with("[a.txt, lines 1-"), "{first}");
        let head = first.lines().next().expect("a line");
        assert!(head.contains(" of 1000; read on with line "), "{head}");
        let last: usize = first
            .lines()
            .last()
            .and_then(|line| line.strip_prefix("line "))
            .and_then(|n| n.parse().ok())
            .expect("a line");
        assert!(head.ends_with(&format!("read on with line {}]", last + 1)), "{head}");
        assert_eq!(reading("a", None, None, "x\ny", 2048), "[a, lines 1-2, the whole file]\nx\ny");
        assert_eq!(reading("a", Some(7), None, "x\ny\n", 2048), "[a, lines 7-8]\nx\ny\n");
        assert_eq!(reading("a", None, Some(2), "x\ny\n", 2048), "[a, lines 1-2; read on with line 3]\nx\ny\n");
        assert_eq!(reading("a", Some(3), Some(5), "z", 2048), "[a, lines 3-3]\nz");
        assert_eq!(reading("a", None, None, "", 2048), "[a is empty]");
        assert_eq!(reading("a", Some(9), None, "", 2048), "[a has no line 9]");
    }

    #[test]
    fn the_end_of_a_command_comes_first() {
        assert_eq!(ran("ok\n", false, Some(0), None, 2048), "[exit code 0]\nok\n");
        assert_eq!(ran("", false, None, None, 2048), "[ended by a signal]\n[nothing was printed]");
        assert!(ran("x", true, None, Some(30_000), 2048).contains("longer than 30 s"));
    }

    #[test]
    fn a_long_list_is_cut_at_a_line() {
        let text: String = (0..1000).map(|n| format!("src/{n}.rs\n")).collect();
        let short = findings(&text, 2048);
        assert!(short.len() < 2200 && short.contains("more lines left out"), "{short}");
        assert_eq!(listing(" \n", 2048), "[nothing there]");
    }
}
