//! The engine loses what it had: its window, its ids, its numbering, its sessions. What is missing is told first, and all goes on.

use serde_json::{Value, json};

use super::super::host::{Host, Place};
use super::super::view::View;
use super::stand::{Engine, check, check_logs, log, prompt_of, sessions};

struct Scene {
    engine: Engine,
    _place: Place,
    host: Host,
    view: View,
}

impl Scene {
    async fn new() -> Self {
        let engine = Engine::start(&[]);
        let place = engine.place("");
        let host = place.serve();
        let mut view = host.view().await;
        view.send(json!({"type": "new-tab", "tabId": "t", "agent": "e"})).await;
        view.wait_for("tab-opened", |told: &Value| told["type"] == "tab-opened").await;
        Self { engine, _place: place, host, view }
    }

    async fn ends(&mut self, name: &str, text: &str, reason: &str) {
        self.view.prompt("t", name, text).await;
        self.ended(name, reason).await;
    }

    async fn ended(&mut self, name: &str, reason: &str) {
        let done = self.view.wait_done(name).await;
        assert_eq!(done["reason"], reason, "{done}; the host says: {}", self.host.log());
    }

    async fn begins(&mut self, name: &str, text: &str) {
        self.view.prompt("t", name, text).await;
        self.view.wait_for("the beginning", |told| told["chunk"] == "[begun]").await;
    }

    /// The log of the session that was asked this first.
    fn log(&self, first: &str) -> Vec<Value> {
        let logs = sessions(&self.host).into_iter().map(|session| log(&self.host, session));
        logs.into_iter().find(|log| prompt_of(log).as_deref() == Some(first)).unwrap()
    }
}

fn gaps(log: &[Value]) -> Vec<(Option<u64>, Option<u64>)> {
    let gaps = log.iter().filter(|event| event["body"]["type"] == "sourceGap");
    gaps.map(|gap| (gap["body"]["from"].as_u64(), gap["body"]["to"].as_u64())).collect()
}

#[tokio::test]
async fn a_window_that_is_exceeded_while_the_stream_is_cut_is_told_as_a_gap() {
    let mut scene = Scene::new().await;
    scene.begins("m", "hold 1500").await;
    scene.engine.get("/_down");
    scene.engine.get("/_go");
    let there = scene.engine.session_asked("hold 1500");
    // What was said before, the pieces and the end.
    while scene.engine.truth(&there).len() < 1504 {
        tokio::task::yield_now().await;
    }
    scene.engine.get("/_up");
    scene.ended("m", "completed").await;
    let log = scene.log("hold 1500");
    check(&log, &scene.engine.truth(&there));
    assert_eq!(gaps(&log), [(Some(4), Some(504))]);
    scene.ends("n", "say 3", "completed").await;
}

#[tokio::test]
async fn an_engine_that_never_knows_an_id_is_read_again_each_time_and_nothing_is_lost() {
    let mut scene = Scene::new().await;
    scene.begins("m1", "hold 3").await;
    scene.engine.get("/_refuse");
    for _ in 0..2 {
        scene.engine.get("/_down");
        scene.engine.get("/_up");
    }
    scene.engine.get("/_go");
    scene.ended("m1", "completed").await;
    scene.ends("m2", "say 5", "completed").await;
    let log = scene.log("hold 3");
    check(&log, &scene.engine.truth(&scene.engine.session_asked("hold 3")));
    assert_eq!(gaps(&log), []);
    let seen = scene.engine.get("/_seen")["seen"].clone();
    let resumed = |asked: &&Value| asked["headers"].get("last-event-id").is_some();
    assert!(seen.as_array().unwrap().iter().any(|asked| resumed(&asked)), "{seen:#}");
}

#[tokio::test]
async fn a_log_that_begins_anew_is_told_of_and_read_whether_it_is_shorter_or_longer() {
    for (before, after) in [("say 9", "say 2"), ("say 2", "say 40")] {
        let mut scene = Scene::new().await;
        scene.ends("m1", before, "completed").await;
        scene.engine.get("/_anew");
        scene.ends("m2", after, "completed").await;
        scene.ends("m3", "say 4", "completed").await;
        let log = scene.log(before);
        check_logs(&log, &scene.engine.logs(&scene.engine.session_asked(before)).0);
        assert_eq!(gaps(&log), [(None, None)]);
    }
}

#[tokio::test]
async fn a_turn_that_a_log_begun_anew_knows_nothing_of_fails_and_the_next_one_runs() {
    let mut scene = Scene::new().await;
    scene.begins("m1", "hold 3").await;
    scene.engine.get("/_anew");
    scene.ended("m1", "failed").await;
    scene.ends("m2", "say 4", "completed").await;
    let log = scene.log("hold 3");
    let there = scene.engine.session_asked("hold 3");
    check_logs(&log, &scene.engine.logs(&there).0);
    let inputs = scene.engine.get("/_sessions")["sessions"][&there].clone();
    assert_eq!(inputs, json!(["hold 3", "say 4"]), "no prompt was sent twice");
}

#[tokio::test]
async fn an_engine_that_is_started_anew_without_its_sessions_gets_a_new_one() {
    let mut scene = Scene::new().await;
    scene.begins("m1", "hold 3").await;
    scene.engine.restart();
    scene.ended("m1", "failed").await;
    scene.ends("m2", "say 4", "completed").await;
    let log = scene.log("hold 3");
    let first = log.iter().position(|event| event["body"]["type"] == "sourceGap").expect("nobody was told");
    let anew = log.iter().skip(first).find(|event| event["source"]["seq"] == 1).unwrap();
    let there = scene.engine.get("/_sessions")["sessions"].clone();
    let there: Vec<&String> = there.as_object().unwrap().keys().collect();
    assert_eq!(there.len(), 1, "{there:?}");
    assert_eq!(anew["source"]["id"], scene.engine.truth(there[0])[0]["id"]);
}
