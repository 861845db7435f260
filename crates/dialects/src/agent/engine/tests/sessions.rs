//! Sessions: what the engine is, which it has, how they are made, what is asked about them.

use switchboard_types::desk::{FileAnswer, FileEntryKind, FileRequest, SessionAnswer, SnippetCut};
use switchboard_types::source::{PermissionMode, Setup};
use switchboard_types::{AgentRequest, AgentSessionInfo, ContextItem, Memory, RejectCode, Wish};

use super::*;

#[test]
fn the_sessions_of_the_engine_are_told_once_it_is_known() {
    let mut stage = Stage::new();
    stage.answer("/v1/health", 200, &json!({"protocol_version":"1.0"}));
    let sessions =
        json!({"sessions":[{"session_id":"a","updated_at_ms":1},{"session_id":"b","title":"t","updated_at_ms":2},{}]});
    stage.answer("/v1/sessions", 200, &sessions);
    let info = |there: &str, title: &str, at| AgentSessionInfo {
        agent_session: AgentSession::from(there),
        title: title.to_owned(),
        updated: Time(at),
    };
    assert_eq!(stage.said().last(), Some(&Word::Sessions { sessions: vec![info("b", "t", 2), info("a", "", 1)] }));
}

#[test]
fn no_session_is_made_before_the_engine_has_listed_those_that_it_has() {
    let mut stage = Stage::new();
    stage.ask(open(None, Elsewhere::default()));
    stage.answer("/v1/health", 200, &json!({"protocol_version":"1.0"}));
    assert_eq!(stage.requests.len(), 1, "only the list is asked for: {:?}", stage.requests);
    stage.answer("/v1/sessions", 200, &json!({"sessions":[]}));
    assert_eq!(stage.requests[0].method, Method::Post);
}

#[test]
fn what_is_no_engine_of_our_version_opens_nothing_and_says_why() {
    for (status, body, why) in [
        (200, json!({"protocol_version":"2.0"}), "version 2.0"),
        (200, json!({"hello":1}), "is no engine"),
        (404, json!({"detail":"Not Found"}), "is no engine"),
        (401, json!({}), "switchboard secrets set"),
    ] {
        let mut stage = Stage::new();
        stage.ask(open(None, Elsewhere::default()));
        stage.answer("/v1/health", status, &body);
        let said = stage.said();
        assert!(matches!(&said[..], [Word::OpenFailed { message, .. }] if message.contains(why)), "{said:?}");
    }
}

#[test]
fn a_session_is_made_with_what_is_set_and_no_more() {
    let mut stage = Stage::known(&none());
    let setup =
        Setup { config: Some("c.yaml".to_owned()), model: Some("m".to_owned()), permission: Some(PermissionMode::Ask) };
    stage.ask(open(None, Elsewhere { setup, ..Elsewhere::default() }));
    assert_eq!(body_of(&stage.requests[0]), json!({"config_path":"c.yaml","model":"m","permission_mode":"ask"}));
    stage.answer("/v1/sessions", 201, &json!({"session_id":"e1","status":"starting"}));
    assert_eq!(stage.said(), vec![Word::SessionOpened { session: S, agent_session: Some("e1".into()), memory: None }]);
    assert_eq!(stage.last_open(), ("/v1/sessions/e1/events?replay=true".to_owned(), None));
}

#[test]
fn a_new_session_for_an_old_one_knows_only_a_summary() {
    let mut stage = Stage::known(&none());
    let cwd = WorkspaceRoot::from("/w");
    stage.ask(Ask::OpenSession { session: S, cwd, resume: None, past: Past::Spoken, elsewhere: None });
    stage.answer("/v1/sessions", 201, &json!({"session_id":"e1"}));
    let opened = Word::SessionOpened { session: S, agent_session: Some("e1".into()), memory: Some(Memory::Summarized) };
    assert_eq!(stage.said(), vec![opened]);
}

#[test]
fn an_engine_that_wants_a_task_gets_the_first_prompt_as_one() {
    let mut stage = Stage::known(&none());
    stage.ask(open(None, Elsewhere::default()));
    stage.answer("/v1/sessions", 422, &json!({"detail":[{"loc":["body","task"],"msg":"field required"}]}));
    assert_eq!(stage.said(), vec![Word::SessionOpened { session: S, agent_session: None, memory: None }]);
    stage.ask(prompt("t1", "do it"));
    assert_eq!(body_of(&stage.requests[0]), json!({"task":"do it"}));
    stage.answer("/v1/sessions", 201, &json!({"session_id":"e1"}));
    stage.opened();
    stage.event(1, "user_message", &json!({"text":"do it"}));
    let said = stage.said();
    assert_eq!(said[0], Word::SessionOpened { session: S, agent_session: Some("e1".into()), memory: None });
    assert!(
        matches!(&said[1], Word::Sourced { said: Said::Word(word), .. } if **word == Word::PromptTaken { session: S })
    );
    assert!(stage.requests.is_empty(), "it is not sent a second time");
}

#[test]
fn files_that_a_first_prompt_cannot_carry_are_said_to_be_left_out() {
    let mut stage = Stage::known(&none());
    stage.ask(open(None, Elsewhere::default()));
    stage.answer("/v1/sessions", 422, &json!({"detail":[{"loc":["body","task"],"msg":"field required"}]}));
    stage.said();
    let file = ContextItem { path: Some("a.txt".to_owned()), content: Some("one".to_owned()), image: None };
    let prompt = Prompt { text: "do it".to_owned(), context: vec![file] };
    stage.ask(Ask::Prompt { session: S, name: "t1".into(), prompt, recap: None });
    let said = stage.said();
    assert!(matches!(&said[..], [Word::Log { message, .. }] if message.contains("1 were left out")), "{said:?}");
    assert!(matches!(stage.requests[0].payload, Payload::Json(_)));
    stage.answer("/v1/sessions", 201, &json!({"session_id":"e1"}));
    assert!(!stage.requests.iter().any(|request| matches!(request.payload, Payload::Upload(_))));
}

#[test]
fn an_engine_that_wants_a_configuration_says_where_to_set_it() {
    let mut stage = Stage::known(&none());
    stage.ask(open(None, Elsewhere::default()));
    stage.answer("/v1/sessions", 422, &json!({"detail":[{"loc":["body","config_path"]},{"loc":["body","task"]}]}));
    let said = stage.said();
    assert!(matches!(&said[..], [Word::OpenFailed { message, .. }] if message.contains("[agents.engine]")), "{said:?}");
}

#[test]
fn an_engine_that_cannot_be_reached_opens_nothing_new_and_loses_nothing_old() {
    let mut stage = Stage::new();
    stage.ask(open(None, Elsewhere::default()));
    stage.fail("/v1/health", Sent::No);
    let said = stage.said();
    assert!(
        matches!(&said[..], [Word::OpenFailed { message, .. }] if message.contains("cannot be reached")),
        "{said:?}"
    );
    stage.ask(open(Some("e1"), Elsewhere { upstream: Some(upstream(3)), ..Elsewhere::default() }));
    stage.fail("/v1/health", Sent::No);
    let way = stage.way();
    assert_eq!(statuses(&way), [(ConnectionStatus::Error, 1, false)]);
    stage.pass(250);
    assert_eq!(stage.last_open().1.as_deref(), Some("u3"));
    stage.opened();
    // What it is, is asked again now that it is there.
    stage.answer("/v1/health", 200, &json!({"protocol_version":"1.1"}));
    stage.text(4);
    assert_eq!(stage.taken(), vec![Ok(4)]);
}

#[test]
fn files_and_commands_of_the_engine_are_answered_once_each() {
    let mut stage = Stage::open(&none());
    let mut wish = |wish, path: &str, status, body: &Value| {
        stage.ask(Ask::Wish { session: S, request: AgentRequest(5), wish });
        if !path.is_empty() {
            stage.answer(path, status, body);
        }
        let said = stage.said();
        let [Word::Replied { request: AgentRequest(5), result, .. }] = &said[..] else { panic!("{said:?}") };
        result.clone().map(|answer| *answer).map_err(|reject| reject.code)
    };
    let list = Wish::Files(FileRequest::List { path: "a b".to_owned() });
    let entries = json!({"entries":[{"name":"x","path":"a b/x","kind":"directory"}]});
    let Ok(SessionAnswer::Files(files)) = wish(list, "/v1/sessions/e1/files?path=a%20b", 200, &entries) else {
        panic!()
    };
    let FileAnswer::Entries { entries, .. } = *files else { panic!() };
    assert_eq!((entries[0].name.as_str(), entries[0].kind), ("x", FileEntryKind::Directory));
    let read = Wish::Files(FileRequest::Read { path: "../x".to_owned(), cut: SnippetCut::default() });
    let path = "/v1/sessions/e1/files/content?path=..%2Fx&head_lines=200&tail_lines=80&max_bytes=80000";
    assert_eq!(wish(read, path, 400, &json!({"message":"outside"})), Err(RejectCode::BadMessage));
    let order = Wish::Order { name: "list_checkpoints".to_owned(), payload: json!({}) };
    let answer = wish(order, "/v1/sessions/e1/command", 202, &json!({"status":"accepted","detail":{"n":1}}));
    assert_eq!(answer, Ok(SessionAnswer::Ordered { status: "accepted".to_owned(), detail: Some(json!({"n":1})) }));
    assert_eq!(wish(Wish::Delete {}, "/v1/sessions/e1", 404, &json!({})), Ok(SessionAnswer::Done {}));
    let artifact = || Wish::Files(FileRequest::Artifact { path: "files/a b".to_owned() });
    let (path, shelf) = (
        "/v1/sessions/e1/download?artifact=files%2Fa%20b",
        json!({"name":"a b","mime":"t","size":3,"url":"/artifact/x"}),
    );
    let (name, mime, url) = ("a b".to_owned(), "t".to_owned(), "/artifact/x".to_owned());
    let told = SessionAnswer::Files(Box::new(FileAnswer::Artifact { name, mime, size: 3, url }));
    assert_eq!(wish(artifact(), path, 200, &shelf), Ok(told));
    assert_eq!(wish(artifact(), path, 404, &json!({"message":"none"})), Err(RejectCode::NotFound));
    let diff = Wish::Files(FileRequest::Diff { path: "x".to_owned(), before: Some("HEAD".to_owned()), after: None });
    assert_eq!(wish(diff, "", 0, &json!({})), Err(RejectCode::NotFound));
}

#[test]
fn a_closed_session_is_left_alone() {
    let mut stage = Stage::open(&none());
    let stream = stage.stream.unwrap();
    stage.ask(Ask::CloseSession { session: S });
    assert_eq!(stage.streams.last(), Some(&StreamOrder::Close { stream }));
    assert!(stage.requests.is_empty(), "nothing is deleted there");
    let _ = stage.engine.heard(stage.now, stream, Heard::Event(event(1, "x", &json!({}))));
    assert_eq!((stage.engine.poll(), stage.engine.due()), (Output::default(), None));
}
