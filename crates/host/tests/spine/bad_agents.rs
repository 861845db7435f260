//! Agents that write garbage, too much, half of something, or nothing at all: each with a clear outcome, and nothing lost.

use serde_json::json;

use super::checker;
use super::host::{Place, shell_agent};

#[tokio::test]
async fn garbage_is_skipped_and_the_answer_comes_through() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: garbage").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    assert!(!view.text("m1").is_empty());
    view.prompt("tab", "m2", "demo: echo all well").await;
    view.wait_done("m2").await;
    assert_eq!(view.text("m2").trim(), "all well");
    let log = host.log();
    assert!(log.contains("demo"), "noise is logged with the agent's name: {log}");
}

#[tokio::test]
async fn ten_megabytes_without_a_newline_are_one_line_of_noise() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: long 10").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    view.prompt("tab", "m2", "demo: long 20").await;
    assert_eq!(view.wait_done("m2").await["reason"], "completed", "a line over the limit is skipped, the agent lives");
}

#[tokio::test]
async fn half_a_line_and_an_exit_fail_the_turn_and_add_nothing() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: half").await;
    let done = view.wait_done("m1").await;
    assert_eq!((&done["reason"], &done["detail"]["code"]), (&json!("failed"), &json!("agent_exited")));
    checker::check_whole(&checker::log_of_tab(&place.database(), "tab"), &view.indexed("tab"));
}

#[tokio::test]
async fn a_flood_of_large_chunks_arrives_whole() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: flood 8").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    assert!(view.text("m1").len() >= 8 * 1024 * 1024);
    checker::check_whole(&checker::log_of_tab(&place.database(), "tab"), &view.indexed("tab"));
}

#[tokio::test]
async fn an_agent_that_hangs_is_cancelled_after_ten_seconds_and_the_queue_goes_on() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: hang").await;
    view.prompt("tab", "m2", "demo: echo after").await;
    view.wait_type("prompt-started").await;
    view.send(json!({"type": "cancel", "tabId": "tab", "messageId": "m1"})).await;
    let done = view.wait_done("m1").await;
    assert_eq!((&done["reason"], &done["detail"]["code"]), (&json!("cancelled"), &json!("agent_unresponsive")));
    assert_eq!(view.wait_done("m2").await["reason"], "completed");
    assert_eq!(view.text("m2").trim(), "after");
}

#[tokio::test]
async fn an_agent_that_says_nothing_at_all_is_called_slow_and_then_failed() {
    let place = Place::new().with_config("startup_slow_ms = 200\nstartup_timeout_ms = 600\n");
    let place = place.with_agent("mute", "cat > /dev/null\n").trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "mute"})).await;
    view.prompt("tab", "m1", "anybody there?").await;
    let status = view.wait_type("status").await;
    assert!(status["message"].as_str().unwrap().contains("slow"), "{status}");
    let done = view.wait_done("m1").await;
    assert_eq!((&done["reason"], &done["detail"]["code"]), (&json!("failed"), &json!("agent_unavailable")));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said_in_words() {
    let entry = "[agents.ghost]\nkind = \"plain\"\ncommand = [\"no-such-program-anywhere\"]\n";
    let place = Place::new().with_config(entry).trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "ghost"})).await;
    let exited = view.wait_type("agent-exited").await;
    assert!(exited["message"].as_str().unwrap().contains("no-such-program-anywhere"), "{exited}");
    view.prompt("tab", "m1", "hello").await;
    assert_eq!(view.wait_done("m1").await["detail"]["code"], "agent_unavailable");
}

#[tokio::test]
async fn an_agent_that_dies_at_its_start_is_said_with_its_last_words() {
    let place = Place::new().with_agent("dying", "echo 'no API key, set one' >&2\nexit 7\n").trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "dying"})).await;
    let exited = view.wait_type("agent-exited").await;
    let message = exited["message"].as_str().unwrap();
    assert!(message.contains("code 7") && message.contains("no API key"), "{message}");
}

#[tokio::test]
async fn an_agents_error_ends_the_turn_as_failed_with_its_words() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: error").await;
    let done = view.wait_done("m1").await;
    assert_eq!((&done["reason"], &done["detail"]["code"]), (&json!("failed"), &json!("agent_error")));
}

#[tokio::test]
async fn an_agent_that_completes_without_a_word_is_completed() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: silent").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    assert_eq!(view.text("m1"), "");
}

#[tokio::test]
async fn a_model_whose_server_is_not_there_fails_its_prompt_and_says_where_nobody_listens() {
    let entry = "[agents.local]\nkind = \"model\"\nbase_url = \"http://127.0.0.1:1\"\nmodel = \"x\"\n";
    let place = Place::new().with_config(entry).trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "local"})).await;
    view.wait_type("tab-opened").await;
    view.prompt("tab", "m1", "hello").await;
    let done = view.wait_done("m1").await;
    assert_eq!(done["reason"], "failed", "{done}");
    assert!(done["detail"]["message"].as_str().unwrap().contains("http://127.0.0.1:1"), "{done}");
}

#[tokio::test]
async fn late_words_of_a_session_that_was_closed_reach_nobody() {
    let answer = r#"      say "{\"type\":\"response-chunk\",\"sessionId\":\"s1\",\"chunk\":\"for the first\"}"
      say "{\"type\":\"response-chunk\",\"sessionId\":\"$id\",\"chunk\":\"for $id\"}"
      say "{\"type\":\"response-complete\",\"sessionId\":\"$id\"}""#;
    let place = Place::new().with_agent("gossip", &shell_agent(answer)).trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "first", "agent": "gossip"})).await;
    view.wait_type("tab-opened").await;
    view.prompt("first", "m0", "hello").await;
    view.wait_done("m0").await;
    view.send(json!({"type": "close-tab", "tabId": "first"})).await;
    view.wait_type("tab-closed").await;
    view.send(json!({"type": "new-tab", "tabId": "second", "agent": "gossip"})).await;
    view.prompt("second", "m1", "hello").await;
    view.wait_done("m1").await;
    assert_eq!(view.text("m1"), "for s2");
}
