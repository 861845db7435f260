//! The view dialect `tabs`, rule by rule, through the real door.

use serde_json::{Value, json};

use super::checker;
use super::host::Place;

#[tokio::test]
async fn a_prompt_streams_thoughts_a_plan_and_an_answer_and_is_completed() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    let opened = view.open("tab").await;
    assert_eq!(opened, json!({"type": "tab-opened", "tabId": "tab", "index": 1}));
    view.prompt("tab", "m1", "hello there").await;
    let queued = view.wait_type("prompt-queued").await;
    assert_eq!(
        (&queued["messageId"], &queued["text"], &queued["position"]),
        (&json!("m1"), &json!("hello there"), &json!(0))
    );
    let done = view.wait_done("m1").await;
    assert_eq!(done["reason"], "completed");
    let kinds: Vec<&str> = view.told.iter().map(|message| message["type"].as_str().unwrap()).collect();
    for kind in ["tab-title", "prompt-started", "thought-chunk", "plan", "response-chunk"] {
        assert!(kinds.contains(&kind), "{kind} is among {kinds:?}");
    }
    assert!(view.text("m1").contains("demo"), "it says that it is a demo: {}", view.text("m1"));
    view.assert_increasing();
    checker::check_whole(&checker::log_of_tab(&place.database(), "tab"), &view.indexed("tab"));
}

#[tokio::test]
async fn the_same_index_means_the_same_event_at_every_replay_and_after_a_restart() {
    let place = Place::new();
    let host = place.serve();
    let mut first = host.view().await;
    first.open("tab").await;
    first.prompt("tab", "m1", "demo: echo one two three").await;
    first.wait_done("m1").await;
    let mut second = host.view().await;
    second.send(json!({"type": "new-tab", "tabId": "tab"})).await;
    second.wait_done("m1").await;
    assert_eq!(second.indexed("tab"), first.indexed("tab"));
    host.kill_9();
    let host = place.serve();
    let mut third = host.view().await;
    third.send(json!({"type": "webview-ready", "lastSeenIndex": {"tab": -1}})).await;
    third.wait_done("m1").await;
    assert_eq!(third.indexed("tab"), first.indexed("tab"));
}

#[tokio::test]
async fn a_replay_begins_after_the_last_seen_index() {
    let place = Place::new();
    let host = place.serve();
    let mut first = host.view().await;
    first.open("tab").await;
    first.prompt("tab", "m1", "demo: fast 50").await;
    first.wait_done("m1").await;
    let all = first.indexed("tab");
    let seen = all[20]["index"].as_u64().unwrap();
    let mut second = host.view().await;
    second.send(json!({"type": "new-tab", "tabId": "tab", "lastSeenIndex": seen})).await;
    second.wait_done("m1").await;
    assert_eq!(second.indexed("tab"), all[21..].to_vec());
}

#[tokio::test]
async fn webview_ready_lists_the_tabs_and_seats_the_link_only_where_it_asked() {
    let place = Place::new();
    let host = place.serve();
    let mut first = host.view().await;
    first.open("a").await;
    first.open("b").await;
    let mut second = host.view().await;
    second.send(json!({"type": "webview-ready", "lastSeenIndex": {"b": 0, "gone": 4}})).await;
    let restored = second.wait_type("tabs-restored").await;
    let tabs: Vec<(&Value, &Value)> =
        restored["tabs"].as_array().unwrap().iter().map(|tab| (&tab["tabId"], &tab["lastIndex"])).collect();
    assert_eq!(tabs, vec![(&json!("a"), &json!(1)), (&json!("b"), &json!(1))]);
    assert!(restored["tabs"][0]["title"].is_string() && restored.get("index").is_none());
    let error = second.wait_error("unknown_tab").await;
    assert_eq!(error["tabId"], "gone");
    second.wait_type("tab-opened").await;
    second.sync().await;
    assert!(second.indexed("a").is_empty(), "not seated, not told");
}

#[tokio::test]
async fn an_index_beyond_the_end_gets_tab_reset_and_then_everything() {
    let place = Place::new();
    let host = place.serve();
    let mut first = host.view().await;
    first.open("tab").await;
    let mut second = host.view().await;
    second.send(json!({"type": "new-tab", "tabId": "tab", "lastSeenIndex": 999})).await;
    let reset = second.next().await.unwrap();
    assert_eq!(reset, json!({"type": "tab-reset", "tabId": "tab"}));
    assert_eq!(second.next().await.unwrap()["index"], 1);
}

#[tokio::test]
async fn a_known_tab_is_attached_again_and_a_known_message_is_not_run_again() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: echo once").await;
    view.wait_done("m1").await;
    let last = view.last_index("tab");
    view.send(json!({"type": "new-tab", "tabId": "tab", "lastSeenIndex": last})).await;
    view.prompt("tab", "m1", "demo: echo once").await;
    view.prompt("tab", "m2", "demo: echo twice").await;
    view.wait_done("m2").await;
    let queued = view.told.iter().filter(|message| message["type"] == "prompt-queued").count();
    assert_eq!(queued, 2);
    view.prompt("tab", "m1", "demo: echo something else").await;
    assert_eq!(view.wait_error("bad_message").await["messageId"], "m1");
    view.assert_increasing();
}

#[tokio::test]
async fn a_hidden_view_is_sent_nothing_indexed_and_gets_what_it_missed_first() {
    let place = Place::new();
    let host = place.serve();
    let (mut hidden, mut shown) = (host.view().await, host.view().await);
    hidden.open("tab").await;
    shown.open("tab").await;
    hidden.send(json!({"type": "visibility", "visible": false})).await;
    hidden.sync().await;
    let before = hidden.indexed("tab").len();
    shown.prompt("tab", "m1", "demo: fast 100").await;
    shown.wait_done("m1").await;
    hidden.sync().await;
    assert_eq!(hidden.indexed("tab").len(), before);
    hidden.send(json!({"type": "visibility", "visible": true})).await;
    hidden.wait_done("m1").await;
    assert_eq!(hidden.indexed("tab"), shown.indexed("tab"));
}

#[tokio::test]
async fn prompts_queue_in_order_and_a_queued_one_can_be_cancelled() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: slow 1000").await;
    view.prompt("tab", "m2", "demo: echo two").await;
    view.prompt("tab", "m3", "demo: echo three").await;
    let place_of = |m: &Value| m["type"] == "prompt-queued" && m["messageId"] == "m3";
    assert_eq!(view.wait_for("m3 queued", place_of).await["position"], 2);
    view.send(json!({"type": "cancel", "tabId": "tab", "messageId": "m2"})).await;
    assert_eq!(view.wait_done("m2").await["reason"], "cancelled");
    view.send(json!({"type": "cancel", "tabId": "tab", "messageId": "m1"})).await;
    assert_eq!(view.wait_done("m1").await["reason"], "cancelled");
    assert_eq!(view.wait_done("m3").await["reason"], "completed");
    assert_eq!(view.text("m3").trim(), "three");
    assert!(view.text("m2").is_empty(), "it never ran");
}

#[tokio::test]
async fn tabs_stream_side_by_side_and_apart() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("a").await;
    view.open("b").await;
    view.prompt("a", "m1", "demo: slow 100000").await;
    view.prompt("b", "m1", "demo: echo for b").await;
    let done = |m: &Value| m["type"] == "response-complete" && m["tabId"] == "b";
    view.wait_for("b is done while a runs", done).await;
    assert!(!view.told.iter().any(|m| m["type"] == "response-complete" && m["tabId"] == "a"));
}

#[tokio::test]
async fn closing_a_tab_cancels_what_runs_and_forgets_the_tab() {
    let place = Place::new();
    let host = place.serve();
    let (mut view, mut other) = (host.view().await, host.view().await);
    view.open("tab").await;
    other.open("tab").await;
    view.prompt("tab", "m1", "demo: slow 1000").await;
    view.prompt("tab", "m2", "demo: echo never").await;
    view.wait_type("response-chunk").await;
    view.send(json!({"type": "close-tab", "tabId": "tab"})).await;
    for message in ["m1", "m2"] {
        assert_eq!(view.wait_done(message).await["reason"], "cancelled");
    }
    view.wait_type("tab-closed").await;
    other.wait_type("tab-closed").await;
    assert_eq!(other.indexed("tab"), view.indexed("tab"));
    view.prompt("tab", "m3", "hello").await;
    view.wait_error("unknown_tab").await;
    view.send(json!({"type": "webview-ready"})).await;
    assert_eq!(view.wait_type("tabs-restored").await["tabs"], json!([]));
    let file = rusqlite::Connection::open(place.database()).unwrap();
    let kept: i64 = file.query_row("SELECT count(*) FROM session WHERE tab IS NULL", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 1, "the log stays in history");
}

#[tokio::test]
async fn an_approval_is_asked_shown_to_whoever_attaches_and_answered_once() {
    let place = Place::new();
    let host = place.serve();
    let (mut view, mut late) = (host.view().await, host.view().await);
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: approve").await;
    let asked = view.wait_type("approval-request").await;
    for field in ["approvalId", "kind", "title", "severity", "reason"] {
        assert!(asked[field].is_string(), "{field} of {asked}");
    }
    late.send(json!({"type": "new-tab", "tabId": "tab"})).await;
    let again = late.wait_type("approval-request").await;
    assert_eq!(again, asked);
    let answer = |decision: &str| json!({"type": "approval-response", "tabId": "tab", "approvalId": asked["approvalId"], "decision": decision});
    late.send(answer("allow_once")).await;
    let resolved = view.wait_type("approval-resolved").await;
    assert_eq!((&resolved["approvalId"], &resolved["decision"]), (&asked["approvalId"], &json!("allow_once")));
    view.send(answer("deny")).await;
    view.wait_error("bad_message").await;
    view.send(answer("perhaps")).await;
    view.wait_error("bad_message").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    assert!(view.text("m1").contains("allow_once"), "{}", view.text("m1"));
}

#[tokio::test]
async fn cancelling_a_turn_denies_its_open_approval() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: approve").await;
    view.wait_type("approval-request").await;
    view.send(json!({"type": "cancel", "tabId": "tab", "messageId": "m1"})).await;
    assert_eq!(view.wait_type("approval-resolved").await["decision"], "deny");
    assert_eq!(view.wait_done("m1").await["reason"], "cancelled");
}

#[tokio::test]
async fn a_tool_call_is_on_record_and_the_agent_is_told_what_came_of_it() {
    let place = Place::new();
    std::fs::write(place.workspace().join("here.txt"), "").unwrap();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: tool").await;
    let call = view.wait_type("tool-call").await;
    assert_eq!(call["toolCall"]["status"], "pending");
    let update = view.wait_type("tool-call-update").await;
    assert_eq!(
        (&update["toolCall"]["id"], &update["toolCall"]["status"]),
        (&call["toolCall"]["id"], &json!("running"))
    );
    view.wait_done("m1").await;
    let last = view.told.iter().rfind(|told| told["type"] == "tool-call-update").unwrap();
    assert_eq!(last["toolCall"]["status"], "completed");
    assert!(view.text("m1").contains("here.txt"), "{}", view.text("m1"));
}

#[tokio::test]
async fn acks_are_advisory() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.send(json!({"type": "message-ack", "tabId": "tab", "index": 1})).await;
    view.sync().await;
    assert!(!view.told.iter().any(|message| message["type"] == "error"));
    let mut second = host.view().await;
    second.open("tab").await;
    assert_eq!(second.last_index("tab"), 1, "an ack of one view moves nobody's cursor");
}

#[tokio::test]
async fn text_of_every_script_arrives_byte_for_byte() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("täb \"quoted\" 🦀").await;
    let text = "demo: echo \\ \" \u{1} \u{2028} مرحبا 👩‍👩‍👧 \t end";
    view.prompt("täb \"quoted\" 🦀", "m 'id' \u{1}", text).await;
    let done = view.wait_done("m 'id' \u{1}").await;
    assert_eq!(done["tabId"], "täb \"quoted\" 🦀");
    let queued = view.told.iter().find(|message| message["type"] == "prompt-queued").unwrap();
    assert_eq!(queued["text"], text);
    assert!(view.text("m 'id' \u{1}").contains("مرحبا 👩‍👩‍👧"), "{:?}", view.text("m 'id' \u{1}"));
}
