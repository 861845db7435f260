//! The host dies and comes back, the engine forgets: what runs there goes on, and what is lost is told.

use serde_json::{Value, json};

use super::stand::{Engine, check, log, prompt_of, sessions};

async fn open(view: &mut super::super::view::View, tab: &str) {
    view.send(json!({"type": "new-tab", "tabId": tab, "agent": "e"})).await;
    view.wait_for("tab-opened", |told: &Value| told["type"] == "tab-opened" && told["tabId"] == tab).await;
}

#[tokio::test]
async fn a_turn_goes_on_while_the_host_is_dead() {
    for args in [&["--names"][..], &[]] {
        let engine = Engine::start(args);
        let place = engine.place("");
        let host = place.serve();
        let mut view = host.view().await;
        open(&mut view, "t").await;
        view.prompt("t", "m", "slow 100").await;
        view.wait_for("some of it", |told| told["chunk"] == "[20]").await;
        host.kill_9();
        let host = place.serve();
        let mut view = host.view().await;
        view.send(json!({"type": "webview-ready", "lastSeenIndex": {"t": -1}})).await;
        let done = view.wait_done("m").await;
        assert_eq!(done["reason"], "completed", "{done}; the host says: {}", host.log());
        let chunks: Vec<String> =
            view.indexed("t").iter().filter_map(|told| told["chunk"].as_str().map(str::to_owned)).collect();
        let expected: Vec<String> = (0..100).map(|number| format!("[{number}]")).collect();
        assert_eq!(chunks.concat(), expected.concat());
        let there = engine.session_asked("slow 100");
        let inputs = engine.get("/_sessions")["sessions"][&there].clone();
        assert_eq!(inputs, json!(["slow 100"]), "the prompt ran once");
        let log = sessions(&host).into_iter().map(|session| log(&host, session));
        let log = log.into_iter().find(|log| prompt_of(log).as_deref() == Some("slow 100")).unwrap();
        check(&log, &engine.truth(&there));
    }
}

#[tokio::test]
async fn a_session_that_the_engine_forgot_is_told_of_and_the_next_prompt_has_a_new_one() {
    let engine = Engine::start(&[]);
    let place = engine.place("");
    let host = place.serve();
    let mut view = host.view().await;
    open(&mut view, "t").await;
    view.prompt("t", "m1", "say 2").await;
    view.wait_done("m1").await;
    engine.get("/_forget");
    view.prompt("t", "m2", "say 3").await;
    let done = view.wait_done("m2").await;
    assert_eq!(done["reason"], "failed", "{done}");
    view.prompt("t", "m3", "say 4").await;
    let done = view.wait_done("m3").await;
    assert_eq!(done["reason"], "completed", "{done}; the host says: {}", host.log());
    let log = log(&host, sessions(&host)[0]);
    assert!(log.iter().any(|event| event["body"]["type"] == "sourceGap"), "nobody was told");
}

#[tokio::test]
async fn a_question_of_the_engine_is_answered_here_and_goes_back_in_its_own_words() {
    let engine = Engine::start(&[]);
    let place = engine.place("");
    let host = place.serve();
    let mut view = host.view().await;
    for (decision, word) in [("allow_once", "allow-once"), ("allow_rule", "allow-always"), ("deny", "deny-once")] {
        open(&mut view, decision).await;
        view.prompt(decision, decision, "ask").await;
        let asked = |told: &Value| told["type"] == "approval-request" && told["tabId"] == decision;
        let question = view.wait_for("the question", asked).await;
        assert_eq!((&question["title"], &question["command"]), (&json!("run ls"), &json!("ls")));
        let approval = question["approvalId"].clone();
        view.send(
            json!({"type": "approval-response", "tabId": decision, "approvalId": approval, "decision": decision}),
        )
        .await;
        let done = view.wait_done(decision).await;
        assert_eq!(done["reason"], "completed", "{done}; the host says: {}", host.log());
        let heard = view.indexed(decision).iter().any(|told| told["chunk"] == format!("[{word}]"));
        assert!(heard, "{decision} did not arrive as {word}: {:#?}", view.indexed(decision));
    }
}
