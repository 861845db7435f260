//! What goes wrong with a server, in words that a person can act on.

use std::io::{BufRead as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::client::{Client, Offers, Place};
use super::scripted::{Says, Scripted, Way};

fn failure(done: &Value) -> &str {
    done["error"]["message"].as_str().unwrap_or_else(|| panic!("it did not fail: {done}"))
}

/// The answer to one prompt.
fn prompted(server: &Scripted, args: &[&str]) -> (Client, Value) {
    let place = Place::new();
    let mut all = vec!["--base-url", ""];
    let url = server.url();
    all[1] = &url;
    all.extend(args);
    let mut client = Client::start(&place, &all, Offers::All);
    let session = client.open(&place);
    let done = client.prompt(&session, "go");
    (client, done)
}

#[test]
fn a_server_that_is_not_there_is_named_and_one_that_comes_later_works() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let place = Place::new();
    let mut client =
        Client::start(&place, &["--base-url", &format!("http://{address}"), "--model", "small"], Offers::All);
    let session = client.open(&place);
    let done = client.prompt(&session, "go");
    assert!(failure(&done).contains(&address.to_string()), "{done}");
    let server = Scripted::at(TcpListener::bind(address).unwrap(), Way::OpenAi, None, [Says::Text(&["here now"])]);
    let done = client.prompt(&session, "again");
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    assert_eq!(client.text(), "here now");
    let options = client.updates("config_option_update");
    assert_eq!(options.last().unwrap()["configOptions"][0]["options"].as_array().unwrap().len(), 2);
    assert_eq!(server.rest().len(), 1);
}

#[test]
fn a_wrong_token_is_said_without_the_token() {
    let server = Scripted::with_token(Way::OpenAi, Some("right-token"), []);
    let place = Place::new();
    let wrong = |command: &mut std::process::Command| {
        command.env("SWITCHBOARD_MODEL_TOKEN", "canary-wrong-token");
    };
    let mut client = Client::start_with(&place, &["--base-url", &server.url()], Offers::All, wrong);
    let session = client.open(&place);
    let done = client.prompt(&session, "go");
    assert!(failure(&done).to_lowercase().contains("token"), "{done}");
    assert!(!client.told.iter().any(|told| told.to_string().contains("canary")), "{:#?}", client.told);
}

#[test]
fn a_model_that_is_not_there_is_said_with_those_that_are() {
    let refusal = Says::Status(404, "", r#"{"error":"model 'nobody' not found"}"#);
    let server = Scripted::new(Way::Ollama, [refusal]);
    let (_, done) = prompted(&server, &["--model", "nobody"]);
    let message = failure(&done);
    assert!(
        message.contains("nobody") && message.contains("small:latest") && message.contains("other:7b"),
        "{message}"
    );
}

#[test]
fn a_busy_server_is_asked_again_when_it_says_so() {
    let busy = Says::Status(429, "Retry-After: 1\r\n", r#"{"error":{"message":"slow down"}}"#);
    let server = Scripted::new(Way::OpenAi, [busy, Says::Text(&["at last"])]);
    let (client, done) = prompted(&server, &[]);
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    assert_eq!(client.text(), "at last");
    assert_eq!(server.rest().len(), 2);
}

#[test]
fn what_was_said_before_a_stream_broke_off_is_kept() {
    let script = [Says::BreaksOff("half a "), Says::BreaksOff("sentence"), Says::BreaksOff("x"), Says::BreaksOff("y")];
    let server = Scripted::new(Way::OpenAi, script);
    let (client, done) = prompted(&server, &[]);
    assert!(client.text().starts_with("half a "), "{}", client.text());
    let message = failure(&done);
    assert!(message.to_lowercase().contains("broke"), "{message}");
}

#[test]
fn a_model_without_tools_is_asked_in_words() {
    let refusal = Says::Status(400, "", r#"{"error":"registry.ollama.ai/library/small does not support tools"}"#);
    let server = Scripted::new(Way::Ollama, [refusal, Says::Text(&["plain words"])]);
    let (client, done) = prompted(&server, &[]);
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    assert_eq!(client.text(), "plain words");
    let (first, second) = (server.asked(), server.asked());
    assert!(!first.tools().is_empty() && second.tools().is_empty());
}

#[test]
fn a_server_that_only_lists_as_ollama_does_is_asked_as_openai_does() {
    let server = Scripted::new(Way::LlamaCpp, [Says::Text(&["here"])]);
    let (client, done) = prompted(&server, &[]);
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    assert_eq!(client.text(), "here");
    assert_eq!(server.asked().body["model"], "one.gguf");
}

#[test]
fn what_is_no_server_of_models_is_said_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            use std::io::{Read as _, Write as _};
            let mut socket = socket;
            let _ = socket.read(&mut [0; 4096]);
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
        }
    });
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &format!("http://{address}")], Offers::All);
    let session = client.open(&place);
    let done = client.prompt(&session, "go");
    assert!(failure(&done).contains("no server of models"), "{done}");
    let help =
        client.call("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": "/help"}]}));
    assert_eq!(help["result"]["stopReason"], "end_turn", "a command needs no server: {help}");
}

#[test]
fn a_server_that_still_loads_is_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let is_loaded = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_loaded);
    let loading = std::thread::spawn(move || {
        let body = r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#;
        // Until a question has failed for it.
        while !told.load(Ordering::SeqCst) {
            let (mut link, _) = listener.accept().unwrap();
            let mut lines = std::io::BufReader::new(link.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close";
            let _ = write!(link, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        }
        Scripted::at(listener, Way::OpenAi, None, [Says::Text(&["loaded"])])
    });
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &url, "--model", "small"], Offers::All);
    let session = client.open(&place);
    let prompt = client.send_prompt(&session, "go");
    client.until("that it is asked again", |told| told.to_string().contains("Asking again"));
    is_loaded.store(true, Ordering::SeqCst);
    let done = client.answer(prompt);
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    assert_eq!(client.text(), "loaded");
    assert_eq!(loading.join().unwrap().rest().len(), 1);
}
