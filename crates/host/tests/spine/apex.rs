//! Apex backends through the whole spine: one in bare Python, one with `vscode-jsonrpc`, in good turns and bad ones.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::checker;
use super::host::{Host, Place, eventually, is_alive};
use super::view::View;

/// A place whose agent `backend` is one of ours.
fn place(command: &str) -> Place {
    let entry =
        format!("[agents.backend]\nkind = \"apex\"\ncommand = {command}\nconfig = {{ level = 3, name = \"é\" }}\n");
    Place::new().with_config(&entry).trusted()
}

fn python() -> Place {
    let place = place(r#"["python3", "-u", "backend.py"]"#);
    std::fs::write(place.workspace().join("backend.py"), include_str!("backends/apex.py")).unwrap();
    place
}

/// With the packages that the benches use too.
fn node() -> Place {
    let place = place(r#"["node", "backend.mjs"]"#);
    std::fs::write(place.workspace().join("backend.mjs"), include_str!("backends/apex.mjs")).unwrap();
    std::os::unix::fs::symlink(node_modules(), place.workspace().join("node_modules")).unwrap();
    place
}

/// Where `vscode-jsonrpc` is; installed first where it is not. Tests in other processes may be about to do the same.
fn node_modules() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/node").canonicalize().unwrap();
    let modules = folder.join("node_modules");
    let lock = std::fs::File::create(std::env::temp_dir().join("switchboard-test-npm.lock")).unwrap();
    lock.lock().unwrap();
    if !modules.join("vscode-jsonrpc/package.json").exists() {
        let npm = Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder).output();
        let npm = npm.expect("npm is needed for this test");
        assert!(npm.status.success(), "npm: {}", String::from_utf8_lossy(&npm.stderr));
    }
    modules
}

async fn open(host: &Host) -> View {
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "backend"})).await;
    view
}

/// What the backend heard of a method, each time.
fn heard(place: &Place, method: &str) -> Vec<Value> {
    let journal = std::fs::read_to_string(place.workspace().join("heard.jsonl")).unwrap_or_default();
    let messages = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    messages.filter(|message| message["method"] == method).map(|message| message["params"].clone()).collect()
}

fn texts<'a>(view: &'a View, kind: &'a str, field: &'a str) -> Vec<&'a str> {
    view.told.iter().filter(|told| told["type"] == kind).filter_map(|told| told[field].as_str()).collect()
}

/// What the first end of the backend is called, whether it was told before or comes now.
async fn exit_message(view: &mut View) -> String {
    let past = view.told.iter().find(|told| told["type"] == "agent-exited").cloned();
    let exited = match past {
        Some(exited) => exited,
        None => view.wait_type("agent-exited").await,
    };
    exited["message"].as_str().unwrap().to_owned()
}

/// What every backend must bring about, whatever it is made with.
async fn good_turns(place: &Place) {
    let host = place.serve();
    let mut view = open(&host).await;
    view.prompt("tab", "m1", "turn").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed", "{}", host.log());
    assert_eq!(view.text("m1"), "let x = 1;\nthe answer é");
    assert_eq!(texts(&view, "thought-chunk", "chunk"), ["hm"]);
    assert_eq!(texts(&view, "status", "message"), ["reading", "a last word"]);

    view.prompt("tab", "m2", "short").await;
    view.wait_done("m2").await;
    assert_eq!(view.text("m2"), "only this");

    view.prompt("tab", "m3", "tool").await;
    view.wait_done("m3").await;
    let refusal: Value = serde_json::from_str(&view.text("m3")).unwrap();
    assert_eq!(refusal["code"], -32003);
    assert_eq!(refusal["data"], json!({"toolCallId": "c1", "code": "EXECUTION_ERROR"}));
    let update = view.told.iter().rfind(|told| told["type"] == "tool-call-update").unwrap();
    assert_eq!((&update["toolCall"]["id"], &update["toolCall"]["status"]), (&json!("c1"), &json!("failed")));

    view.prompt("tab", "m4", "fail").await;
    let done = view.wait_done("m4").await;
    assert_eq!((&done["reason"], &done["detail"]["code"]), (&json!("failed"), &json!("agent_error")));
    assert!(done["detail"]["message"].as_str().unwrap().ends_with(": no plan"), "{done}");
    assert!(
        texts(&view, "status", "message").contains(&"no model ({\"http\": 500})") || {
            texts(&view, "status", "message").contains(&"no model ({\"http\":500})")
        }
    );

    view.prompt("tab", "m5", "slow").await;
    view.wait_for("the first word", |told| told["messageId"] == "m5" && told["type"] == "response-chunk").await;
    view.send(json!({"type": "cancel", "tabId": "tab", "messageId": "m5"})).await;
    assert_eq!(view.wait_done("m5").await["reason"], "cancelled");

    let start = heard(place, "initialize");
    assert_eq!(start.len(), 1, "one process has served all turns");
    assert_eq!(start[0]["initialConfig"], json!({"level": 3, "name": "é"}));
    let root = place.workspace().canonicalize().unwrap();
    assert_eq!(start[0]["workspaceRoot"], root.to_str().unwrap());
    let environment = json!({"platform": std::env::consts::OS, "hostVersion": env!("CARGO_PKG_VERSION")});
    assert_eq!(start[0]["environment"], environment);

    checker::check_whole(&checker::log_of_tab(&place.database(), "tab"), &view.indexed("tab"));
    drop(view);
    assert_eq!(host.stop(), Some(0));
    assert_eq!(heard(place, "shutdown").len(), 1, "it is told before it is ended");
}

#[tokio::test]
async fn a_backend_in_python_works_turn_after_turn() {
    good_turns(&python()).await;
}

#[tokio::test]
async fn a_backend_with_vscode_jsonrpc_works_turn_after_turn() {
    good_turns(&node()).await;
}

#[tokio::test]
async fn context_tools_by_notification_and_unknown_methods_get_their_answers() {
    let place = python();
    std::fs::write(place.workspace().join("noted.txt"), "a note\n").unwrap();
    let host = place.serve();
    let mut view = open(&host).await;
    let context = json!([{"path": "a.py", "content": "x = 1"}, {"content": "an excerpt"}]);
    let prompt =
        json!({"type": "prompt", "tabId": "tab", "messageId": "m1", "text": "notified-tool", "context": context});
    view.send(prompt).await;
    view.wait_done("m1").await;
    let response: Value = serde_json::from_str(&view.text("m1")).unwrap();
    assert_eq!((&response["toolCallId"], &response["error"]), (&json!("c2"), &Value::Null));
    assert_eq!(response["result"]["content"], "a note\n");
    let sent = &heard(&place, "executeTask")[0]["context"];
    assert_eq!(sent["relevantFiles"], json!(["a.py"]));
    assert_eq!(sent["items"], json!([{"path": "a.py", "content": "x = 1"}, {"path": null, "content": "an excerpt"}]));
    view.prompt("tab", "m2", "unknown").await;
    view.wait_done("m2").await;
    assert_eq!(view.text("m2"), "-32601");
}

#[tokio::test]
async fn noise_between_frames_and_bad_json_in_one_are_skipped() {
    let place = python();
    let host = place.serve();
    let mut view = open(&host).await;
    view.prompt("tab", "m1", "noise").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    assert_eq!(view.text("m1"), "one two");
    let log = host.log();
    assert!(log.contains("Traceback") && log.contains("not JSON"), "{log}");
}

#[tokio::test]
async fn a_crash_fails_the_turn_and_the_next_prompt_starts_a_backend_that_knows_what_was_said() {
    let place = python();
    let host = place.serve();
    let mut view = open(&host).await;
    view.prompt("tab", "m1", "crash").await;
    let done = view.wait_done("m1").await;
    assert_eq!((&done["reason"], &done["detail"]["code"]), (&json!("failed"), &json!("agent_exited")));
    assert_eq!(view.text("m1"), "half an ans");
    assert!(exit_message(&mut view).await.contains("the last words of the backend"));
    view.prompt("tab", "m2", "short").await;
    assert_eq!(view.wait_done("m2").await["reason"], "completed");
    let prompts = heard(&place, "executeTask");
    assert_eq!(prompts.len(), 2, "no prompt is given twice");
    let again = prompts[1]["prompt"].as_str().unwrap();
    assert!(again.ends_with("\n\nshort") && again.contains("half an ans"), "{again}");
    assert_eq!(heard(&place, "initialize").len(), 2);
    checker::check_whole(&checker::log_of_tab(&place.database(), "tab"), &view.indexed("tab"));
}

#[tokio::test]
async fn a_length_that_cannot_be_ends_the_backend_with_a_clear_message() {
    let place = python();
    let host = place.serve();
    let mut view = open(&host).await;
    view.prompt("tab", "m1", "huge").await;
    let done = view.wait_done("m1").await;
    assert_eq!((&done["reason"], &done["detail"]["code"]), (&json!("failed"), &json!("agent_exited")));
    assert!(exit_message(&mut view).await.contains("4294967296 bytes"));
    assert_eq!(heard(&place, "shutdown").len(), 1, "it is told before it is ended");
    view.prompt("tab", "m2", "short").await;
    assert_eq!(view.wait_done("m2").await["reason"], "completed");
}

#[tokio::test]
async fn a_backend_that_never_answers_is_replaced_after_a_cancel() {
    let place = python();
    let host = place.serve();
    let mut view = open(&host).await;
    view.prompt("tab", "m1", "deaf").await;
    view.wait_for("the first word", |told| told["type"] == "response-chunk").await;
    view.send(json!({"type": "cancel", "tabId": "tab", "messageId": "m1"})).await;
    let done = view.wait_done("m1").await;
    assert_eq!((&done["reason"], &done["detail"]["code"]), (&json!("cancelled"), &json!("agent_unresponsive")));
    view.prompt("tab", "m2", "short").await;
    assert_eq!(view.wait_done("m2").await["reason"], "completed");
    assert_eq!(view.text("m2"), "only this");
    assert_eq!(heard(&place, "initialize").len(), 2, "a new process serves the next prompt");
}

#[tokio::test]
async fn a_backend_that_closes_its_output_and_lives_on_is_ended() {
    let place = python();
    let host = place.serve();
    let mut view = open(&host).await;
    view.prompt("tab", "m1", "short").await;
    view.wait_done("m1").await;
    let before = host.children();
    view.prompt("tab", "m2", "closed").await;
    let done = view.wait_done("m2").await;
    assert_eq!((&done["reason"], &done["detail"]["code"]), (&json!("failed"), &json!("agent_exited")));
    eventually("its end", || before.iter().all(|pid| !is_alive(*pid)));
    view.prompt("tab", "m3", "short").await;
    assert_eq!(view.wait_done("m3").await["reason"], "completed");
}

#[tokio::test]
async fn a_backend_that_ignores_shutdown_and_sigterm_is_gone_all_the_same() {
    let place = python();
    let host = place.serve();
    let mut view = open(&host).await;
    view.prompt("tab", "m1", "stubborn").await;
    view.wait_done("m1").await;
    let children = host.children();
    assert!(!children.is_empty());
    drop(view);
    assert_eq!(host.stop(), Some(0));
    assert_eq!(heard(&place, "shutdown").len(), 1);
    eventually("its end", || children.iter().all(|pid| !is_alive(*pid)));
}

#[tokio::test]
async fn two_sessions_have_two_backends() {
    let place = python();
    let host = place.serve();
    let mut view = open(&host).await;
    view.send(json!({"type": "new-tab", "tabId": "other", "agent": "backend"})).await;
    view.prompt("tab", "m1", "deaf").await;
    view.prompt("other", "m2", "short").await;
    assert_eq!(view.wait_done("m2").await["reason"], "completed", "one that hangs keeps no other waiting");
    assert_eq!(host.children().len(), 2);
}
