//! The dialect `bb` for any frames and any timing: it never panics, answers each request once, keeps the order of events and
//! loses none. What goes out is checked by its schemas on the way, since tests are built so.

#![expect(clippy::unwrap_used, reason = "all of this is test code")]

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_dialects::view::bb::{Checks, MAX_BATCH_EVENTS, MAX_OPEN_REQUESTS};
use switchboard_dialects::view::{Bb, ViewDialect};
use switchboard_types::{
    AgentHome, Body, Command, Epoch, LinkId, PageBuilder, RequestNo, Seq, SessionAnswer, SessionId, Text, Time, Told,
    TurnId, TurnNames,
};

fn said(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Vec<Value> {
    let mut messages = Vec::new();
    write(&mut |message| messages.push(serde_json::from_slice(message).unwrap()));
    messages
}

fn request(id: &str, method: &str, params: Value) -> Vec<u8> {
    json!({"v": 1, "kind": "req", "id": id, "method": method, "params": params}).to_string().into_bytes()
}

fn overview() -> Told {
    Told::Overview { home: None, workspaces: Vec::new(), sessions: Vec::new() }
}

/// A link that has selected session 3.
fn selected() -> Bb {
    static CHECKS: LazyLock<Checks> = LazyLock::new(Checks::new);
    let mut dialect = Bb::with(CHECKS.clone());
    dialect.begin(LinkId(1));
    said(|out| dialect.write(Time(0), &overview(), out));
    let command = dialect.read(Time(0), &request("s", "bb.selectSession", json!({"sessionId": "3"}))).unwrap();
    let Command::Session { request, .. } = command else { panic!("{command:?}") };
    let answer = SessionAnswer::Following { session: SessionId(3), tab: "t".into(), epoch: Epoch(1), head: Seq(0) };
    said(|out| dialect.write(Time(0), &Told::Answer { request, result: Ok(Box::new(answer)) }, out));
    dialect
}

fn page(first: u64, texts: &[String]) -> Told {
    let mut page = PageBuilder::new(Seq(first));
    for text in texts {
        page.push(Time(5), Some(TurnId(1)), &Body::Text { text: Text::from(text.as_str()) });
    }
    let page = Arc::new(page.take().unwrap());
    Told::Events { tab: "t".into(), page, names: TurnNames::new(Vec::new()), epoch: Epoch(1), home: AgentHome::Here }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["3", "bb.init", "req", "allow_once", "stop", "."]).prop_map(Value::from),
    ];
    let names = prop::sample::select(vec![
        "v",
        "kind",
        "id",
        "method",
        "params",
        "sessionId",
        "text",
        "command",
        "args",
        "path",
        "decision",
        "requestId",
        "afterId",
        "maxBytes",
        "x",
    ]);
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..6).prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Value>()
            }),
        ]
    })
}

fn any_request() -> impl Strategy<Value = Value> {
    let methods = prop::sample::select(vec![
        "bb.init",
        "bb.createSession",
        "bb.listSessions",
        "bb.selectSession",
        "bb.deleteSession",
        "bb.sendMessage",
        "bb.stop",
        "bb.command",
        "bb.approvePermission",
        "bb.listFiles",
        "bb.readFileSnippet",
        "bb.openDiff",
        "bb.downloadArtifact",
        "bb.none",
    ]);
    (any_json(), methods, any_json())
        .prop_map(|(id, method, params)| json!({"v": 1, "kind": "req", "id": id, "method": method, "params": params}))
}

proptest! {
    // What goes out is checked by its schemas on the way, which takes its time.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_frame_makes_it_panic_and_no_request_is_answered_twice(
        frames in prop::collection::vec(
            prop_oneof![
                any_request().prop_map(|value| value.to_string().into_bytes()),
                any_json().prop_map(|value| value.to_string().into_bytes()),
                prop::collection::vec(any::<u8>(), 0..64),
            ],
            1..40,
        ),
    ) {
        let mut dialect = selected();
        for (at, frame) in frames.iter().enumerate() {
            let now = Time(at as u64);
            let id = serde_json::from_slice::<Value>(frame).ok().and_then(|value| value["id"].as_str().map(str::to_owned));
            match dialect.read(now, frame) {
                Err(reject) => {
                    let answers = said(|out| dialect.refuse(now, &reject, out));
                    prop_assert!(answers.len() <= usize::from(id.is_some()), "{answers:?}");
                    prop_assert!(answers.iter().all(|answer| answer["ok"] == false && answer["id"].as_str() == id.as_deref()));
                }
                Ok(Command::Session { request, .. } | Command::Answer { request, .. }) => {
                    let told = Told::Answer { request, result: Ok(Box::new(SessionAnswer::Done {})) };
                    let mut answers = said(|out| dialect.write(now, &told, out));
                    answers.retain(|answer| answer["kind"] == "res");
                    prop_assert_eq!(answers.len(), 1);
                    let again = said(|out| dialect.write(now, &told, out));
                    prop_assert!(again.iter().all(|answer| answer["kind"] != "res"), "{:?}", again);
                }
                Ok(other) => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn batches_keep_the_order_and_lose_nothing(
        pages in prop::collection::vec((prop::collection::vec(".{0,8}", 1..300), 0_u64..60), 1..12),
    ) {
        let mut dialect = selected();
        let (mut now, mut next, mut sent, mut got) = (1_000, 1, Vec::new(), Vec::new());
        let mut take = |messages: Vec<Value>| -> Result<(), TestCaseError> {
            for message in messages.iter().filter(|message| message["topic"] == "bb/events") {
                let events = message["payload"]["events"].as_array().unwrap();
                prop_assert!((1..=MAX_BATCH_EVENTS).contains(&events.len()), "{}", events.len());
                for event in events {
                    got.push((event["id"].as_str().unwrap().to_owned(), event["payload"]["text"].clone()));
                }
            }
            Ok(())
        };
        for (texts, wait) in &pages {
            // The link looks at what is due as time passes.
            while let Some(due) = dialect.due().filter(|due| due.0 <= now) {
                take(said(|out| dialect.tick(due, out)))?;
            }
            let told = page(next, texts);
            let arrived = now;
            take(said(|out| dialect.write(Time(now), &told, out)))?;
            prop_assert!(dialect.due().is_none_or(|due| due.0 <= arrived + 40), "nothing waits longer than 40 ms");
            for text in texts {
                sent.push((format!("{:016x}:{next}", 1), Value::from(text.as_str())));
                next += 1;
            }
            now += wait;
        }
        while let Some(due) = dialect.due() {
            take(said(|out| dialect.tick(due, out)))?;
        }
        prop_assert_eq!(got, sent);
    }
}

#[test]
fn open_requests_are_bounded_and_each_gets_its_answer() {
    let mut dialect = selected();
    let stop = |at: usize| request(&format!("r{at}"), "bb.stop", json!({"sessionId": "3"}));
    let mut numbers: Vec<RequestNo> = Vec::new();
    for at in 0..MAX_OPEN_REQUESTS {
        let Ok(Command::Session { request, .. }) = dialect.read(Time(0), &stop(at)) else { panic!("{at}") };
        numbers.push(request);
    }
    let reject = dialect.read(Time(0), &stop(MAX_OPEN_REQUESTS)).unwrap_err();
    let refused = said(|out| dialect.refuse(Time(0), &reject, out));
    assert_eq!((&refused[0]["id"], &refused[0]["error"]["code"]), (&json!("r256"), &json!("too_large")));
    for (at, request) in numbers.into_iter().enumerate() {
        let told = Told::Answer { request, result: Ok(Box::new(SessionAnswer::Stopped { stopped: false })) };
        let answers = said(|out| dialect.write(Time(0), &told, out));
        let answer = answers.iter().find(|answer| answer["kind"] == "res").unwrap();
        assert_eq!(answer["id"], format!("r{at}"));
    }
    assert!(dialect.read(Time(0), &stop(0)).is_ok());
}
