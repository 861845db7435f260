//! An engine's token: stored by command, sent in one header to one origin, and nowhere else.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::super::host::Place;
use super::stand::Engine;

const CANARY: &str = "canary-7f3a9c51d2e84b60";

fn store(place: &Place, name: &str) {
    let mut command = place.command(&["secrets", "set", name]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{CANARY}\n").as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(!String::from_utf8_lossy(&out.stdout).contains(CANARY));
}

#[tokio::test]
async fn a_token_goes_in_one_header_to_the_engine_and_nowhere_else() {
    let engine = Engine::start(&["--token", CANARY]);
    let place = engine.place("secret = \"mine\"");
    store(&place, "mine");
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "t", "agent": "e"})).await;
    view.prompt("t", "m", "say 3").await;
    let done = view.wait_done("m").await;
    assert_eq!(done["reason"], "completed", "{done}; the host says: {}", host.log());
    let told: String = view.told.iter().map(Value::to_string).collect();
    assert!(!told.contains(CANARY), "a view was told the token");
    assert!(!host.log().contains(CANARY), "the log tells the token");
    let seen = engine.get("/_seen")["seen"].clone();
    for asked in seen.as_array().unwrap() {
        let mut headers = asked["headers"].clone();
        let sent = headers.as_object_mut().unwrap().remove("authorization");
        assert_eq!(sent, Some(json!(format!("Bearer {CANARY}"))));
        assert!(!headers.to_string().contains(CANARY) && !asked["path"].to_string().contains(CANARY));
    }
    let listed = place.command(&["secrets", "list"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains(&format!("mine  bound to http://127.0.0.1:{}", engine.port)), "{listed}");
    assert!(!listed.contains(CANARY));
}

#[tokio::test]
async fn a_token_is_not_sent_to_another_origin_and_the_error_says_so_without_it() {
    let (first, second) = (Engine::start(&[]), Engine::start(&[]));
    let table = |name: &str, engine: &Engine| {
        format!("\n[agents.{name}]\nkind = \"engine\"\nurl = \"http://127.0.0.1:{}\"\nsecret = \"mine\"\n", engine.port)
    };
    let place = Place::new().with_config(&(table("a", &first) + &table("b", &second))).trusted();
    store(&place, "mine");
    let host = place.serve();
    let mut view = host.view().await;
    for (agent, reason) in [("a", "completed"), ("b", "failed")] {
        view.send(json!({"type": "new-tab", "tabId": agent, "agent": agent})).await;
        view.prompt(agent, agent, "say 1").await;
        let done = view.wait_done(agent).await;
        assert_eq!(done["reason"], reason, "{done}");
        assert!(!done.to_string().contains(CANARY));
    }
    let told: String = view.told.iter().map(Value::to_string).collect();
    assert!(told.contains("is bound to"), "{told}");
    assert_eq!(second.get("/_seen")["seen"], json!([]), "nothing was sent to the other engine");
}
