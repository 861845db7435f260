//! One host as the agent of another: view → A → B → demo agent. Whichever of the two is killed, the view's log has every
//! word once.

use serde_json::{Value, json};

use super::super::host::{Host, Place, signal};
use super::caller::{Caller, Stream, answer_in, contiguous};

/// B, the host that does the work, and A, whose agent it is.
struct Chain {
    far_place: Place,
    far: Host,
    near_place: Place,
    near: Host,
}

impl Chain {
    fn new() -> Self {
        let far_place = Place::new();
        let far = far_place.serve();
        let near_place = Place::new().trusted();
        let mut set = near_place.command(&["secrets", "set", "far"]);
        let mut set = set.stdin(std::process::Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut set.stdin.take().unwrap(), far.token().as_bytes()).unwrap();
        assert!(set.wait().unwrap().success(), "the secret is set");
        near_place.configure(&format!("[agents.far]\nkind = \"engine\"\nurl = \"{}\"\nsecret = \"far\"\n", far.url()));
        let near = near_place.serve();
        Self { far_place, far, near_place, near }
    }

    /// A session at A whose agent is B; its path there.
    fn open(&self) -> String {
        let caller = Caller::new(&self.near);
        let created = caller.post("/v1/sessions", &json!({ "agent": "far" })).expect(201);
        format!("/v1/sessions/{}", created["session_id"].as_str().unwrap())
    }

    /// The events of B's only session, up to the end of its turn.
    fn at_far(&self) -> Vec<Value> {
        let caller = Caller::new(&self.far);
        let sessions = caller.get("/v1/sessions").expect(200);
        assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1, "{sessions}");
        let session = format!("/v1/sessions/{}", sessions["sessions"][0]["session_id"].as_str().unwrap());
        caller.events(&session, "?replay=true", None).unwrap().until("run_finished")
    }

    fn say(&self, session: &str, content: &str) {
        let input = json!({ "content": content, "message_id": "one" });
        Caller::new(&self.near).post(&format!("{session}/input"), &input).expect(202);
    }
}

/// Events until so many pieces of the answer have come.
fn some(stream: &mut Stream, pieces: usize) -> Vec<Value> {
    let (mut events, mut seen) = (Vec::new(), 0);
    while seen < pieces {
        let event = stream.next().expect("more of the answer");
        seen += usize::from(event["type"] == "assistant_delta");
        events.push(event);
    }
    events
}

#[test]
fn words_questions_and_files_go_through_two_hosts() {
    let chain = Chain::new();
    let (session, caller) = (chain.open(), Caller::new(&chain.near));
    let mut stream = caller.events(&session, "?replay=true", None).unwrap();
    let uploaded = caller.upload(&session, &[("notes.md", b"# Far")]).expect(200);
    let ids = [uploaded["attachments"][0]["id"].clone()];
    let input = json!({ "content": "demo: approve", "attachments": ids, "message_id": "one" });
    caller.post(&format!("{session}/input"), &input).expect(202);
    let asked = stream.until("permission_request").pop().unwrap();
    let payload = json!({ "request_id": asked["payload"]["request_id"], "decision": "allow-once" });
    let decide = json!({ "command": "permission_decision", "payload": payload });
    assert_eq!(caller.post(&format!("{session}/command"), &decide).expect(202)["status"], "applied");
    let end = stream.until("run_finished").pop().unwrap();
    assert_eq!(end["payload"]["reason"], "completed");
    let far = chain.at_far();
    let response = far.iter().find(|event| event["type"] == "permission_response").unwrap();
    assert_eq!(response["payload"]["decision"], "allow-once");
    let far_session = far[0]["session_id"].as_str().unwrap();
    let log = Caller::new(&chain.far).get(&format!("/v1/sessions/{far_session}/download?artifact=log.jsonl")).text();
    assert!(log.contains("# Far"), "the attachment came along");
    std::fs::write(chain.far_place.workspace().join("made.txt"), "made far away").unwrap();
    let made = caller.get(&format!("{session}/download?artifact=files%2Fmade.txt"));
    assert_eq!((made.status, made.text().as_str()), (200, "made far away"));
}

#[test]
fn the_near_host_is_killed_in_the_middle_and_nothing_is_lost_or_doubled() {
    let mut chain = Chain::new();
    let session = chain.open();
    let mut stream = Caller::new(&chain.near).events(&session, "?replay=true", None).unwrap();
    chain.say(&session, "demo: slow 60");
    let mut events = some(&mut stream, 10);
    signal(chain.near.pid(), "KILL");
    chain.near = chain.near_place.serve();
    let last = events.last().unwrap()["id"].as_str().unwrap().to_owned();
    let mut stream = Caller::new(&chain.near).events(&session, "", Some(&last)).unwrap();
    events.extend(stream.until("run_finished"));
    contiguous(&events);
    assert_eq!(events.last().unwrap()["payload"]["reason"], "completed");
    assert_eq!(answer_in(&events), answer_in(&chain.at_far()));
}

#[test]
fn the_far_host_is_killed_in_the_middle_and_nothing_is_lost_or_doubled() {
    let mut chain = Chain::new();
    let session = chain.open();
    let mut stream = Caller::new(&chain.near).events(&session, "?replay=true", None).unwrap();
    chain.say(&session, "demo: slow 100000");
    let mut events = some(&mut stream, 10);
    let address = chain.far.address().to_owned();
    signal(chain.far.pid(), "KILL");
    chain.far = chain.far_place.serve_on(&address, |_| {});
    events.extend(stream.until("run_finished"));
    contiguous(&events);
    let far = chain.at_far();
    assert_eq!(answer_in(&events), answer_in(&far));
    assert_eq!(far.last().unwrap()["payload"]["detail"]["code"], "host_restarted", "its own agent died with it");
    let input = json!({ "content": "demo: echo again", "message_id": "two" });
    Caller::new(&chain.near).post(&format!("{session}/input"), &input).expect(202);
    assert_eq!(answer_in(&stream.until("run_finished")), "again");
}
