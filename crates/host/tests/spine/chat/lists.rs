//! The list of sessions in pages, and search over all that was said.

use serde_json::{Value, json};

use super::super::host::{Host, Place};
use super::super::view::View;
use super::Screen;

/// Makes sessions without a word in them, under names of another view's.
async fn make_sessions(host: &Host, count: usize) {
    let mut view = View::connect(host.address(), host.token()).await;
    for at in 0..count {
        view.open(&format!("t{at}")).await;
    }
}

fn ids(told: &Value) -> Vec<String> {
    told["sessions"].as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_comes_in_pages_of_fifty_without_a_hole_or_a_repeat() {
    let place = Place::new();
    let host = place.serve();
    make_sessions(&host, 120).await;
    let mut screen = Screen::start(&place, &host).await;
    // Its own is new; the list is told anew with it.
    let own = screen.session.clone();
    let first =
        screen.wait_where("the list with it", |told| told["type"] == "loadSessions" && ids(told).contains(&own)).await;
    assert_eq!((ids(&first).len(), &first["hasMore"], &first["nextOffset"]), (50, &json!(true), &json!(50)));
    let mut all = ids(&first);
    let mut next = first["nextOffset"].clone();
    while next != Value::Null {
        screen.say(json!({"type": "loadMoreSessions", "offset": next})).await;
        let more = screen.wait("appendSessions").await;
        all.extend(ids(&more));
        next = more["nextOffset"].clone();
        assert_eq!(more["hasMore"], next != Value::Null);
    }
    assert_eq!(all.len(), 121);
    let mut distinct = all.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 121);
    // An offset that nobody has named is found by counting.
    let mut other = Screen::start(&place, &host).await;
    let from_start = ids(&other.told("loadSessions")[0]);
    other.say(json!({"type": "loadMoreSessions", "offset": 7})).await;
    assert_eq!(ids(&other.wait("appendSessions").await)[..10], from_start[7..17]);
    other.say(json!({"type": "loadMoreSessions", "offset": 117})).await;
    let end = other.wait("appendSessions").await;
    assert_eq!((ids(&end).len(), &end["nextOffset"]), (4, &Value::Null), "{end}");
    screen.covers(&["> loadMoreSessions", "< loadSessions", "< appendSessions"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_title_is_the_beginning_of_the_first_prompt_and_the_list_shows_it() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let text = "demo: echo a title that is longer than forty characters by far";
    screen.answer(text).await;
    let session = screen.session.clone();
    let named = screen
        .wait_where("the list with the title", |told| {
            let sessions = told["sessions"].as_array().cloned().unwrap_or_default();
            told["type"] == "loadSessions"
                && sessions.iter().any(|one| one["id"] == session.as_str() && one["title"] != "New Chat")
        })
        .await;
    let title = named["sessions"][0]["title"].as_str().unwrap();
    assert!(text.starts_with(title.trim_end_matches(['…', '.'])), "{title}");
    screen.covers(&["< loadSessions"]);
}

/// Looks until something is found: what was said gets into the index a moment later.
async fn found(screen: &mut Screen, query: &str) -> Value {
    let deadline = std::time::Instant::now() + super::super::host::PATIENCE;
    loop {
        screen.say(json!({"type": "searchSessions", "query": query})).await;
        let told = screen.wait("searchSessionsResult").await;
        assert_eq!((&told["query"], told.get("error")), (&json!(query), None), "{told}");
        if !told["results"].as_array().unwrap().is_empty() {
            return told;
        }
        assert!(std::time::Instant::now() < deadline, "nothing is found for {query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_found_again_and_no_sign_does_harm() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let session = screen.session.clone();
    screen.answer("demo: echo the walrus wears <img src=x onerror=alert(1)> & \"quotes\"").await;
    screen.new_chat().await;
    screen.answer("demo: echo something else altogether").await;
    let told = found(&mut screen, "walrus wears").await;
    let result = &told["results"][0];
    assert_eq!(result["session"]["id"], session.as_str(), "{told}");
    let snippet = result["messages"][0]["snippet"].as_str().unwrap();
    // Plain text: it is what was said, sign for sign, and marks nothing up.
    assert!(snippet.contains("walrus wears <img src=x"), "{snippet}");
    found(&mut screen, "walr").await;
    found(&mut screen, "\"walrus wears\"").await;
    for query in
        ["(", "[a-z]+", "*", "walrus (", "a\\", "^$", "\"", "AND OR NOT", "col:x", "x NEAR/3 y", "'; DROP TABLE"]
    {
        screen.say(json!({"type": "searchSessions", "query": query})).await;
        let told = screen.wait("searchSessionsResult").await;
        assert_eq!((&told["query"], told.get("error")), (&json!(query), None), "{told}");
    }
    screen.say(json!({"type": "searchSessions", "query": "x".repeat(5_000)})).await;
    assert!(screen.wait("searchSessionsResult").await["error"].is_string());
    // Without a word, all sessions are listed.
    screen.say(json!({"type": "searchSessions", "query": " "})).await;
    let listed = screen.wait("searchSessionsResult").await;
    assert_eq!(listed["results"].as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(listed["results"][0]["messages"], json!([]));
    screen.wait("loadSessions").await;
    screen.covers(&["> searchSessions", "< searchSessionsResult"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_right_before_a_crash_is_found_after_it() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    // The host is killed while its index is at most on its way: the view was told, so the log has it, and the log is enough.
    screen.prompt("demo: echo the pangolin at the last moment").await;
    screen.wait("finalMessage").await;
    host.kill_9();
    let host = place.serve();
    let mut again = Screen::start(&place, &host).await;
    let told = found(&mut again, "pangolin moment").await;
    assert_eq!(told["results"][0]["session"]["id"], screen.session.as_str(), "{told}");
    // Each message once, however much of the index was there already.
    let messages = told["results"][0]["messages"].as_array().unwrap();
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles.len(), roles.iter().collect::<std::collections::HashSet<_>>().len(), "{told}");
}
