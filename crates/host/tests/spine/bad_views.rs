//! Bad input from views, each with a clear outcome: an error in the dialect's form, the link lives, the log is untouched.

use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::Message;

use super::checker;
use super::host::Place;

#[tokio::test]
async fn bad_messages_get_an_error_and_leave_the_log_untouched() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    let before = checker::log_of_tab(&place.database(), "tab");
    let deep = format!("{{\"type\":\"visibility\",\"visible\":true,\"x\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let long_id = "x".repeat(129);
    let cases: Vec<(String, &str)> = vec![
        ("{\"type\":\"prompt\",".into(), "bad_json"),
        ("not json at all".into(), "bad_json"),
        (String::new(), "bad_json"),
        ("[]".into(), "bad_json"),
        ("\"prompt\"".into(), "bad_json"),
        ("17".into(), "bad_json"),
        ("null".into(), "bad_json"),
        ("{} {}".into(), "bad_json"),
        ("[".repeat(100_000), "bad_json"),
        (deep, "bad_json"),
        ("{}".into(), "bad_message"),
        (json!({"type": 5}).to_string(), "bad_message"),
        (json!({"type": "sing"}).to_string(), "unknown_type"),
        (json!({"type": "Prompt"}).to_string(), "unknown_type"),
        (json!({"type": "prompt", "tabId": "tab", "messageId": "m", "text": 5}).to_string(), "bad_message"),
        (json!({"type": "prompt", "tabId": "tab", "text": "no id"}).to_string(), "bad_message"),
        (
            json!({"type": "prompt", "tabId": "tab", "messageId": "m", "text": "x", "context": {}}).to_string(),
            "bad_message",
        ),
        (json!({"type": "new-tab", "tabId": long_id}).to_string(), "bad_message"),
        (json!({"type": "new-tab", "tabId": "t2", "lastSeenIndex": "1"}).to_string(), "bad_message"),
        (json!({"type": "new-tab", "tabId": "t2", "lastSeenIndex": 1.5}).to_string(), "bad_message"),
        (json!({"type": "new-tab", "tabId": "t2", "agent": "nobody"}).to_string(), "agent_unavailable"),
        (json!({"type": "visibility", "visible": "yes"}).to_string(), "bad_message"),
        (json!({"type": "webview-ready", "lastSeenIndex": [1]}).to_string(), "bad_message"),
        (json!({"type": "prompt", "tabId": "nowhere", "messageId": "m", "text": "x"}).to_string(), "unknown_tab"),
        (json!({"type": "cancel", "tabId": "nowhere", "messageId": "m"}).to_string(), "unknown_tab"),
        (json!({"type": "close-tab", "tabId": "nowhere"}).to_string(), "unknown_tab"),
        (json!({"type": "restart-agent", "tabId": "nowhere"}).to_string(), "unknown_tab"),
        (json!({"type": "cancel", "tabId": "tab", "messageId": "never"}).to_string(), "bad_message"),
        (
            json!({"type": "approval-response", "tabId": "tab", "approvalId": "a1", "decision": "deny"}).to_string(),
            "bad_message",
        ),
    ];
    for (text, code) in cases {
        let shown: String = text.chars().take(100).collect();
        view.send_text(text).await;
        let error = view.next().await.unwrap();
        assert_eq!((&error["type"], &error["error"]["code"]), (&json!("error"), &json!(code)), "{shown} got {error}");
        assert!(error["error"]["message"].as_str().is_some_and(|message| message.len() > 10), "{error}");
        assert!(error.get("index").is_none());
    }
    view.sync().await;
    assert_eq!(checker::log_of_tab(&place.database(), "tab"), before);
    view.prompt("tab", "m1", "demo: echo still here").await;
    view.wait_done("m1").await;
}

#[tokio::test]
async fn an_error_says_which_tab_and_message_it_is_about() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "prompt", "tabId": "t", "messageId": "m", "text": ["x"]})).await;
    let error = view.wait_error("bad_message").await;
    assert_eq!((&error["tabId"], &error["messageId"]), (&json!("t"), &json!("m")));
}

#[tokio::test]
async fn a_binary_frame_is_refused_and_the_link_lives() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.socket.send(Message::binary(vec![0, 159, 146, 150])).await.unwrap();
    view.wait_type("error").await;
    view.open("tab").await;
}

#[tokio::test]
async fn a_prompt_of_twenty_megabytes_closes_the_link_with_1009_and_leaves_no_trace() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    let text = "x".repeat(20 * 1024 * 1024);
    let huge = json!({"type": "prompt", "tabId": "tab", "messageId": "m1", "text": text}).to_string();
    // The host may close before it has taken all of it.
    let _ = view.socket.send(Message::text(huge)).await;
    assert_eq!(view.close_code().await.map(u16::from), Some(1009));
    assert_eq!(checker::log_of_tab(&place.database(), "tab").records.len(), 1);
    let mut again = host.view().await;
    again.send(json!({"type": "new-tab", "tabId": "tab"})).await;
    again.prompt("tab", "m2", "demo: echo fine").await;
    again.wait_done("m2").await;
}

#[tokio::test]
async fn a_prompt_of_fifteen_megabytes_is_kept_whole() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    let text = format!("demo: silent {}", "é".repeat(15 * 512 * 1024));
    view.prompt("tab", "m1", &text).await;
    let queued = view.wait_type("prompt-queued").await;
    assert_eq!(queued["text"].as_str().unwrap(), text);
    view.wait_done("m1").await;
}

#[tokio::test]
async fn a_truncated_frame_ends_only_its_own_link() {
    let place = Place::new();
    let host = place.serve();
    let mut good = host.view().await;
    good.open("tab").await;
    let mut bad = host.view().await;
    // A masked text frame that says 100 bytes and ends after ten.
    let stream = bad.socket.get_mut();
    stream.write_all(&[0x81, 0x80 | 100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(bad.next().await, None);
    good.prompt("tab", "m1", "demo: echo unharmed").await;
    assert_eq!(good.wait_done("m1").await["reason"], "completed");
}

#[tokio::test]
async fn text_that_is_no_utf_8_closes_the_link_with_1007() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    let stream = view.socket.get_mut();
    stream.write_all(&[0x81, 0x80 | 2, 0, 0, 0, 0, 0xff, 0xfe]).await.unwrap();
    assert_eq!(view.close_code().await.map(u16::from), Some(1007));
}

#[tokio::test]
async fn a_view_that_asks_without_reading_the_answers_costs_little_and_nobody_else_notices() {
    let place = Place::new();
    let host = place.serve();
    let (mut greedy, mut other) = (host.view().await, host.view().await);
    other.open("tab").await;
    let flood = tokio::spawn(async move {
        for _ in 0..200_000 {
            if greedy.socket.send(Message::text("{\"type\":\"webview-ready\"}")).await.is_err() {
                return;
            }
        }
    });
    other.prompt("tab", "m1", "demo: echo unmoved").await;
    assert_eq!(other.wait_done("m1").await["reason"], "completed");
    flood.abort();
    assert!(host.memory_kib() < 200 * 1024);
}

#[tokio::test]
async fn the_queue_is_bounded_and_a_second_seat_too() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m0", "demo: hang").await;
    view.wait_type("prompt-started").await;
    for n in 1..66 {
        view.prompt("tab", &format!("m{n}"), "demo: hang").await;
    }
    let refused = view.wait_error("too_large").await;
    assert_eq!(refused["messageId"], "m65");
    let seen: Value = (0..1_001).map(|n| (format!("t{n}"), json!(0))).collect::<serde_json::Map<_, _>>().into();
    view.send(json!({"type": "webview-ready", "lastSeenIndex": seen})).await;
    view.wait_error("too_large").await;
}
