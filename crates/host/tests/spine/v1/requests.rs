//! Sessions, prompts and commands by plain requests, the good and the bad.

use serde_json::json;

use super::super::host::Place;
use super::caller::{Caller, answer_in, contiguous};

#[test]
fn a_session_is_opened_asked_listed_and_deleted() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let health = caller.get("/v1/health").expect(200);
    assert_eq!((&health["status"], &health["protocol_version"]), (&json!("ok"), &json!("1.0")));
    assert_eq!(health["features"]["message_id"], true);

    let session = caller.open();
    let sent = caller.post(&format!("{session}/input"), &json!({ "content": "demo: echo hello", "message_id": "m-1" }));
    let sent = sent.expect(202);
    let answer = json!({ "turn_id": "m-1", "turn": 1, "queued": false, "position": 0, "message_id": "m-1" });
    assert_eq!(sent, answer);
    let mut stream = caller.events(&session, "?replay=true", None).unwrap();
    let events = stream.until("run_finished");
    assert_eq!(contiguous(&events).0, 1);
    assert_eq!(answer_in(&events), "hello");
    let end = events.last().unwrap();
    assert_eq!(end["payload"], json!({ "message_id": "m-1", "reason": "completed" }));
    assert_eq!((&end["turn"], &end["session_id"]), (&json!(1), &json!(session.rsplit('/').next().unwrap())));

    let listed = caller.get("/v1/sessions").expect(200);
    assert_eq!(listed["sessions"][0]["session_id"], end["session_id"]);
    assert_eq!(listed["sessions"][0]["status"], "idle");
    assert_eq!(caller.get(&session).expect(200)["agent"], "demo");
    caller.delete(&session).expect(204);
    assert!(stream.until("switchboard.session_closed").len() <= 2);
    assert_eq!(stream.next(), None, "the stream of a deleted session ends");
    assert_eq!(caller.get(&session).expect(404)["code"], "not_found");
    assert_eq!(caller.delete(&session).expect(404)["code"], "not_found");
    assert_eq!(caller.get("/v1/sessions").expect(200)["sessions"], json!([]));
}

#[test]
fn an_input_that_is_sent_twice_runs_once_and_gets_the_same_answer() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    let input = json!({ "content": "demo: echo once", "message_id": "same", "unknown_field": [1] });
    let first = caller.post(&format!("{session}/input"), &input).expect(202);
    let mut stream = caller.events(&session, "?replay=true", None).unwrap();
    stream.until("run_finished");
    let again = caller.post(&format!("{session}/input"), &input).expect(202);
    assert_eq!((&first["turn_id"], &first["message_id"]), (&again["turn_id"], &again["message_id"]));
    let other = json!({ "content": "demo: echo other", "message_id": "same" });
    assert_eq!(caller.post(&format!("{session}/input"), &other).expect(409)["code"], "conflict");
    caller.post(&format!("{session}/input"), &json!({ "content": "demo: echo next" })).expect(202);
    let next = stream.until("run_finished");
    assert_eq!(answer_in(&next), "next", "nothing of the second sending came before it");
}

#[test]
fn questions_are_answered_once_and_an_unknown_decision_is_no_answer() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    let command = format!("{session}/command");
    caller.post(&format!("{session}/input"), &json!({ "content": "demo: approve" })).expect(202);
    let mut stream = caller.events(&session, "?replay=true", None).unwrap();
    let asked = stream.until("permission_request").pop().unwrap();
    let request = asked["payload"]["request_id"].clone();
    let decide = |decision: &str| {
        let payload = json!({ "request_id": request, "decision": decision });
        caller.post(&command, &json!({ "command": "permission_decision", "payload": payload }))
    };
    assert_eq!(caller.get(&session).expect(200)["status"], "awaiting_approval");
    let refused = decide("allow_rule").expect(400);
    assert_eq!(refused["code"], "bad_request");
    assert!(refused["details"]["known"].as_array().unwrap().contains(&json!("allow-once")));
    assert_eq!(caller.get(&session).expect(200)["pending_permissions"], 1, "nothing was answered");
    assert_eq!(decide("allow_once").expect(202)["status"], "applied");
    let second = decide("deny-once").expect(202);
    assert_eq!((&second["status"], &second["detail"]["decision"]), (&json!("already_resolved"), &json!("allow-once")));
    let answered = stream.until("run_finished");
    let response = answered.iter().find(|event| event["type"] == "permission_response").unwrap();
    assert_eq!(response["payload"]["decision"], "allow-once");
}

#[test]
fn what_runs_is_stopped_and_what_there_is_not_is_refused() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    let command = format!("{session}/command");
    let stop = || caller.post(&command, &json!({ "command": "stop" })).expect(202);
    assert_eq!(stop(), json!({ "status": "accepted", "detail": { "stopped": false } }));
    caller.post(&format!("{session}/input"), &json!({ "content": "demo: slow 100000" })).expect(202);
    let mut stream = caller.events(&session, "?replay=true", None).unwrap();
    stream.until("assistant_delta");
    assert_eq!(stop()["detail"]["stopped"], true);
    assert_eq!(stream.until("run_finished").last().unwrap()["payload"]["reason"], "cancelled");

    for (path, body, status) in [
        (command.as_str(), json!({ "command": "restore_checkpoint" }), 400),
        (&command, json!({ "payload": {} }), 400),
        (&command, json!({ "command": "stop", "payload": [] }), 400),
        (&command, json!({ "command": "set_model" }), 400),
        (&command, json!({ "command": "permission_decision", "payload": { "decision": "allow-once" } }), 400),
        (
            &command,
            json!({ "command": "permission_decision", "payload": { "request_id": "x", "decision": "deny-once" } }),
            400,
        ),
        (&format!("{session}/input"), json!({}), 400),
        (&format!("{session}/input"), json!({ "content": 7 }), 400),
        (&format!("{session}/input"), json!({ "content": "" }), 400),
        (&format!("{session}/input"), json!({ "content": "x", "message_id": "y".repeat(129) }), 400),
        (&format!("{session}/input"), json!({ "content": "x", "attachments": ["att-0000000000"] }), 404),
        ("/v1/sessions/999/input", json!({ "content": "x" }), 404),
        ("/v1/sessions/x/input", json!({ "content": "x" }), 404),
        ("/v1/sessions", json!({ "agent": "nobody" }), 404),
        ("/v1/sessions", json!({ "permission_mode": "yolo" }), 400),
        ("/v1/sessions", json!({ "workspace": "relative" }), 400),
        ("/v1/sessions", json!({ "workspace": "/no/such/folder" }), 404),
    ] {
        let reply = caller.post(path, &body);
        let (got, text) = (reply.status, reply.text());
        let refusal = reply.json();
        assert!(refusal["code"].is_string() && refusal["message"].is_string(), "{path} {body}: {text}");
        // Which of the two an agent that is not there is, is the host's to say.
        let fits = got == status || (body.get("agent").is_some() && matches!(got, 400 | 404 | 503));
        assert!(fits, "{path} {body}: {got} {text}");
    }
    assert_eq!(caller.get(&session).expect(200)["status"], "idle");
}

#[test]
fn bodies_that_are_no_json_too_large_or_of_another_type_are_refused_and_change_nothing() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    let input = format!("{session}/input");
    let json_type = [("Content-Type", "application/json; charset=utf-8")];
    for body in ["{", "[]", "\"x\"", "null", "{\"content\":\"x\"} x", "{\"content\":\"\\ud800\"}"] {
        let refusal = caller.raw("POST", &input, &json_type, body.as_bytes());
        assert_eq!(refusal.expect(400)["code"], "bad_request", "{body}");
    }
    let deep = format!("{{\"command\":\"x\",\"payload\":{{\"a\":{}{}}}}}", "[".repeat(200), "]".repeat(200));
    let command = format!("{session}/command");
    assert_eq!(caller.raw("POST", &command, &json_type, deep.as_bytes()).expect(400)["code"], "bad_request");
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    assert_eq!(caller.raw("POST", &input, &form, b"{}").expect(415)["code"], "unsupported_media_type");
    let large = format!("{{\"content\":\"{}\"}}", "x".repeat(16 * 1024 * 1024));
    assert_eq!(caller.raw("POST", &input, &json_type, large.as_bytes()).expect(413)["code"], "too_large");
    assert_eq!(caller.raw("PUT", &input, &json_type, b"{}").expect(405)["code"], "method_not_allowed");
    assert_eq!(caller.get("/v1/nothing").expect(404)["code"], "not_found");
    let log = caller.get(&format!("{session}/download?artifact=log.jsonl"));
    assert_eq!(log.text().lines().filter(|line| line.contains("promptQueued")).count(), 0);
}

#[test]
fn the_list_of_sessions_is_read_page_by_page() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let mut opened: Vec<String> = (0..5).map(|_| caller.open()).collect();
    let (mut listed, mut path) = (Vec::new(), "/v1/sessions?limit=2".to_owned());
    loop {
        let page = caller.get(&path).expect(200);
        let sessions = page["sessions"].as_array().unwrap();
        assert!(sessions.len() <= 2);
        listed
            .extend(sessions.iter().map(|session| format!("/v1/sessions/{}", session["session_id"].as_str().unwrap())));
        match page["next"].as_str() {
            Some(next) => path = format!("/v1/sessions?limit=2&before={next}"),
            None => break,
        }
    }
    opened.sort();
    listed.sort();
    assert_eq!(listed, opened);
    assert_eq!(caller.get("/v1/sessions?before=x").expect(400)["code"], "bad_request");
    assert_eq!(caller.get("/v1/sessions?limit=x").expect(400)["code"], "bad_request");
}
