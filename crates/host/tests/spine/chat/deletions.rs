//! Sessions that go: the current one, one that runs, one that another link shows, and many at once.

use serde_json::{Value, json};

use super::super::host::{Host, Place};
use super::super::view::View;
use super::Screen;

#[tokio::test(flavor = "multi_thread")]
async fn the_current_session_goes_while_it_runs_and_another_takes_its_place() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let session = screen.session.clone();
    let mut watcher = Screen::open(&place, &host).await;
    watcher.ready(json!({"sessionId": session})).await;
    screen.prompt("demo: slow 5000").await;
    screen.wait("streamChunk").await;
    screen.say(json!({"type": "deleteSession", "sessionId": session})).await;
    assert_eq!(screen.wait("sessionDeleted").await["sessionId"], session.as_str());
    screen.wait("clearMessages").await;
    screen.loaded().await;
    assert_ne!(screen.session, session);
    assert!(screen.answer("demo: echo after it").await.contains("after it"));
    // Whoever else was at it is told too, and has another one.
    assert_eq!(watcher.wait("sessionDeleted").await["sessionId"], session.as_str());
    watcher.loaded().await;
    assert_ne!(watcher.session, session);
    // It is gone for good, and once is enough.
    screen.say(json!({"type": "loadSession", "sessionId": session})).await;
    screen.wait("showError").await;
    screen.say(json!({"type": "deleteSession", "sessionId": session})).await;
    assert_eq!(screen.wait("sessionDeleted").await["sessionId"], session.as_str());
    assert_eq!(screen.told("sessionDeleted").len(), 2, "one for each time that it was asked for");
    host.kill_9();
    let host = place.serve();
    let mut again = Screen::open(&place, &host).await;
    again.ready(json!({"sessionId": session})).await;
    assert_ne!(again.session, session, "another one is opened in its place");
    screen.covers(&["> deleteSession", "< sessionDeleted", "< clearMessages"]);
    watcher.covers(&["< sessionDeleted"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_in_the_background_goes_while_it_runs() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let background = screen.session.clone();
    screen.prompt("demo: slow 5000").await;
    screen.wait("streamChunk").await;
    screen.new_chat().await;
    let current = screen.session.clone();
    screen.say(json!({"type": "deleteSession", "sessionId": background})).await;
    assert_eq!(screen.wait("sessionDeleted").await["sessionId"], background.as_str());
    assert!(screen.answer("demo: echo still at it").await.contains("still at it"));
    assert_eq!(screen.told("finalMessage").last().unwrap()["sessionId"], current.as_str());
    let listed = screen.sync().await;
    assert_eq!(listed["sessions"], json!([]));
    screen.covers(&["< sessionDeleted"]);
}

async fn make_sessions(host: &Host, count: usize) {
    let mut view = View::connect(host.address(), host.token()).await;
    for at in 0..count {
        view.open(&format!("t{at}")).await;
    }
}

fn listed(screen: &Screen) -> Vec<String> {
    let list = screen.told("loadSessions").last().unwrap()["sessions"].clone();
    list.as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_go_at_once_with_how_far_it_is_and_only_once_it_is_confirmed() {
    let place = Place::new();
    let host = place.serve();
    make_sessions(&host, 30).await;
    let mut screen = Screen::open(&place, &host).await;
    screen.ready(json!({"confirms": true})).await;
    let current = screen.session.clone();
    let mut ids = listed(&screen);
    assert_eq!(ids.len(), 30);
    ids.push(current.clone());
    // Twice the same, and one that is gone already.
    ids.push(current.clone());
    ids.push("4242".to_owned());
    let wanted = json!({"type": "deleteMultipleSessions", "sessionIds": ids});
    screen.say(wanted.clone()).await;
    assert_eq!(screen.wait("confirmDeletion").await["sessionIds"], json!(ids));
    screen.say(json!({"type": "confirmDeletion", "confirmed": false})).await;
    assert_eq!(screen.wait("sessionsDeleted").await["sessionIds"], json!([]));
    screen.wait("loadSessions").await;
    assert_eq!(listed(&screen).len(), 31, "nothing is gone");
    screen.say(wanted.clone()).await;
    screen.wait("confirmDeletion").await;
    let mut confirmed = wanted.clone();
    confirmed["confirmed"] = json!(true);
    screen.say(confirmed).await;
    let gone = screen.wait("sessionsDeleted").await;
    assert_eq!(gone["sessionIds"].as_array().unwrap().len(), 32, "{gone}");
    let progress = screen.told("deletionProgress");
    assert!(progress.len() >= 3, "{progress:?}");
    assert_eq!((&progress[0]["completed"], &progress.last().unwrap()["completed"]), (&json!(0), &json!(32)));
    let steps: Vec<u64> = progress.iter().map(|step| step["completed"].as_u64().unwrap()).collect();
    assert!(steps.is_sorted() && progress.iter().all(|step| step["total"] == 32), "{progress:?}");
    // The current one was among them.
    screen.loaded().await;
    assert!(!ids.contains(&screen.session));
    assert!(screen.told("sessionDeleted").is_empty(), "what is said once is not said again one by one");
    screen.covers(&[
        "> deleteMultipleSessions",
        "> confirmDeletion",
        "< confirmDeletion",
        "< sessionsDeleted",
        "< deletionProgress",
    ]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_that_asks_by_itself_is_not_asked_again() {
    let place = Place::new();
    let host = place.serve();
    make_sessions(&host, 3).await;
    let mut screen = Screen::start(&place, &host).await;
    let ids = listed(&screen);
    screen.say(json!({"type": "deleteMultipleSessions", "sessionIds": ids})).await;
    let mut gone: Vec<Value> = screen.wait("sessionsDeleted").await["sessionIds"].as_array().unwrap().clone();
    gone.sort_by_key(ToString::to_string);
    let mut wanted: Vec<Value> = ids.iter().map(|id| json!(id)).collect();
    wanted.sort_by_key(ToString::to_string);
    assert_eq!(gone, wanted);
    assert!(screen.told("confirmDeletion").is_empty() && screen.told("deletionProgress").is_empty());
    screen.say(json!({"type": "deleteMultipleSessions", "sessionIds": []})).await;
    assert_eq!(screen.wait("sessionsDeleted").await["sessionIds"], json!([]));
    screen.say(json!({"type": "confirmDeletion", "confirmed": true})).await;
    assert!(screen.wait("showError").await["message"].as_str().unwrap().contains("nothing to confirm"));
    screen.covers(&["< sessionsDeleted"]);
}
