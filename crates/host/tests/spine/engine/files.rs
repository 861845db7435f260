//! Files of a session elsewhere: what the engine gives away comes through this host, what the log says comes from it.

use serde_json::{Value, json};

use super::super::v1::caller::Caller;
use super::super::view::View;
use super::stand::Engine;

#[test]
fn what_the_engine_gives_away_is_fetched_through_the_host_and_only_saved() {
    let engine = Engine::start(&[]);
    let place = engine.place("");
    let host = place.serve();
    let caller = Caller::new(&host);
    let created = caller.post("/v1/sessions", &json!({ "agent": "e" })).expect(201);
    let session = format!("/v1/sessions/{}", created["session_id"].as_str().unwrap());
    let mut stream = caller.events(&session, "?replay=true", None).unwrap();
    caller.post(&format!("{session}/input"), &json!({ "content": "say 2" })).expect(202);
    stream.until("run_finished");
    let download = |artifact: &str| caller.get(&format!("{session}/download?artifact={artifact}"));
    let given = download("out/data.bin");
    assert_eq!((given.status, given.body), (200, [0, 0xff].repeat(1000)));
    let kept = |name: &str| given.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    assert_eq!(kept("content-type"), Some("application/octet-stream"), "the engine says that it is a page");
    assert!(kept("content-disposition").unwrap().starts_with("attachment; filename=\"data.bin\""));
    assert_eq!(download("out/none").status, 404);
    let huge = download("out/huge.bin");
    assert!(huge.status >= 400 && huge.text().contains("16777216"), "{}: {}", huge.status, huge.text());
    let log = download("log.jsonl");
    let lines: Vec<Value> = log.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said = |line: &Value| line["source"]["type"] == "run_finished";
    assert!(log.status == 200 && lines.iter().any(said), "the log is the one that is kept here");
}

async fn ask(view: &mut View, id: &str, method: &str, params: Value) -> Value {
    view.send(json!({"v": 1, "kind": "req", "id": id, "method": method, "params": params})).await;
    view.wait_for(method, |told| told["kind"] == "res" && told["id"] == id).await
}

#[tokio::test]
async fn a_sidebar_gets_a_link_to_it_and_changes_by_the_log() {
    let engine = Engine::start(&[]);
    let place = engine.place("");
    let host = place.serve();
    let caller = Caller::new(&host);
    let created = caller.post("/v1/sessions", &json!({ "agent": "e" })).expect(201);
    let session = created["session_id"].as_str().unwrap();
    let path = format!("/v1/sessions/{session}");
    let mut stream = caller.events(&path, "?replay=true", None).unwrap();
    caller.post(&format!("{path}/input"), &json!({ "content": "edit" })).expect(202);
    let asked = stream.until("permission_request").pop().unwrap();
    let payload = json!({ "request_id": asked["payload"]["request_id"], "decision": "allow-once" });
    caller
        .post(&format!("{path}/command"), &json!({ "command": "permission_decision", "payload": payload }))
        .expect(202);
    stream.until("run_finished");

    let mut view = View::connect_in("bb", host.address(), host.token()).await;
    let of = |more: &[(&str, &str)]| {
        let mut params = json!({ "sessionId": session });
        more.iter().for_each(|(name, value)| params[*name] = json!(value));
        params
    };
    let given = ask(&mut view, "1", "bb.downloadArtifact", of(&[("artifactPath", "out/data.bin")])).await;
    let given = &given["result"];
    assert_eq!((&given["name"], &given["size"]), (&json!("data.bin"), &json!(2000)), "{given}");
    for _ in 0..2 {
        let fetched = caller.get(given["url"].as_str().unwrap());
        assert_eq!((fetched.status, fetched.body), (200, [0, 0xff].repeat(1000)));
    }
    let change = ask(&mut view, "2", "bb.openDiff", of(&[("filePath", "a.txt")])).await;
    assert_eq!(change["result"]["diff"], "-old\n+new\n", "{change}");
    let revisions = of(&[("filePath", "a.txt"), ("beforeRef", "HEAD")]);
    let refused = ask(&mut view, "3", "bb.openDiff", revisions).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("does not compare revisions"), "{refused}");
}
