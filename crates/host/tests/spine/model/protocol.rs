//! The protocol itself: one answer to every request, and broken input that breaks nothing.

use agent_client_protocol_schema::v1::{InitializeResponse, ListSessionsResponse, NewSessionResponse, PromptResponse};
use serde_json::{Value, json};

use super::client::{Client, Offers, Place};
use super::scripted::{Says, Scripted, Way};

fn typed<T: serde::de::DeserializeOwned>(answer: &Value) -> T {
    serde_json::from_value(answer["result"].clone()).unwrap_or_else(|error| panic!("{answer}: {error}"))
}

#[test]
fn answers_are_what_the_protocols_own_types_say() {
    let server = Scripted::new(Way::OpenAi, [Says::Text(&["hi"])]);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
    let about: InitializeResponse = typed(&client.call("initialize", json!({"protocolVersion": 1})));
    assert!(about.agent_capabilities.load_session && about.agent_capabilities.prompt_capabilities.image);
    let sessions = &about.agent_capabilities.session_capabilities;
    assert!(sessions.list.is_some() && sessions.resume.is_some() && sessions.close.is_some());
    let opened: NewSessionResponse = typed(&client.call("session/new", json!({"cwd": place.work(), "mcpServers": []})));
    assert_eq!(opened.modes.unwrap().available_modes.len(), 4);
    assert_eq!(opened.config_options.unwrap().len(), 1);
    let _: PromptResponse = typed(&client.prompt(&opened.session_id.to_string(), "hello"));
    let listed: ListSessionsResponse = typed(&client.call("session/list", json!({})));
    assert_eq!(listed.sessions.len(), 1);
    let commands = client.updates("available_commands_update");
    let names: Vec<_> = commands[0]["availableCommands"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert!(names.contains(&&json!("help")) && names.contains(&&json!("compact")), "{names:?}");
}

#[test]
fn what_is_broken_unknown_or_too_large_gets_its_error_and_the_link_lives() {
    let server = Scripted::new(Way::OpenAi, []);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
    let error = |message: &Value| message["error"]["code"].is_i64();
    client.send_text("{\"jsonrpc\":");
    assert_eq!(client.until("an error", error)["error"]["code"], -32700);
    client.send_text("[]");
    assert_eq!(client.until("an error", error)["error"]["code"], -32600);
    client.send_text(&format!("\"{}\"", "x".repeat(17 * 1024 * 1024)));
    assert_eq!(client.until("an error", error)["error"]["code"], -32600);
    assert_eq!(client.call("session/fork", json!({}))["error"]["code"], -32601);
    assert_eq!(client.call("session/prompt", json!({"sessionId": 7}))["error"]["code"], -32602);
    assert_eq!(client.call("session/new", json!({}))["error"]["code"], -32602);
    client.notify("session/cancel", json!({"sessionId": "nobody"}));
    client.notify("no/such/thing", json!({}));
    client.send(&json!({"jsonrpc": "2.0", "id": 99, "result": {}}));
    let nobody = client.prompt("nobody", "hi");
    assert!(nobody["error"]["message"].as_str().unwrap().contains("no open session `nobody`"), "{nobody}");
    assert!(client.pid() > 0);
}

#[test]
fn so_many_sessions_and_no_more() {
    let server = Scripted::new(Way::OpenAi, []);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
    let all: Vec<_> = (0..64).map(|_| client.open(&place)).collect();
    let refused = client.call("session/new", json!({"cwd": place.work(), "mcpServers": []}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("close one first"), "{refused}");
    client.call("session/close", json!({"sessionId": all[0]}));
    client.open(&place);
}
