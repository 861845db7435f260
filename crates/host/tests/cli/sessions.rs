//! `sessions`: the same from a running host and from the store.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::stage::{LINES, Stage, Terminal};

fn with_sessions() -> Stage {
    let stage = Stage::new();
    for prompt in ["demo: echo one", "demo: tool", "demo: error"] {
        stage.call(&["run", prompt]);
    }
    stage
}

#[test]
fn the_list_is_empty_then_the_last_used_first() {
    let stage = Stage::new();
    assert!(stage.call(&["sessions", "list"]).good().out.contains("no sessions yet"));
    assert_eq!(stage.call(&["sessions", "list", "--json"]).good().out, "");
    let stage = with_sessions();
    let listed = stage.call(&["sessions", "list", "--json"]).good().json();
    assert_eq!(listed.iter().map(|one| &one["id"]).collect::<Vec<_>>(), [3, 2, 1]);
    let keys: Vec<&String> = listed[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "title", "agent", "workspace", "open", "created_ms", "updated_ms"]);
    let words = stage.call(&["sessions", "list"]).good().out;
    assert!(words.starts_with("ID") && words.contains("demo: echo one") && words.contains("just now"), "{words}");
    let elsewhere = stage.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let args = ["sessions", "list", "--here", "--json", "--workspace", elsewhere.to_str().unwrap()];
    assert_eq!(stage.call(&args).good().out, "");
    assert_eq!(stage.call(&["sessions", "list", "--here", "--json"]).good().json().len(), 3);
}

#[test]
fn a_transcript_has_all_that_was_said() {
    let stage = with_sessions();
    stage.call(&["run", "demo: approve"]);
    let shown = |id: &str| stage.call(&["sessions", "show", id]).good().out;
    assert!(shown("1").contains("> demo: echo one\none\n"), "{}", shown("1"));
    assert!(shown("2").contains("[tool: "), "{}", shown("2"));
    assert!(shown("3").contains("[failed: the demo agent was asked to fail"), "{}", shown("3"));
    assert!(shown("4").contains("[asks: ") && shown("4").contains("[denied]"), "{}", shown("4"));
    let lines = stage.call(&["sessions", "show", "1", "--json"]).good().json();
    assert_eq!((&lines[0]["session"]["id"], &lines[1]["seq"]), (&json!(1), &json!(1)));
}

#[test]
fn an_export_is_the_log_whoever_is_asked() {
    let stage = with_sessions();
    let alone = stage.call(&["sessions", "export", "2"]).good();
    let log = alone.json();
    let seqs: Vec<u64> = log.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    assert_eq!((&log[0]["body"]["type"], log[0].get("turn")), (&json!("sessionOpened"), None));
    assert!(log.iter().all(|event| event["time"].is_u64() && event["body"]["type"].is_string()));
    let file = stage.home().join("out.jsonl");
    stage.call(&["sessions", "export", "2", "-o", file.to_str().unwrap()]).good();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), alone.out);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let mut host = stage.serve();
    assert_eq!(stage.call(&["sessions", "export", "2"]).good().out, alone.out);
    let _ = host.kill();
    let _ = host.wait();
}

#[test]
fn a_long_session_is_exported_whole() {
    let stage = Stage::new();
    stage.call(&["run", "demo: fast 20000"]).good();
    let log = stage.call(&["sessions", "export", "1"]).good().json();
    let text: String = log.iter().filter_map(|event| event["body"]["text"].as_str()).collect();
    let whole: String = (1..=20_000).map(|number| format!("{number} ")).collect();
    assert!(log.len() > 20_000 && text == whole, "{} events", log.len());
    assert!(stage.call(&["sessions", "show", "1"]).good().out.contains(&whole));
}

#[test]
fn what_is_deleted_is_gone_and_what_is_not_there_is_said_after_the_others_are() {
    let stage = with_sessions();
    let done = stage.call(&["sessions", "delete", "77", "1", "1", "78"]);
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.out.contains("Session 1 (demo: echo one) is deleted."), "{done:?}");
    assert!(done.err.contains("no session 77") && done.err.contains("no session 78"), "{done:?}");
    let mut host = stage.serve();
    let deleted = stage.call(&["sessions", "delete", "2", "--json"]).good().json();
    assert_eq!(deleted, vec![json!({"id": 2, "deleted": true})]);
    for command in ["show", "export", "delete"] {
        assert_eq!(stage.call(&["sessions", command, "2"]).code, 3, "{command}");
    }
    assert_eq!(stage.call(&["run", "--session", "2", "x"]).code, 3);
    let _ = host.kill();
    let _ = host.wait();
    let left: Vec<Value> = stage.call(&["sessions", "list", "--json"]).good().json();
    assert_eq!(left.iter().map(|one| &one["id"]).collect::<Vec<_>>(), [3]);
    let next = stage.call(&["run", "--json", "demo: echo x"]).good().json().pop().unwrap();
    assert_eq!(next["session"], 4, "no id is used twice");
}

#[test]
fn deleting_stops_what_runs() {
    let stage = Stage::new();
    let mut host = stage.serve();
    let open = b"{\"type\":\"new-tab\",\"tabId\":\"t\"}\n{\"type\":\"prompt\",\"tabId\":\"t\",\"messageId\":\"m\",\"text\":\"demo: slow 100000\"}\n";
    stage.converse(&LINES, open, "word-1").good();
    stage.call(&["sessions", "delete", "1", "--yes"]).good();
    assert_eq!(stage.call(&["sessions", "list", "--json"]).good().out, "");
    assert_eq!(stage.call(&["run", "demo: echo still there"]).good().out, "still there\n");
    let _ = host.kill();
    let _ = host.wait();
}

#[test]
fn a_person_is_asked_before_a_session_is_deleted() {
    let stage = with_sessions();
    for (answer, left) in [("\n", 3), ("n\n", 3), ("y\n", 2)] {
        let mut terminal = Terminal::new();
        let mut seen = terminal.seen();
        let mut child = stage
            .switchboard(&["sessions", "delete", "1"])
            .stdin(terminal.end())
            .stderr(terminal.end())
            .spawn()
            .unwrap();
        seen.until("[y/N]");
        terminal.types(answer);
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert_eq!(stage.call(&["sessions", "list", "--json"]).good().json().len(), left, "{answer:?}");
    }
}

#[test]
fn wrong_usage_is_code_2() {
    let stage = Stage::new();
    for args in [&["sessions"][..], &["sessions", "show"], &["sessions", "show", "x"], &["sessions", "delete"]] {
        assert_eq!(stage.call(args).code, 2, "{args:?}");
    }
    assert!(stage.call(&["sessions", "show", "x"]).err.contains("a session's id is a number"));
}
