//! ACP agents through the whole program: a real process, the real host, the dialect `tabs` on a real WebSocket.

use serde_json::{Value, json};

use super::host::{Host, Place};
use super::view::View;

/// A host with an ACP agent and a tab of it.
async fn tab(place: &Place) -> (Host, View) {
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "acp"})).await;
    (host, view)
}

fn place() -> Place {
    Place::new().with_acp("acp", "").trusted()
}

async fn answer(view: &mut View, asked: &Value, decision: &str) {
    let id = &asked["approvalId"];
    view.send(json!({"type": "approval-response", "tabId": "tab", "approvalId": id, "decision": decision})).await;
}

#[tokio::test]
async fn a_whole_turn_of_an_acp_agent_reaches_a_view() {
    let place = place();
    let (_host, mut view) = tab(&place).await;
    view.prompt("tab", "m1", "one two three").await;
    let done = view.wait_done("m1").await;
    assert_eq!((done["reason"].clone(), done.get("detail")), (json!("completed"), None));
    assert_eq!(view.text("m1"), "one two three ");
    let told = |kind: &str| view.told.iter().find(|message| message["type"] == kind).cloned().unwrap_or_default();
    assert_eq!(told("thought-chunk")["chunk"], "hm");
    assert_eq!(told("plan")["entries"][0]["content"], "answer");
    assert_eq!(told("tool-call")["toolCall"]["title"], "Look");
    view.assert_increasing();
}

#[tokio::test]
async fn a_question_is_asked_and_the_agents_own_answer_goes_back() {
    let place = place();
    let (_host, mut view) = tab(&place).await;
    for (turn, decision, chosen) in [("m1", "allow_once", "yes"), ("m2", "allow_session", "all"), ("m3", "deny", "no")]
    {
        view.prompt("tab", turn, "permission").await;
        let asked = view.wait_type("approval-request").await;
        assert_eq!((asked["command"].clone(), asked["kind"].clone()), (json!("touch it"), json!("command")));
        answer(&mut view, &asked, decision).await;
        assert_eq!(view.wait_done(turn).await["reason"], "completed");
        assert_eq!(view.text(turn), format!("chosen: {chosen}"));
    }
}

#[tokio::test]
async fn a_cancel_ends_the_turn_also_while_a_question_is_open() {
    let place = place();
    let (_host, mut view) = tab(&place).await;
    view.prompt("tab", "m1", "forever").await;
    view.wait_type("response-chunk").await;
    view.send(json!({"type": "cancel", "tabId": "tab", "messageId": "m1"})).await;
    assert_eq!(view.wait_done("m1").await["reason"], "cancelled");
    view.prompt("tab", "m2", "permission").await;
    view.wait_type("approval-request").await;
    view.send(json!({"type": "cancel", "tabId": "tab", "messageId": "m2"})).await;
    assert_eq!(view.wait_done("m2").await["reason"], "cancelled");
    view.prompt("tab", "m3", "still there").await;
    assert_eq!(view.wait_done("m3").await["reason"], "completed");
}

#[tokio::test]
async fn a_file_is_written_once_a_person_has_allowed_it_and_not_before() {
    let place = place();
    let (_host, mut view) = tab(&place).await;
    view.prompt("tab", "m1", "write denied.pem").await;
    let asked = view.wait_type("approval-request").await;
    assert_eq!(asked["kind"], "edit");
    answer(&mut view, &asked, "deny").await;
    view.wait_done("m1").await;
    assert!(view.text("m1").starts_with("not written: "), "{}", view.text("m1"));
    assert!(!place.workspace().join("denied.pem").exists());
    view.prompt("tab", "m2", "write allowed.pem").await;
    let asked = view.wait_type("approval-request").await;
    assert!(asked["diff"].as_str().unwrap().contains("+by hand"), "{asked}");
    answer(&mut view, &asked, "allow_once").await;
    view.wait_done("m2").await;
    assert_eq!(view.text("m2"), "written");
    assert_eq!(std::fs::read_to_string(place.workspace().join("allowed.pem")).unwrap(), "by hand\n");
}

#[tokio::test]
async fn a_missing_file_is_told_as_the_reference_does() {
    let place = place();
    let (_host, mut view) = tab(&place).await;
    view.prompt("tab", "m1", "missing").await;
    view.wait_done("m1").await;
    let error: Value = serde_json::from_str(&view.text("m1")).unwrap();
    let path = place.workspace().canonicalize().unwrap().join("nothing-here");
    let wanted = json!({"code": -32002, "message": "Resource not found", "data": {"uri": path.to_str().unwrap()}});
    assert_eq!(error, wanted);
}

#[tokio::test]
async fn a_command_runs_in_a_terminal_of_the_host() {
    let place = place();
    let (_host, mut view) = tab(&place).await;
    view.prompt("tab", "m1", "terminal").await;
    let asked = view.wait_type("approval-request").await;
    assert_eq!(asked["kind"], "command");
    answer(&mut view, &asked, "allow_once").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    assert_eq!(view.text("m1"), r#"{"exit": 3, "output": "out\n"}"#);
}

#[tokio::test]
async fn after_a_crash_the_session_is_resumed_loaded_or_summed_up() {
    for (how, remembers, blocks) in [("resume", true, 1), ("load", true, 1), ("none", false, 2)] {
        let place = Place::new().with_acp("acp", &format!("env = {{ MEMORY = \"{how}\" }}")).trusted();
        let (_host, mut view) = tab(&place).await;
        view.prompt("tab", "m1", "first").await;
        view.wait_done("m1").await;
        view.prompt("tab", "m2", "crash").await;
        let done = view.wait_done("m2").await;
        assert_eq!((done["reason"].clone(), done["detail"]["code"].clone()), (json!("failed"), json!("agent_exited")));
        view.prompt("tab", "m3", "recall").await;
        assert_eq!(view.wait_done("m3").await["reason"], "completed");
        let known = if remembers { r#"["first", "crash", "recall"]"# } else { r#"["recall"]"# };
        assert_eq!(view.text("m3"), format!("{known} in {blocks} blocks"), "{how}");
        let replayed = view.told.iter().any(|message| message.to_string().contains("replayed"));
        assert!(!replayed, "what is replayed is not told again");
    }
}

#[tokio::test]
async fn an_agent_that_wants_a_sign_in_says_how_and_works_after_it() {
    let place = Place::new().with_acp("acp", "env = { SIGN_IN = \"yes\" }").trusted();
    let (_host, mut view) = tab(&place).await;
    view.prompt("tab", "m1", "hello").await;
    let done = view.wait_done("m1").await;
    assert_eq!(done["reason"], "failed");
    let why = done["detail"]["message"].as_str().unwrap();
    assert!(why.contains("choose “Open the door”"), "{why}");
    // As if a person had signed in elsewhere.
    std::fs::write(place.workspace().join("signed-in"), "").unwrap();
    view.prompt("tab", "m2", "hello").await;
    assert_eq!(view.wait_done("m2").await["reason"], "completed");
}
