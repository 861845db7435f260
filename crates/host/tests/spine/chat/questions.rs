//! Both kinds of questions, their answers and results, what an editor shows of them, and text that wants to be markup.

use serde_json::{Value, json};

use super::super::bench::Bench;
use super::super::host::Place;
use super::{CALLER, Screen};

fn with_caller() -> Place {
    let place = Place::new().with_agent("caller", CALLER);
    let config = place.configuration();
    place.configure(&format!("default_agent = \"caller\"\n{config}"));
    place.trusted()
}

/// A prompt for the agent that calls a tool.
fn call(tool: &str, parameters: Value) -> String {
    json!({"tool": tool, "parameters": parameters}).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_asked_about_and_its_result_comes_twice() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    screen.prompt("demo: run echo hello from here").await;
    let asked = screen.wait("requestToolApproval").await;
    assert!(asked["command"].as_str().unwrap().contains("echo hello"), "{asked}");
    assert!(asked["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{asked}");
    assert!(asked["cwd"].as_str().unwrap().contains("workspace"), "{asked}");
    let answer = json!({"type": "toolApprovalResponse", "approvalId": asked["id"], "approved": true, "command": asked["command"]});
    screen.say(answer.clone()).await;
    let decided = screen.wait("toolApprovalResult").await;
    assert_eq!((&decided["approvalId"], &decided["status"]), (&asked["id"], &json!("approved")), "{decided}");
    let done = screen.wait("toolApprovalResult").await;
    assert_eq!((&done["approvalId"], &done["exitCode"]), (&asked["id"], &json!(0)), "{done}");
    assert!(done["output"].as_str().unwrap().contains("hello from here"), "{done}");
    screen.wait("generationStopped").await;
    // A second answer changes nothing, and says so.
    screen.say(json!({"type": "toolApprovalResponse", "approvalId": asked["id"], "approved": false})).await;
    assert!(screen.wait("showError").await["message"].as_str().unwrap().contains("answered before: it was approved"));
    for nobody in ["", "a1", "999:a1", "x:y", &format!("{}:nobody", screen.session)] {
        screen.say(json!({"type": "toolApprovalResponse", "approvalId": nobody, "approved": true})).await;
        screen.wait("showError").await;
    }
    screen.covers(&["> toolApprovalResponse", "< requestToolApproval", "< toolApprovalResult"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_command_is_judged_again_and_a_skipped_one_never_runs() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    screen.prompt("demo: run touch first").await;
    let asked = screen.wait("requestToolApproval").await;
    assert_eq!(asked["editable"], true, "{asked}");
    screen.say(json!({"type": "toolApprovalResponse", "approvalId": asked["id"], "approved": true, "command": "touch second"})).await;
    let over = |told: &Value| told["type"] == "toolApprovalResult" && told["exitCode"] == 0;
    screen.wait_where("its end", over).await;
    screen.wait("generationStopped").await;
    assert!(place.workspace().join("second").exists() && !place.workspace().join("first").exists());
    screen.prompt("demo: run touch third").await;
    let asked = screen.wait("requestToolApproval").await;
    screen.say(json!({"type": "toolApprovalResponse", "approvalId": asked["id"], "approved": false})).await;
    assert_eq!(screen.wait("toolApprovalResult").await["status"], "skipped");
    screen.wait("generationStopped").await;
    assert!(!place.workspace().join("third").exists());
    screen.covers(&["< toolApprovalResult"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_file_is_shown_as_escaped_html_and_written_once_it_is_allowed() {
    let place = with_caller();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let hostile = "<script>alert(1)</script>\n\"><img src=x onerror=alert(1)>\n\u{202e}'`&\n";
    screen.prompt(&call("write_file", json!({"path": ".env", "content": hostile}))).await;
    let asked = screen.wait("requestFileEditApproval").await;
    let html = asked["diffHtml"].as_str().unwrap();
    assert!(
        html.starts_with("<div class=\"diff\">") && html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{html}"
    );
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains('\u{202e}'), "{html}");
    let tags: Vec<&str> = html.split('<').skip(1).map(|tag| tag.split('>').next().unwrap()).collect();
    assert!(
        tags.iter().all(|tag| tag.starts_with("div class=\"")
            || tag.starts_with("span class=\"")
            || ["/div", "/span"].contains(tag)),
        "{tags:?}"
    );
    assert!(asked["filePath"].as_str().unwrap().ends_with(".env"), "{asked}");
    assert!(!place.workspace().join(".env").exists());
    // Whoever comes meanwhile is asked the same.
    let mut other = Screen::open(&place, &host).await;
    other.ready(json!({"sessionId": screen.session})).await;
    assert_eq!(other.wait("requestFileEditApproval").await, asked);
    other.say(json!({"type": "toolApprovalResponse", "approvalId": asked["id"], "approved": true})).await;
    for one in [&mut screen, &mut other] {
        let decided = one.wait("fileEditApprovalResult").await;
        assert_eq!((&decided["approvalId"], &decided["status"]), (&asked["id"], &json!("approved")), "{decided}");
        one.wait("generationStopped").await;
    }
    assert_eq!(std::fs::read_to_string(place.workspace().join(".env")).unwrap(), hostile);
    screen.covers(&["< requestFileEditApproval", "< fileEditApprovalResult"]);
    other.covers(&["> toolApprovalResponse"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_editor_that_lends_its_tools_shows_changes_and_says_what_is_selected() {
    let place = with_caller();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    screen.say(json!({"type": "addContext"})).await;
    assert!(screen.wait("showError").await["message"].as_str().unwrap().contains("editor_context"));
    screen.prompt(&call("write_file", json!({"path": ".env", "content": "A=1\n"}))).await;
    let asked = screen.wait("requestFileEditApproval").await;
    screen.say(json!({"type": "openFileDiff", "approvalId": asked["id"]})).await;
    assert!(screen.wait("showError").await["message"].as_str().unwrap().contains("editor_open_diff"));
    let mut editor = Bench::at(&host).await;
    editor.lend("editor_open_diff").await;
    editor.lend("editor_context").await;
    screen.say(json!({"type": "openFileDiff", "approvalId": asked["id"]})).await;
    let (shown, parameters) = editor.lent_call().await;
    assert!(parameters["path"].as_str().unwrap().ends_with(".env"), "{parameters}");
    assert!(parameters["diff"].as_str().unwrap().contains("+A=1"), "{parameters}");
    editor.give(&shown, json!({"opened": true})).await;
    screen.say(json!({"type": "addContext"})).await;
    let (selected, _) = editor.lent_call().await;
    editor.give(&selected, json!({"path": "src/main.rs", "selection": "fn main() {}", "line": 3})).await;
    let item = screen.wait("addContextItem").await;
    assert_eq!(item["context"], json!({"fileName": "src/main.rs:3", "content": "fn main() {}"}));
    screen.say(json!({"type": "openFileDiff", "approvalId": format!("{}:nobody", screen.session)})).await;
    screen.wait("showError").await;
    screen.covers(&["> openFileDiff", "> addContext", "< addContextItem"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_climbs_out_is_never_written_unasked() {
    let place = with_caller();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let session = screen.session.clone();
    // Everything that can be switched on is.
    for kind in ["setAutoApprove", "setAutoApproveSensitiveEdits"] {
        screen.say(json!({"type": kind, "sessionId": session, "enabled": true})).await;
    }
    let all = json!({"**/*": true, "**": true, "../**": true}).to_string();
    screen.say(json!({"type": "updateSessionSensitivePatterns", "sessionId": session, "patterns": all})).await;
    let outside = place.workspace().parent().unwrap().join("outside.txt");
    let absolute = outside.to_str().unwrap().to_owned();
    std::os::unix::fs::symlink(place.workspace().parent().unwrap(), place.workspace().join("link")).unwrap();
    for path in ["../outside.txt", "a/../../outside.txt", "link/outside.txt", &absolute] {
        screen.prompt(&call("write_file", json!({"path": path, "content": "x"}))).await;
        let next = screen
            .wait_where("a question, or a refusal", |told| {
                told["type"] == "requestFileEditApproval" || told["type"] == "finalMessage"
            })
            .await;
        assert!(!outside.exists(), "{path}");
        if next["type"] == "requestFileEditApproval" {
            screen.say(json!({"type": "toolApprovalResponse", "approvalId": next["id"], "approved": false})).await;
            screen.wait("finalMessage").await;
        }
        screen.wait("generationStopped").await;
        assert!(!outside.exists(), "{path}");
    }
    assert!(
        screen.told("finalMessage").iter().all(|said| said["content"] == "refused"),
        "{:#?}",
        screen.told("finalMessage")
    );
    screen.covers(&[]);
}
