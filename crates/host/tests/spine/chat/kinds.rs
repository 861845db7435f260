//! Agents of every kind behind this dialect: a view cannot tell which one works.

use serde_json::json;

use super::super::engine::Engine;
use super::super::host::Place;
use super::{CALLER, Screen, kinds};

/// The same, with this agent as the one that works unless another is named.
fn by_default(place: Place, agent: &str) -> Place {
    let config = place.configuration();
    place.configure(&format!("default_agent = \"{agent}\"\n{config}"));
    place
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_of_json_rpc_works_behind_it() {
    let table = "\n[agents.backend]\nkind = \"apex\"\ncommand = [\"python3\", \"-u\", \"backend.py\"]\n";
    let place = by_default(Place::new().with_config(table).trusted(), "backend");
    std::fs::write(place.workspace().join("backend.py"), include_str!("../backends/apex.py")).unwrap();
    std::fs::write(place.workspace().join("noted.txt"), "what the file says").unwrap();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    assert_eq!(screen.answer("turn").await, "let x = 1;\nthe answer é");
    // A tool of ours, called by the backend, is an action in a group.
    assert!(screen.answer("notified-tool").await.contains("what the file says"));
    let told = kinds(&screen.view.told);
    for kind in ["startProgressGroup", "showToolAction", "finishProgressGroup"] {
        assert!(told.contains(&kind), "{kind} is missing among {told:?}");
    }
    // What fails is said, and the next message works.
    screen.prompt("fail").await;
    let said = screen.wait("showError").await;
    assert!(said["message"].as_str().unwrap().contains("no model"), "{said}");
    screen.wait("generationStopped").await;
    assert_eq!(screen.answer("short").await, "only this");
    screen.covers(&[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_elsewhere_works_behind_it() {
    let engine = Engine::start(&[]);
    let place = by_default(engine.place(""), "e");
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    assert_eq!(screen.answer("say 3").await, "[0][1][2]");
    screen.prompt("ask").await;
    let asked = screen.wait("requestToolApproval").await;
    assert_eq!(asked["command"], "ls", "{asked}");
    screen.say(json!({"type": "toolApprovalResponse", "approvalId": asked["id"], "approved": true})).await;
    let done = screen.wait("finalMessage").await;
    assert_eq!(done["content"], "[allow-once]", "{done}");
    screen.wait("generationStopped").await;
    // Whoever comes later reads the same.
    let mut again = Screen::open(&place, &host).await;
    again.say(json!({"type": "ready", "sessionId": screen.session})).await;
    let messages = again.loaded().await;
    let texts: Vec<&str> = messages.as_array().unwrap().iter().filter_map(|one| one["content"].as_str()).collect();
    for text in ["say 3", "[0][1][2]", "ask", "[allow-once]"] {
        assert!(texts.contains(&text), "{text} is missing among {texts:?}");
    }
    screen.covers(&[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_shell_and_an_acp_agent_work_side_by_side() {
    let place = by_default(Place::new().with_agent("caller", CALLER).with_acp("acp", "").trusted(), "caller");
    std::fs::write(place.workspace().join("a.txt"), "some words").unwrap();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    assert_eq!(screen.answer(r#"{"tool": "read_file", "parameters": {"path": "a.txt"}}"#).await, "done");
    let config = place.configuration().replace("default_agent = \"caller\"", "default_agent = \"acp\"");
    drop((screen, host));
    place.configure(&config);
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    assert!(screen.answer("hello there").await.contains("hello"), "{:?}", screen.view.told);
    screen.covers(&[]);
}
