//! The built-in agent through the whole spine: the host starts this very program, judges and asks for what it wants done, and keeps
//! its token to itself.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::super::host::{Host, Place};
use super::super::view::View;
use super::scripted::{Says, Scripted, Way};

const TOKEN: &str = "canary-model-token";

fn place(server: &Scripted, more: &str) -> Place {
    let url = server.url();
    let agent = format!("[agents.local]\nkind = \"model\"\nbase_url = \"{url}\"\nmodel = \"small\"\n{more}\n");
    Place::new().with_config(&agent).trusted()
}

fn keep_secret(place: &Place) {
    let mut child = place.command(&["secrets", "set", "mine"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(TOKEN.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

async fn opened(host: &Host) -> View {
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "local"})).await;
    view.wait_type("tab-opened").await;
    view
}

async fn decide(view: &mut View, kind: &str, decision: &str) -> Value {
    let asked = view.wait_type("approval-request").await;
    assert_eq!(asked["kind"], kind, "{asked}");
    let answer = json!({
        "type": "approval-response", "tabId": "tab", "approvalId": asked["approvalId"], "decision": decision,
    });
    view.send(answer).await;
    asked
}

#[tokio::test]
async fn the_host_asks_for_what_the_built_in_agent_wants_and_its_token_never_goes_north() {
    let script = [
        Says::Calls(vec![("write_file", json!({"path": "Dockerfile", "content": "echo made\n"}))]),
        Says::Calls(vec![("run_command", json!({"command": "sh Dockerfile > ran; cat ran"}))]),
        Says::Calls(vec![("run_command", json!({"command": "rm -rf Dockerfile"}))]),
        Says::Text(&["all ", "done"]),
        Says::Text(&["I remember"]),
    ];
    let server = Scripted::with_token(Way::OpenAi, Some(TOKEN), script);
    let place = place(&server, "secret = \"mine\"\n[settings]\ntemperature = 0.25\n");
    keep_secret(&place);
    let host = place.serve();
    let mut view = opened(&host).await;
    view.prompt("tab", "m1", "make it").await;
    let edit = decide(&mut view, "edit", "allow_once").await;
    assert!(edit["diff"].as_str().unwrap().contains("+echo made"), "{edit}");
    decide(&mut view, "command", "allow_once").await;
    decide(&mut view, "command", "deny").await;
    let done = view.wait_done("m1").await;
    assert_eq!(done["reason"], "completed", "{done}; {}", host.log());
    assert_eq!(view.text("m1"), "all done");
    assert_eq!(std::fs::read_to_string(place.workspace().join("Dockerfile")).unwrap(), "echo made\n");
    assert_eq!(std::fs::read_to_string(place.workspace().join("ran")).unwrap(), "made\n");

    let first = server.asked();
    assert_eq!(first.authorization, Some(format!("Bearer {TOKEN}")));
    assert_eq!(first.body["temperature"], 0.25, "{}", first.body);
    let told: Vec<String> = server.rest().iter().map(|asked| asked.last()["content"].to_string()).collect();
    assert!(told[1].contains("made"), "{told:?}");
    assert!(told[2].contains("declined"), "{told:?}");
    host.kill_9();

    let host = place.serve();
    let mut again = host.view().await;
    again.send(json!({"type": "webview-ready", "lastSeenIndex": {"tab": -1}})).await;
    again.prompt("tab", "m2", "what did you make?").await;
    assert_eq!(again.wait_done("m2").await["reason"], "completed", "{}", host.log());
    assert_eq!(again.text("m2"), "I remember");
    let asked = server.asked().body.to_string();
    assert!(asked.contains("make it") && asked.contains("what did you make?"), "{asked}");
    for told in view.told.iter().chain(&again.told) {
        assert!(!told.to_string().contains("canary"), "{told}");
    }
    assert!(!host.log().contains("canary"));
}

#[tokio::test]
async fn settings_reach_an_agent_that_runs_and_troubles_reach_the_person() {
    let server = Scripted::new(Way::Ollama, []);
    let place = place(&server, "");
    let before = place.configuration();
    let host = place.serve();
    let mut view = opened(&host).await;
    for turn in 0.. {
        server.then([Says::Text(&["hm"])]);
        let name = format!("m{turn}");
        view.prompt("tab", &name, "go").await;
        assert_eq!(view.wait_done(&name).await["reason"], "completed", "{}", host.log());
        let asked = server.asked().body;
        if asked["options"]["temperature"] == 0.5 {
            break;
        }
        assert!(turn < 10_000, "the settings never came: {asked}");
        place.configure(&format!("{before}\n[settings]\ntemperature = 0.5\n"));
    }
    server.then([Says::Status(404, "", r#"{"error":"model 'small' not found"}"#)]);
    view.prompt("tab", "bad", "go").await;
    let done = view.wait_done("bad").await;
    assert_eq!(done["reason"], "failed");
    assert!(done["detail"]["message"].as_str().unwrap().contains("small:latest"), "{done}");
}

#[test]
fn agents_check_says_what_the_built_in_agent_can_do() {
    let server = Scripted::new(Way::Ollama, [Says::Text(&["here I am"])]);
    let place = place(&server, "");
    let out = place.command(&["agents", "check", "local", "--prompt", "are you there?"]).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}");
    assert!(said.contains("here I am") && said.contains("/help"), "{said}");
}
