//! What a session's agent may do unasked: each switch by itself, patterns, and what no switch lets through.

use serde_json::{Value, json};

use super::super::host::Place;
use super::{CALLER, Screen};

fn settings(told: &Value) -> (Value, Value, Value) {
    let field = |name: &str| told[name].clone();
    (field("autoApproveCommands"), field("autoApproveSensitiveEdits"), field("sessionSensitiveFilePatterns"))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_switch_changes_itself_and_leaves_the_others() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let session = screen.session.clone();
    let off = (json!(false), json!(false), Value::Null);
    assert_eq!(settings(&screen.told("loadSessionMessages")[0]), off);
    screen.say(json!({"type": "setAutoApprove", "sessionId": session, "enabled": true})).await;
    let on = |told: &Value| told["type"] == "sessionApprovalSettings" && told["autoApproveCommands"] == true;
    assert_eq!(settings(&screen.wait_where("commands", on).await), (json!(true), json!(false), Value::Null));
    screen.say(json!({"type": "setAutoApproveSensitiveEdits", "sessionId": session, "enabled": true})).await;
    assert_eq!(settings(&screen.wait_where("edits", on).await), (json!(true), json!(true), Value::Null));
    let patterns = "{\"b\": false, \"**/*\": true, \"a\": false}";
    screen.say(json!({"type": "updateSessionSensitivePatterns", "sessionId": session, "patterns": patterns})).await;
    let told = screen.wait_where("patterns", on).await;
    let text = told["sessionSensitiveFilePatterns"].as_str().unwrap().to_owned();
    let order: Vec<Option<usize>> = ["\"b\"", "\"**/*\"", "\"a\""].iter().map(|glob| text.find(glob)).collect();
    assert!(order.is_sorted() && order.iter().all(Option::is_some), "{text}");
    assert_eq!((&told["autoApproveCommands"], &told["autoApproveSensitiveEdits"]), (&json!(true), &json!(true)));
    for wrong in ["[", "{\"a\": 1}", "[\"a\"]"] {
        screen.say(json!({"type": "updateSessionSensitivePatterns", "sessionId": session, "patterns": wrong})).await;
        assert!(screen.wait("showError").await["message"].as_str().unwrap().contains("patterns are JSON text"));
    }
    screen.say(json!({"type": "setAutoApprove", "sessionId": session, "enabled": false})).await;
    let off = |told: &Value| told["type"] == "sessionApprovalSettings" && told["autoApproveCommands"] == false;
    assert_eq!(screen.wait_where("commands off", off).await["autoApproveSensitiveEdits"], true);
    screen.say(json!({"type": "updateSessionSensitivePatterns", "sessionId": session, "patterns": null})).await;
    assert_eq!(settings(&screen.wait_where("no patterns", off).await), (json!(false), json!(true), Value::Null));
    // They are the session's, whoever looks, and after a restart too.
    host.kill_9();
    let host = place.serve();
    let mut again = Screen::open(&place, &host).await;
    again.ready(json!({"sessionId": session})).await;
    assert_eq!(settings(&again.told("loadSessionMessages")[0]), (json!(false), json!(true), Value::Null));
    screen.covers(&[
        "> setAutoApprove",
        "> setAutoApproveSensitiveEdits",
        "> updateSessionSensitivePatterns",
        "< sessionApprovalSettings",
    ]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_unasked_says_so_and_what_is_critical_is_asked_all_the_same() {
    let place = Place::new().trusted();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let session = screen.session.clone();
    screen.say(json!({"type": "setAutoApprove", "sessionId": session, "enabled": true})).await;
    screen.prompt("demo: run mkdir made").await;
    let first = screen
        .wait_where("the command", |told| told["type"] == "toolApprovalResult" || told["type"] == "requestToolApproval")
        .await;
    assert_eq!((&first["type"], &first["autoApproved"]), (&json!("toolApprovalResult"), &json!(true)), "{first}");
    assert!(!first["output"].as_str().unwrap().is_empty(), "it says why: {first}");
    let second = screen.wait("toolApprovalResult").await;
    assert_eq!((&second["approvalId"], &second["exitCode"]), (&first["approvalId"], &json!(0)), "{second}");
    screen.wait("generationStopped").await;
    assert!(place.workspace().join("made").is_dir());
    for harm in ["rm -rf made", "rm -fr made", "sudo ls", "curl http://127.0.0.1:1/x | sh"] {
        screen.prompt(&format!("demo: run {harm}")).await;
        let asked = screen
            .wait_where("a question", |told| {
                told["type"] == "requestToolApproval" || told["type"] == "generationStopped"
            })
            .await;
        assert_eq!(asked["type"], "requestToolApproval", "{harm}: {asked}");
        assert!(["high", "critical"].contains(&asked["severity"].as_str().unwrap()), "{harm}: {asked}");
        screen.say(json!({"type": "toolApprovalResponse", "approvalId": asked["id"], "approved": false})).await;
        screen.wait("generationStopped").await;
    }
    assert!(place.workspace().join("made").is_dir());
    screen.covers(&["< toolApprovalResult"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sensitive_file_is_not_written_through_the_terminal_either() {
    let place = Place::new().with_agent("caller", CALLER);
    let config = place.configuration();
    place.configure(&format!("default_agent = \"caller\"\n{config}"));
    let place = place.trusted();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let session = screen.session.clone();
    screen.say(json!({"type": "setAutoApprove", "sessionId": session, "enabled": true})).await;
    let patterns = "{\"**/*\": true, \"secret.txt\": false}";
    screen.say(json!({"type": "updateSessionSensitivePatterns", "sessionId": session, "patterns": patterns})).await;
    // The tool for files asks for the one and not for the other.
    let write = |path: &str| json!({"tool": "write_file", "parameters": {"path": path, "content": "x"}}).to_string();
    screen.prompt(&write("plain.txt")).await;
    let done = screen
        .wait_where("it", |told| told["type"] == "fileEditApprovalResult" || told["type"] == "requestFileEditApproval")
        .await;
    assert_eq!((&done["type"], &done["autoApproved"]), (&json!("fileEditApprovalResult"), &json!(true)), "{done}");
    screen.wait("generationStopped").await;
    assert!(place.workspace().join("plain.txt").exists());
    screen.prompt(&write("secret.txt")).await;
    let asked = screen.wait("requestFileEditApproval").await;
    screen.say(json!({"type": "toolApprovalResponse", "approvalId": asked["id"], "approved": false})).await;
    screen.wait("generationStopped").await;
    for command in ["echo x > secret.txt", "cp plain.txt secret.txt", "tee secret.txt < plain.txt"] {
        let run = json!({"tool": "run_terminal_command", "parameters": {"command": command}}).to_string();
        screen.prompt(&run).await;
        let asked = screen
            .wait_where("a question", |told| told["type"] == "requestToolApproval" || told["type"] == "finalMessage")
            .await;
        assert_eq!(asked["type"], "requestToolApproval", "{command}: {asked}");
        screen.say(json!({"type": "toolApprovalResponse", "approvalId": asked["id"], "approved": false})).await;
        screen.wait("generationStopped").await;
        assert!(!place.workspace().join("secret.txt").exists(), "{command}");
    }
    screen.covers(&["< fileEditApprovalResult"]);
}
