//! Configuration that changes while the host runs: it holds without a restart, a mistake in it changes nothing, and a page
//! can add a well-known agent by its name and by nothing else.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::host::{Host, Place, eventually, shell_agent};
use super::view::View;

const ANSWER: &str = r#"      say "{\"type\":\"response-chunk\",\"sessionId\":\"$id\",\"chunk\":\"WHO\"}"
      say "{\"type\":\"response-complete\",\"sessionId\":\"$id\"}""#;

/// Writes an agent that answers with `who`; gives its entry.
fn agent(place: &Place, name: &str, who: &str) -> String {
    let file = place.workspace().join(format!("{who}.sh"));
    std::fs::write(&file, format!("#!/bin/sh\n{}", shell_agent(&ANSWER.replace("WHO", who)))).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("[agents.{name}]\nkind = \"plain\"\ncommand = [\"./{who}.sh\"]\n")
}

async fn page(host: &Host) -> View {
    let mut view = View::connect_in("switchboard", host.address(), host.token()).await;
    view.send(json!({"type": "hello", "version": "test", "seats": []})).await;
    view.wait_type("welcome").await;
    view
}

fn has_agent(told: &Value, name: &str) -> bool {
    let agents = told["workspace"]["agents"].as_array();
    told["type"] == "workspace" && agents.is_some_and(|agents| agents.iter().any(|agent| agent["name"] == name))
}

fn offers(told: &Value) -> Vec<String> {
    let offers = told["workspace"]["offers"].as_array();
    offers.into_iter().flatten().map(|offer| offer["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_agent_that_is_added_is_there_without_a_restart_and_one_that_is_taken_out_ends_what_it_began() {
    let place = Place::new().trusted();
    let host = place.serve();
    let (mut page, mut view) = (page(&host).await, host.view().await);
    view.send(json!({"type": "new-tab", "tabId": "early", "agent": "small"})).await;
    view.wait_error("agent_unavailable").await;

    place.configure(&agent(&place, "small", "first"));
    page.wait_for("the new agent", |told| has_agent(told, "small")).await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "small"})).await;
    view.prompt("tab", "m1", "hello").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    assert_eq!(view.text("m1"), "first");

    // Another command: the process that runs goes on, the next start is another one.
    place.configure(&agent(&place, "small", "second"));
    place.configure(&format!("{}{}", agent(&place, "small", "second"), agent(&place, "more", "more")));
    page.wait_for("another agent", |told| has_agent(told, "more")).await;
    view.prompt("tab", "m2", "hello").await;
    view.wait_done("m2").await;
    assert_eq!(view.text("m2"), "first");
    view.send(json!({"type": "restart-agent", "tabId": "tab"})).await;
    view.wait_type("agent-exited").await;
    view.prompt("tab", "m3", "hello").await;
    view.wait_done("m3").await;
    assert_eq!(view.text("m3"), "second");

    // Taken out, it is gone from the list, and its session goes on.
    place.configure("");
    page.wait_for("no agent", |told| told["type"] == "workspace" && !has_agent(told, "small")).await;
    view.prompt("tab", "m4", "hello").await;
    assert_eq!(view.wait_done("m4").await["reason"], "completed");
    view.send(json!({"type": "new-tab", "tabId": "late", "agent": "small"})).await;
    view.wait_error("agent_unavailable").await;
}

#[tokio::test]
async fn a_mistake_changes_nothing_and_is_said_until_it_is_mended() {
    let place = Place::new().trusted();
    place.configure(&agent(&place, "small", "small"));
    let host = place.serve();
    let mut view = host.view().await;
    place.configure("[agents.small]\nkind = \"plain\"\n");
    eventually("the mistake in the log", || host.log().contains("`command` is missing"));
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "small"})).await;
    view.prompt("tab", "m1", "hello").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
    let said = |place: &Place| {
        let out = place.command(&["doctor", "--json"]).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    let doctor = said(&place);
    assert!(doctor.contains("running configuration") && doctor.contains("from before"), "{doctor}");
    place.configure(&agent(&place, "small", "small"));
    eventually("that it is mended", || host.log().contains("is understood again"));
    assert!(!said(&place).contains("running configuration"));
}

#[tokio::test]
async fn a_workspaces_file_is_read_again_only_where_it_is_trusted() {
    let place = Place::new();
    let entry = agent(&place, "near", "near");
    let host = place.serve();
    let mut page = page(&host).await;
    std::fs::create_dir(place.workspace().join(".switchboard")).unwrap();
    let file = place.workspace().join(".switchboard/config.toml");
    std::fs::write(&file, &entry).unwrap();
    // The user's own file is looked at in the same look, so when its change is seen, the other was not.
    place.configure(&agent(&place, "mine", "mine"));
    let told = page.wait_for("the user's agent", |told| has_agent(told, "mine")).await;
    assert!(!has_agent(&told, "near"), "{told}");
    place.command(&["trust"]).output().unwrap();
    page.wait_for("the workspace's agent", |told| has_agent(told, "near")).await;
    std::fs::write(&file, entry.replace("near", "other")).unwrap();
    let told = page.wait_for("the file's new agent", |told| has_agent(told, "other")).await;
    assert!(!has_agent(&told, "near"), "{told}");
}

#[tokio::test]
async fn a_page_adds_an_agent_that_is_installed_and_no_other() {
    let place = Place::new().with_config("# Mine.\n");
    let programs = place.workspace().join("programs");
    std::fs::create_dir(&programs).unwrap();
    let host = place.serve_with(|command| {
        command.env("PATH", &programs);
    });
    let mut page = page(&host).await;
    for (name, why) in
        [("goose", "not installed"), ("evil; rm -rf /", "no well-known agent"), ("demo", "no well-known")]
    {
        page.send(json!({"type": "addAgent", "name": name})).await;
        let refused = page.wait_type("refused").await;
        assert!(refused["message"].as_str().unwrap().contains(why), "{refused}");
    }
    let goose = programs.join("goose");
    std::fs::write(&goose, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&goose, std::fs::Permissions::from_mode(0o755)).unwrap();
    // Programs are looked for again when a workspace is trusted.
    place.command(&["trust"]).output().unwrap();
    let told = page.wait_for("the offer", |told| offers(told) == ["goose"]).await;
    assert_eq!(told["workspace"]["offers"][0]["command"], "goose acp");
    page.send(json!({"type": "addAgent", "name": "goose"})).await;
    let told = page.wait_for("the agent", |told| has_agent(told, "goose")).await;
    assert_eq!(offers(&told), Vec::<String>::new());
    let text = place.configuration();
    assert!(text.starts_with("# Mine.\n") && text.contains("[agents.goose]\nkind = \"acp\"\n"), "{text}");
    page.send(json!({"type": "addAgent", "name": "goose"})).await;
    let refused = page.wait_type("refused").await;
    assert!(refused["message"].as_str().unwrap().contains("already"), "{refused}");
}
