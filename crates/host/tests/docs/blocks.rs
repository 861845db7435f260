//! Every example that is no whole program: configurations, messages, commands, doors.

use std::collections::BTreeSet;

use serde_json::Value;
use switchboard_dialects::agent::{apex, plain};
use switchboard_dialects::view::ViewKind;
use switchboard_host::agents::known;
use switchboard_host::config::{Asked, Config};
use switchboard_host::server::ROUTES;

use super::pages::{all, blocks, blocks_of, only, read, root, rows, rows_below, spans};
use super::schema::fault;
use super::stage::Stage;

fn schema(dialect: &str) -> Value {
    match dialect {
        "plain" => return plain::schema(),
        "apex" => return apex::schema(),
        _ => {}
    }
    let kind = ViewKind::ALL.into_iter().find(|kind| kind.name() == dialect);
    kind.unwrap_or_else(|| panic!("there is no dialect {dialect}")).schema()
}

#[test]
fn every_configuration_is_understood() {
    let found = blocks_of("toml");
    assert!(found.len() >= 4, "{found:?}");
    for block in found {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, &block.text).unwrap();
        let read = Config::read(Some((file, Asked::ByName)));
        assert!(read.is_ok(), "{}: {}", block.place, read.unwrap_err());
    }
}

#[test]
fn every_example_of_a_message_is_one_of_its_dialect() {
    let mut dialects = BTreeSet::new();
    for block in blocks_of("json") {
        let [_, dialect, direction] = block.words.as_slice() else {
            assert!(serde_json::from_str::<Value>(&block.text).is_ok(), "{} is no JSON", block.place);
            continue;
        };
        dialects.insert(dialect.clone());
        for line in block.text.lines() {
            let said = serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error}", block.place));
            let wrong = fault(&schema(dialect)[direction], &said);
            assert_eq!(wrong, None, "{}", block.place);
        }
    }
    assert_eq!(dialects.into_iter().collect::<Vec<_>>(), ["apex", "bb", "chat", "plain", "tabs", "tools"]);
}

#[test]
fn every_message_of_the_transcripts_is_what_the_schema_says() {
    for (dialect, inward, outward, least) in [
        ("apex", "agentToHost", "hostToAgent", 60),
        ("plain", "agentToHost", "hostToAgent", 60),
        ("tabs", "viewToHost", "hostToView", 60),
        ("tools", "viewToHost", "hostToView", 100),
        ("bb", "viewToHost", "hostToView", 60),
        ("chat", "viewToHost", "hostToView", 100),
        ("switchboard", "viewToHost", "hostToView", 20),
    ] {
        let (schema, mut looked) = (schema(dialect), 0);
        for line in transcript(dialect) {
            let understood = line.get("gives").is_some_and(|gives| gives.get("reject").is_none());
            let came = line.get("message").filter(|came| understood && !is_foreign(came) && !is_answer(came));
            let went = [&line["messages"], &line["sends"]].into_iter().filter_map(Value::as_array).flatten();
            let went = went.filter(|went| !is_answer(went));
            for (direction, said) in went.map(|said| (outward, said)).chain(came.map(|said| (inward, said))) {
                looked += 1;
                assert_eq!(fault(&schema[direction], said), None, "{dialect} {direction}: {said}");
            }
        }
        assert!(looked >= least, "{dialect}: only {looked} were looked at");
    }
}

/// What the transcripts show of the unknown.
fn is_foreign(said: &Value) -> bool {
    said["type"] == "mood" || ["telemetry/event", "$/cancelRequest"].map(Value::from).contains(&said["method"])
}

/// Answers of JSON-RPC have no name; what they hold is the subject of the dialect's own tests.
fn is_answer(said: &Value) -> bool {
    said.get("jsonrpc").is_some() && said.get("method").is_none()
}

fn transcript(dialect: &str) -> Vec<Value> {
    let files = std::fs::read_dir(root().join("testdata").join(dialect)).unwrap();
    let text: Vec<String> = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    text.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_message_that_is_none_of_its_dialect_is_found() {
    let schema = &schema("tabs")["viewToHost"];
    for (said, why) in [
        (r#"{"type":"prompt","tabId":"t","messageId":"m"}"#, "has no \"text\""),
        (r#"{"type":"prompt","tabId":"t","messageId":"m","text":1}"#, "is not of type \"string\""),
        (r#"{"type":"promt","tabId":"t","messageId":"m","text":""}"#, "no such type"),
        (r#"{"type":"visibility","visible":"yes"}"#, "is not of type \"boolean\""),
        (r#"{"type":"approval-response","tabId":"t","approvalId":"a","decision":"maybe"}"#, "fits 0"),
    ] {
        let fault = fault(schema, &serde_json::from_str(said).unwrap()).unwrap();
        assert!(fault.contains(why), "{said}: {fault}");
    }
}

#[test]
fn every_command_that_is_shown_exists() {
    let stage = Stage::new();
    let help = String::from_utf8(stage.switchboard(&["--help"]).output().unwrap().stdout).unwrap();
    let known: BTreeSet<&str> =
        help.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    assert!(known.contains("serve"), "{help}");
    let mut looked = 0;
    for block in blocks_of("sh") {
        for line in block.text.lines().filter_map(|line| line.strip_prefix("switchboard ")) {
            let word = line.split_whitespace().next().unwrap_or_default();
            looked += 1;
            assert!(word.starts_with(['-', '#']) || known.contains(word), "{}: there is no `{word}`", block.place);
        }
    }
    assert!(looked >= 4);
}

#[test]
fn the_ready_line_is_as_the_page_shows_it() {
    let shown: Value = serde_json::from_str(&only("docs/doors.md", "json").text).unwrap();
    let host = Stage::new().serve("127.0.0.1:0");
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&shown), keys(&host.ready));
}

#[test]
fn every_door_is_on_its_page() {
    let rows = rows("docs/doors.md");
    let listed: Vec<&str> = rows.iter().flat_map(|row| spans(&row[0])).collect();
    // The program's own commands use the others; they are promised to nobody.
    for route in ROUTES.iter().filter(|route| !route.path.starts_with("/control/")) {
        let path = route.path.replace("{name}", "NAME");
        let is_it = |span: &&str| {
            span.split_once(' ') == Some((route.method.as_str(), path.as_str()))
                || span.strip_prefix(&format!("{} {path}", route.method)).is_some_and(|rest| rest.starts_with('?'))
        };
        assert!(listed.iter().any(is_it), "{} {path} is not in docs/doors.md", route.method);
    }
}

#[test]
fn every_page_can_be_reached_from_the_readme_or_the_first_steps() {
    let (mut reached, mut left) = (BTreeSet::new(), vec!["README.md".to_owned(), "docs/start.md".to_owned()]);
    while let Some(page) = left.pop() {
        if !reached.insert(page.clone()) {
            continue;
        }
        let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
        for target in read(&page).split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let path = root().join(folder).join(target);
            if let Some(path) = path.canonicalize().ok().filter(|_| target.ends_with(".md")) {
                let path = path.strip_prefix(root().canonicalize().unwrap()).unwrap().to_str().unwrap().to_owned();
                left.push(path);
            }
        }
    }
    for page in all().iter().filter(|page| page.starts_with("docs/")) {
        assert!(reached.contains(page), "neither the README nor docs/start.md leads to {page}");
        assert!(!blocks(page).iter().any(|block| block.words.is_empty()), "{page} has a block without a language");
    }
}

#[test]
fn the_well_known_agents_are_those_of_the_program() {
    let shown: Vec<_> = rows_below("docs/agents.md", "Well-known agents");
    let known = known::all().iter().map(|known| {
        let command = known.find(None).command.join(" ");
        [format!("`{}`", known.name), known.title.to_owned(), format!("`{command}`"), known.sign_in.to_owned()]
    });
    let row = |row: &Vec<String>| [row[0].clone(), row[1].clone(), row[2].clone(), row[4].clone()];
    assert_eq!(shown.iter().map(row).collect::<Vec<_>>(), known.collect::<Vec<_>>());
}
