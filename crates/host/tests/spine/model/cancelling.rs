//! Cancelling, at once and whatever is under way; and prompts that wait for the one before them.

use serde_json::{Value, json};

use super::client::{Client, Offers, Place};
use super::scripted::{Says, Scripted, Way};

fn calls(name: &'static str, arguments: Value) -> Says {
    Says::Calls(vec![(name, arguments)])
}

fn is_alive(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())) else { return false };
    !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}

#[test]
fn a_model_that_says_nothing_is_hung_up_on_at_once() {
    let server = Scripted::new(Way::Ollama, [Says::Nothing, Says::Silence, Says::Text(&["here"])]);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
    let session = client.open(&place);
    for _ in 0..2 {
        let id = client.send_prompt(&session, "go");
        server.asked();
        client.notify("session/cancel", json!({"sessionId": session}));
        assert_eq!(client.answer(id)["result"]["stopReason"], "cancelled");
        server.was_hung_up();
    }
    let done = client.prompt(&session, "again");
    assert_eq!((done["result"]["stopReason"].as_str(), client.text().as_str()), (Some("end_turn"), "here"));
}

#[test]
fn a_question_to_a_person_is_given_up() {
    let server = Scripted::new(Way::OpenAi, [calls("write_file", json!({"path": "a", "content": "x"}))]);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
    client.ignores = vec!["session/request_permission"];
    let session = client.open(&place);
    let id = client.send_prompt(&session, "go");
    client.until("a question", |message| message["method"] == "session/request_permission");
    client.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.answer(id)["result"]["stopReason"], "cancelled");
    let question = client.left.remove(0);
    let given_up = |message: &Value| message["method"] == "$/cancel_request";
    let past = client.told.iter().find(|message| given_up(message)).cloned();
    let called_back = past.unwrap_or_else(|| client.until("it is called back", given_up));
    assert_eq!(called_back["params"]["requestId"], question["id"]);
    // An answer that comes all the same changes nothing.
    let allow = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": allow}));
    let listed = client.call("session/list", json!({}));
    assert!(listed["result"]["sessions"].is_array(), "{listed}");
    assert!(!place.work().join("a").exists());
}

#[test]
fn a_command_of_its_own_is_ended_with_all_that_it_started() {
    let line = "sleep 1000 & echo $! > child; echo $$ > shell; wait";
    let server = Scripted::new(Way::OpenAi, [calls("run_command", json!({"command": line}))]);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::Nothing);
    let session = client.open(&place);
    let id = client.send_prompt(&session, "go");
    client.until("a question", |message| message["method"] == "session/request_permission");
    let file = |name: &str| std::fs::read_to_string(place.work().join(name)).unwrap_or_default();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while file("shell").trim().is_empty() || file("child").trim().is_empty() {
        assert!(std::time::Instant::now() < deadline, "the command starts");
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
    assert!(is_alive(&file("child")));
    client.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.answer(id)["result"]["stopReason"], "cancelled");
    while is_alive(&file("child")) || is_alive(&file("shell")) {
        assert!(std::time::Instant::now() < deadline, "nothing is left of it");
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_terminal_of_the_client_is_killed_and_released() {
    let server = Scripted::new(Way::OpenAi, [calls("run_command", json!({"command": "true"}))]);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::Gate);
    client.ignores = vec!["terminal/wait_for_exit"];
    let session = client.open(&place);
    let id = client.send_prompt(&session, "go");
    client.until("it waits", |message| message["method"] == "terminal/wait_for_exit");
    client.notify("session/cancel", json!({"sessionId": session}));
    let released = |message: &Value| message["method"] == "terminal/release";
    assert_eq!(client.answer(id)["result"]["stopReason"], "cancelled");
    if client.asked_for("terminal/release").is_empty() {
        client.until("it is released", released);
    }
    assert_eq!(client.asked_for("terminal/kill").len(), 1);
}

#[test]
fn a_terminal_that_the_client_makes_after_all_is_killed_and_released() {
    let server = Scripted::new(Way::OpenAi, [calls("run_command", json!({"command": "true"}))]);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::Gate);
    client.ignores = vec!["terminal/create"];
    let session = client.open(&place);
    let id = client.send_prompt(&session, "go");
    client.until("a terminal is wanted", |message| message["method"] == "terminal/create");
    client.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.answer(id)["result"]["stopReason"], "cancelled");
    let wanted = client.left.remove(0);
    // This client knows nothing of calling back.
    client.send(&json!({"jsonrpc": "2.0", "id": wanted["id"], "result": {"terminalId": "late"}}));
    client.until("it is released", |message| message["method"] == "terminal/release");
    for method in ["terminal/kill", "terminal/release"] {
        let asked: Vec<_> = client.asked_for(method).iter().map(|params| params["terminalId"].clone()).collect();
        assert_eq!(asked, [json!("late")], "{method}");
    }
}

#[test]
fn a_second_prompt_waits_and_is_answered_in_turn() {
    let server = Scripted::new(Way::OpenAi, [Says::Nothing, Says::Text(&["second"])]);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
    let session = client.open(&place);
    let first = client.send_prompt(&session, "first");
    server.asked();
    let second = client.send_prompt(&session, "second");
    client.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.answer(first)["result"]["stopReason"], "cancelled");
    assert_eq!(client.answer(second)["result"]["stopReason"], "end_turn");
    assert_eq!(client.text(), "second");
    let asked = server.asked();
    assert!(asked.last()["content"].as_str().unwrap().ends_with("second"), "{asked:?}");
}

#[test]
fn whoever_hangs_up_ends_the_agent_and_what_it_runs() {
    let line = "echo $$ > shell; sleep 1000";
    let server = Scripted::new(Way::OpenAi, [calls("run_command", json!({"command": line}))]);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::Nothing);
    let session = client.open(&place);
    client.send_prompt(&session, "go");
    client.until("a question", |message| message["method"] == "session/request_permission");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let shell = || std::fs::read_to_string(place.work().join("shell")).unwrap_or_default();
    while shell().trim().is_empty() {
        assert!(std::time::Instant::now() < deadline, "the command starts");
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
    assert_eq!(client.hang_up(), Some(0));
    while is_alive(&shell()) {
        assert!(std::time::Instant::now() < deadline, "nothing is left of it");
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
}
