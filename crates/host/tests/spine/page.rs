//! The dialect that our own page speaks, through the real door: everything at a glance, history, deletion, trust.

use serde_json::{Value, json};

use super::host::{Host, Place};
use super::view::View;

async fn watching(host: &Host) -> View {
    let mut view = View::connect_in("switchboard", host.address(), host.token()).await;
    view.send(json!({"type": "hello", "version": "test", "seats": []})).await;
    view.wait_type("welcome").await;
    view
}

/// The text of a tab's answers, as far as it was told.
fn text(view: &View, tab: &str) -> String {
    let events = view.told.iter().filter(|told| told["type"] == "events" && told["tab"] == tab);
    let bodies = events.flat_map(|told| told["events"].as_array().unwrap()).map(|event| &event["body"]);
    bodies.filter(|body| body["type"] == "text").map(|body| body["text"].as_str().unwrap()).collect()
}

fn holds(told: &Value, kind: &str) -> bool {
    let events = told["events"].as_array();
    told["type"] == "events" && events.is_some_and(|all| all.iter().any(|event| event["body"]["type"] == kind))
}

/// Every page of events goes on where the one before it ended.
fn assert_continuous(view: &View, tab: &str, mut cursor: u64) {
    for told in view.told.iter().filter(|told| told["type"] == "events" && told["tab"] == tab) {
        assert_eq!(told["after"], cursor);
        cursor = told["to"].as_u64().unwrap();
    }
}

#[tokio::test]
async fn a_page_sees_everything_reconnects_where_it_was_and_brings_sessions_back() {
    let place = Place::new();
    let host = place.serve();
    let mut page = watching(&host).await;
    page.send(json!({"type": "ping", "n": 7})).await;
    assert_eq!(page.wait_type("pong").await["n"], 7);
    page.send(json!({"type": "openTab", "tab": "one"})).await;
    page.send(json!({"type": "prompt", "tab": "one", "name": "m", "text": "demo: slow 20"})).await;
    page.wait_for("the end", |told| holds(told, "turnEnded")).await;
    assert_continuous(&page, "one", 0);
    let whole = text(&page, "one");
    let last = page.told.iter().rfind(|told| told["type"] == "events").unwrap().clone();
    let session = page.wait_for("rest", |told| told["type"] == "session" && told["session"]["status"] == "idle").await;
    let session = session["session"]["session"].as_u64().unwrap();

    // A second window, and a third that has seen a part.
    let mut second = watching(&host).await;
    second.send(json!({"type": "openTab", "tab": "one"})).await;
    second.wait_for("the end", |told| holds(told, "turnEnded")).await;
    assert_eq!(text(&second, "one"), whole);
    let mut third = View::connect_in("switchboard", host.address(), host.token()).await;
    let seen = json!({"epoch": last["epoch"], "seq": 3});
    third.send(json!({"type": "hello", "version": "test", "seats": [{"tab": "one", "seen": seen}]})).await;
    third.wait_for("the end", |told| holds(told, "turnEnded")).await;
    assert_continuous(&third, "one", 3);

    // A cursor of another life of the log is no cursor.
    let mut stale = View::connect_in("switchboard", host.address(), host.token()).await;
    let seen = json!({"epoch": "1", "seq": 3});
    stale.send(json!({"type": "hello", "version": "test", "seats": [{"tab": "one", "seen": seen}]})).await;
    stale.wait_type("reset").await;
    stale.wait_for("the end", |told| holds(told, "turnEnded")).await;
    assert_eq!(text(&stale, "one"), whole);

    // Closed, the session is history; out of history it is whole, also after a restart.
    page.send(json!({"type": "closeTab", "tab": "one"})).await;
    page.wait_for("closed", |told| told["type"] == "session" && told["session"]["tab"].is_null()).await;
    host.kill_9();
    let host = place.serve();
    let mut page = watching(&host).await;
    assert_eq!(page.told[0]["sessions"], json!([]));
    page.send(json!({"type": "history", "limit": 1})).await;
    let history = page.wait_type("history").await;
    assert_eq!((&history["sessions"][0]["session"], &history["sessions"][0]["tab"]), (&json!(session), &Value::Null));
    page.send(json!({"type": "openTab", "tab": "again", "session": session})).await;
    page.wait_for("reopened", |told| holds(told, "sessionReopened")).await;
    assert_continuous(&page, "again", 0);
    assert_eq!(text(&page, "again"), whole);
    page.send(json!({"type": "prompt", "tab": "again", "name": "n", "text": "hello"})).await;
    page.wait_for("a second answer", |told| holds(told, "turnEnded") && told["after"] != 0).await;

    // Deleted, it is gone for all who watch and for good.
    let mut second = watching(&host).await;
    page.send(json!({"type": "deleteSession", "session": session})).await;
    for view in [&mut page, &mut second] {
        assert_eq!(view.wait_type("sessionGone").await["session"], session);
    }
    page.send(json!({"type": "openTab", "tab": "again", "session": session})).await;
    assert_eq!(page.wait_type("refused").await["code"], "unknown_tab");
    page.send(json!({"type": "history"})).await;
    assert_eq!(page.wait_type("history").await["sessions"], json!([]));
}

#[tokio::test]
async fn a_page_trusts_a_folder_and_every_page_sees_it() {
    let place = Place::new().with_agent("small", "cat >/dev/null\n");
    let host = place.serve();
    let (mut one, mut other) = (watching(&host).await, watching(&host).await);
    let root = one.told[0]["home"].as_str().unwrap().to_owned();
    assert_eq!(one.told[0]["workspaces"][0]["trusted"], false);
    one.send(json!({"type": "trust", "workspace": root, "trusted": true})).await;
    for view in [&mut one, &mut other] {
        let trusted = |told: &Value| told["type"] == "workspace" && told["workspace"]["trusted"] == true;
        assert_eq!(view.wait_for("trust", trusted).await["workspace"]["root"], json!(root));
    }
    one.send(json!({"type": "trust", "workspace": "/no/such/folder", "trusted": true})).await;
    assert_eq!(one.wait_type("refused").await["code"], "bad_message");
}

#[tokio::test]
async fn what_is_no_message_of_the_page_is_refused_and_the_link_lives() {
    let place = Place::new();
    let host = place.serve();
    let mut page = watching(&host).await;
    for (text, code) in [("{", "bad_json"), ("[]", "bad_message"), ("{\"type\":\"x\"}", "unknown_type")] {
        page.send_text(text).await;
        assert_eq!(page.wait_type("refused").await["code"], code, "{text}");
    }
    page.send(json!({"type": "ping", "n": 1})).await;
    page.wait_type("pong").await;
}
