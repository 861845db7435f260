//! Paths in Markdown lead somewhere: relative links, their anchors, and paths between backticks. Never asks the network.

use std::collections::{HashMap, HashSet};

use crate::tidy::report::Report;
use crate::tidy::tree::Tree;

/// Endings that make a word with a slash in it a path.
const KNOWN_ENDINGS: &[&str] = &[
    "css", "html", "js", "json", "jsonl", "lock", "md", "mjs", "py", "rs", "sh", "toml", "ts", "tsx", "txt", "yaml",
    "yml",
];
/// Paths in the reader's own folders, not in this repository.
const READERS_OWN: &[&str] = &["./", "/", "~", ".switchboard/"];

/// One page as the reader sees it: fenced blocks are left out.
struct Page<'a> {
    path: &'a str,
    /// Line number, the prose, and the code spans in it.
    lines: Vec<(usize, String, Vec<String>)>,
}

/// Checks every page.
pub(crate) fn check(tree: &Tree, report: &mut Report) {
    let pages: Vec<Page<'_>> =
        tree.texts().filter(|(path, _)| path.ends_with(".md")).map(|(path, text)| Page::read(path, text)).collect();
    let anchors: HashMap<&str, HashSet<String>> = pages.iter().map(|page| (page.path, page.anchors())).collect();
    for page in &pages {
        for (line, prose, spans) in &page.lines {
            for target in link_targets(prose) {
                check_link(tree, &anchors, (page.path, *line), &target, report);
            }
            for word in spans.iter().flat_map(|span| span.split_whitespace()) {
                check_word(tree, (page.path, *line), word, report);
            }
        }
    }
}

fn check_link(
    tree: &Tree,
    anchors: &HashMap<&str, HashSet<String>>,
    (page, line): (&str, usize),
    target: &str,
    report: &mut Report,
) {
    let has_scheme = target.split(['/', '#', '?']).next().is_some_and(|head| head.contains(':'));
    if has_scheme || target.starts_with("//") || target.is_empty() {
        return;
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let path = path.replace("%20", " ");
    let resolved = if path.is_empty() { Some(page.to_owned()) } else { resolve(page, &path) };
    let Some(resolved) = resolved.filter(|path| tree.has(path)) else {
        report.find(page, line, format!("the link `{target}` leads nowhere; mend the path or take the link away"));
        return;
    };
    let missing = |anchor: &&str| anchors.get(resolved.as_str()).is_some_and(|known| !known.contains(*anchor));
    if let Some(anchor) = anchor.filter(missing) {
        let what = format!("`{resolved}` has no heading `#{anchor}`; mend the anchor or the heading");
        report.find(page, line, what);
    }
}

fn check_word(tree: &Tree, (page, line): (&str, usize), word: &str, report: &mut Report) {
    let word = word.trim_end_matches([',', '.', ';', ':', ')']).trim_start_matches('(');
    let word = word.rsplit_once(':').filter(|(_, end)| end.parse::<usize>().is_ok()).map_or(word, |(path, _)| path);
    let pattern = word.contains(['*', '{', '<', '$', '…', ':', '=', '"', '|', '?', '\\']) || word.contains("...");
    if !word.contains('/') || pattern || READERS_OWN.iter().any(|start| word.starts_with(start)) {
        return;
    }
    let ending = word.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
    let known = ending.is_some_and(|ending| KNOWN_ENDINGS.contains(&ending));
    let top = word.split('/').next().unwrap_or_default();
    if !known && !tree.has_folder(top) {
        return;
    }
    let below_root = resolve("", word).is_some_and(|path| tree.has(&path));
    let beside = resolve(page, word).is_some_and(|path| tree.has(&path));
    if !below_root && !beside {
        report.find(page, line, format!("there is no `{word}`; mend the path or say it otherwise"));
    }
}

/// A path as seen from a page, without its dots; none if it leaves the repository.
fn resolve(page: &str, path: &str) -> Option<String> {
    let (mut parts, path) = match path.strip_prefix('/') {
        Some(from_root) => (Vec::new(), from_root),
        None => (page.rsplit_once('/').map_or(Vec::new(), |(folder, _)| folder.split('/').collect()), path),
    };
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    Some(parts.join("/"))
}

impl<'a> Page<'a> {
    fn read(path: &'a str, text: &str) -> Self {
        let mut lines = Vec::new();
        let mut fence: Option<String> = None;
        for (at, line) in text.lines().enumerate() {
            let trimmed = line.trim_start();
            let mark: String = trimmed.chars().take_while(|c| matches!(c, '`' | '~')).collect();
            match &fence {
                Some(open) if mark.starts_with(open.as_str()) && trimmed.trim_end() == mark => fence = None,
                Some(_) => {}
                None if mark.len() >= 3 => fence = Some(mark),
                None => {
                    let (prose, spans) = take_spans(line);
                    lines.push((at + 1, prose, spans));
                }
            }
        }
        Self { path, lines }
    }

    /// The anchors of the headings, as the usual renderers make them, and those that are written out.
    fn anchors(&self) -> HashSet<String> {
        let mut anchors = HashSet::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (_, prose, spans) in &self.lines {
            for part in prose.split("<a id=\"").skip(1) {
                anchors.extend(part.split('"').next().map(str::to_owned));
            }
            let level = prose.chars().take_while(|c| *c == '#').count();
            let Some(heading) = prose.get(level..).filter(|rest| (1..=6).contains(&level) && rest.starts_with(' '))
            else {
                continue;
            };
            let slug = slug(&fill_spans(heading, spans));
            let count = seen.entry(slug.clone()).or_default();
            anchors.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
            *count += 1;
        }
        anchors
    }
}

/// Stands in the prose where a code span was taken out.
const SPAN: char = '\u{fffc}';

/// Takes the code spans out of a line.
fn take_spans(line: &str) -> (String, Vec<String>) {
    let (mut prose, mut spans) = (String::new(), Vec::new());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('`') {
        prose += before;
        let more = after.chars().take_while(|c| *c == '`').count();
        let mark = "`".repeat(more + 1);
        let inside = after.get(more..).unwrap_or_default();
        let Some((span, left)) = inside.split_once(&mark) else {
            prose += &mark;
            rest = inside;
            continue;
        };
        prose.push(SPAN);
        spans.push(span.to_owned());
        rest = left;
    }
    (prose + rest, spans)
}

fn fill_spans(prose: &str, spans: &[String]) -> String {
    let mut spans = spans.iter();
    let filled = prose.split(SPAN).map(str::to_owned).reduce(|text, part| {
        let span = spans.next().map_or("", String::as_str);
        format!("{text}{span}{part}")
    });
    filled.unwrap_or_default()
}

fn slug(heading: &str) -> String {
    let kept = heading.trim().trim_end_matches('#').trim_end().to_lowercase();
    kept.chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            c if c.is_alphanumeric() => Some(c),
            _ => None,
        })
        .collect()
}

/// The targets of the links in a line, and of a reference's definition.
fn link_targets(prose: &str) -> Vec<String> {
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let definition =
        prose.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    inline
        .chain(definition)
        .filter_map(|target| target.split_whitespace().next())
        .map(|target| target.trim_matches(['<', '>']).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::made_up::{assert_places, findings};

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let page = "[good](agents/plain.md) [folder](../docs) [bad](agents/other.md)\n[out](../../a.md)\n\
             [far](https://example.org/a.md) [mail](mailto:a@b.c)\n[up](../README.md) [root](/README.md)\n\n[ref]: gone.md\n\
             ```\n[not](seen.md)\n```\nand `[not](seen.md)`\n";
        let files = [("README.md", ""), ("docs/agents/plain.md", ""), ("docs/index.md", page)];
        assert_places(check, &files, &["docs/index.md:1", "docs/index.md:2", "docs/index.md:6"]);
    }

    #[test]
    fn an_anchor_without_its_heading_is_found() {
        let other = "# What `plain` says, and why\n## Twice\n## Twice\n<a id=\"own\"></a>\n```\n# No heading\n```\n";
        let page = "[a](b.md#what-plain-says-and-why) [b](b.md#twice-1) [c](b.md#own)\n[d](#here)\n# Here\n\
             [e](b.md#no-heading)\n[f](#there)\n";
        assert_places(check, &[("a.md", page), ("b.md", other)], &["a.md:4", "a.md:5"]);
    }

    #[test]
    fn a_path_between_backticks_that_does_not_exist_is_found() {
        let page = "`crates/a/src/lib.rs` `crates/a/` `agents/plain.md` `crates/a/src/lib.rs:3`\n`crates/gone`\n\
             `run docs/gone.sh, then`\n`other/thing.rs`\n`application/json` `/v1/api.json` `./agent.sh` `crates/*/x.rs`\n\
             `~/.config/a.toml` `.switchboard/config.toml` `https://a.b/c.md`\n";
        let files = [("crates/a/src/lib.rs", ""), ("docs/agents/plain.md", ""), ("docs/index.md", page)];
        assert_places(check, &files, &["docs/index.md:2", "docs/index.md:3", "docs/index.md:4"]);
    }

    #[test]
    fn the_finding_says_what_to_do() {
        let found = findings(check, &[("a.md", "see [b](b.md)\n")]);
        assert_eq!(found, vec!["a.md:1: the link `b.md` leads nowhere; mend the path or take the link away"]);
    }
}
