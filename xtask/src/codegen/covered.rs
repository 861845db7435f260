//! Which test through the real program sees which message of the dialect `chat`. Reads the tests themselves: each says at its end
//! what it has seen, and fails there if it has not. A message that no test has seen is an error.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use switchboard_dialects::view::chat;

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/host/tests/spine/chat");
/// Begins the name of a test.
const TEST: &str = "async fn ";
/// Begins the list of what a test has seen.
const COVERS: &str = ".covers(&[";

/// A row for each message: its direction, its type, its tests.
pub(super) fn table() -> Result<String> {
    table_of(&sources(Path::new(TESTS))?)
}

fn sources(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        sources.push((name, std::fs::read_to_string(&path)?));
    }
    sources.sort();
    Ok(sources)
}

fn table_of(sources: &[(String, String)]) -> Result<String> {
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in sources {
        for (message, test) in covered(text) {
            seen.entry(message).or_default().push(format!("`{file}::{test}`"));
        }
    }
    let schema = chat::schema();
    let mut table = String::from("| message | test |\n| --- | --- |\n");
    for (direction, way) in [("viewToHost", ">"), ("hostToView", "<")] {
        for shape in schema[direction]["oneOf"].as_array().context("it is no union")? {
            let name = shape["properties"]["type"]["const"].as_str().context("a message without a type")?;
            let Some(tests) = seen.remove(&format!("{way} {name}")) else {
                bail!("no test in {TESTS} covers `{way} {name}`");
            };
            let arrow = if way == ">" { "view → host" } else { "host → view" };
            table += &format!("| {arrow} `{name}` | {} |\n", tests.join(", "));
        }
    }
    if let Some((unknown, tests)) = seen.pop_first() {
        bail!("{} covers `{unknown}`, which is no message", tests.join(", "));
    }
    Ok(table)
}

/// What the tests of one file have seen: messages, each with its test.
fn covered(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for part in text.split(TEST).skip(1) {
        let name: String = part.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
        for list in part.split(COVERS).skip(1) {
            let list = list.split(']').next().unwrap_or_default();
            for message in list.split('"').skip(1).step_by(2) {
                let pair = (message.to_owned(), name.clone());
                if !found.contains(&pair) {
                    found.push(pair);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_of_chat_has_a_test_through_the_real_program() {
        let table = table().unwrap();
        assert!(table.contains("| view → host `ready` | `"), "{table}");
    }

    #[test]
    fn a_message_without_a_test_and_a_test_of_no_message_are_errors() {
        let sources = sources(Path::new(TESTS)).unwrap();
        let without: Vec<(String, String)> = sources
            .iter()
            .map(|(file, text)| (file.clone(), text.replace("\"< streamChunk\"", "\"< init\"")))
            .collect();
        assert!(table_of(&without).unwrap_err().to_string().contains("`< streamChunk`"));
        let mut more = sources;
        more.push(("more".to_owned(), "async fn one() { a.covers(&[\"< nothing\"]); }".to_owned()));
        assert!(table_of(&more).unwrap_err().to_string().contains("`< nothing`"));
    }
}
