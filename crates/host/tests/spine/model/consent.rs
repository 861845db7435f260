//! What a person answers, and what comes of it.

use serde_json::json;

use super::client::{Client, Offers, Place};
use super::scripted::{Says, Scripted, Way};

fn write(path: &'static str) -> Says {
    Says::Calls(vec![("write_file", json!({"path": path, "content": "new"}))])
}

fn run(command: &'static str) -> Says {
    Says::Calls(vec![("run_command", json!({"command": command}))])
}

#[test]
fn a_no_is_told_to_the_model_and_nothing_is_changed() {
    let server = Scripted::new(Way::OpenAi, [write("a"), Says::Text(&["as you like"])]);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
    let session = client.open(&place);
    client.answers = vec!["reject_once"];
    let done = client.prompt(&session, "go");
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    assert!(!place.work().join("a").exists());
    assert_eq!(client.asked_for("fs/write_text_file").len(), 0);
    server.asked();
    let told = server.asked().last()["content"].to_string();
    assert!(told.contains("rejected"), "{told}");
}

#[test]
fn an_answer_for_good_holds_for_its_sort_and_session_only() {
    let script = [write("a"), write("b"), run("touch c"), Says::Text(&["done"]), write("d"), Says::Text(&["done"])];
    let server = Scripted::new(Way::OpenAi, script);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::Nothing);
    let session = client.open(&place);
    client.answers = vec!["allow_always", "reject_always"];
    client.prompt(&session, "go");
    assert_eq!((place.file("a"), place.file("b")), ("new".to_owned(), "new".to_owned()));
    assert!(!place.work().join("c").exists());
    assert_eq!(client.asked_for("session/request_permission").len(), 2);
    let other = client.open(&place);
    client.answers = vec!["reject_once"];
    client.prompt(&other, "go");
    assert!(!place.work().join("d").exists());
    assert_eq!(client.asked_for("session/request_permission").len(), 3);
}

#[test]
fn a_client_that_cancels_its_question_ends_the_turn() {
    let server = Scripted::new(Way::OpenAi, [write("a"), Says::Text(&["never said"])]);
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
    let session = client.open(&place);
    client.answers = vec!["cancelled"];
    let done = client.prompt(&session, "go");
    assert_eq!(done["result"]["stopReason"], "cancelled", "{done}");
    assert_eq!(server.rest().len(), 1);
}

#[test]
fn a_file_that_somebody_else_has_changed_meanwhile_is_not_written() {
    for offers in [Offers::All, Offers::Nothing] {
        let place = Place::new().with("a", "one\n");
        let server = Scripted::new(
            Way::OpenAi,
            [
                Says::Calls(vec![("edit_file", json!({"path": "a", "old_text": "one", "new_text": "two"}))]),
                Says::Text(&["oh"]),
            ],
        );
        let mut client = Client::start(&place, &["--base-url", &server.url()], offers);
        let session = client.open(&place);
        client.ignores = vec!["session/request_permission"];
        let id = client.send_prompt(&session, "go");
        client.until("a question", |message| message["method"] == "session/request_permission");
        std::fs::write(place.work().join("a"), "somebody else's\n").unwrap();
        client.ignores.clear();
        let question = client.left.remove(0);
        let allow = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
        client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": allow}));
        client.answer(id);
        assert_eq!(place.file("a"), "somebody else's\n");
        server.asked();
        let told = server.asked().last()["content"].to_string();
        assert!(told.contains("read it again"), "{told}");
    }
}

#[test]
fn links_lead_no_client_out_of_the_workspace() {
    let read = |path: &'static str| Says::Calls(vec![("read_file", json!({"path": path}))]);
    let script = [
        read("docs/key"),
        write("docs/key"),
        write("away/new"),
        read("docs/inside"),
        read("unsaved"),
        Says::Text(&["done"]),
    ];
    let server = Scripted::new(Way::OpenAi, script);
    let place = Place::new().with("docs/readme", "plain words\n");
    let outside = tempfile::TempDir::new().unwrap();
    std::fs::write(outside.path().join("key"), "hidden").unwrap();
    let link = |to: &std::path::Path, name: &str| std::os::unix::fs::symlink(to, place.work().join(name)).unwrap();
    link(&outside.path().join("key"), "docs/key");
    link(outside.path(), "away");
    link(std::path::Path::new("readme"), "docs/inside");
    let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
    let session = client.open(&place);
    let id = client.send_prompt(&session, "go");
    let is_inside = |message: &serde_json::Value| {
        message["method"] == "fs/read_text_file" && message["params"]["path"].as_str().unwrap().ends_with("readme")
    };
    client.until("the link that stays within is read", is_inside);
    // What is only in the client's editor is for the client to tell.
    client.ignores = vec!["fs/read_text_file"];
    let unsaved = client.until("the client is asked", |message| message["method"] == "fs/read_text_file");
    let content = json!({"content": "not saved yet"});
    client.send(&json!({"jsonrpc": "2.0", "id": unsaved["id"], "result": content}));
    let done = client.answer(id);
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    server.asked();
    let told: Vec<String> = server.rest().iter().map(|asked| asked.last()["content"].to_string()).collect();
    for refused in &told[..3] {
        assert!(refused.contains("leads out of the workspace") && !refused.contains("hidden"), "{told:?}");
    }
    assert!(told[3].contains("plain words") && told[4].contains("not saved yet"), "{told:?}");
    let paths: Vec<_> = client.asked_for("fs/read_text_file").iter().map(|asked| asked["path"].clone()).collect();
    assert_eq!(paths, [json!(place.work().join("docs/readme")), json!(place.work().join("unsaved"))]);
    assert_eq!(client.asked_for("fs/write_text_file").len(), 0);
    assert_eq!(client.asked_for("session/request_permission").len(), 0);
    assert_eq!(std::fs::read_to_string(outside.path().join("key")).unwrap(), "hidden");
    assert!(!outside.path().join("new").exists());
}

#[test]
fn paths_out_of_the_workspace_are_refused_and_no_child_gets_the_token() {
    let server = Scripted::with_token(
        Way::OpenAi,
        Some("canary-token-1"),
        [
            Says::Calls(vec![("read_file", json!({"path": "../secret"}))]),
            write("../b"),
            run("env"),
            Says::Text(&["done"]),
        ],
    );
    let place = Place::new();
    std::fs::write(place.work().join("../secret"), "hidden").unwrap();
    let with_token = |command: &mut std::process::Command| {
        command.env("SWITCHBOARD_MODEL_TOKEN", "canary-token-1").env("ORDINARY", "variable");
    };
    let mut client = Client::start_with(&place, &["--base-url", &server.url()], Offers::Nothing, with_token);
    let session = client.open(&place);
    let done = client.prompt(&session, "go");
    assert_eq!(done["result"]["stopReason"], "end_turn", "{done}");
    assert_eq!(server.asked().authorization.as_deref(), Some("Bearer canary-token-1"));
    let told: Vec<String> = server.rest().iter().map(|asked| asked.last()["content"].to_string()).collect();
    assert!(told[0].contains("leads out of the workspace") && !told[0].contains("hidden"), "{told:?}");
    assert!(told[1].contains("leads out of the workspace"), "{told:?}");
    assert!(told[2].contains("ORDINARY=variable") && !told[2].contains("canary"), "{told:?}");
    assert!(!client.told.iter().any(|told| told.to_string().contains("canary")));
}
