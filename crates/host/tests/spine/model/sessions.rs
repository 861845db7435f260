//! Sessions that outlive the process: loaded, resumed, listed, closed.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::client::{Client, Offers, Place};
use super::scripted::{Says, Scripted, Way};

fn started(place: &Place, server: &Scripted) -> Client {
    Client::start(place, &["--base-url", &server.url()], Offers::Gate)
}

#[test]
fn a_session_is_taken_up_again_after_kill_9() {
    let script = [
        Says::Calls(vec![("read_file", json!({"path": "a"}))]),
        Says::Text(&["it says one"]),
        Says::Text(&["still one"]),
        Says::Text(&["and again"]),
    ];
    let server = Scripted::new(Way::OpenAi, script);
    let place = Place::new().with("a", "one\n");
    let mut client = started(&place, &server);
    let session = client.open(&place);
    client.call("session/set_mode", json!({"sessionId": session, "modeId": "ask"}));
    client.prompt(&session, "what does a say?");
    client.kill_9();

    let again = json!({"sessionId": session, "cwd": place.work(), "mcpServers": []});
    let mut client = started(&place, &server);
    let resumed = client.call("session/resume", again.clone());
    assert_eq!(resumed["result"]["modes"]["currentModeId"], "ask", "{resumed}");
    assert!(client.updates("user_message_chunk").is_empty(), "nothing is told again");
    client.prompt(&session, "and now?");
    let asked = server.rest().pop().unwrap().body.to_string();
    assert!(asked.contains("what does a say?") && asked.contains("it says one"), "{asked}");
    client.kill_9();

    let mut client = started(&place, &server);
    let loaded = client.call("session/load", again);
    assert!(loaded["result"]["configOptions"].is_array(), "{loaded}");
    let told: Vec<&Value> = client.told.iter().map(|told| &told["params"]["update"]).collect();
    let kinds: Vec<&str> = told.iter().filter_map(|update| update["sessionUpdate"].as_str()).collect();
    let expected = [
        "user_message_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "user_message_chunk",
        "agent_message_chunk",
        "session_info_update",
    ];
    assert_eq!(kinds.get(..expected.len()).unwrap(), expected, "{told:#?}");
    assert_eq!(client.text(), "it says onestill one");
    let listed = client.call("session/list", json!({"cwd": place.work()}));
    assert_eq!(listed["result"]["sessions"][0]["sessionId"], session.as_str(), "{listed}");
    assert_eq!(listed["result"]["sessions"][0]["title"], "what does a say?");
    let closed = client.call("session/close", json!({"sessionId": session}));
    assert_eq!(closed["result"], json!({}));
    let gone = client.prompt(&session, "anybody?");
    assert!(gone["error"]["message"].as_str().unwrap().contains("no open session"), "{gone}");
}

/// The same program, with so small a limit for its files that a long record does not fit.
fn with_little_room(command: &mut std::process::Command) {
    let mut within = std::process::Command::new("/bin/sh");
    within.args(["-c", "trap '' XFSZ; ulimit -S -f 8; exec \"$@\"", "sh"]);
    within.arg(command.get_program()).args(command.get_args()).current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => within.env(name, value),
            None => within.env_remove(name),
        };
    }
    *command = within;
}

#[test]
fn a_record_that_does_not_fit_on_the_disk_spoils_no_other() {
    let server = Scripted::new(Way::OpenAi, [Says::Text(&["one"]), Says::Text(&["two"])]);
    let place = Place::new();
    let mut client = Client::start_with(&place, &["--base-url", &server.url()], Offers::Gate, with_little_room);
    let session = client.open(&place);
    client.prompt(&session, &"long ".repeat(10_000));
    let unkept = |told: &Value| told.to_string().contains("cannot be kept on the disk");
    assert!(client.told.iter().any(unkept), "{:#?}", client.told);
    // There is room again.
    let pid = rustix::process::Pid::from_raw(i32::try_from(client.pid()).unwrap());
    let fsize = rustix::process::Resource::Fsize;
    rustix::process::prlimit(pid, fsize, rustix::process::getrlimit(fsize)).unwrap();
    client.prompt(&session, "short");
    client.kill_9();

    let mut client = started(&place, &server);
    client.call("session/load", json!({"sessionId": session, "cwd": place.work(), "mcpServers": []}));
    let said: Vec<_> =
        client.updates("user_message_chunk").iter().map(|said| said["content"]["text"].clone()).collect();
    assert_eq!(said, [json!("short")]);
    assert_eq!(client.text(), "onetwo");
}

#[test]
fn sessions_are_kept_where_only_this_user_can_read_them() {
    let server = Scripted::new(Way::OpenAi, [Says::Text(&["hi"])]);
    let place = Place::new();
    let mut client = started(&place, &server);
    let (session, unused) = (client.open(&place), client.open(&place));
    client.prompt(&session, "hello");
    let folder = place.data().join("agent");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join(format!("{session}.jsonl"))), 0o600);
    client.call("session/close", json!({"sessionId": unused}));
    assert!(!folder.join(format!("{unused}.jsonl")).exists(), "one in which nothing was said leaves nothing");

    let mut other = started(&place, &server);
    let again = json!({"sessionId": session, "cwd": place.work(), "mcpServers": []});
    let taken = other.call("session/load", again);
    assert!(taken["error"]["message"].as_str().unwrap().contains("open in another process"), "{taken}");
    let nobody = other.call("session/load", json!({"sessionId": "../x", "cwd": place.work(), "mcpServers": []}));
    assert_eq!(nobody["error"]["code"], -32002, "{nobody}");
}

#[test]
fn a_folder_that_is_none_opens_nothing() {
    let server = Scripted::new(Way::OpenAi, []);
    let place = Place::new().with("file", "");
    let mut client = started(&place, &server);
    for cwd in [json!("relative"), json!("/nowhere/at/all"), json!(place.work().join("file"))] {
        let refused = client.call("session/new", json!({"cwd": cwd, "mcpServers": []}));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}
