//! What a restart means, with real processes: nothing lost, nothing sent twice, nothing left running.

use serde_json::json;

use super::checker;
use super::host::{Place, children_of, eventually, is_alive};

#[tokio::test]
async fn a_turn_that_ran_when_the_host_was_killed_fails_as_host_restarted() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: slow 1000").await;
    view.wait_type("response-chunk").await;
    host.kill_9();
    let host = place.serve();
    let mut again = host.view().await;
    again.send(json!({"type": "webview-ready", "lastSeenIndex": view.seen()})).await;
    let done = again.wait_done("m1").await;
    assert_eq!((&done["reason"], &done["detail"]["code"]), (&json!("failed"), &json!("host_restarted")));
    let mut journal = view.indexed("tab");
    journal.extend(again.indexed("tab"));
    checker::check_whole(&checker::log_of_tab(&place.database(), "tab"), &journal);
}

#[tokio::test]
async fn queued_prompts_wait_for_a_view_and_then_go_on() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: slow 1000").await;
    view.prompt("tab", "m2", "demo: echo second").await;
    view.wait_type("response-chunk").await;
    host.kill_9();
    let host = place.serve();
    assert_eq!(host.children(), Vec::<u32>::new(), "no agent runs before somebody looks");
    let mut again = host.view().await;
    again.send(json!({"type": "new-tab", "tabId": "tab"})).await;
    assert_eq!(again.wait_done("m2").await["reason"], "completed");
    assert_eq!(again.text("m2").trim(), "second");
}

#[tokio::test]
async fn an_open_approval_expires_with_the_host() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: approve").await;
    view.wait_type("approval-request").await;
    host.kill_9();
    let host = place.serve();
    let mut again = host.view().await;
    again.send(json!({"type": "webview-ready", "lastSeenIndex": view.seen()})).await;
    assert_eq!(again.wait_type("approval-resolved").await["decision"], "expired");
    again.wait_done("m1").await;
}

#[tokio::test]
async fn sigterm_marks_turns_closes_links_with_1001_and_leaves_nothing_running() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: slow 1000").await;
    view.wait_type("response-chunk").await;
    let children = host.children();
    assert_eq!(children.len(), 1);
    let stopped = tokio::task::spawn_blocking(move || host.stop());
    let code = view.close_code().await.map(u16::from);
    assert_eq!(stopped.await.unwrap(), Some(0));
    assert_eq!(code, Some(1001));
    assert!(children.iter().all(|pid| !is_alive(*pid)));
    assert!(children_of(&place.data()).is_empty());
    let done = view.told.iter().find(|message| message["type"] == "response-complete").unwrap();
    assert_eq!(done["detail"]["code"], "host_restarted");
    assert!(!place.data().join("host.json").exists());
}

#[tokio::test]
async fn after_sigkill_the_agents_die_with_their_host() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: slow 1000").await;
    view.wait_type("response-chunk").await;
    let children = host.children();
    host.kill_9();
    eventually("the parent-death signal reaches the agent", || children.iter().all(|pid| !is_alive(*pid)));
}

#[tokio::test]
async fn what_a_dead_host_left_is_ended_by_the_next_one() {
    // The grandchild is in the agent's process group, and no parent-death signal reaches it.
    let pid_file = "grandchild.pid";
    let script = format!("sh -c 'echo $$ > {pid_file}; exec sleep 1000' &\n{}", super::host::shell_agent(":"));
    let place = Place::new().with_agent("leaver", &script).trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "leaver"})).await;
    view.wait_type("tab-opened").await;
    let read = || std::fs::read_to_string(place.workspace().join(pid_file)).unwrap_or_default();
    eventually("the grandchild is there", || read().trim().parse::<u32>().is_ok());
    let grandchild: u32 = read().trim().parse().unwrap();
    eventually("the host has taken note of its child", || host.children().len() == 1);
    host.kill_9();
    assert!(is_alive(grandchild), "else this test shows nothing");
    let _next = place.serve();
    eventually("the next host has ended it", || !is_alive(grandchild));
}

#[tokio::test]
async fn the_token_and_the_data_survive_and_a_second_host_is_refused() {
    let place = Place::new();
    let host = place.serve();
    let token = host.token().to_owned();
    let second = place.command(&["serve", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(second.status.code(), Some(5));
    let words = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(words.contains(&host.pid().to_string()), "it says who holds the folder: {words}");
    host.kill_9();
    assert_eq!(place.serve().token(), token);
}
