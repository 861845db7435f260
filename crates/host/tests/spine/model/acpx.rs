//! A talk with a client that others have made, recorded with `acpx`: what it answered, in its own words and its own order, to what the
//! agent asks for.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::client::{Client, Offers, Place};
use super::scripted::{Says, Scripted, Way};

const RECORDED: &str = include_str!("../../../../../testdata/acpx/task.jsonl");

fn edit(old: &str, new: &str) -> Says {
    Says::Calls(vec![("edit_file", json!({"path": "add.sh", "old_text": old, "new_text": new}))])
}

fn tests() -> Says {
    Says::Calls(vec![("run_command", json!({"command": "sh test.sh"}))])
}

/// What a request asks for; how it is worded for people is free to change.
fn gist(params: &Value) -> Value {
    let mut gist = json!({"call": params["toolCall"]["toolCallId"], "kind": params["toolCall"]["kind"]});
    for name in ["path", "content", "command", "args", "cwd", "terminalId"] {
        gist[name] = params[name].clone();
    }
    gist
}

#[test]
fn what_acpx_answers_is_understood_in_its_own_order() {
    let place = Place::new();
    let script = [
        Says::Calls(vec![("update_plan", json!({"steps": [{"content": "mend add", "status": "in_progress"}]}))]),
        Says::Calls(vec![("read_file", json!({"path": "add.sh"}))]),
        edit("$1 - $2", "$1 * $2"),
        tests(),
        edit("$1 * $2", "$1 + $2"),
        tests(),
        Says::Text(&["add ", "is ", "mended"]),
    ];
    let server = Scripted::new(Way::Ollama, script);
    let mut client = Client::start(&place, &["--base-url", &server.url(), "--model", "small"], Offers::All);
    client.ignores = vec!["fs/read_text_file", "fs/write_text_file", "session/request_permission"];
    client.ignores.extend(["terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release"]);
    let session = client.open(&place);
    let prompt = client.send_prompt(&session, "mend add");
    let (work, mut ids) = (place.work().display().to_string(), HashMap::new());
    for line in RECORDED.lines() {
        let entry: Value = serde_json::from_str(&line.replace("SESSION", &session).replace("/FOLDER", &work)).unwrap();
        let message = &entry["msg"];
        let number = message["id"].as_u64();
        match (entry["dir"].as_str().unwrap(), message["method"].as_str(), number) {
            ("<-", Some(method), Some(number)) => {
                let asked = client.until(method, |asked| !asked["method"].is_null() && !asked["id"].is_null());
                assert_eq!(asked["method"], method, "{asked}");
                assert_eq!(gist(&asked["params"]), gist(&message["params"]));
                ids.insert(number, asked["id"].clone());
            }
            ("->", None, Some(number)) => {
                client.send(&json!({"jsonrpc": "2.0", "id": ids[&number], "result": message["result"]}));
            }
            // The beginning is our client's own, and what is shown is looked at below.
            _ => {}
        }
    }
    let done = client.answer(prompt);
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    assert_eq!(client.text(), "add is mended");
    let told = server.rest();
    let failure = told[4].last()["content"].to_string();
    assert!(failure.contains("add 2 3 is wrong") && failure.contains('1'), "{failure}");
    assert!(told[6].last()["content"].to_string().contains("passed"));
}
