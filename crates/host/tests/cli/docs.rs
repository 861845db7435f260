//! What the pages show works: every command of a `sh` block runs, and every `console` block prints what it shows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::stage::Stage;

/// Commands that are not run here, each with its reason. One that no page shows any more must go.
const LEFT_OUT: [(&str, &str); 12] = [
    ("cargo run --release", "builds the whole program and serves until it is stopped"),
    ("cargo xtask test", "runs this very test"),
    ("cargo xtask storm", "takes long, and is run as a step of its own"),
    ("cargo xtask bench", "takes long, and needs a quiet machine"),
    ("cargo xtask bench --only relay latency", "as above"),
    ("cargo xtask bench --quick", "builds the program for release"),
    ("cargo xtask bench --json", "as above"),
    ("cargo install --locked --path crates/host", "builds the whole program"),
    ("switchboard", "serves until it is stopped; other tests start it"),
    ("chmod +x agent.py", "needs the page's agent; the tests of the documentation's programs run it"),
    (
        "node --experimental-websocket view.mjs ws://127.0.0.1:7171/ws/tabs \"$(cat ~/.local/share/switchboard/token)\"",
        "needs the page's view and a host; the tests of the documentation's programs run it",
    ),
    (
        "node --experimental-websocket sidebar.mjs ws://127.0.0.1:7171/ws/bb \"$(cat ~/.local/share/switchboard/token)\"",
        "needs the page's sidebar and a host; the tests of the documentation's programs run it",
    ),
];
/// How the pages call the reader's folder.
const READERS_FOLDER: &str = "/home/me/project";

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    pages
}

/// The fenced blocks of a page that are of this kind.
fn blocks(page: &Path, kind: &str) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == format!("```{kind}") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "```").collect();
            blocks.push(block.join("\n"));
        }
    }
    blocks
}

#[test]
fn every_command_of_the_pages_works() {
    let (mut seen, mut ran) = (BTreeSet::new(), 0);
    for page in pages() {
        for block in blocks(&page, "sh") {
            let stage = Stage::new();
            std::fs::create_dir_all(stage.home().join("src/a")).unwrap();
            for line in block.lines() {
                let command = line.split(" #").next().unwrap_or_default().trim();
                if command.is_empty() || command.starts_with('#') {
                    continue;
                }
                if let Some((left_out, _)) = LEFT_OUT.iter().find(|(left_out, _)| *left_out == command) {
                    seen.insert(*left_out);
                    continue;
                }
                ran += 1;
                let output = stage.command("sh", &["-c", command]).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "`{command}` of {}: {said}", page.display());
            }
        }
    }
    assert!(ran > 0);
    assert_eq!(seen, LEFT_OUT.iter().map(|(command, _)| *command).collect(), "what no page shows is not left out");
}

#[test]
fn every_console_block_prints_what_it_shows() {
    let mut ran = 0;
    for page in pages() {
        // What one block of a page does, the next ones see.
        let stage = Stage::new();
        for block in blocks(&page, "console") {
            for (command, wanted) in commands(&block) {
                ran += 1;
                let script = format!("exec 2>&1\n{command}");
                let output = stage.command("sh", &["-c", &script]).output().unwrap();
                let folder = stage.workspace().canonicalize().unwrap();
                let said = String::from_utf8_lossy(&output.stdout).replace(folder.to_str().unwrap(), READERS_FOLDER);
                let home = stage.home().canonicalize().unwrap();
                let said = said.replace(home.to_str().unwrap(), "/home/me");
                let got: Vec<&str> = said.lines().map(str::trim_end).collect();
                assert!(
                    same(&wanted, &got),
                    "`{command}` of {} prints:\n{said}\nbut the page shows:\n{}",
                    page.display(),
                    wanted.join("\n")
                );
            }
        }
    }
    assert!(ran > 10);
}

/// Each command of a block with what it prints.
fn commands(block: &str) -> Vec<(String, Vec<&str>)> {
    let mut commands: Vec<(String, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), Vec::new())),
            (None, Some((_, wanted))) => wanted.push(line.trim_end()),
            (None, None) => panic!("a console block begins with `$ `: {block}"),
        }
    }
    commands
}

/// `…` alone stands for any lines, within a line for any text.
fn same(wanted: &[&str], got: &[&str]) -> bool {
    match (wanted, got) {
        ([], []) => true,
        (["…", rest @ ..], _) => (0..=got.len()).any(|skip| same(rest, &got[skip..])),
        ([one, rest @ ..], [line, others @ ..]) => matches_line(one, line) && same(rest, others),
        _ => false,
    }
}

fn matches_line(wanted: &str, got: &str) -> bool {
    let parts: Vec<&str> = wanted.split('…').collect();
    let [first, middle @ .., last] = parts.as_slice() else { return wanted == got };
    let Some(mut rest) = got.strip_prefix(first) else { return false };
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[test]
fn the_comparison_itself_can_fail() {
    assert!(same(&["a…c", "…", "z"], &["abc", "x", "y", "z"]));
    assert!(same(&["…"], &[]));
    for (wanted, got) in
        [(&["a"][..], &["b"][..]), (&["a…c"], &["abd"]), (&["a…b…d"], &["acd"]), (&["a"], &[]), (&["a"], &["a", "b"])]
    {
        assert!(!same(wanted, got), "{wanted:?} {got:?}");
    }
}
