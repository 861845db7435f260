//! The host's own tools through the real runner: what each gives, what it leaves out, and what it refuses.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_host::runner::limits::MAX_TOOL_TEXT_BYTES;
use switchboard_host::runner::tools::definitions;
use switchboard_types::{
    Effect, Errand, ErrandCode, ErrandFailure, ErrandResult, Facts, FunctionTool, LinkId, Provider, Tool,
    ToolDefinition, ToolName,
};

use super::stage::{SESSION, Stage, code, link};

pub(crate) fn host_tool(name: &str) -> Arc<Tool> {
    Arc::new(definitions().into_iter().find(|tool| tool.name().as_str() == name).expect("a tool of the host"))
}

pub(crate) fn call_of(name: &str, parameters: Value) -> Errand {
    Errand::Tool { tool: host_tool(name), parameters }
}

pub(crate) async fn serve(stage: &mut Stage, name: &str, parameters: Value) -> Result<Value, ErrandFailure> {
    let errand = stage.serve(SESSION, call_of(name, parameters));
    match stage.done(errand).await {
        Ok(ErrandResult::Tool { data }) => Ok(data),
        Err(failure) => Err(failure),
        other => panic!("{other:?}"),
    }
}

fn paths(found: &Value, list: &str) -> Vec<String> {
    found[list].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_file_is_read_by_its_lines() {
    let mut stage = Stage::patient();
    stage.put("a.txt", "one\ntwo\nthree");
    let whole = serve(&mut stage, "read_file", json!({"path": "./a.txt"})).await.unwrap();
    let expected = json!({"path": "a.txt", "encoding": "utf-8", "size": 13, "startLine": 1, "endLine": 3,
        "totalLines": 3, "content": "one\ntwo\nthree", "truncated": false});
    assert_eq!(whole, expected);
    let cases = [
        (json!({"startLine": 2, "endLine": 2}), "two\n", 2, None),
        (json!({"startLine": 2, "endLine": 9}), "two\nthree", 3, Some(3)),
        (json!({"startLine": 3}), "three", 3, Some(3)),
        (json!({"startLine": 9}), "", 8, Some(3)),
        (json!({"endLine": 1}), "one\n", 1, None),
    ];
    for (mut asked, content, last, total) in cases {
        asked["path"] = json!("a.txt");
        let read = serve(&mut stage, "read_file", asked.clone()).await.unwrap();
        assert_eq!((&read["content"], &read["endLine"]), (&json!(content), &json!(last)), "{asked}");
        assert_eq!(read.get("totalLines"), total.map(|total| json!(total)).as_ref(), "{asked}");
    }
    let backwards = serve(&mut stage, "read_file", json!({"path": "a.txt", "startLine": 3, "endLine": 2})).await;
    assert_eq!(code(backwards), Some(ErrandCode::Invalid));
    stage.put("empty", "");
    let empty = serve(&mut stage, "read_file", json!({"path": "empty"})).await.unwrap();
    assert_eq!((&empty["content"], &empty["totalLines"]), (&json!(""), &json!(0)));
}

#[tokio::test]
async fn a_long_file_is_read_in_parts_that_join() {
    let mut stage = Stage::patient();
    let text: String = (0..300_000).map(|line| format!("line {line} é\n")).collect();
    stage.put("long", &text);
    let (mut read, mut from) = (String::new(), 1);
    loop {
        let part = serve(&mut stage, "read_file", json!({"path": "long", "startLine": from})).await.unwrap();
        read.push_str(part["content"].as_str().unwrap());
        if part["truncated"] == false {
            break;
        }
        from = part["endLine"].as_u64().unwrap() + 1;
    }
    assert_eq!(read, text);
    stage.put("wide", "é".repeat(MAX_TOOL_TEXT_BYTES));
    let wide = serve(&mut stage, "read_file", json!({"path": "wide"})).await.unwrap();
    assert_eq!((&wide["truncated"], &wide["endLine"]), (&json!(true), &json!(1)));
    assert_eq!(wide["content"].as_str().unwrap().len(), MAX_TOOL_TEXT_BYTES);
}

#[tokio::test]
async fn what_is_no_text_is_said_to_be_and_given_only_as_base64() {
    let mut stage = Stage::patient();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0";
    stage.put("pic.png", png);
    stage.put("latin", b"caf\xe9");
    let read = serve(&mut stage, "read_file", json!({"path": "pic.png"})).await.unwrap();
    assert_eq!((&read["binary"], &read["size"], &read["mimeType"]), (&json!(true), &json!(11), &json!("image/png")));
    assert_eq!(read.get("content"), None);
    let latin = serve(&mut stage, "read_file", json!({"path": "latin"})).await.unwrap();
    assert_eq!((&latin["binary"], &latin["mimeType"]), (&json!(true), &json!("text/plain; charset=unknown-8bit")));
    let bytes = serve(&mut stage, "read_file", json!({"path": "pic.png", "encoding": "base64"})).await.unwrap();
    assert_eq!((&bytes["encoding"], &bytes["content"]), (&json!("base64"), &json!("iVBORw0KGgoAAAA=")));
    fs::File::create(stage.path("large")).unwrap().set_len(1024 * 1024).unwrap();
    let large = serve(&mut stage, "read_file", json!({"path": "large", "encoding": "base64"})).await;
    assert_eq!(code(large), Some(ErrandCode::TooLarge));
}

#[tokio::test]
async fn nothing_is_read_or_listed_outside() {
    let mut stage = Stage::patient();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "needle").unwrap();
    link(outside.path(), stage.path("out"));
    link(outside.path().join("secret"), stage.path("file"));
    let evil = format!("{}-evil", stage.workspace());
    fs::create_dir(&evil).unwrap();
    fs::write(format!("{evil}/x"), "needle").unwrap();
    for path in ["../x", "/etc/passwd", "out/secret", "file", &format!("{evil}/x")] {
        let read = serve(&mut stage, "read_file", json!({"path": path})).await;
        assert_eq!(code(read), Some(ErrandCode::Outside), "{path}");
        let listed = serve(&mut stage, "list_files", json!({"path": path})).await;
        assert_eq!(code(listed), Some(ErrandCode::Outside), "{path}");
    }
    // Links are named and not followed.
    let listed = serve(&mut stage, "list_files", json!({"includeIgnored": true})).await.unwrap();
    let entries = json!([{"path": "file", "type": "link"}, {"path": "out", "type": "link"}]);
    assert_eq!(listed, json!({"path": ".", "entries": entries, "truncated": false}));
    let found = serve(&mut stage, "search_workspace", json!({"query": "needle"})).await.unwrap();
    assert_eq!(found["matches"], json!([]));
    fs::remove_dir_all(evil).unwrap();
}

fn tree(stage: &Stage) {
    for (path, text) in [
        (".gitignore", "target/\n*.log\n!keep.log\n"),
        (".git/config", "needle"),
        (".git/info/exclude", "excluded\n"),
        ("README.md", "needle\n"),
        ("a.log", "needle\n"),
        ("keep.log", "needle\n"),
        ("excluded", "needle\n"),
        ("src/.gitignore", "/gen\n"),
        ("src/gen/x.rs", "needle\n"),
        ("src/main.rs", "fn main() {\n    // Needle é needle\n}\n"),
        ("src/deep/gen/y.rs", "needle\n"),
        ("target/out.rs", "needle\n"),
    ] {
        stage.put(path, text);
    }
}

#[tokio::test]
async fn files_are_listed_by_glob_and_depth_without_what_is_ignored() {
    let mut stage = Stage::patient();
    tree(&stage);
    let all = serve(&mut stage, "list_files", json!({})).await.unwrap();
    let expected = [
        ".gitignore",
        "README.md",
        "keep.log",
        "src",
        "src/.gitignore",
        "src/deep",
        "src/deep/gen",
        "src/deep/gen/y.rs",
        "src/main.rs",
    ];
    assert_eq!(paths(&all, "entries"), expected);
    assert_eq!(all["entries"][1], json!({"path": "README.md", "type": "file", "size": 7}));
    let cases = [
        (json!({"glob": "*.rs"}), vec!["src/deep/gen/y.rs", "src/main.rs"]),
        (json!({"glob": "src/*.rs"}), vec!["src/main.rs"]),
        (json!({"glob": "*.{md,log}"}), vec!["README.md", "keep.log"]),
        (json!({"path": "src", "glob": "deep/**"}), vec!["src/deep/gen/y.rs"]),
        (json!({"path": "src", "depth": 1}), vec!["src/.gitignore", "src/deep", "src/main.rs"]),
        (
            json!({"glob": "*.rs", "includeIgnored": true}),
            vec!["src/deep/gen/y.rs", "src/gen/x.rs", "src/main.rs", "target/out.rs"],
        ),
        (json!({"path": ".git", "includeIgnored": true, "depth": 1}), vec![".git/config", ".git/info"]),
    ];
    for (asked, expected) in cases {
        let listed = serve(&mut stage, "list_files", asked.clone()).await.unwrap();
        assert_eq!(
            (paths(&listed, "entries"), &listed["truncated"]),
            (expected.iter().map(|path| (*path).to_owned()).collect(), &json!(false)),
            "{asked}"
        );
    }
    let some = serve(&mut stage, "list_files", json!({"limit": 2})).await.unwrap();
    assert_eq!((paths(&some, "entries").len(), &some["truncated"]), (2, &json!(true)));
    assert_eq!(code(serve(&mut stage, "list_files", json!({"glob": "a[b"})).await), Some(ErrandCode::Invalid));
    assert_eq!(code(serve(&mut stage, "list_files", json!({"path": "nowhere"})).await), Some(ErrandCode::NotFound));
    assert!(serve(&mut stage, "list_files", json!({"path": "README.md"})).await.is_err());
}

#[tokio::test]
async fn lines_are_found_with_their_places() {
    let mut stage = Stage::patient();
    tree(&stage);
    let found = serve(&mut stage, "search_workspace", json!({"query": "needle"})).await.unwrap();
    assert_eq!(paths(&found, "matches"), ["README.md", "keep.log", "src/deep/gen/y.rs", "src/main.rs"]);
    let line = json!({"path": "src/main.rs", "line": 2, "column": 17, "text": "    // Needle é needle",
        "places": [{"start": 17, "end": 23}]});
    assert_eq!(found["matches"][3], line);
    let any = json!({"query": "NEEDLE", "caseSensitive": false, "glob": "src/*.rs", "context": 1});
    let found = serve(&mut stage, "search_workspace", any).await.unwrap();
    let line = json!({"path": "src/main.rs", "line": 2, "column": 8, "text": "    // Needle é needle",
        "places": [{"start": 8, "end": 14}, {"start": 17, "end": 23}], "before": ["fn main() {"], "after": ["}"]});
    assert_eq!(found["matches"], json!([line]));
    let regex = serve(&mut stage, "search_workspace", json!({"query": "^ne+dle$", "regex": true})).await.unwrap();
    assert_eq!(paths(&regex, "matches").len(), 3);
    let literal = serve(&mut stage, "search_workspace", json!({"query": "ne+dle"})).await.unwrap();
    assert_eq!(literal["matches"], json!([]));
    let some = serve(&mut stage, "search_workspace", json!({"query": "needle", "maxResults": 2})).await.unwrap();
    assert_eq!((paths(&some, "matches").len(), &some["truncated"]), (2, &json!(true)));
    let just = serve(&mut stage, "search_workspace", json!({"query": "needle", "maxResults": 4})).await.unwrap();
    assert_eq!((paths(&just, "matches").len(), &just["truncated"]), (4, &json!(false)));
    for wrong in ["(", "a{1,1000}{1,1000}{1,1000}", "(?=x)", "a\nb"] {
        let asked = json!({"query": wrong, "regex": true});
        assert_eq!(code(serve(&mut stage, "search_workspace", asked).await), Some(ErrandCode::Invalid), "{wrong}");
    }
}

#[tokio::test]
async fn a_search_passes_over_what_is_no_text_and_cuts_long_lines() {
    let mut stage = Stage::patient();
    stage.put("binary", b"needle\n\0\n");
    stage.put("long", format!("{}needle\n", "x".repeat(5000)));
    stage.put("pipe/x", "needle");
    assert!(std::process::Command::new("mkfifo").arg(stage.path("pipe/fifo")).status().unwrap().success());
    let found = serve(&mut stage, "search_workspace", json!({"query": "needle"})).await.unwrap();
    assert_eq!(paths(&found, "matches"), ["long", "pipe/x"]);
    assert_eq!((&found["filesSearched"], &found["filesSkipped"]), (&json!(2), &json!(1)));
    let line = &found["matches"][0];
    assert_eq!(line["column"], 5001);
    assert!(line["text"].as_str().unwrap().len() < 1100);
}

#[tokio::test]
async fn wrong_parameters_are_told_with_every_finding() {
    let mut stage = Stage::patient();
    let wrong = json!({"path": null, "startLine": 0, "encoding": "latin-1", "lines": 3});
    let failure = serve(&mut stage, "read_file", wrong).await.unwrap_err();
    assert_eq!(failure.code, ErrandCode::Invalid);
    let mut found: Vec<_> = failure
        .findings
        .iter()
        .map(|finding| {
            format!("{} {}", finding.parameter, serde_json::to_value(finding.code).unwrap().as_str().unwrap())
        })
        .collect();
    found.sort();
    let expected = ["encoding ENUM_MISMATCH", "lines UNKNOWN_PARAMETER", "path NULL_VALUE", "startLine OUT_OF_RANGE"];
    assert_eq!(found, expected);
    // Nothing is made ready either.
    let failure = stage.prepare(call_of("write_file", json!({"path": 7}))).await.unwrap_err();
    assert_eq!((failure.code, failure.findings.len()), (ErrandCode::Invalid, 2));
}

fn lent(effect: Effect, parameters: Value) -> Arc<Tool> {
    let (name, description) = (ToolName::new("navigate"), "Opens a page.".to_owned());
    let function = FunctionTool { name, description, parameters, strict: None };
    Arc::new(Tool { definition: ToolDefinition::Function { function }, effect, provider: Provider::View(LinkId(7)) })
}

#[tokio::test]
async fn what_a_view_lends_is_only_checked() {
    let mut stage = Stage::patient();
    let schema =
        json!({"type": "object", "properties": {"url": {"type": "string", "format": "uri"}}, "required": ["url"]});
    let tool = lent(Effect::Acts, schema);
    let errand = |parameters: Value| Errand::Tool { tool: tool.clone(), parameters };
    let (id, shown) = stage.prepare(errand(json!({"url": "https://a.example/"}))).await.unwrap();
    assert_eq!(shown.title, r#"call navigate {"url":"https://a.example/"}"#);
    assert_eq!(shown.facts, Facts::Tool { tool: ToolName::new("navigate"), effect: Effect::Acts });
    let (_, other) = stage.prepare(errand(json!({"url": "https://b.example/"}))).await.unwrap();
    assert_ne!(shown.digest, other.digest);
    let failure = stage.prepare(errand(json!({"url": "nowhere"}))).await.unwrap_err();
    assert_eq!(failure.findings.len(), 1);
    // The runner itself cannot do it.
    assert_eq!(code(stage.perform(id).await.1), Some(ErrandCode::Cancelled));
    let served = stage.serve(SESSION, errand(json!({"url": "https://a.example/"})));
    assert_eq!(stage.done(served).await, Ok(ErrandResult::Checked));
    let broken = Errand::Tool { tool: lent(Effect::Acts, json!({"$ref": "#"})), parameters: json!({}) };
    let failure = stage.prepare(broken).await.unwrap_err();
    assert_eq!(failure.code, ErrandCode::Failed);
    assert!(failure.message.contains("circle"), "{}", failure.message);
}

#[tokio::test]
async fn what_may_do_harm_is_not_served_by_a_tool_either() {
    let mut stage = Stage::patient();
    for (name, parameters) in [
        ("write_file", json!({"path": "a", "content": "x"})),
        ("edit_file", json!({"path": "a", "oldText": "x", "newText": "y"})),
        ("run_terminal_command", json!({"command": "echo ran > b"})),
    ] {
        assert_eq!(code(serve(&mut stage, name, parameters).await), Some(ErrandCode::Denied));
    }
    let read = stage.prepare(call_of("read_file", json!({"path": "a"}))).await;
    assert_eq!(code(read), Some(ErrandCode::NotFound));
    assert_eq!(fs::read_dir(stage.root.path()).unwrap().count(), 0);
}

/// The part of a page below a heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("there is no {heading}"));
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

#[test]
fn the_page_on_tools_has_each_with_just_its_parameters() {
    let page = include_str!("../../../../docs/tools.md");
    for tool in definitions() {
        let ToolDefinition::Function { function } = &tool.definition else { panic!("{tool:?}") };
        let rows = section(page, &format!("`{}`", function.name)).lines().filter(|line| line.starts_with("| `"));
        let first = rows.filter_map(|line| line.split('|').nth(1));
        let mut shown: Vec<_> =
            first.flat_map(|cell| cell.split(',')).map(|name| name.trim().trim_matches('`').to_owned()).collect();
        shown.sort();
        let mut known: Vec<_> = function.parameters["properties"].as_object().unwrap().keys().cloned().collect();
        known.sort();
        assert_eq!(shown, known, "{}", function.name);
    }
}
