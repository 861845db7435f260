//! What the command line asks of a running host, and the answers that it gets.

use serde_json::{Value, json};
use switchboard_host::link::{Trust, ViewInput};
use switchboard_host::store::Store as _;
use switchboard_types::{Change, Commit, Rule, RuleEffect, RuleWhat, Ticket, Time};

use crate::http::Request;
use crate::world::{TOKEN, World};

fn body(root: &std::path::Path, trust: &str) -> String {
    json!({"root": root, "trust": trust}).to_string()
}

#[tokio::test]
async fn a_fresh_login_link_is_handed_out_and_works() {
    let world = World::new().await;
    let answer = world.post("/control/login", "").send(world.address).await;
    let said: Value = serde_json::from_str(&answer.body).unwrap();
    let target = said["login"].as_str().unwrap().strip_prefix(&world.origin()).unwrap();
    assert_eq!(world.get(target).send(world.address).await.status, 303);
}

#[tokio::test]
async fn trust_reaches_the_host_with_the_folder_resolved_and_is_answered_when_it_says_so() {
    let mut world = World::new().await;
    let home = tempfile::tempdir().unwrap();
    let real = home.path().canonicalize().unwrap();
    for (word, wanted, outcome, status) in [
        ("trusted", Trust::Trusted, Ok(()), 200),
        ("untrusted", Trust::Untrusted, Ok(()), 200),
        ("trusted", Trust::Trusted, Err("the disk is full; make room".to_owned()), 500),
    ] {
        let asked = tokio::spawn(world.post("/control/trust", &body(&real.join("."), word)).send(world.address));
        let ViewInput::Trust { root, trust, answer } = world.input().await else { panic!("no trust") };
        assert_eq!((root.as_str(), trust), (real.to_str().unwrap(), wanted));
        answer.send(outcome.clone()).unwrap();
        let answer = asked.await.unwrap();
        assert_eq!(answer.status, status);
        assert!(outcome.is_ok() || answer.body.contains("make room"), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_workspace_reaches_the_host() {
    let mut world = World::new().await;
    let home = tempfile::tempdir().unwrap();
    let real = home.path().canonicalize().unwrap();
    let asked = tokio::spawn(world.post("/control/workspace", &json!({"root": real}).to_string()).send(world.address));
    let ViewInput::AddWorkspace { root, answer } = world.input().await else { panic!("no workspace") };
    assert_eq!(root.as_str(), real.to_str().unwrap());
    answer.send(()).unwrap();
    assert_eq!(asked.await.unwrap().status, 200);
}

#[tokio::test]
async fn what_is_wrong_with_a_body_is_said_and_nothing_reaches_the_host() {
    let mut world = World::new().await;
    let large = format!("{{\"root\":\"/{}\"}}", "x".repeat(70_000));
    let cases = [
        ("/control/trust", "", 400, "bad_message"),
        ("/control/trust", "[]", 400, "bad_message"),
        ("/control/trust", r#"{"root": "/", "trust": "maybe"}"#, 400, "bad_message"),
        ("/control/trust", r#"{"root": "/", "trust": "trusted", "more": 1}"#, 400, "bad_message"),
        ("/control/workspace", r#"{"root": "relative"}"#, 400, "bad_message"),
        ("/control/workspace", r#"{"root": "/no/such/folder"}"#, 404, "not_found"),
        ("/control/workspace", &large, 413, "too_large"),
    ];
    for (path, body, status, code) in cases {
        let answer = world.post(path, body).send(world.address).await;
        let said: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!((answer.status, said["code"].as_str()), (status, Some(code)), "{path} {body:.60}");
        assert!(said["message"].as_str().is_some_and(|message| !message.is_empty()));
    }
    assert!(world.inputs.try_recv().is_err());
}

#[tokio::test]
async fn metrics_need_the_token_and_count() {
    let world = World::new().await;
    let answer = world.get("/metrics").with("Authorization", &format!("Bearer {TOKEN}")).send(world.address).await;
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("switchboard_connections_total 1\n"), "{}", answer.body);
    assert!(answer.body.contains("switchboard_connections_open 1\n"), "{}", answer.body);
}

#[tokio::test]
async fn a_websocket_door_says_what_it_wants() {
    let world = World::new().await;
    let bearer = format!("Bearer {TOKEN}");
    let plain = world.get("/ws/tabs").with("Authorization", &bearer).send(world.address).await;
    assert_eq!((plain.status, plain.header("upgrade")), (426, Some("websocket")));
    let mut head = world.get("/ws/tabs").with("Authorization", &bearer).upgrade();
    head.method = "HEAD".to_owned();
    assert_eq!(head.send(world.address).await.status, 426);
    let ask = || Request::new("GET", "/ws/tabs").with("Host", &world.host()).with("Authorization", &bearer);
    let upgrade = || ask().with("Connection", "keep-alive, Upgrade").with("Upgrade", "WebSocket");
    let old = upgrade().with("Sec-WebSocket-Version", "8").with("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    let old = old.send(world.address).await;
    assert_eq!((old.status, old.header("sec-websocket-version")), (426, Some("13")));
    let keyless = upgrade().with("Sec-WebSocket-Version", "13").send(world.address).await;
    assert_eq!(keyless.status, 400);
    let good = upgrade().with("Sec-WebSocket-Version", "13").with("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    assert_eq!(good.send(world.address).await.status, 101);
}

#[tokio::test]
async fn rules_come_from_the_store_and_are_taken_out_by_the_host() {
    let mut world = World::new().await;
    let what = RuleWhat::Edit { glob: "docs/**".to_owned() };
    let rule = Rule {
        id: "r1".into(),
        workspace: None,
        effect: RuleEffect::Deny,
        what,
        created: Time(5),
        origin: "a test".to_owned(),
    };
    let changes = vec![Change::Rule(rule.clone())];
    world.store.commit(Commit { ticket: Ticket(1), entries: Vec::new(), changes });
    let answer =
        world.get("/control/rules").with("Authorization", &format!("Bearer {TOKEN}")).send(world.address).await;
    assert_eq!(serde_json::from_str::<Value>(&answer.body).unwrap(), json!({ "rules": [rule] }));
    for (outcome, status) in [(Ok(true), 200), (Ok(false), 404), (Err("the disk is full".to_owned()), 500)] {
        let asked = tokio::spawn(world.post("/control/rules/remove", r#"{"id":"r1"}"#).send(world.address));
        let ViewInput::RemoveRule { rule, answer } = world.input().await else { panic!("no rule") };
        assert_eq!(rule, "r1".into());
        answer.send(outcome).unwrap();
        assert_eq!(asked.await.unwrap().status, status);
    }
    for body in ["", "{}", r#"{"id":3}"#, r#"{"id":"r1","more":1}"#] {
        assert_eq!(world.post("/control/rules/remove", body).send(world.address).await.status, 400, "{body}");
    }
    assert!(world.inputs.try_recv().is_err());
}
