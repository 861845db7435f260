//! Trust: in an untrusted workspace only the demo agent starts, and the workspace's own file is not even read.

use serde_json::json;

use super::host::{Place, shell_agent};

const ANSWER: &str = r#"      say "{\"type\":\"response-chunk\",\"sessionId\":\"$id\",\"chunk\":\"from small\"}"
      say "{\"type\":\"response-complete\",\"sessionId\":\"$id\"}""#;

#[tokio::test]
async fn a_configured_agent_waits_for_trust_and_runs_after_it() {
    let place = Place::new().with_agent("small", &format!("touch started\n{}", shell_agent(ANSWER)));
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "small"})).await;
    assert_eq!(view.wait_error("workspace_untrusted").await["tabId"], "tab");
    view.prompt("tab", "m1", "hello").await;
    let error = view.wait_error("workspace_untrusted").await;
    assert_eq!(error["messageId"], "m1");
    assert!(error["error"]["message"].as_str().unwrap().contains("switchboard trust"), "{error}");
    assert!(!place.workspace().join("started").exists(), "nothing was run");
    let out = place.command(&["trust"]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    view.prompt("tab", "m2", "hello").await;
    assert_eq!(view.wait_done("m2").await["reason"], "completed");
    assert_eq!(view.text("m2"), "from small");
    let out = place.command(&["untrust"]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    view.wait_type("agent-exited").await;
    view.prompt("tab", "m3", "hello").await;
    view.wait_error("workspace_untrusted").await;
}

#[tokio::test]
async fn trust_given_without_a_host_holds_when_one_starts() {
    let place = Place::new().with_agent("small", &shell_agent(ANSWER)).trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "small"})).await;
    view.prompt("tab", "m1", "hello").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
}

#[tokio::test]
async fn a_hostile_workspace_file_is_not_read_before_trust() {
    let place = Place::new();
    let folder = place.workspace().join(".switchboard");
    std::fs::create_dir(&folder).unwrap();
    let evil =
        "default_agent = \"evil\"\n[agents.evil]\nkind = \"plain\"\ncommand = [\"sh\", \"-c\", \"touch pwned\"]\n";
    std::fs::write(folder.join("config.toml"), evil).unwrap();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: echo still the demo").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    view.send(json!({"type": "new-tab", "tabId": "other", "agent": "evil"})).await;
    view.wait_error("agent_unavailable").await;
    assert!(!place.workspace().join("pwned").exists());
    place.command(&["trust"]).output().unwrap();
    view.send(json!({"type": "new-tab", "tabId": "other", "agent": "evil"})).await;
    view.wait_type("agent-exited").await;
    assert!(place.workspace().join("pwned").exists(), "a trusted workspace's agent runs");
}

#[tokio::test]
async fn a_tab_in_another_folder_is_untrusted_by_itself() {
    let place = Place::new().with_agent("small", &shell_agent(ANSWER)).trusted();
    let other = tempfile::TempDir::new().unwrap();
    let host = place.serve();
    let mut view = host.view().await;
    let workspace = other.path().to_str().unwrap();
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "small", "workspace": workspace})).await;
    view.wait_error("workspace_untrusted").await;
    view.send(json!({"type": "new-tab", "tabId": "none", "workspace": "/nowhere/at/all"})).await;
    assert_eq!(view.wait_error("bad_message").await["tabId"], "none");
}
