//! Any order of anything: no panic, every request of the agent answered exactly once, every opening and every prompt ended at
//! most once, and nothing kept beyond its bound. Names no example.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_dialects::agent::AgentDialect;
use switchboard_types::agent::Answer;
use switchboard_types::{
    ApprovalId, Ask, ErrandCode, ErrandFailure, ErrandName, Resolution, SessionId, Time, TurnName, Word,
};

use crate::wire::{Wire, values};

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    Open(u64, bool),
    Prompt(u64),
    Cancel(u64),
    Close(u64),
    /// The agent answers the oldest open request of ours, well or badly.
    Answers(usize, Value),
    Refuses(usize, i64),
    Updates(u64, Value),
    Asks(u64, &'static str, bool),
    /// The host answers one of the open questions and errands.
    Decides(usize, Resolution),
    Does(usize),
    CallsBack(usize),
    SetMode(u64),
    SignIn(u64),
    Garbage(Vec<u8>),
}

fn update() -> impl Strategy<Value = Value> {
    let call = "[abc]";
    prop_oneof![
        Just(json!({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}})),
        Just(json!({"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"b"}})),
        Just(json!({"sessionUpdate":"current_mode_update","currentModeId":"x"})),
        Just(json!({"sessionUpdate":"usage_update","used":1,"size":2})),
        Just(json!({"sessionUpdate":"weather"})),
        Just(json!(7)),
        (call, any::<bool>()).prop_map(|(id, first)| {
            json!({"sessionUpdate":if first { "tool_call" } else { "tool_call_update" },"toolCallId":id,"title":"t"})
        }),
    ]
}

fn answer() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(
            json!({"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{},"close":{}}},
            "authMethods":[{"id":"a","name":"A"}],"stopReason":"end_turn"})
        ),
        "[a-d]".prop_map(|id| json!({"sessionId":id,"stopReason":"cancelled","protocolVersion":1})),
        Just(json!(null)),
        Just(json!({"modes":{"currentModeId":"x","availableModes":[{"id":"x","name":"X"}]}})),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let session = 1..4_u64;
    let method = prop_oneof![
        Just("session/request_permission"),
        Just("fs/read_text_file"),
        Just("fs/write_text_file"),
        Just("terminal/wait_for_exit"),
        Just("terminal/create"),
        Just("_vendor/x"),
    ];
    let resolution = prop_oneof![Just(Resolution::AllowOnce), Just(Resolution::Deny), Just(Resolution::Expired)];
    let code = prop_oneof![Just(-32000_i64), Just(-32601), Just(-32603), Just(400)];
    prop_oneof![
        3 => (session.clone(), any::<bool>()).prop_map(|(session, resume)| Step::Open(session, resume)),
        3 => session.clone().prop_map(Step::Prompt),
        1 => session.clone().prop_map(Step::Cancel),
        1 => session.clone().prop_map(Step::Close),
        6 => (0..4_usize, answer()).prop_map(|(at, answer)| Step::Answers(at, answer)),
        2 => (0..4_usize, code).prop_map(|(at, code)| Step::Refuses(at, code)),
        5 => (session.clone(), update()).prop_map(|(session, update)| Step::Updates(session, update)),
        4 => (session.clone(), method, any::<bool>()).prop_map(|(session, method, text)| Step::Asks(session, method, text)),
        2 => (0..4_usize, resolution).prop_map(|(at, resolution)| Step::Decides(at, resolution)),
        2 => (0..4_usize).prop_map(Step::Does),
        1 => (0..4_usize).prop_map(Step::CallsBack),
        1 => session.clone().prop_map(Step::SetMode),
        1 => session.prop_map(Step::SignIn),
        1 => proptest::collection::vec(any::<u8>(), 0..40).prop_map(Step::Garbage),
    ]
}

/// What an observer of both sides knows.
#[derive(Default)]
struct Ledger {
    /// Requests of the agent that wait for their answers, by id as JSON.
    asked: BTreeSet<String>,
    answered: BTreeSet<String>,
    /// Requests of ours: method by id.
    ours: BTreeMap<u64, String>,
    questions: Vec<(SessionId, ApprovalId)>,
    errands: Vec<(SessionId, ErrandName)>,
    prompts: BTreeSet<String>,
    /// Calls that were told first, by session and turn, as far as a life of a session goes.
    turns: u64,
    ids: u64,
}

impl Ledger {
    fn sent(&mut self, messages: Vec<Vec<u8>>) {
        for message in values(messages) {
            if let Some(method) = message["method"].as_str() {
                if let Some(id) = message["id"].as_u64() {
                    assert!(self.ours.insert(id, method.to_owned()).is_none(), "{message}");
                }
                continue;
            }
            let id = message["id"].to_string();
            if id == "null" {
                continue;
            }
            assert!(self.asked.remove(&id), "answered what was not asked, or twice: {message}");
            assert!(self.answered.insert(id));
            assert!(message.get("result").is_some() != message.get("error").is_some(), "{message}");
        }
    }

    fn said(&mut self, words: Vec<Word>) {
        for word in words {
            match word {
                Word::ApprovalWanted { session, approval } => self.questions.push((session, approval.id)),
                Word::Errand { session, errand, .. } => self.errands.push((session, errand)),
                Word::TurnDone { name: Some(name), .. } => {
                    assert!(self.prompts.remove(name.as_str()), "{name} has ended twice");
                }
                _ => {}
            }
        }
    }
}

fn carried_out(step: Step, wire: &mut Wire, ledger: &mut Ledger) {
    let agent = |session: u64| ["a", "b", "c"][session as usize - 1];
    let ask = |wire: &mut Wire, ledger: &mut Ledger, ask: Ask| {
        let (mut messages, mut said) = (Vec::new(), Vec::new());
        wire.dialect.ask(Time(0), ask, &mut messages);
        wire.dialect.speak_for(&mut said);
        ledger.sent(messages);
        ledger.said(said);
    };
    let say = |wire: &mut Wire, ledger: &mut Ledger, frame: Vec<u8>| {
        let (mut messages, mut said) = (Vec::new(), Vec::new());
        let _ = wire.dialect.read(Time(0), &Bytes::from(frame), &mut said);
        wire.dialect.owed(&mut messages);
        ledger.sent(messages);
        ledger.said(said);
    };
    let text = |value: Value| value.to_string().into_bytes();
    match step {
        Step::Open(session, resume) => {
            let resume = resume.then(|| agent(session).into());
            let (cwd, past) = ("/w".into(), switchboard_types::Past::Blank);
            ask(wire, ledger, Ask::OpenSession { session: SessionId(session), cwd, resume, past, elsewhere: None });
        }
        Step::Prompt(session) => {
            ledger.turns += 1;
            let name = format!("m{}", ledger.turns);
            ledger.prompts.insert(name.clone());
            let prompt = switchboard_types::Prompt::default();
            let name = TurnName::new(name);
            ask(wire, ledger, Ask::Prompt { session: SessionId(session), name, prompt, recap: None });
        }
        Step::Cancel(session) => {
            ask(wire, ledger, Ask::Cancel { session: SessionId(session), name: TurnName::from("m") });
        }
        Step::Close(session) => ask(wire, ledger, Ask::CloseSession { session: SessionId(session) }),
        Step::Answers(at, result) => {
            let id = ledger.ours.keys().nth(at).copied().unwrap_or(1_000);
            ledger.ours.remove(&id);
            say(wire, ledger, text(json!({"jsonrpc":"2.0","id":id,"result":result})));
        }
        Step::Refuses(at, code) => {
            let id = ledger.ours.keys().nth(at).copied().unwrap_or(1_000);
            ledger.ours.remove(&id);
            say(
                wire,
                ledger,
                text(json!({"jsonrpc":"2.0","id":id,"error":{"code":code,"message":"no session found"}})),
            );
        }
        Step::Updates(session, update) => {
            let params = json!({"sessionId":agent(session),"update":update});
            say(wire, ledger, text(json!({"jsonrpc":"2.0","method":"session/update","params":params})));
        }
        Step::Asks(session, method, as_text) => {
            ledger.ids += 1;
            let id = if as_text { json!(ledger.ids.to_string()) } else { json!(ledger.ids) };
            ledger.asked.insert(id.to_string());
            let params = json!({"sessionId":agent(session),"path":"/w/a","content":"x","command":"ls","terminalId":"t",
                "toolCall":{"toolCallId":"a"},"options":[{"optionId":"y","name":"y","kind":"allow_once"}]});
            say(wire, ledger, text(json!({"jsonrpc":"2.0","id":id,"method":method,"params":params})));
        }
        Step::Decides(at, resolution) => {
            let Some((session, approval)) = ledger.questions.get(at).cloned() else { return };
            let answer = Answer::Decided { resolution, option: None };
            ask(wire, ledger, Ask::ApprovalAnswer { session, approval, answer });
        }
        Step::Does(at) => {
            let Some((session, errand)) = ledger.errands.get(at).cloned() else { return };
            let result = Err(ErrandFailure::new(ErrandCode::Failed, "no"));
            ask(wire, ledger, Ask::ErrandDone { session, errand, result });
        }
        Step::CallsBack(at) => {
            let id = ledger.asked.iter().nth(at).cloned().unwrap_or("9".to_owned());
            let id: Value = serde_json::from_str(&id).unwrap();
            say(wire, ledger, text(json!({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":id}})));
        }
        Step::SetMode(session) => {
            let (option, value) = ("mode".into(), "x".to_owned());
            ask(wire, ledger, Ask::SetOption { session: SessionId(session), option, value });
        }
        Step::SignIn(session) => {
            ask(wire, ledger, Ask::SignIn { session: SessionId(session), method: "a".to_owned() });
        }
        Step::Garbage(bytes) => say(wire, ledger, bytes),
    }
}

proptest! {
    #[test]
    fn every_request_is_answered_exactly_once_whatever_the_order(steps in proptest::collection::vec(step(), 0..120)) {
        let mut wire = Wire::new();
        let mut ledger = Ledger::default();
        ledger.ours.insert(1, "initialize".to_owned());
        for step in steps {
            carried_out(step, &mut wire, &mut ledger);
        }
        // When the host has answered everything it was told of, the agent waits for nothing.
        for at in 0..ledger.questions.len() {
            carried_out(Step::Decides(at, Resolution::Deny), &mut wire, &mut ledger);
        }
        for at in 0..ledger.errands.len() {
            carried_out(Step::Does(at), &mut wire, &mut ledger);
        }
        prop_assert_eq!(&ledger.asked, &BTreeSet::new());
    }

    #[test]
    fn a_frame_that_is_cut_or_changed_never_panics_and_harms_nothing(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(), which in 0..6_usize) {
        let frames = [
            json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a \u{e9} \n"}}}}),
            json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","content":[{"type":"diff","path":"/a","oldText":"a","newText":"b"}]}}}),
            json!({"jsonrpc":"2.0","id":4,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}),
            json!({"jsonrpc":"2.0","id":4,"method":"terminal/create","params":{"sessionId":"s","command":"ls","args":["a"],"env":[{"name":"A","value":"b"}]}}),
            json!({"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}),
            json!({"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"m","data":{"details":"d"}}}),
        ];
        let (mut wire, _) = Wire::prompted();
        let mut frame = frames[which].to_string().into_bytes();
        let at = at.index(frame.len());
        if cut { frame.truncate(at) } else { frame[at] = byte }
        let mut said = Vec::new();
        let _ = wire.dialect.read(Time(0), &Bytes::from(frame), &mut said);
        wire.owed();
        // The talk goes on.
        let words = wire.updates(json!({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"on"}}));
        prop_assert!(matches!(words.as_slice(), [Word::Text { .. }]), "{:?}", words);
    }
}

#[test]
fn what_an_agent_can_pile_up_is_bounded() {
    let (mut wire, _) = Wire::prompted();
    // Requests that the host has not answered yet.
    for id in 0..1_100 {
        wire.asks(json!(id), "terminal/wait_for_exit", json!({"terminalId":"t"}));
    }
    let refused = wire.owed();
    assert_eq!(refused.len(), 1_100 - 1_024);
    assert!(refused.iter().all(|message| message["error"]["code"] == -32600));
    // Calls that are remembered: an old one that was forgotten is told first once more.
    for number in 0..1_030 {
        wire.updates(json!({"sessionUpdate":"tool_call","toolCallId":format!("c{number}"),"title":"t"}));
    }
    let words = wire.updates(json!({"sessionUpdate":"tool_call_update","toolCallId":"c0","status":"completed"}));
    assert!(matches!(words.as_slice(), [Word::OwnToolCall { told: switchboard_types::Telling::First, .. }]));
}
