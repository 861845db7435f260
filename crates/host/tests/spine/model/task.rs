//! A whole task on a small repository: read, search, edit with consent, run the tests, fail, mend, done. And what stands beside it:
//! modes, thinking, pictures, plans, settings.

use serde_json::{Value, json};

use super::client::{Client, Offers, Place};
use super::scripted::{Says, Scripted, Way};

const TESTS: &str =
    "#!/bin/sh\n. ./add.sh\n[ \"$(add 2 3)\" = 5 ] && echo passed || { echo 'add 2 3 is wrong'; exit 1; }\n";

fn repository() -> Place {
    Place::new()
        .with("add.sh", "add() {\n  echo $(($1 - $2))\n}\n")
        .with("test.sh", TESTS)
        .with("AGENTS.md", "Always run ./test.sh when you are done.\n")
        .with(".gitignore", "ignored/\n")
        .with("ignored/add.sh", "add() {\n")
}

fn edit(old: &str, new: &str) -> Says {
    Says::Calls(vec![("edit_file", json!({"path": "add.sh", "old_text": old, "new_text": new}))])
}

fn task() -> Vec<Says> {
    vec![
        Says::Calls(vec![("update_plan", json!({"steps": [{"content": "mend add", "status": "in_progress"}]}))]),
        Says::Calls(vec![("search", json!({"pattern": "add\\(\\)"}))]),
        Says::Calls(vec![("read_file", json!({"path": "add.sh"}))]),
        edit("$1 * $2", "$1 + $2"),
        edit("$1 - $2", "$1 * $2"),
        Says::Calls(vec![("run_command", json!({"command": "sh test.sh"}))]),
        edit("$1 * $2", "$1 + $2"),
        Says::Calls(vec![("run_command", json!({"command": "sh test.sh"}))]),
        Says::Text(&["add ", "is ", "mended"]),
    ]
}

/// What the model was given as the outcome of each call, in order.
fn outcomes(server: &Scripted, calls: usize) -> Vec<String> {
    let first = server.asked();
    let system = first.body["messages"][0]["content"].to_string();
    assert!(system.contains("Always run ./test.sh"), "{system}");
    (0..calls).map(|_| server.asked().last()["content"].as_str().unwrap().to_owned()).collect()
}

fn whole_task(way: Way, offers: Offers) {
    let (place, server) = (repository(), Scripted::new(way, task()));
    let mut client = Client::start(&place, &["--base-url", &server.url(), "--model", "small"], offers);
    let session = client.open(&place);
    let done = client.prompt(&session, "mend add");
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    assert_eq!(done["result"]["usage"]["outputTokens"], 9 * 7);
    assert_eq!(client.text(), "add is mended");
    assert_eq!(place.file("add.sh"), "add() {\n  echo $(($1 + $2))\n}\n");

    let outcomes = outcomes(&server, 8);
    assert!(outcomes[1].contains("add.sh:1: add() {") && !outcomes[1].contains("ignored"), "{}", outcomes[1]);
    assert!(outcomes[2].contains("echo $(($1 - $2))"), "{}", outcomes[2]);
    assert!(outcomes[3].contains("not"), "an edit that does not fit says so: {}", outcomes[3]);
    assert!(outcomes[5].contains("add 2 3 is wrong") && outcomes[5].contains('1'), "{}", outcomes[5]);
    assert!(outcomes[7].contains("passed"), "{}", outcomes[7]);

    let plan = client.updates("plan");
    assert_eq!(plan[0]["entries"][0]["content"], "mend add");
    let diffs: Vec<_> =
        client.updates("tool_call_update").into_iter().chain(client.updates("tool_call")).cloned().collect();
    let diffs: Vec<&Value> = diffs.iter().filter(|update| update["content"][0]["type"] == "diff").collect();
    assert_eq!(diffs.len(), 2, "{diffs:#?}");
    assert!(diffs[0]["content"][0]["newText"].as_str().unwrap().contains("$1 * $2"));
    assert_eq!(client.updates("session_info_update")[0]["title"], "mend add");
    assert!(client.updates("usage_update").iter().any(|usage| usage["size"].as_u64().unwrap() > 0));
    let ended = |update: &&&Value| update["status"] == "completed" || update["status"] == "failed";
    assert_eq!(client.updates("tool_call_update").iter().filter(ended).count(), 8);

    let asked: Vec<_> = client.asked.iter().map(|asked| asked["method"].as_str().unwrap()).collect();
    let count = |method: &str| asked.iter().filter(|asked| **asked == method).count();
    match offers {
        Offers::All => {
            assert_eq!(count("session/request_permission"), 4);
            assert_eq!((count("fs/write_text_file"), count("terminal/create"), count("terminal/release")), (2, 2, 2));
        }
        Offers::Gate => {
            assert_eq!(count("session/request_permission"), 0);
            assert_eq!((count("fs/write_text_file"), count("terminal/create"), count("terminal/release")), (2, 2, 2));
        }
        Offers::Nothing => assert_eq!(asked, ["session/request_permission"; 4]),
    }
}

#[test]
fn a_whole_task_through_a_client_that_does_everything() {
    whole_task(Way::OpenAi, Offers::All);
}

#[test]
fn a_whole_task_through_a_client_that_asks_by_itself() {
    whole_task(Way::Ollama, Offers::Gate);
}

#[test]
fn a_whole_task_by_itself_where_the_client_does_nothing() {
    whole_task(Way::Ollama, Offers::Nothing);
}

#[test]
fn each_mode_offers_its_own_tools_and_the_others_are_refused() {
    let write = || Says::Calls(vec![("write_file", json!({"path": "x", "content": "x"}))]);
    let run = || Says::Calls(vec![("run_command", json!({"command": "touch ran"}))]);
    let server = Scripted::new(Way::OpenAi, []);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
    let session = client.open(&place);
    for (mode, refuses, writes, runs) in [
        ("plan", write(), false, false),
        ("ask", run(), false, false),
        ("edit", run(), true, false),
        ("agent", run(), true, true),
    ] {
        server.then([refuses, Says::Text(&["so be it"])]);
        let set = client.call("session/set_mode", json!({"sessionId": session, "modeId": mode}));
        assert_eq!(set["result"], json!({}), "{set}");
        assert_eq!(client.updates("current_mode_update").last().unwrap()["currentModeId"], mode);
        let done = client.prompt(&session, "do it");
        assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
        let (first, _) = (server.asked(), server.asked());
        let tools = first.tools();
        assert_eq!(tools.contains(&"write_file".to_owned()), writes, "{mode}: {tools:?}");
        assert_eq!(tools.contains(&"run_command".to_owned()), runs, "{mode}: {tools:?}");
        assert!(!place.work().join("x").exists());
        assert_eq!(place.work().join("ran").exists(), runs, "{mode}");
    }
    let wrong = client.call("session/set_mode", json!({"sessionId": session, "modeId": "yolo"}));
    assert!(wrong["error"]["message"].as_str().unwrap().contains("agent, plan, ask, edit"), "{wrong}");
}

#[test]
fn thinking_is_shown_apart_and_pictures_reach_the_model() {
    for way in [Way::Ollama, Way::OpenAi] {
        let server = Scripted::new(way, [Says::Thought("hm", "a cat")]);
        let place = Place::new();
        let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::Nothing);
        let session = client.open(&place);
        let blocks = json!([
            {"type": "text", "text": "what is it?"}, {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
            {"type": "resource", "resource": {"uri": "file:///w/a.txt", "text": "inside"}},
        ]);
        let done = client.call("session/prompt", json!({"sessionId": session, "prompt": blocks}));
        assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
        let thought: String = client
            .updates("agent_thought_chunk")
            .iter()
            .filter_map(|chunk| chunk["content"]["text"].as_str())
            .collect();
        assert!(thought.contains("hm"), "{thought}");
        assert_eq!(client.text(), "a cat");
        let asked = server.asked().body.to_string();
        assert!(asked.contains("iVBORw0KGgo=") && asked.contains("inside"), "{asked}");
    }
}

#[test]
fn the_model_is_chosen_by_the_client_by_settings_and_by_the_server() {
    let server = Scripted::new(Way::Ollama, [Says::Text(&["1"]), Says::Text(&["2"]), Says::Text(&["3"])]);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
    let opened = client.call("session/new", json!({"cwd": place.work(), "mcpServers": []}));
    let session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
    let option = &opened["result"]["configOptions"][0];
    assert_eq!((&option["category"], &option["currentValue"]), (&json!("model"), &json!("small:latest")), "{opened}");
    assert_eq!(option["options"].as_array().unwrap().len(), 2);
    client.prompt(&session, "one");
    let asked = server.asked().body;
    assert_eq!((&asked["model"], &asked["options"]["num_ctx"]), (&json!("small:latest"), &json!(16384)), "{asked}");

    client.notify("_switchboard/settings", json!({"agentModel": "other:7b", "temperature": 0.5, "maxIterations": 3}));
    client.prompt(&session, "two");
    let asked = server.asked().body;
    assert_eq!((&asked["model"], &asked["options"]["temperature"]), (&json!("other:7b"), &json!(0.5)), "{asked}");

    let choice = json!({"sessionId": session, "configId": "model", "value": "small:latest"});
    let set = client.call("session/set_config_option", choice);
    assert_eq!(set["result"]["configOptions"][0]["currentValue"], "small:latest", "{set}");
    client.prompt(&session, "three");
    assert_eq!(server.asked().body["model"], "small:latest");
    let wrong = json!({"sessionId": session, "configId": "model", "value": "nobody"});
    let refused = client.call("session/set_config_option", wrong);
    assert!(refused["error"]["message"].as_str().unwrap().contains("small:latest, other:7b"), "{refused}");
}
