//! What holds for any input: no dialect panics, and streamed text comes out as it went in. Never names an example.

#![expect(clippy::unwrap_used, reason = "all of this is test code")]

use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_dialects::agent::{AgentDialect, Plain, plain};
use switchboard_dialects::view::{Switchboard, Tabs, Tools, ViewDialect};
use switchboard_types::{
    Ask, Body, PageBuilder, Seq, SessionId, TabId, Text, Time, Told, TurnId, TurnName, TurnNames, Word, WorkspaceRoot,
};

const SESSION: SessionId = SessionId(1);

/// A dialect with session "s" open and another one opening.
fn talking() -> Plain {
    let (mut dialect, mut messages) = (Plain::new(), Vec::new());
    for session in [SESSION, SessionId(2)] {
        dialect.ask(Time(0), Ask::open(session, WorkspaceRoot::from("/w")), &mut messages);
    }
    let created = Bytes::from_static(br#"{"type":"session-created","sessionId":"s"}"#);
    dialect.read(Time(0), &created, &mut Vec::new()).unwrap();
    dialect
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("s")),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<Value>()),
        ]
    })
}

const FIELDS: &[&str] = &[
    "sessionId",
    "messageId",
    "requestId",
    "chunk",
    "message",
    "progress",
    "entries",
    "callId",
    "toolName",
    "parameters",
    "reason",
    "approvalId",
    "kind",
    "title",
    "severity",
    "command",
    "tabId",
    "index",
    "text",
    "context",
    "lastSeenIndex",
    "agent",
    "workspace",
    "visible",
    "decision",
    "rule",
    "request",
    "requests",
    "executionId",
    "mode",
    "stopOnError",
    "limit",
    "before",
    "tools",
    "success",
    "data",
    "error",
];

const VIEW_SAYS: &[&str] = &[
    "webview-ready",
    "new-tab",
    "prompt",
    "cancel",
    "close-tab",
    "visibility",
    "message-ack",
    "approval-response",
    "restart-agent",
    "hello",
    "openTab",
    "decide",
    "history",
    "trust",
    "GET_TOOLS",
    "EXECUTE_TOOL",
    "CANCEL_EXECUTION",
    "GET_TOOL_HISTORY",
    "BATCH_EXECUTE",
    "SUBSCRIBE_APPROVALS",
    "APPROVAL_RESPONSE",
    "REGISTER_TOOLS",
    "TOOL_RESULT",
];

/// An object that looks like a message: a known type, known fields, any values.
fn likely_message() -> impl Strategy<Value = Value> {
    let types: Vec<&str> = plain::AGENT_SAYS.iter().chain(VIEW_SAYS).copied().collect();
    let fields = proptest::collection::btree_map(proptest::sample::select(FIELDS), any_json(), 0..8);
    (proptest::sample::select(types), fields, any::<bool>()).prop_map(|(kind, fields, open)| {
        let mut message: serde_json::Map<_, _> =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        message.insert("type".to_owned(), json!(kind));
        if open {
            message.insert("sessionId".to_owned(), json!("s"));
        }
        Value::Object(message)
    })
}

fn all_read(frame: Vec<u8>) {
    let _ = Tabs::new().read(Time(0), &frame);
    let _ = Switchboard::new().read(Time(0), &frame);
    let mut tools = Tools::new();
    if let Err(reject) = tools.read(Time(0), &frame) {
        tools.refuse(Time(0), &reject, &mut |message| assert!(serde_json::from_slice::<Value>(message).is_ok()));
    }
    let _ = talking().read(Time(0), &Bytes::from(frame), &mut Vec::new());
}

/// What a view of tabs gets of one word of an agent, by way of the log.
fn through(word: Word) -> Vec<Value> {
    let body = match word {
        Word::Text { text, .. } => Body::Text { text },
        Word::Thought { text, .. } => Body::Thought { text },
        other => panic!("{other:?}"),
    };
    let mut builder = PageBuilder::new(Seq(1));
    builder.push(Time(0), Some(TurnId(1)), &body);
    let names = TurnNames::new(vec![(TurnId(1), TurnName::from("m"))]);
    let told = Told::Events {
        tab: TabId::from("t"),
        page: Arc::new(builder.take().unwrap()),
        names,
        epoch: Default::default(),
        home: Default::default(),
    };
    let mut messages = Vec::new();
    Tabs::new().write(Time(0), &told, &mut |message| messages.push(serde_json::from_slice(message).unwrap()));
    messages
}

fn heard(line: &str) -> Vec<Word> {
    let mut said = Vec::new();
    talking().read(Time(0), &Bytes::copy_from_slice(line.as_bytes()), &mut said).unwrap();
    said
}

/// JSON text of a string with every character as `\u` escapes, as some languages write it.
fn all_escaped(plain: &str) -> String {
    let units: String = plain.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{units}\"")
}

proptest! {
    #[test]
    fn no_dialect_panics_on_bytes(frame in proptest::collection::vec(any::<u8>(), 0..200)) {
        all_read(frame);
    }

    #[test]
    fn no_dialect_panics_on_json(value in any_json()) {
        all_read(value.to_string().into_bytes());
    }

    #[test]
    fn no_dialect_panics_on_what_looks_like_a_message(message in likely_message()) {
        all_read(message.to_string().into_bytes());
    }

    #[test]
    fn no_dialect_panics_on_a_message_with_one_byte_changed(
        message in likely_message(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut frame = message.to_string().into_bytes();
        let at = at.index(frame.len());
        frame[at] = byte;
        all_read(frame);
    }

    /// The dialect remembers how the last chunk began; that must not show in what it makes of the next message.
    #[test]
    fn what_was_read_before_does_not_change_what_is_read_next(
        kind in proptest::sample::select(&["response-chunk", "thought-chunk"]),
        rest in r#"([a-zé ]{0,40}|\\[nt"\\u0/]|"|"}|","chunk":"|","x":"|\x01){0,6}"#,
        byte in any::<u8>(), at in any::<prop::sample::Index>(),
    ) {
        let head = format!(r#"{{"type":"{kind}","sessionId":"s","messageId":"m","chunk":""#);
        let mut broken = format!("{head}{rest}\"}}").into_bytes();
        let at = at.index(broken.len());
        broken[at] = byte;
        for next in [format!("{head}{rest}\"}}").into_bytes(), broken] {
            let (mut warm, mut said, mut said_cold) = (talking(), Vec::new(), Vec::new());
            warm.read(Time(0), &Bytes::from(format!("{head}first\"}}")), &mut said).unwrap();
            said.clear();
            let next = Bytes::from(next);
            let (read, read_cold) =
                (warm.read(Time(0), &next, &mut said), talking().read(Time(0), &next, &mut said_cold));
            prop_assert_eq!((read, said), (read_cold, said_cold));
        }
    }

    #[test]
    fn chunks_of_any_text_reach_the_view_as_they_left_the_agent(plain in any::<String>()) {
        for (kind, literal) in [
            ("response-chunk", json!(plain).to_string()),
            ("thought-chunk", all_escaped(&plain)),
        ] {
            let line = format!(r#"{{"type":"{kind}","sessionId":"s","messageId":"m","chunk":{literal}}}"#);
            let mut said = heard(&line);
            prop_assert_eq!(said.len(), 1);
            let told = json!({"type": kind, "tabId": "t", "index": 1, "messageId": "m", "chunk": plain});
            prop_assert_eq!(through(said.remove(0)), vec![told]);
        }
    }

    #[test]
    fn the_page_gets_every_piece_once_and_in_order(
        pieces in proptest::collection::vec((any::<bool>(), 1..3_u32, any::<String>()), 1..40),
    ) {
        let mut builder = PageBuilder::new(Seq(5));
        for (thought, turn, plain) in &pieces {
            let text = Text::from_plain(plain);
            let body = if *thought { Body::Thought { text } } else { Body::Text { text } };
            builder.push(Time(0), Some(TurnId(*turn)), &body);
        }
        let page = Arc::new(builder.take().unwrap());
        let told =
            Told::Events { tab: TabId::from("t"), page, names: TurnNames::new(Vec::new()), epoch: Default::default(), home: Default::default() };
        let mut messages: Vec<Value> = Vec::new();
        Switchboard::new().write(Time(0), &told, &mut |message| messages.push(serde_json::from_slice(message).unwrap()));
        prop_assert_eq!(messages.len(), 1);
        prop_assert_eq!(&messages[0]["after"], &json!(4));
        prop_assert_eq!(&messages[0]["to"], &json!(4 + pieces.len()));
        let said: Vec<(bool, u64, String)> = messages[0]["events"].as_array().unwrap().iter().map(|event| {
            let (body, turn) = (&event["body"], event["turn"].as_u64().unwrap());
            (body["type"] == "thought", turn, body["text"].as_str().unwrap().to_owned())
        }).collect();
        let mut wanted: Vec<(bool, u64, String)> = Vec::new();
        for (thought, turn, plain) in pieces {
            match wanted.last_mut() {
                Some((kind, of, text)) if *kind == thought && *of == u64::from(turn) => text.push_str(&plain),
                _ => wanted.push((thought, u64::from(turn), plain)),
            }
        }
        prop_assert_eq!(said, wanted);
    }
}

/// A tool's parameters as deep as they may be must be readable again once they lie in the log.
#[test]
fn the_deepest_parameters_survive_the_log() {
    let deepest = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let line = format!(r#"{{"type":"tool-call","sessionId":"s","callId":"c","toolName":"t","parameters":{deepest}}}"#);
    let Some(Word::ToolCall { call, tool, parameters, .. }) = heard(&line).pop() else { panic!("no tool call") };
    let known = switchboard_types::ToolCall::new(call, tool, switchboard_types::ToolStatus::Pending);
    let call = switchboard_types::ToolCall { input: Some(parameters.clone()), output: Some(parameters), ..known };
    let body = Body::ToolCall { call };
    let mut builder = PageBuilder::new(Seq(1));
    builder.push(Time(0), None, &body);
    let page = builder.take().unwrap();
    assert_eq!(page.events().next().unwrap().body().unwrap(), body);
}
