//! Seeded plans of faults: whatever the wire does, the log is what the engine said, or tells first what is missing.

use serde_json::{Value, json};

use super::super::view::View;
use super::stand::{Engine, check, check_logs, log, prompt_of, sessions};

/// Plans that a test runs unless `SWITCHBOARD_ENGINE_PLANS` says how many.
const PLANS: u64 = 252;
/// Sessions that run at once.
const AT_ONCE: u64 = 63;

fn plans() -> u64 {
    std::env::var("SWITCHBOARD_ENGINE_PLANS").ok().and_then(|count| count.parse().ok()).unwrap_or(PLANS)
}

async fn open(view: &mut View, tab: &str) {
    view.send(json!({"type": "new-tab", "tabId": tab, "agent": "e"})).await;
    view.wait_for("tab-opened", |told: &Value| told["type"] == "tab-opened" && told["tabId"] == tab).await;
}

/// Runs the plans from one seed to another, and checks what each has left.
async fn run(engine: &Engine, seeds: std::ops::Range<u64>) {
    let place = engine.place("");
    let host = place.serve();
    let mut view = host.view().await;
    for seed in seeds.clone() {
        let tab = format!("t{seed}");
        open(&mut view, &tab).await;
        view.prompt(&tab, &format!("m{seed}"), &format!("plan {seed}")).await;
    }
    for seed in seeds.clone() {
        let done = view.wait_done(&format!("m{seed}")).await;
        assert_eq!(done["reason"], "completed", "plan {seed}: {done}; the host says: {}", host.log());
    }
    let mut checked = 0;
    for session in sessions(&host) {
        let log = log(&host, session);
        let Some(prompt) = prompt_of(&log).filter(|prompt| prompt.starts_with("plan ")) else { continue };
        let (logs, lost) = engine.logs(&engine.session_asked(&prompt));
        let told = log.iter().filter(|event| event["body"]["type"] == "sourceGap").count();
        assert!(lost.is_empty() || told > 0, "{prompt}: events {lost:?} are lost and nobody was told");
        check_logs(&log, &logs);
        checked += 1;
    }
    assert_eq!(checked, seeds.end - seeds.start);
}

#[tokio::test]
async fn whatever_the_wire_does_a_session_is_what_the_engine_said_or_tells_first_what_is_missing() {
    let total = plans();
    for from in (0..total).step_by(usize::try_from(AT_ONCE).unwrap()) {
        // A new one each time: a new host would read the sessions of the last one, too.
        run(&Engine::start(&[]), from..(from + AT_ONCE).min(total)).await;
    }
}

#[tokio::test]
async fn a_stream_that_breaks_is_resumed_with_the_id_of_the_last_event() {
    let engine = Engine::start(&[]);
    // Seed 0 drops the connection before an event.
    run(&engine, 0..1).await;
    let truth = engine.truth(&engine.session_asked("plan 0"));
    let seen = engine.get("/_seen")["seen"].clone();
    let resumed: Vec<&Value> =
        seen.as_array().unwrap().iter().filter_map(|asked| asked["headers"].get("last-event-id")).collect();
    assert!(!resumed.is_empty(), "{seen:#}");
    for id in resumed {
        assert!(truth.iter().any(|event| event["id"] == *id), "{id} is no event of the engine");
    }
}

#[tokio::test]
async fn a_window_that_is_exceeded_while_the_host_is_away_is_told_as_a_gap() {
    let engine = Engine::start(&["--window", "3"]);
    let place = engine.place("");
    let host = place.serve();
    let mut view = host.view().await;
    open(&mut view, "t").await;
    view.prompt("t", "m", "hold").await;
    view.wait_for("the beginning", |told| told["chunk"] == "[begun]").await;
    host.kill_9();
    let there = engine.session_asked("hold");
    engine.get("/_go");
    // Seven events in all, of which three were taken and the last three are still there.
    while engine.truth(&there).len() < 7 {
        tokio::task::yield_now().await;
    }
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "webview-ready", "lastSeenIndex": {"t": -1}})).await;
    let done = view.wait_done("m").await;
    assert_eq!(done["reason"], "completed", "{}", host.log());
    for session in sessions(&host) {
        let log = log(&host, session);
        if prompt_of(&log).as_deref() == Some("hold") {
            check(&log, &engine.truth(&there));
            let gaps: Vec<_> = log.iter().filter(|event| event["body"]["type"] == "sourceGap").collect();
            assert_eq!((gaps.len(), &gaps[0]["body"]["from"], &gaps[0]["body"]["to"]), (1, &json!(4), &json!(4)));
            return;
        }
    }
    panic!("the session is not there");
}
