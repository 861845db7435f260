//! How agent sessions come to be: versions, resuming, loading, signing in, and what is said too early or too late.

use serde_json::{Value, json};
use switchboard_types::{Ask, Memory, SessionId, SignInBy, Word};

use crate::wire::{S, Wire};

fn chunk(session: &str, kind: &str, text: &str) -> Value {
    json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":session,"update":
        {"sessionUpdate":kind,"content":{"type":"text","text":text}}}})
}

fn lasting() -> Value {
    json!({"loadSession":true,"sessionCapabilities":{"resume":{},"close":{}}})
}

fn opened(agent_session: Option<&str>, memory: Option<Memory>) -> Word {
    Word::SessionOpened { session: S, agent_session: agent_session.map(From::from), memory }
}

#[test]
fn an_opening_waits_until_the_agent_has_said_what_it_can_do() {
    let mut wire = Wire::new();
    assert_eq!(wire.opens(S, None), Vec::<Value>::new());
    let words = wire
        .says(json!({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"a","version":"2"}}}));
    let [Word::Introduced { about }] = words.as_slice() else { panic!("{words:?}") };
    assert_eq!((about.name.as_str(), about.version.as_str(), about.protocol.as_str()), ("a", "2", "ACP 1"));
    let asked = wire.owed();
    assert_eq!(asked[0]["params"], json!({"cwd":"/w","mcpServers":[]}));
    assert_eq!(wire.answers(&asked[0], json!({"sessionId":"s"})), [opened(None, None)]);
}

#[test]
fn an_agent_of_another_version_fails_each_opening_and_says_what_to_do() {
    for answer in [
        json!({"result":{"protocolVersion":2}}),
        json!({"result":{"protocolVersion":"x"}}),
        json!({"result":7}),
        json!({"error":{"code":-32603,"message":"no"}}),
    ] {
        let mut wire = Wire::new();
        wire.opens(S, None);
        let mut message = answer;
        message["jsonrpc"] = json!("2.0");
        message["id"] = json!(1);
        let words = wire.says(message);
        assert!(matches!(words.as_slice(), [Word::OpenFailed { session: S, .. }]), "{words:?}");
        // One that is asked for afterwards fails as well, without a word to the agent.
        assert_eq!(wire.opens(SessionId(2), None), Vec::<Value>::new());
        assert!(matches!(wire.unsaid().as_slice(), [Word::OpenFailed { session: SessionId(2), .. }]));
    }
}

#[test]
fn what_can_be_resumed_is_resumed() {
    let mut wire = Wire::greeted(lasting());
    let asked = wire.opens(S, Some("old"));
    assert_eq!(
        (asked[0]["method"].clone(), asked[0]["params"].clone()),
        (json!("session/resume"), json!({"sessionId":"old","cwd":"/w"}))
    );
    assert_eq!(wire.answers(&asked[0], json!({})), [opened(Some("old"), Some(Memory::Resumed))]);
    assert_eq!(wire.says(chunk("old", "agent_message_chunk", "on")).len(), 1);
}

#[test]
fn each_way_that_fails_leads_to_the_next_whatever_the_code() {
    for code in [-32002, -32602, -32603, -32601, 7] {
        let mut wire = Wire::greeted(lasting());
        let resume = wire.opens(S, Some("old"));
        assert_eq!(wire.refuses(&resume[0], code, "Session not found"), []);
        let load = wire.owed();
        assert_eq!(load[0]["method"], "session/load");
        assert_eq!(load[0]["params"], json!({"sessionId":"old","cwd":"/w","mcpServers":[]}));
        wire.says(chunk("old", "agent_message_chunk", "half of the past"));
        assert_eq!(wire.refuses(&load[0], code, "Internal error"), []);
        let new = wire.owed();
        assert_eq!(new[0]["method"], "session/new");
        let words = wire.answers(&new[0], json!({"sessionId":"fresh"}));
        assert_eq!(words, [opened(Some("fresh"), Some(Memory::Summarized))]);
    }
}

#[test]
fn what_is_replayed_while_loading_is_not_told_again_but_what_holds_now_is() {
    let mut wire = Wire::greeted(json!({"loadSession":true}));
    let asked = wire.opens(S, Some("old"));
    let update =
        |update: Value| json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":update}});
    for kind in ["user_message_chunk", "agent_thought_chunk", "agent_message_chunk", "agent_message_chunk"] {
        assert_eq!(wire.says(chunk("old", kind, "past")), []);
    }
    assert_eq!(wire.says(update(json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}))), []);
    assert_eq!(wire.says(update(json!({"sessionUpdate":"session_info_update","title":"first"}))), []);
    assert_eq!(wire.says(update(json!({"sessionUpdate":"session_info_update","title":"second"}))), []);
    assert_eq!(wire.says(update(json!({"sessionUpdate":"usage_update","used":5,"size":10}))), []);
    let words =
        wire.answers(&asked[0], json!({"modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"}]}}));
    assert_eq!(words[0], opened(Some("old"), Some(Memory::Loaded)));
    assert_eq!(words[1], Word::Title { session: S, title: "second".to_owned() });
    assert!(matches!(words[2], Word::Usage { used: 5, .. }));
    assert!(matches!(words[3], Word::Options { .. }));
    assert_eq!(words.len(), 4);
    // From now on everything is told, and a call of the past that is named again is told first.
    assert_eq!(wire.says(chunk("old", "agent_message_chunk", "now")).len(), 1);
}

#[test]
fn what_is_said_before_the_session_is_known_comes_right_after_it() {
    let mut wire = Wire::greeted(json!({}));
    let asked = wire.opens(S, None);
    assert_eq!(wire.says(chunk("s", "agent_message_chunk", "early")), []);
    assert_eq!(wire.says(chunk("other", "agent_message_chunk", "stray")), []);
    let words = wire.answers(&asked[0], json!({"sessionId":"s"}));
    assert!(matches!(words.as_slice(), [Word::SessionOpened { .. }, Word::Text { .. }]), "{words:?}");
    assert_eq!(wire.noise, ["dropped 1 early updates for sessions that were never opened"]);
}

#[test]
fn what_is_said_too_early_is_bounded() {
    let mut wire = Wire::greeted(json!({}));
    wire.opens(S, None);
    let big = "x".repeat(1024 * 1024);
    for _ in 0..6 {
        wire.says(chunk("s", "agent_message_chunk", &big));
    }
    assert_eq!(wire.noise.len(), 3, "{:?}", wire.noise);
}

#[test]
fn a_file_that_is_asked_for_before_the_session_is_known_does_not_deadlock() {
    let mut wire = Wire::greeted(json!({}));
    wire.opens(S, None);
    let words = wire.asks(json!(9), "fs/read_text_file", json!({"path":"/w/AGENTS.md"}));
    assert!(matches!(words.as_slice(), [Word::Errand { session: S, .. }]), "{words:?}");
}

#[test]
fn many_sessions_of_one_process_stay_apart() {
    let mut wire = Wire::greeted(json!({}));
    let (one, two) = (wire.opens(SessionId(1), None), wire.opens(SessionId(2), None));
    wire.answers(&two[0], json!({"sessionId":"two"}));
    wire.answers(&one[0], json!({"sessionId":"one"}));
    let session = |words: Vec<Word>| words[0].session().unwrap();
    for _ in 0..2 {
        assert_eq!(session(wire.says(chunk("one", "agent_message_chunk", "a"))), SessionId(1));
        assert_eq!(session(wire.says(chunk("two", "agent_message_chunk", "b"))), SessionId(2));
        assert_eq!(session(wire.says(chunk("two", "agent_thought_chunk", "c"))), SessionId(2));
    }
    // An id that is taken opens nothing.
    let three = wire.opens(SessionId(3), None);
    let words = wire.answers(&three[0], json!({"sessionId":"one"}));
    assert!(matches!(words.as_slice(), [Word::OpenFailed { session: SessionId(3), .. }]), "{words:?}");
}

#[test]
fn an_agent_that_wants_a_sign_in_first_is_signed_in_and_opened() {
    let mut wire = Wire::new();
    wire.says(json!({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"authMethods":[
        {"id":"web","name":"Log in"},
        {"id":"key","name":"Key","type":"env_var","vars":[{"name":"API_KEY"}]},
        {"id":"tty","name":"Terminal","type":"terminal","args":["--login"]}]}}));
    let asked = wire.opens(S, None);
    let words = wire.refuses(&asked[0], -32000, "Authentication required");
    let [Word::SignInNeeded { methods, .. }, Word::OpenFailed { message, .. }] = words.as_slice() else {
        panic!("{words:?}")
    };
    let by: Vec<_> = methods.iter().map(|method| method.by).collect();
    assert_eq!(by, [SignInBy::Agent, SignInBy::Variable, SignInBy::Terminal]);
    assert_eq!(methods[2].todo, "run `agent --login` in a terminal, then try again");
    assert!(message.contains("add `env = { API_KEY = \"…\" }` in `[agents.someone]`"), "{message}");
    // One that fails is told, and can be tried again.
    let tried = wire.ask(Ask::SignIn { session: S, method: "web".to_owned() });
    assert_eq!(
        (tried[0]["method"].clone(), tried[0]["params"].clone()),
        (json!("authenticate"), json!({"methodId":"web"}))
    );
    let words = wire.refuses(&tried[0], -32603, "window closed");
    assert!(
        matches!(words.as_slice(), [Word::OpenFailed { message, .. }] if message.contains("window closed")),
        "{words:?}"
    );
    let tried = wire.ask(Ask::SignIn { session: S, method: "web".to_owned() });
    assert_eq!(wire.answers(&tried[0], json!({})), []);
    let again = wire.owed();
    assert_eq!(again[0]["method"], "session/new");
    assert_eq!(wire.answers(&again[0], json!({"sessionId":"s"})), [opened(None, None)]);
    // A way that nobody offers goes to nobody.
    assert_eq!(wire.ask(Ask::SignIn { session: S, method: "magic".to_owned() }), Vec::<Value>::new());
    assert!(matches!(wire.unsaid().as_slice(), [Word::OpenFailed { .. }]));
}

#[test]
fn a_prompt_that_fails_for_want_of_a_sign_in_says_so() {
    let (mut wire, asked) = Wire::prompted();
    let words = wire.refuses(&asked, -32000, "Authentication required");
    assert!(matches!(words.as_slice(), [Word::SignInNeeded { .. }, Word::TurnDone { .. }]), "{words:?}");
}

#[test]
fn a_session_that_the_agent_has_lost_ends_so_that_the_next_prompt_opens_it_again() {
    let (mut wire, asked) = Wire::prompted();
    let words = wire.refuses(&asked, -32602, "Session not found: s");
    assert!(matches!(words.as_slice(), [Word::TurnDone { .. }, Word::SessionEnded { .. }]), "{words:?}");
    assert_eq!(wire.opens(S, Some("s")).len(), 1);
}

#[test]
fn a_closed_session_is_closed_and_its_late_words_are_dropped() {
    let mut wire = Wire::open_with(lasting(), json!({}));
    let sent = wire.ask(Ask::CloseSession { session: S });
    assert_eq!(
        (sent[0]["method"].clone(), sent[0]["params"].clone()),
        (json!("session/close"), json!({"sessionId":"s"}))
    );
    assert_eq!(wire.answers(&sent[0], json!({})), []);
    assert_eq!(wire.says(chunk("s", "agent_message_chunk", "late")), []);
    assert_eq!(wire.noise, ["an update is for the closed session \"s\""]);
}

#[test]
fn a_session_that_is_closed_while_it_opens_is_closed_once_it_is_open() {
    let mut wire = Wire::greeted(lasting());
    let first = wire.opens(S, None);
    assert_eq!(wire.ask(Ask::CloseSession { session: S }), Vec::<Value>::new());
    let second = wire.opens(S, None);
    assert_eq!(wire.answers(&first[0], json!({"sessionId":"one"})), []);
    assert_eq!(wire.owed()[0]["params"], json!({"sessionId":"one"}));
    assert_eq!(wire.answers(&second[0], json!({"sessionId":"two"})), [opened(Some("two"), None)]);
}

#[test]
fn closing_answers_everything_that_the_agent_waits_for() {
    let (mut wire, _) = Wire::prompted();
    wire.asks(json!("q"), "session/request_permission", json!({"toolCall":{"toolCallId":"c"},"options":[]}));
    wire.asks(json!("w"), "terminal/wait_for_exit", json!({"terminalId":"x"}));
    let sent = wire.ask(Ask::CloseSession { session: S });
    assert_eq!(sent[0]["result"], json!({"outcome":{"outcome":"cancelled"}}));
    assert_eq!(sent[1]["error"]["code"], json!(-32800));
    assert_eq!(sent[2]["method"], "session/cancel");
    assert_eq!(sent.len(), 3);
}
