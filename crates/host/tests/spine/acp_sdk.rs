//! The example agent of the official SDK of the Agent Client Protocol, as npm installs it: others wrote it, so it shares no
//! mistake of ours. At every prompt it reads a file, asks whether it may change another, and says what came of it.

use std::path::Path;

use serde_json::{Value, json};

use super::host::{Host, Place};
use super::view::View;

/// A trusted place whose agent `sdk` is the example.
fn place() -> Place {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    // Installs nothing if the page or a browser test has done so already.
    drop(switchboard_page_build::install(&web).unwrap());
    let agent = web.join("node_modules/@agentclientprotocol/sdk/dist/examples/agent.js").canonicalize().unwrap();
    let command = json!(["node", agent]);
    Place::new().with_config(&format!("[agents.sdk]\nkind = \"acp\"\ncommand = {command}\n")).trusted()
}

async fn asked(host: &Host) -> (View, Value) {
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "sdk"})).await;
    view.prompt("tab", "m1", "improve it").await;
    let question = view.wait_type("approval-request").await;
    (view, question)
}

async fn answer(view: &mut View, question: &Value, decision: &str) {
    let approval = &question["approvalId"];
    view.send(json!({"type": "approval-response", "tabId": "tab", "approvalId": approval, "decision": decision})).await;
}

fn text(view: &View, message_id: &str) -> String {
    let chunks = view.told.iter().filter(|m| m["type"] == "response-chunk" && m["messageId"] == message_id);
    chunks.filter_map(|m| m["chunk"].as_str()).collect()
}

/// The last status of each tool call.
fn statuses(view: &View) -> Vec<(String, String)> {
    let mut last: Vec<(String, String)> = Vec::new();
    for call in view.told.iter().map(|m| &m["toolCall"]).filter(|call| call.is_object()) {
        let title = call["title"].as_str().unwrap_or_default().to_owned();
        let status = call["status"].as_str().unwrap().to_owned();
        match last.iter_mut().find(|(of, _)| *of == title) {
            Some((_, known)) => *known = status,
            None => last.push((title, status)),
        }
    }
    last
}

#[tokio::test]
async fn what_is_allowed_is_done_and_every_step_is_shown() {
    let place = place();
    let host = place.serve();
    let (mut view, question) = asked(&host).await;
    assert_eq!(question["title"], "Modifying critical configuration file");
    answer(&mut view, &question, "allow_once").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    assert!(text(&view, "m1").ends_with("The changes have been applied."), "{}", text(&view, "m1"));
    let done = |title: &str| (title.to_owned(), "completed".to_owned());
    assert_eq!(statuses(&view), vec![done("Reading project files"), done("Modifying critical configuration file")]);
}

#[tokio::test]
async fn what_is_denied_is_not_done_and_the_agent_is_told() {
    let place = place();
    let host = place.serve();
    let (mut view, question) = asked(&host).await;
    answer(&mut view, &question, "deny").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    assert!(text(&view, "m1").contains("you prefer not to make that change"), "{}", text(&view, "m1"));
}

#[tokio::test]
async fn a_turn_is_cancelled_while_it_asks_and_the_next_one_runs() {
    let place = place();
    let host = place.serve();
    let (mut view, question) = asked(&host).await;
    view.send(json!({"type": "cancel", "tabId": "tab", "messageId": "m1"})).await;
    assert_eq!(view.wait_done("m1").await["reason"], "cancelled");
    let resolved = view.told.iter().find(|m| m["type"] == "approval-resolved").expect("the question is taken back");
    assert_eq!(resolved["approvalId"], question["approvalId"]);
    view.prompt("tab", "m2", "again").await;
    let question = view.wait_type("approval-request").await;
    answer(&mut view, &question, "allow_once").await;
    assert_eq!(view.wait_done("m2").await["reason"], "completed");
}
