//! Commands that were run twice, without a durable intent or without anybody's yes, each with the finding that it must give.

use serde_json::{Value, json};
use switchboard_storm::check::{Body, Ends, Finding, Log, Record, runs};

/// A turn that asked for a command, was allowed, and ran it.
fn events() -> Vec<Value> {
    vec![
        json!({"type": "promptQueued", "name": "m1", "prompt": {"text": "order 1"}, "position": 0}),
        json!({"type": "turnStarted"}),
        json!({"type": "approvalAsked", "approval": {"id": "a3"}}),
        json!({"type": "approvalResolved", "approval": "a3", "resolution": "allow_once"}),
        json!({"type": "executionStarted", "execution": {"id": "x5", "approval": "a3", "kind": "command"}}),
        json!({"type": "executionEnded", "execution": "x5", "end": {"type": "exited", "code": 0}}),
        json!({"type": "turnEnded", "outcome": "completed"}),
    ]
}

fn log(events: Vec<Value>) -> Log {
    let record = |(seq, body): (u64, Value)| Record { seq, at: 0, turn: 1, body: Body::Json(body) };
    Log { session: 1, records: (1..).zip(events).map(record).collect(), ..Log::default() }
}

fn found(events: Vec<Value>, traces: &str, ends: Ends) -> Vec<(String, String)> {
    let findings = runs([&log(events)], traces, ends);
    let parts = |finding| if let Finding::Run { name, what } = finding { (name, what) } else { panic!("{finding}") };
    findings.into_iter().map(parts).collect()
}

fn one(name: &str, what: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), what.to_owned())]
}

#[test]
fn a_command_that_was_allowed_and_run_once_has_no_findings() {
    assert_eq!(found(events(), "m1\n", Ends::ExactlyOnce), vec![]);
    // Denied, and not run.
    let mut denied = events();
    denied[3]["resolution"] = json!("deny");
    denied.drain(4..6);
    assert_eq!(found(denied, "", Ends::ExactlyOnce), vec![]);
    // The host died while it ran, or before: nobody knows.
    let mut unknown = events();
    unknown[5]["end"] = json!({"type": "unknown"});
    assert_eq!(found(unknown.clone(), "m1\n", Ends::ExactlyOnce), vec![]);
    assert_eq!(found(unknown, "", Ends::ExactlyOnce), vec![]);
}

#[test]
fn a_second_run_is_found_by_its_trace_and_by_its_intent() {
    assert_eq!(found(events(), "m1\nm1\n", Ends::ExactlyOnce), one("m1", "it was run twice"));
    let mut again = events();
    again.insert(6, json!({"type": "executionStarted", "execution": {"id": "x7", "approval": "a3"}}));
    again.insert(7, json!({"type": "executionEnded", "execution": "x7", "end": {"type": "unknown"}}));
    let mut expected = one("x7", "it is started by event 7 without an answer that allows it");
    expected.extend(one("m1", "it was meant to be run 2 times"));
    assert_eq!(found(again, "m1\n", Ends::ExactlyOnce), expected);
}

#[test]
fn a_run_without_intent_without_a_yes_or_without_a_trace_is_found() {
    let mut early = events();
    early.truncate(4);
    let what = "it was run, but the file knows no such intent";
    assert_eq!(found(early, "m1\n", Ends::AtMostOnce), one("m1", what));
    let mut denied = events();
    denied[3]["resolution"] = json!("deny");
    let what = "it is started by event 5 without an answer that allows it";
    assert_eq!(found(denied, "m1\n", Ends::ExactlyOnce), one("x5", what));
    let what = "it is said to have been run, but has left no trace";
    assert_eq!(found(events(), "", Ends::ExactlyOnce), one("m1", what));
}

#[test]
fn an_end_that_is_missing_or_comes_twice_is_found() {
    let mut open = events();
    open.remove(5);
    assert_eq!(found(open.clone(), "m1\n", Ends::AtMostOnce), vec![]);
    assert_eq!(found(open, "m1\n", Ends::ExactlyOnce), one("x5", "it never ended"));
    let mut twice = events();
    twice.insert(6, json!({"type": "executionEnded", "execution": "x5", "end": {"type": "unknown"}}));
    assert_eq!(found(twice, "m1\n", Ends::ExactlyOnce), one("x5", "it ended 2 times"));
}
