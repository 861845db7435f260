//! `kill -9` in mid-stream, over and over: an independent checker holds every view's journal against the log.

use serde_json::{Value, json};

use super::checker;
use super::host::{Host, Place};
use super::view::View;

const ROUNDS: u64 = 20;
const VIEWS: usize = 3;

/// What a view has seen over all rounds.
#[derive(Default)]
struct Journal(Vec<Value>);

impl Journal {
    fn take(&mut self, view: &View) {
        self.0.extend(view.indexed("tab"));
    }

    fn last(&self) -> i64 {
        self.0.last().map_or(-1, |message| message["index"].as_i64().unwrap())
    }
}

/// One view for one round: attaches after what it has seen and reads until the link ends.
async fn watch(host: &Host, seen: i64) -> tokio::task::JoinHandle<View> {
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "lastSeenIndex": seen})).await;
    tokio::spawn(async move {
        while view.next().await.is_some() {}
        view
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_shown_is_lost_doubled_or_reordered_by_kill_9_in_mid_stream() {
    let place = Place::new();
    let mut journals: Vec<Journal> = (0..VIEWS).map(|_| Journal::default()).collect();
    for round in 0..ROUNDS {
        let host = place.serve();
        let mut watchers = Vec::new();
        for journal in &journals {
            watchers.push(watch(&host, journal.last()).await);
        }
        let mut driver = host.view().await;
        driver.send(json!({"type": "new-tab", "tabId": "tab", "lastSeenIndex": journals[0].last()})).await;
        let name = format!("round {round}");
        driver.prompt("tab", &name, "demo: fast 30000").await;
        // A different instant each round: after so many chunks of this round's answer.
        let chunks = 1 + round * 23;
        for _ in 0..chunks {
            driver.wait_for("a chunk", |m| m["type"] == "response-chunk" && m["messageId"] == name.as_str()).await;
        }
        host.kill_9();
        let log = checker::dead_log_of_tab(&place.database(), "tab");
        for (watcher, journal) in watchers.into_iter().zip(&mut journals) {
            let view = watcher.await.unwrap();
            checker::check(&log, &view.indexed("tab"));
            journal.take(&view);
        }
        checker::check(&log, &driver.indexed("tab"));
    }
    let host = place.serve();
    for journal in &mut journals {
        let mut view = host.view().await;
        view.send(json!({"type": "new-tab", "tabId": "tab", "lastSeenIndex": journal.last()})).await;
        view.prompt("tab", "last", "demo: echo the end").await;
        view.wait_done("last").await;
        journal.take(&view);
    }
    let log = checker::log_of_tab(&place.database(), "tab");
    journals.iter().for_each(|journal| checker::check_whole(&log, &journal.0));
    let ended = log.iter().filter(|record| record.kind == "turnEnded").count();
    assert_eq!(ended as u64, ROUNDS + 1, "every turn has exactly one end");
}
