//! Every body has a word, and every payload is what its schema says. Tests of the vocabulary alone; the doors have theirs.

use std::collections::BTreeSet;

use schemars::schema_for;
use serde_json::{Value, json};
use switchboard_types::{
    AgentName, Approval, ApprovalId, ApprovalKind, Body, CallId, Detail, Execution, ExecutionEnd, ExecutionId,
    LogLevel, Memory, Outcome, PageBuilder, PlanEntry, PlanStatus, Prompt, Resolution, RuleId, RuleWhat, Seq,
    SessionPolicy, Severity, SignInBy, SignInMethod, SlashCommand, Source, SourceId, Time, Tokens, ToolCall,
    ToolContent, ToolName, ToolStatus, TurnId, TurnName, TurnNames, WorkspaceRoot,
};

use super::*;

fn names() -> TurnNames {
    TurnNames::new([(TurnId(1), TurnName::from("m-\"1\""))])
}

fn said_by(body: &Body, source: Option<&Source>) -> (String, String) {
    let mut page = PageBuilder::new(Seq(7));
    page.push_from(Time(5), Some(TurnId(1)), body, source);
    let page = page.take().unwrap();
    let event = page.events().next().unwrap();
    let mut out = Vec::new();
    let name = put(&mut out, &event, &names()).to_owned();
    (name, String::from_utf8(out).unwrap())
}

fn said(body: &Body) -> (String, Value) {
    let (name, payload) = said_by(body, None);
    (name, serde_json::from_str(&payload).unwrap())
}

fn source(name: &str, rest: &str) -> Source {
    Source {
        id: SourceId::from("e-1"),
        seq: Some(4),
        name: name.to_owned(),
        rest: rest.to_owned(),
        turn: Some(2),
        at: None,
    }
}

fn approval() -> Approval {
    Approval {
        command: Some("ls".to_owned()),
        cwd: Some("/w".to_owned()),
        path: Some("a.rs".to_owned()),
        diff: Some("@@".to_owned()),
        reason: "it runs".to_owned(),
        call: Some(CallId::from("c")),
        rule: Some(RuleWhat::Tool { tool: ToolName::from("lent_tool") }),
        editable: true,
        expires: Some(Time(9)),
        ..Approval::new(ApprovalId::from("a-1"), ApprovalKind::Command, "run ls", Severity::High)
    }
}

fn call(status: ToolStatus) -> ToolCall {
    ToolCall {
        kind: Some("execute".to_owned()),
        input: Some(json!({ "x": 1 })),
        output: Some(json!({ "y": [2] })),
        content: Some(vec![ToolContent::Text { text: "t".to_owned() }]),
        ..ToolCall::new(CallId::from("c-1"), "reads", status)
    }
}

fn execution() -> Execution {
    Execution {
        id: ExecutionId::from("x-1"),
        approval: None,
        kind: ApprovalKind::Command,
        title: "ls".to_owned(),
        command: Some("ls".to_owned()),
        cwd: None,
        path: None,
        diff: None,
        digest: "00".to_owned(),
        unasked: None,
        containment: None,
        call: None,
    }
}

fn bodies() -> Vec<Body> {
    let resolved = |resolution| Body::ApprovalResolved {
        approval: ApprovalId::from("a-1"),
        resolution,
        option: Some("yes".to_owned()),
        command: None,
        rule: Some(RuleId::from("r-1")),
    };
    let log = |level| Body::Log { level, message: "line\nbreak".to_owned() };
    vec![
        Body::SessionOpened { agent: AgentName::from("demo"), workspace: WorkspaceRoot::from("/w") },
        Body::TitleChanged { title: "t".to_owned(), by: switchboard_types::TitleBy::Host },
        Body::PromptQueued {
            name: TurnName::from("m-1"),
            prompt: Prompt { text: "hello".to_owned(), context: Vec::new() },
            position: 2,
        },
        Body::TurnStarted {},
        Body::Text { text: "a \"b\"\n".into() },
        Body::Thought { text: "hm".into() },
        Body::Code { text: "let x;".into() },
        Body::Echo { text: "again".into() },
        log(LogLevel::Info),
        log(LogLevel::Warn),
        log(LogLevel::Error),
        log(LogLevel::Stderr),
        Body::Plan {
            entries: vec![PlanEntry { content: "do".to_owned(), status: PlanStatus::InProgress, priority: None }],
        },
        Body::Status { message: "busy".to_owned(), progress: Some(0.5) },
        Body::CancelAsked {},
        Body::TurnEnded { outcome: Outcome::Completed, detail: None },
        Body::TurnEnded { outcome: Outcome::Failed, detail: Some(Detail::new("agent_exited", "gone")) },
        Body::ToolCall { call: call(ToolStatus::Pending) },
        Body::ToolCallUpdate { call: call(ToolStatus::Running) },
        Body::ToolCallUpdate { call: call(ToolStatus::Completed) },
        Body::ToolCallUpdate { call: call(ToolStatus::Failed) },
        Body::ApprovalAsked { approval: approval() },
        Body::ApprovalAsked {
            approval: Approval::new(ApprovalId::from("a-2"), ApprovalKind::Edit, "edit", Severity::Low),
        },
        resolved(Resolution::AllowSession),
        resolved(Resolution::Expired),
        Body::PolicyChanged { policy: SessionPolicy::default() },
        Body::ExecutionStarted { execution: Box::new(execution()) },
        Body::ExecutionOutput { execution: ExecutionId::from("x-1"), text: "out".to_owned() },
        Body::ExecutionEnded {
            execution: ExecutionId::from("x-1"),
            title: "ls".to_owned(),
            end: ExecutionEnd::Exited { code: 0 },
            output: None,
        },
        Body::CommandsChanged {
            commands: vec![SlashCommand { name: "n".to_owned(), description: "d".to_owned(), hint: None }],
        },
        Body::OptionsChanged { options: Vec::new() },
        Body::Usage { used: 1, size: 2, cost: None },
        Body::TurnUsed { tokens: Tokens::default(), cost: None },
        Body::SignInNeeded {
            message: "sign in".to_owned(),
            methods: vec![SignInMethod {
                id: "i".to_owned(),
                name: "n".to_owned(),
                description: None,
                by: SignInBy::Terminal,
                todo: "run it".to_owned(),
            }],
        },
        Body::AgentSessionRestored { memory: Memory::Resumed },
        Body::AgentExited { message: "gone".to_owned() },
        Body::AgentRestarted {},
        Body::PromptTaken {},
        Body::SourceGap { from: Some(3), to: None, message: "lost".to_owned() },
        Body::SessionClosed {},
        Body::SessionReopened {},
        Body::Unknown { name: "odd".to_owned(), raw: "{}".to_owned() },
    ]
}

#[test]
fn every_body_has_a_word_and_its_payload_is_what_the_schema_says() {
    let schemas = schema();
    let mut tags = BTreeSet::new();
    for body in bodies() {
        let tag = serde_json::to_value(&body).unwrap()["type"].as_str().unwrap().to_owned();
        let (name, payload) = said(&body);
        let schema = schemas.get(&name).unwrap_or_else(|| panic!("{name} has no schema"));
        let checked = jsonschema::validator_for(schema).unwrap();
        assert!(payload.is_object(), "{name}: {payload}");
        if let Err(error) = checked.validate(&payload) {
            panic!("{name}: {error}: {payload}");
        }
        tags.insert(tag);
    }
    let known = schema_for!(Body).to_value();
    let all = known["oneOf"].as_array().unwrap();
    let all: BTreeSet<_> =
        all.iter().map(|variant| variant["properties"]["type"]["const"].as_str().unwrap().to_owned()).collect();
    assert_eq!(tags, all, "each body is tried");
}

#[test]
fn schemas_refuse_what_lacks_what_they_promise() {
    for (name, field) in [
        ("user_message", "message_id"),
        ("assistant_delta", "text"),
        ("tool_call", "call"),
        ("tool_result", "error"),
        ("permission_request", "summary"),
        ("permission_response", "decision"),
        ("stream.gap", "from"),
        ("run_finished", "reason"),
        ("switchboard.plan", "entries"),
    ] {
        let body = bodies().into_iter().find(|body| said(body).0 == name).unwrap();
        let mut payload = said(&body).1;
        payload.as_object_mut().unwrap().remove(field).unwrap();
        let schema = jsonschema::validator_for(&schema()[name]).unwrap();
        assert!(!schema.is_valid(&payload), "{name} without {field}");
    }
}

#[test]
fn the_words_are_those_of_the_contract() {
    let text = Body::Text { text: "a \"b\"\n🦀".into() };
    assert_eq!(said(&text), ("assistant_delta".into(), json!({ "message_id": "m-\"1\"", "text": "a \"b\"\n🦀" })));
    assert_eq!(said(&Body::TurnStarted {}), ("turn_start".into(), json!({})));
    assert_eq!(said(&Body::CancelAsked {}), ("switchboard.cancel_asked".into(), json!({})));
    let (name, payload) = said(&Body::ToolCallUpdate { call: call(ToolStatus::Failed) });
    assert_eq!((name.as_str(), &payload["error"], &payload["status"]), ("tool_result", &json!(true), &json!("failed")));
    assert_eq!((&payload["output"], payload["call"].get("output")), (&json!({ "y": [2] }), None));
    let (name, payload) = said(&Body::ApprovalAsked { approval: approval() });
    assert_eq!(
        (name.as_str(), &payload["tool"], &payload["kind"]),
        ("permission_request", &json!("lent_tool"), &json!("command"))
    );
    let (name, payload) = said(&Body::Status { message: "busy".to_owned(), progress: None });
    assert_eq!((name.as_str(), payload), ("switchboard.status", json!({ "message": "busy" })));
    let (name, payload) = said(&Body::TurnEnded { outcome: Outcome::Cancelled, detail: None });
    assert_eq!((name.as_str(), payload), ("run_finished", json!({ "message_id": "m-\"1\"", "reason": "cancelled" })));
}

#[test]
fn what_comes_from_a_foreign_log_keeps_its_name_and_its_payload() {
    let foreign = source("reward_update", r#"{"score":1.50,"raw":"é"}"#);
    let kept = Body::Unknown { name: "reward_update".to_owned(), raw: "{}".to_owned() };
    let (name, payload) = said_by(&kept, Some(&foreign));
    assert_eq!((name.as_str(), payload.as_str()), ("reward_update", r#"{"score":1.50,"raw":"é"}"#));

    let text = Body::Text { text: "a\\b".into() };
    for (rest, expected) in [
        ("", r#"{"text":"a\\b"}"#),
        ("{}", r#"{"text":"a\\b"}"#),
        (r#"{"message_id":"m","n":1}"#, r#"{"text":"a\\b","message_id":"m","n":1}"#),
    ] {
        let (name, payload) = said_by(&text, Some(&source("assistant.message.delta", rest)));
        assert_eq!((name.as_str(), payload.as_str()), ("assistant.message.delta", expected));
    }
}

#[test]
fn a_payload_is_always_one_line() {
    let foreign = source("odd", "{\r\n  \"a\": 1,\n  \"b\": \"\\n\"\n}");
    let (_, payload) = said_by(&Body::Unknown { name: "odd".to_owned(), raw: String::new() }, Some(&foreign));
    assert!(!payload.contains(['\n', '\r']), "{payload}");
    assert_eq!(serde_json::from_str::<Value>(&payload).unwrap(), json!({ "a": 1, "b": "\n" }));
    for body in bodies() {
        assert!(!said_by(&body, None).1.contains(['\n', '\r']));
    }
}
