//! Several sessions and several links: what goes on elsewhere, coming back in the middle, crashes, loads that are no longer wanted.

use serde_json::{Value, json};

use super::super::host::Place;
use super::Screen;

#[tokio::test(flavor = "multi_thread")]
async fn another_session_goes_on_and_only_its_status_is_told() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let first = screen.session.clone();
    screen.prompt("demo: slow 60").await;
    screen.wait("streamChunk").await;
    screen.new_chat().await;
    let second = screen.session.clone();
    assert_ne!(first, second);
    let from = screen.view.told.len();
    assert!(screen.answer("demo: echo meanwhile").await.contains("meanwhile"));
    screen.has_status(&first, "completed").await;
    for told in &screen.view.told[from..] {
        let other = told.get("sessionId").is_some_and(|session| *session == first.as_str());
        assert!(!other || told["type"] == "updateSessionStatus", "{told}");
    }
    // Nothing of it is lost.
    let messages = screen.load(&first).await;
    let answer = messages.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&answer["role"], answer["content"].as_str().unwrap().len() > 60),
        (&json!("assistant"), true),
        "{answer}"
    );
    // A new one is not made while an empty one is there.
    screen.new_chat().await;
    let empty = screen.session.clone();
    screen.new_chat().await;
    assert_eq!(screen.session, empty);
    screen.covers(&["> newChat", "< clearMessages", "< updateSessionStatus"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_links_have_a_current_session_each() {
    let place = Place::new();
    let host = place.serve();
    let mut one = Screen::start(&place, &host).await;
    one.prompt("demo: slow 30").await;
    one.wait("streamChunk").await;
    let mut two = Screen::start(&place, &host).await;
    assert_ne!(one.session, two.session);
    assert!(two.answer("demo: echo for two").await.contains("for two"));
    one.wait("finalMessage").await;
    for (screen, other) in [(&one, &two), (&two, &one)] {
        let foreign = screen.view.told.iter().filter(|told| told["sessionId"] == other.session.as_str());
        assert!(foreign.into_iter().all(|told| told["type"] == "updateSessionStatus"), "{:#?}", screen.view.told);
    }
    // Both at one session see the same.
    let session = one.session.clone();
    two.load(&session).await;
    two.prompt("demo: echo seen by both").await;
    for screen in [&mut one, &mut two] {
        screen
            .wait_where("the prompt", |told| {
                told["type"] == "addMessage" && told["message"]["content"] == "demo: echo seen by both"
            })
            .await;
        assert!(screen.wait("finalMessage").await["content"].as_str().unwrap().contains("seen by both"));
    }
    one.covers(&[]);
    two.covers(&[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_in_the_middle_gets_the_text_so_far_and_the_rest() {
    let place = Place::new();
    let host = place.serve();
    let mut first = Screen::start(&place, &host).await;
    first.prompt("demo: slow 60").await;
    first.wait("streamChunk").await;
    let mut again = Screen::open(&place, &host).await;
    again.say(json!({"type": "ready", "sessionId": first.session})).await;
    let loaded = again.wait("loadSessionMessages").await;
    let messages = loaded["messages"].as_array().unwrap();
    assert!(messages.iter().all(|message| message["role"] != "assistant"), "what runs is streamed: {messages:?}");
    again.wait("generationStarted").await;
    let chunk = again.wait("streamChunk").await;
    let (here, there) = (first.wait("finalMessage").await, again.wait("finalMessage").await);
    assert_eq!(here, there);
    assert!(here["content"].as_str().unwrap().starts_with(chunk["content"].as_str().unwrap()), "{chunk}");
    again.covers(&["> ready"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_of_the_host_nothing_is_left_generating() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let session = screen.session.clone();
    screen.prompt("demo: slow 5000").await;
    screen.wait("streamChunk").await;
    host.kill_9();
    let host = place.serve();
    let mut again = Screen::open(&place, &host).await;
    again.say(json!({"type": "ready", "sessionId": session})).await;
    let listed = again.wait("loadSessions").await;
    let loaded = again.wait("loadSessionMessages").await;
    assert_eq!(loaded["sessionId"], session.as_str());
    again.wait("generationStopped").await;
    let statuses: Vec<&Value> = listed["sessions"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert!(!statuses.contains(&&json!("generating")), "{listed}");
    let own = listed["sessions"].as_array().unwrap().iter().find(|one| one["id"] == session.as_str()).unwrap();
    assert_eq!(own["status"], "error", "{own}");
    // What was said is there, and so is what became of it.
    let messages = loaded["messages"].as_array().unwrap();
    assert!(messages.iter().any(|message| message["role"] == "assistant"), "{messages:?}");
    assert!(messages.iter().any(|message| message["actionStatus"] == "error"), "{messages:?}");
    assert!(again.answer("demo: echo again").await.contains("again"));
    again.covers(&["< loadSessionMessages"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_loads_the_last_one_counts() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let one = screen.session.clone();
    screen.answer("demo: fast 2000").await;
    screen.new_chat().await;
    let two = screen.session.clone();
    screen.answer("demo: echo two").await;
    for session in [&one, &two, &one, &two, &one] {
        screen.say(json!({"type": "loadSession", "sessionId": session})).await;
    }
    // What is said right after them belongs to the last one, too.
    screen.prompt("demo: echo where am I").await;
    let added = |told: &Value| told["type"] == "addMessage" && told["message"]["content"] == "demo: echo where am I";
    assert_eq!(screen.wait_where("the prompt", added).await["sessionId"], one.as_str());
    screen.wait("generationStopped").await;
    screen.sync().await;
    let loads = screen.told("loadSessionMessages");
    assert_eq!(loads.last().unwrap()["sessionId"], one.as_str());
    // A session that is not there leaves the current one as it is.
    screen.say(json!({"type": "loadSession", "sessionId": "4242"})).await;
    screen.wait("showError").await;
    assert!(screen.answer("demo: echo here").await.contains("here"));
    assert_eq!(screen.told("finalMessage").last().unwrap()["sessionId"], one.as_str());
    screen.covers(&["> loadSession"]);
}
