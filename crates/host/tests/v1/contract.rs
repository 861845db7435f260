//! The door obeys its own description: every operation is run through the real program, and what it answers is held
//! against `/v1/openapi.json`, bodies included.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::caller::{Caller, Reply};
use super::host::Place;

/// The description, and which of its operations were tried.
struct Contract {
    document: Value,
    tried: BTreeSet<(String, String)>,
}

impl Contract {
    fn of(caller: &Caller) -> Self {
        Self { document: caller.get("/v1/openapi.json").expect(200), tried: BTreeSet::new() }
    }

    /// What of the document an operation is.
    fn operation(&mut self, method: &str, path: &str) -> Value {
        let (method, path) = (method.to_lowercase(), path.split('?').next().unwrap());
        let fits = |known: &str| {
            let (mut known, mut path) = (known.split('/'), path.split('/'));
            known.all(|part| path.next().is_some_and(|asked| part.starts_with('{') || part == asked))
                && path.next().is_none()
        };
        let paths = self.document["paths"].as_object().unwrap();
        // A path without names counts more than one with them.
        let found = paths.keys().filter(|known| fits(known)).min_by_key(|known| known.matches('{').count());
        let known = found.unwrap_or_else(|| panic!("{path} is not described")).clone();
        let operation = self.document["paths"][&known][&method].clone();
        assert!(operation.is_object(), "{method} {path} is not described");
        self.tried.insert((known, method));
        operation
    }

    fn valid(&self, schema: &Value, value: &Value) {
        let mut whole = schema.clone();
        whole["components"] = self.document["components"].clone();
        if let Err(error) = jsonschema::validator_for(&whole).unwrap().validate(value) {
            panic!("{error} at {}: {value}", error.instance_path());
        }
    }

    /// Holds an answer against the description.
    fn check(&mut self, method: &str, path: &str, sent: Option<&Value>, reply: Reply) -> Reply {
        let operation = self.operation(method, path);
        let good = reply.status < 300;
        let responses = &operation["responses"];
        let response = responses.get(reply.status.to_string()).or_else(|| responses.get("default").filter(|_| !good));
        let response = response.unwrap_or_else(|| panic!("{method} {path}: {} is not described", reply.status));
        if let (true, Some(sent)) = (good, sent) {
            self.valid(&operation["requestBody"]["content"]["application/json"]["schema"], sent);
        }
        match response["content"].get("application/json") {
            Some(json) => {
                assert_eq!(reply.header("content-type"), Some("application/json"), "{method} {path}");
                self.valid(&json["schema"], &reply.json());
            }
            None if response["content"].is_null() => assert!(reply.body.is_empty(), "{method} {path}"),
            None => {}
        }
        reply
    }

    fn call(&mut self, caller: &Caller, method: &str, path: &str, sent: Option<Value>) -> Reply {
        let body = sent.as_ref().map(Value::to_string).unwrap_or_default();
        let headers: &[(&str, &str)] = if sent.is_some() { &[("Content-Type", "application/json")] } else { &[] };
        let reply = caller.raw(method, path, headers, body.as_bytes());
        self.check(method, path, sent.as_ref(), reply)
    }

    /// Holds an event against the description of events and of its payload.
    fn event(&self, operation: &Value, event: &Value) {
        self.valid(&operation["responses"]["200"]["content"]["text/event-stream"]["x-data"], event);
        let kind = event["type"].as_str().unwrap();
        let payload = self.document["x-payloads"].get(kind).unwrap_or_else(|| panic!("{kind} is not described"));
        if let Err(error) = jsonschema::validator_for(payload).unwrap().validate(&event["payload"]) {
            panic!("{kind}: {error}: {event}");
        }
    }
}

#[test]
fn every_operation_answers_as_it_is_described() {
    let place = Place::new();
    std::fs::write(place.workspace().join("a.txt"), "text\n").unwrap();
    let host = place.serve();
    let caller = Caller::new(&host);
    let mut contract = Contract::of(&caller);
    let all = contract.document["paths"].as_object().unwrap().iter().flat_map(|(path, methods)| {
        methods.as_object().unwrap().keys().map(|method| (path.clone(), method.clone())).collect::<Vec<_>>()
    });
    let all: BTreeSet<(String, String)> = all.collect();

    contract.call(&caller, "GET", "/v1/health", None).expect(200);
    contract.call(&caller, "GET", "/v1/openapi.json", None).expect(200);
    let wanted = json!({ "agent": "demo", "task": "demo: run", "permission_mode": "ask" });
    let created = contract.call(&caller, "POST", "/v1/sessions", Some(wanted)).expect(201);
    let session = format!("/v1/sessions/{}", created["session_id"].as_str().unwrap());
    contract.call(&caller, "GET", "/v1/sessions?limit=1", None).expect(200);
    contract.call(&caller, "GET", &session, None).expect(200);
    let input = format!("{session}/input");
    contract.call(&caller, "POST", &input, Some(json!({ "content": "hello", "message_id": "m" }))).expect(202);
    contract.call(&caller, "POST", &input, Some(json!({ "content": "other", "message_id": "m" }))).expect(409);
    let upload = caller.upload(&session, &[("n.md", b"x")]);
    contract.check("POST", &format!("{session}/attachments"), None, upload).expect(200);

    let events = contract.operation("GET", &format!("{session}/events"));
    let mut stream = caller.events(&session, "?replay=true", None).unwrap();
    let asked = stream.until("permission_request");
    let request = asked.last().unwrap()["payload"]["request_id"].clone();
    let command = format!("{session}/command");
    let decision = json!({ "request_id": request, "decision": "deny-once" });
    let decide = json!({ "command": "permission_decision", "payload": decision });
    contract.call(&caller, "POST", &command, Some(decide)).expect(202);
    let (first, second) = (stream.until("run_finished"), stream.until("run_finished"));
    asked.iter().chain(&first).chain(&second).for_each(|event| contract.event(&events, event));
    contract.call(&caller, "POST", &command, Some(json!({ "command": "stop" }))).expect(202);

    for (path, status) in [
        ("files?path=", 200),
        ("files?path=..", 400),
        ("files/content?path=a.txt", 200),
        ("files/content?path=b.txt", 404),
        ("download?artifact=events/1.json", 200),
        ("download?artifact=no", 404),
        ("events?from_id=no", 409),
    ] {
        let path = format!("{session}/{path}");
        assert_eq!(contract.call(&caller, "GET", &path, None).status, status, "{path}");
    }
    for (method, path, sent) in [
        ("GET", "/v1/sessions?before=x", None),
        ("GET", "/v1/sessions/999", None),
        ("GET", "/v1/sessions/999/files", None),
        ("GET", "/v1/sessions/999/events", None),
        ("POST", "/v1/sessions", Some(json!({ "permission_mode": 1 }))),
        ("POST", "/v1/sessions/999/input", Some(json!({ "content": "x" }))),
        ("POST", "/v1/sessions/999/command", Some(json!({ "command": "stop" }))),
        ("POST", "/v1/sessions/999/attachments", Some(json!({}))),
        ("DELETE", "/v1/sessions/999", None),
    ] {
        let refused = contract.call(&caller, method, path, sent);
        assert!(refused.status >= 400, "{method} {path}: {}", refused.status);
    }
    contract.call(&caller, "DELETE", &session, None).expect(204);
    assert_eq!(contract.tried, all, "every operation is tried");
}
