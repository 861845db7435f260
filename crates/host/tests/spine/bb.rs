//! A sidebar over a real WebSocket: every method and topic of the dialect `bb`, both directions held against the schemas
//! that the program itself prints.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::host::{Host, Place};
use super::view::View;

/// What `switchboard schema --dialect bb` says.
struct Published {
    to_host: Validator,
    to_view: Vec<(String, Validator)>,
}

impl Published {
    fn by(place: &Place) -> Self {
        let out = place.command(&["schema", "--dialect", "bb", "--json"]).output().unwrap();
        let schema: Value = serde_json::from_slice(&out.stdout).unwrap();
        let shapes = schema["hostToView"]["anyOf"].as_array().unwrap();
        let to_view = shapes.iter().map(|shape| {
            let name = shape["title"].as_str().or(shape["properties"]["topic"]["const"].as_str()).unwrap();
            let mut whole = shape.clone();
            whole["$defs"] = schema["hostToView"]["$defs"].clone();
            (name.to_owned(), jsonschema::validator_for(&whole).unwrap())
        });
        Self { to_host: jsonschema::validator_for(&schema["viewToHost"]).unwrap(), to_view: to_view.collect() }
    }

    fn said(&self, name: &str, message: &Value) {
        let (_, check) = self.to_view.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no {name}"));
        assert!(check.is_valid(message), "{name}: {message}: {:?}", check.validate(message));
    }
}

/// A sidebar that checks all that it says and hears.
struct Sidebar {
    view: View,
    schema: Published,
    number: u64,
    /// The methods that were answered well and the topics that came.
    seen: BTreeSet<String>,
}

impl Sidebar {
    async fn open(place: &Place, host: &Host) -> Self {
        let view = View::connect_in("bb", host.address(), host.token()).await;
        Self { view, schema: Published::by(place), number: 0, seen: BTreeSet::new() }
    }

    /// Asks, and gives the whole answer.
    async fn answer(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let id = self.number.to_string();
        let message = json!({"v": 1, "kind": "req", "id": id, "method": method, "params": params});
        assert!(self.schema.to_host.is_valid(&message), "{message}");
        self.view.send(message).await;
        let answer =
            self.view.wait_for(method, |message| message["kind"] == "res" && message["id"] == id.as_str()).await;
        let name = if answer["ok"] == true { method } else { "anything" };
        self.schema.said(&format!("answer to {name}"), &answer);
        self.seen.insert(name.to_owned());
        answer
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params).await;
        assert_eq!(answer["ok"], true, "{method}: {answer}");
        answer["result"].clone()
    }

    async fn fails(&mut self, method: &str, params: Value) -> String {
        let answer = self.answer(method, params).await;
        answer["error"]["code"].as_str().unwrap_or_else(|| panic!("{method}: {answer}")).to_owned()
    }

    /// All events that came so far.
    fn events(&self) -> Vec<Value> {
        let batches = self.view.told.iter().filter(|message| message["topic"] == "bb/events");
        batches.flat_map(|batch| batch["payload"]["events"].as_array().unwrap().clone()).collect()
    }

    /// Waits for an event, whenever it came.
    async fn event(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(found) = self.events().into_iter().find(|event| holds(event)) {
                return found;
            }
            assert!(self.view.next().await.is_some(), "the link ended before {what}: {:#?}", self.view.told);
        }
    }

    async fn typed(&mut self, kind: &str) -> Value {
        self.event(kind, |event| event["type"] == kind).await
    }

    /// Holds everything that came unasked against the schemas.
    fn check(&mut self) {
        for message in &self.view.told {
            if let Some(topic) = message["topic"].as_str() {
                self.schema.said(topic, message);
                self.seen.insert(topic.to_owned());
            }
        }
    }
}

fn ids(events: &[Value]) -> Vec<String> {
    events.iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_method_of_the_conversation_and_every_topic_is_as_its_schema_says() {
    let place = Place::new().trusted();
    let host = place.serve();
    let mut sidebar = Sidebar::open(&place, &host).await;
    let init = sidebar.ask("bb.init", json!({})).await;
    assert_eq!((&init["protocolVersion"], &init["workspace"]["trusted"]), (&json!(1), &json!(true)));
    assert_eq!(init["agents"], json!([{"name": "demo", "kind": "plain"}]));
    let created = sidebar.ask("bb.createSession", json!({"permissionMode": "ask", "more": 1})).await;
    let session = created["sessionId"].as_str().unwrap().to_owned();
    let said = json!({"sessionId": session, "text": "demo: echo one two"});
    let sent = sidebar.ask("bb.sendMessage", said).await;
    assert_eq!(sent["queued"], false);
    let done = sidebar.typed("run_finished").await;
    assert_eq!((&done["payload"]["message_id"], &done["payload"]["reason"]), (&sent["turnId"], &json!("completed")));
    let text: String = sidebar
        .events()
        .iter()
        .filter(|event| event["type"] == "assistant_delta")
        .map(|event| event["payload"]["text"].as_str().unwrap().to_owned())
        .collect();
    assert!(text.contains("one two"), "{text:?}");
    // A question, answered once and for all.
    sidebar.ask("bb.sendMessage", json!({"sessionId": session, "text": "demo: approve"})).await;
    let asked = sidebar.typed("permission_request").await["payload"]["request_id"].clone();
    let answer = |decision: &str| json!({"sessionId": session, "requestId": asked, "decision": decision});
    assert_eq!(sidebar.ask("bb.approvePermission", answer("allow_once")).await["status"], "applied");
    assert_eq!(sidebar.ask("bb.approvePermission", answer("deny")).await["status"], "already_resolved");
    sidebar.event("two ends", |event| event["type"] == "run_finished" && event["turn"] == 2).await;
    // Stopping, by method and by command.
    sidebar.ask("bb.sendMessage", json!({"sessionId": session, "text": "demo: slow 500"})).await;
    sidebar.event("a third turn", |event| event["type"] == "assistant_delta" && event["turn"] == 3).await;
    assert_eq!(sidebar.ask("bb.stop", json!({"sessionId": session})).await["stopped"], true);
    sidebar.event("its end", |event| event["type"] == "run_finished" && event["turn"] == 3).await;
    let stopped = sidebar.ask("bb.command", json!({"sessionId": session, "command": "stop"})).await;
    assert_eq!(stopped, json!({"status": "accepted", "detail": {"stopped": false}}));
    // Lists, and the end.
    let listed = sidebar.ask("bb.listSessions", json!({})).await;
    assert_eq!(listed["sessions"][0]["sessionId"], session.as_str());
    sidebar.ask("bb.selectSession", json!({"sessionId": session})).await;
    assert_eq!(sidebar.ask("bb.deleteSession", json!({"sessionId": session})).await["deleted"], true);
    assert_eq!(sidebar.fails("bb.deleteSession", json!({"sessionId": session})).await, "not_found");
    assert_eq!(sidebar.fails("bb.selectSession", json!({"sessionId": "none"})).await, "not_found");
    // The state without it may come before the answers that were waited for since.
    let without = |told: &[Value]| {
        let state = told.iter().rfind(|message| message["topic"] == "bb/state");
        state.is_some_and(|state| state["payload"]["sessions"] == json!([]))
    };
    while !without(&sidebar.view.told) {
        assert!(sidebar.view.next().await.is_some(), "the link ended: {:#?}", sidebar.view.told);
    }
    sidebar.check();
    for name in ["bb/state", "bb/connection", "bb/events", "bb.stop", "bb.command", "anything"] {
        assert!(sidebar.seen.contains(name), "{name}: {:?}", sidebar.seen);
    }
}

#[tokio::test]
async fn files_changes_and_artifacts_are_as_their_schemas_say() {
    let place = Place::new();
    let lines: String = (1..=500).map(|line| format!("line {line} é\n")).collect();
    std::fs::write(place.workspace().join("long.txt"), &lines).unwrap();
    let host = place.serve();
    let mut sidebar = Sidebar::open(&place, &host).await;
    let session = sidebar.ask("bb.createSession", json!({"task": "demo: echo hi"})).await["sessionId"].clone();
    sidebar.typed("run_finished").await;
    let listed = sidebar.ask("bb.listFiles", json!({"sessionId": session, "path": "."})).await;
    let entry = json!({"name": "long.txt", "path": "long.txt", "kind": "file", "size": lines.len()});
    assert!(listed["entries"].as_array().unwrap().contains(&entry), "{listed}");
    let params = json!({"sessionId": session, "path": "long.txt", "headLines": 2, "tailLines": 1});
    let snippet = sidebar.ask("bb.readFileSnippet", params).await;
    assert_eq!((&snippet["truncated"], &snippet["totalLines"]), (&json!(true), &json!(500)));
    let content = snippet["content"].as_str().unwrap();
    assert!(content.starts_with("line 1 é\nline 2 é\n") && content.contains("line 500"), "{content}");
    let artifact = sidebar.ask("bb.downloadArtifact", json!({"sessionId": session, "artifactPath": "log.jsonl"})).await;
    let fetched = host.get(artifact["url"].as_str().unwrap(), &host.bearer());
    assert!(fetched.0.contains("turnEnded"), "{}", fetched.0);
    for path in ["..", "../..", "/etc/passwd"] {
        assert_eq!(sidebar.fails("bb.listFiles", json!({"sessionId": session, "path": path})).await, "bad_request");
    }
    let missing = json!({"sessionId": session, "artifactPath": "events/99999.json"});
    assert_eq!(sidebar.fails("bb.downloadArtifact", missing).await, "not_found");
    let gone = json!({"sessionId": session, "path": "no/such.file"});
    assert_eq!(sidebar.fails("bb.readFileSnippet", gone).await, "not_found");
    let diff = sidebar.answer("bb.openDiff", json!({"sessionId": session, "filePath": "long.txt"})).await;
    assert!(diff["ok"] == true || diff["error"]["code"] == "not_found", "{diff}");
    sidebar.check();
}

#[tokio::test]
async fn an_unknown_method_is_refused_counted_and_has_no_effect() {
    let place = Place::new();
    let host = place.serve();
    let mut sidebar = Sidebar::open(&place, &host).await;
    sidebar.ask("bb.init", json!({})).await;
    let before = sidebar.ask("bb.listSessions", json!({})).await;
    for method in ["bb.attachSession", "bb.INIT", "constructor", ""] {
        sidebar
            .view
            .send(json!({"v": 1, "kind": "req", "id": "x", "method": method, "params": {"sessionId": "1"}}))
            .await;
        let answer = sidebar.view.wait_for(method, |message| message["id"] == "x").await;
        assert_eq!(answer["error"]["code"], "method_not_found", "{answer}");
        sidebar.schema.said("answer to anything", &answer);
    }
    // What cannot be answered is dropped, and counted too.
    for text in [
        "{",
        "[]",
        "null",
        r#"{"v":1,"kind":"res","id":"x","ok":true}"#,
        r#"{"v":1,"kind":"req","id":7,"method":"bb.init"}"#,
    ] {
        sidebar.view.send_text(text).await;
    }
    sidebar.view.send(json!({"v": 2, "kind": "req", "id": "v", "method": "bb.init"})).await;
    let answer = sidebar.view.wait_for("the version", |message| message["id"] == "v").await;
    assert_eq!(answer["error"]["details"], json!({"supported": [1]}));
    assert_eq!(sidebar.ask("bb.listSessions", json!({})).await, before);
    let metrics = host.get("/metrics", &host.bearer()).0;
    assert!(metrics.contains("switchboard_protocol_violations_total{dialect=\"bb\"} 10\n"), "{metrics}");
    assert!(host.log().contains("a view broke its protocol"), "{}", host.log());
}

#[tokio::test]
async fn a_view_that_comes_back_goes_on_after_the_last_id_it_saw() {
    let place = Place::new();
    let host = place.serve();
    let mut first = Sidebar::open(&place, &host).await;
    let session = first.ask("bb.createSession", json!({})).await["sessionId"].clone();
    first.ask("bb.sendMessage", json!({"sessionId": session, "text": "demo: fast 300"})).await;
    first.typed("run_finished").await;
    let all = first.events();
    drop(first);
    host.kill_9();
    let host = place.serve();
    for seen in [0, all.len() / 2, all.len() - 1] {
        let mut again = Sidebar::open(&place, &host).await;
        again.ask("bb.selectSession", json!({"sessionId": session, "afterId": all[seen]["id"]})).await;
        let mark = format!("back-{seen}");
        again.ask("bb.sendMessage", json!({"sessionId": session, "text": format!("demo: echo {mark}")})).await;
        again
            .event("its echo", |event| {
                event["payload"]["text"].as_str().is_some_and(|text| text.contains(&mark))
                    && event["type"] == "assistant_delta"
            })
            .await;
        let got = ids(&again.events());
        assert_eq!(got[..all.len() - 1 - seen], ids(&all)[seen + 1..]);
        assert!(!again.view.told.iter().any(|message| message["payload"]["gapDetected"] == true));
        again.check();
    }
}

#[tokio::test]
async fn an_id_that_the_log_cannot_honour_is_told_as_a_gap_before_everything_comes() {
    let place = Place::new();
    let host = place.serve();
    let mut sidebar = Sidebar::open(&place, &host).await;
    let session = sidebar.ask("bb.createSession", json!({"task": "demo: echo hello"})).await["sessionId"].clone();
    sidebar.typed("run_finished").await;
    let all = ids(&sidebar.events());
    for lost in ["0000000000000001:3", "e-77", &format!("{}:999999", all[0].split(':').next().unwrap())] {
        let mut again = Sidebar::open(&place, &host).await;
        again.ask("bb.selectSession", json!({"sessionId": session, "afterId": lost})).await;
        again.typed("run_finished").await;
        assert_eq!(ids(&again.events()), all, "{lost}");
        let told = &again.view.told;
        let at = |holds: &dyn Fn(&Value) -> bool| told.iter().position(holds).unwrap_or_else(|| panic!("{told:#?}"));
        let answer = at(&|message| message["kind"] == "res");
        let gap = at(&|message| message["topic"] == "bb/connection" && message["payload"]["gapDetected"] == true);
        let events = at(&|message| message["topic"] == "bb/events");
        assert!(answer < gap && gap < events, "{told:#?}");
        again.check();
    }
}

#[tokio::test]
async fn the_token_is_in_no_frame_of_a_sidebar() {
    let place = Place::new();
    let host = place.serve();
    let mut sidebar = Sidebar::open(&place, &host).await;
    sidebar.ask("bb.init", json!({})).await;
    let session = sidebar.ask("bb.createSession", json!({"task": "demo: env"})).await["sessionId"].clone();
    sidebar.typed("run_finished").await;
    sidebar.ask("bb.selectSession", json!({"sessionId": session})).await;
    sidebar.fails("bb.deleteSession", json!({"sessionId": host.token()})).await;
    let said = serde_json::to_string(&sidebar.view.told).unwrap();
    assert!(!said.contains(host.token()), "the token went to a view");
    assert!(!host.log().contains(host.token()));
}
