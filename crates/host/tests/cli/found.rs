//! `sessions search`, `rename`, `export --format markdown` and what sessions have used: the same from a running host and from
//! the store.

use std::process::Child;

use serde_json::{Value, json};

use super::stage::{Stage, eventually};

/// An agent that says what it has used.
const COUNTING: &str = r#"#!/usr/bin/env python3
import json, sys
def say(**message):
    print(json.dumps(message), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "new-session":
        say(type="session-created", requestId=asked["requestId"], sessionId="s")
    elif asked["type"] == "process-prompt":
        say(type="thought-chunk", sessionId="s", chunk="Let me think of walruses.")
        say(type="response-chunk", sessionId="s", chunk="The walrus has **tusks**, <b>two</b> of them.\n")
        say(type="usage", sessionId="s", inputTokens=100, outputTokens=20, cost={"amount": 0.5, "currency": "USD"})
        say(type="usage", sessionId="s", outputTokens=5, thoughtTokens=7)
        say(type="response-complete", sessionId="s", messageId=asked["messageId"])
"#;

fn stage() -> Stage {
    let stage = Stage::new();
    stage.script("agent.py", COUNTING);
    stage.configure("default_agent = \"counting\"\n[agents.counting]\nkind = \"plain\"\ncommand = [\"./agent.py\"]\n");
    stage.call(&["trust"]).good();
    stage.call(&["run", "tell me about walruses"]).good();
    stage.call(&["run", "--agent", "demo", "demo: echo the quick brown fox"]).good();
    stage
}

fn end(mut host: Child) {
    let _ = host.kill();
    let _ = host.wait();
}

/// What is asked of the store must be answered alike by a host.
fn both(stage: &Stage, check: impl Fn(&str)) {
    if let Some(running) = stage.host() {
        super::stage::signal(running.pid, rustix::process::Signal::TERM);
        eventually("the end of the host", || stage.host().is_none());
    }
    check("the store");
    let host = stage.serve();
    check("a host");
    end(host);
}

fn search(stage: &Stage, args: &[&str]) -> Vec<Value> {
    let args: Vec<&str> = ["sessions", "search", "--json"].into_iter().chain(args.iter().copied()).collect();
    let mut found = Vec::new();
    // A host that has just started may still be reading.
    eventually("an answer without a rest", || {
        let done = stage.call(&args).good();
        found = done.json();
        !done.err.contains("not in the index")
    });
    found
}

#[test]
fn what_was_said_is_found_with_filters_and_snippets() {
    let stage = stage();
    both(&stage, |who| {
        let found = search(&stage, &["walrus"]);
        let places: Vec<_> = found.iter().map(|one| (&one["id"], &one["role"])).collect();
        let wanted = [(&json!(1), "assistant"), (&json!(1), "thought"), (&json!(1), "user")];
        assert_eq!(
            places,
            wanted.map(|(id, role)| (id, Value::from(role))).iter().map(|(id, role)| (*id, role)).collect::<Vec<_>>(),
            "{who}"
        );
        assert_eq!(
            (&found[0]["snippet"], &found[0]["hits"]),
            (&json!("The walrus has **tusks**, <b>two</b> of them. "), &json!(["walrus"])),
            "{who}"
        );
        assert_eq!(search(&stage, &["brown", "fox", "--role", "user"])[0]["id"], 2, "{who}");
        assert_eq!(search(&stage, &["walrus", "--agent", "demo"]), Vec::<Value>::new(), "{who}");
        assert_eq!(search(&stage, &["walrus", "--until", "1d"]), Vec::<Value>::new(), "{who}");
        assert_eq!(search(&stage, &["walrus", "--since", "1d", "--limit", "2", "--ranked"]).len(), 2, "{who}");
        for harmless in ["\"", "*", "[a-z]+(", "NEAR(", "漢字", "'; DROP TABLE message"] {
            assert_eq!(search(&stage, &["--", harmless]), Vec::<Value>::new(), "{harmless} of {who}");
        }
        let words = stage.call(&["sessions", "search", "\"quick brown\""]).good().out;
        assert!(words.contains("2  demo: echo") && words.contains("quick brown fox"), "{words}");
        assert!(stage.call(&["sessions", "search", "unicorn"]).good().out.contains("Nothing was found"));
    });
    assert_eq!(stage.call(&["sessions", "search", "x", "--since", "soon"]).code, 2);
}

#[test]
fn what_was_deleted_is_found_no_more() {
    let stage = stage();
    assert_eq!(search(&stage, &["walrus"]).len(), 3);
    stage.call(&["sessions", "delete", "1", "--yes"]).good();
    both(&stage, |who| assert_eq!(search(&stage, &["walrus"]), Vec::<Value>::new(), "{who}"));
}

#[test]
fn a_title_of_a_person_stays() {
    let stage = stage();
    both(&stage, |who| {
        let renamed = stage.call(&["sessions", "rename", "1", "About", "  walruses\n", who, "--json"]).good().json();
        assert_eq!(renamed, [json!({"id": 1, "title": format!("About walruses {who}")})]);
        let listed = stage.call(&["sessions", "list", "--json"]).good().json();
        let title = listed.iter().find(|one| one["id"] == 1).unwrap()["title"].clone();
        assert_eq!(title, format!("About walruses {who}"));
        assert_eq!(stage.call(&["sessions", "rename", "77", "x"]).code, 3, "{who}");
        assert_ne!(stage.call(&["sessions", "rename", "1", " "]).code, 0, "{who}");
        assert_ne!(stage.call(&["sessions", "rename", "1", &"x".repeat(201)]).code, 0, "{who}");
    });
    stage.call(&["run", "--session", "1", "more"]).good();
    let shown = stage.call(&["sessions", "show", "1"]).good().out;
    assert!(shown.starts_with("About walruses a host"), "{shown}");
}

#[test]
fn an_export_for_people_is_markdown_whoever_is_asked() {
    let stage = stage();
    let alone = std::cell::RefCell::new(String::new());
    both(&stage, |_| {
        let text = stage.call(&["sessions", "export", "1", "--format", "markdown"]).good().out;
        assert!(text.starts_with("# tell me about walruses\n\nSession 1, agent `counting`, in `"), "{text}");
        assert!(text.contains("\n> tell me about walruses\n\n## counting\n\n*Thinking:*\n\n> Let me think"), "{text}");
        assert!(text.ends_with("\nThe walrus has **tusks**, <b>two</b> of them.\n"), "{text}");
        let mut before = alone.borrow_mut();
        assert!(before.is_empty() || *before == text);
        *before = text;
    });
    let lines = stage.call(&["sessions", "export", "1"]).good().json();
    assert_eq!(lines[0]["body"]["type"], "sessionOpened");
}

#[test]
fn the_list_says_what_was_used() {
    let stage = stage();
    both(&stage, |who| {
        let mut usage = Value::Null;
        eventually("the usage", || {
            let listed = stage.call(&["sessions", "list", "--json"]).good().json();
            assert_eq!(listed.iter().find(|one| one["id"] == 2).unwrap().get("usage"), None, "the demo says nothing");
            usage = listed.iter().find(|one| one["id"] == 1).unwrap()["usage"].clone();
            !usage.is_null()
        });
        let wanted = json!({
            "turns": 1, "tokens": {"input": 100, "output": 25, "cached": 0, "thought": 7},
            "costs": [{"micros": 500_000, "currency": "USD"}],
        });
        assert_eq!(usage, wanted, "{who}");
    });
}
