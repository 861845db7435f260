//! Turns that did not go as turns go, agents that were asked what they must not be, logs that were rewritten.

use std::collections::BTreeMap;

use serde_json::json;
use switchboard_storm::check::{Body, Ends, Finding, History, Log, Read, Record, TurnRow, asked, turns};

use super::doctored::log;

fn wrong(turn: u32, what: &str) -> Vec<Finding> {
    vec![Finding::Turn { session: 1, turn, what: what.to_owned() }]
}

/// The log with events put in at a place; what follows gets its new numbers.
fn with(at: usize, added: Vec<(u32, Body)>) -> Log {
    let mut log = log();
    for (offset, (turn, body)) in added.into_iter().enumerate() {
        log.records.insert(at + offset, Record { seq: 0, at: 0, turn, body });
    }
    for (seq, record) in (1..).zip(&mut log.records) {
        record.seq = seq;
    }
    let queued = |log: &Log, turn| log.records.iter().find(|one| one.turn == turn).map_or(0, |one| one.seq);
    for row in 0..log.turns.len() {
        log.turns[row].queued = queued(&log, log.turns[row].turn);
    }
    log
}

fn text(text: &str) -> Body {
    Body::Text(text.to_owned())
}

#[test]
fn turns_that_are_right_have_no_findings() {
    assert_eq!(turns(&log(), Ends::ExactlyOnce), vec![]);
}

#[test]
fn a_second_end_a_second_start_and_a_missing_end_are_found() {
    let ended = || Body::Json(json!({"type": "turnEnded", "outcome": "completed"}));
    assert_eq!(turns(&with(7, vec![(1, ended())]), Ends::ExactlyOnce), wrong(1, "event 8 ends it again"));
    let started = Body::Json(json!({"type": "turnStarted"}));
    assert_eq!(turns(&with(3, vec![(1, started)]), Ends::ExactlyOnce), wrong(1, "event 4 starts it again"));
    let mut open = log();
    open.records.truncate(11);
    open.turns[1].phase = 1;
    assert_eq!(turns(&open, Ends::AtMostOnce), vec![]);
    assert_eq!(turns(&open, Ends::ExactlyOnce), wrong(2, "`m2` never ended"));
}

#[test]
fn two_turns_at_a_time_and_a_prompt_that_is_queued_twice_are_found() {
    let queued = |name: &str| Body::Json(json!({"type": "promptQueued", "name": name, "prompt": {"text": "hi"}}));
    let row = |name: &str, queued, phase| TurnRow { turn: 3, name: name.to_owned(), queued, phase };
    let mut log = with(4, vec![(3, queued("m3")), (3, Body::Json(json!({"type": "turnStarted"})))]);
    log.turns.push(row("m3", 5, 1));
    let findings = turns(&log, Ends::AtMostOnce);
    assert!(findings.contains(&wrong(3, "event 6 starts it while [1] ran")[0]), "{findings:?}");
    let mut log = with(7, vec![(3, queued("m1"))]);
    log.turns.push(row("m1", 8, 0));
    let findings = turns(&log, Ends::AtMostOnce);
    assert!(findings.contains(&wrong(3, "the prompt `m1` was queued twice")[0]), "{findings:?}");
}

#[test]
fn a_word_after_the_end_is_found() {
    let findings = turns(&with(7, vec![(1, text("late "))]), Ends::ExactlyOnce);
    assert_eq!(findings[0], wrong(1, "event 8 is of a turn that does not run")[0]);
}

#[test]
fn a_word_that_the_agent_did_not_say_or_that_is_missing_is_found() {
    let doubled = turns(&with(4, vec![(1, text("1 "))]), Ends::ExactlyOnce);
    assert_eq!(doubled, wrong(1, "its answer has \"1 \" where word 2 should be"));
    let mut short = log();
    short.records[5].body = text("");
    let expected = wrong(1, "it is completed, but its answer ends before word 3 of 3");
    assert_eq!(turns(&short, Ends::ExactlyOnce), expected);
    let mut strange = log();
    strange.records[9].body = text("m1/1 ");
    let expected = wrong(2, "its answer has \"m1/1 \" where word 1 should be");
    assert_eq!(turns(&strange, Ends::ExactlyOnce), expected);
    let long = turns(&with(6, vec![(1, text("4 "))]), Ends::ExactlyOnce);
    assert_eq!(long, wrong(1, "its answer goes on with \"4 \" after its last word"));
}

#[test]
fn a_row_that_says_otherwise_than_the_log_is_found() {
    let mut log = log();
    log.turns[0].phase = 1;
    let expected = "its row says Some((\"m1\", 2, 1)), the log says Some((\"m1\", 2, 2))";
    assert_eq!(turns(&log, Ends::ExactlyOnce), wrong(1, expected));
}

#[test]
fn an_agent_that_is_asked_twice_too_early_or_out_of_nowhere_is_found() {
    let log = log();
    let of = |name: &str, what: &str| vec![Finding::Asked { name: name.to_owned(), what: what.to_owned() }];
    assert_eq!(asked([&log], "m2\n"), vec![]);
    assert_eq!(asked([&log], "m2\nm2\n"), of("m2", "it was asked twice"));
    assert_eq!(asked([&log], "m2\nm9\n"), of("m9", "it was asked, but the file knows no such prompt"));
    let mut early = log.clone();
    early.records.truncate(8);
    assert_eq!(asked([&early], "m2\n"), of("m2", "it was asked before its start was durable"));
    let mut silent = log.clone();
    silent.records[11].body = Body::Json(json!({"type": "turnEnded", "outcome": "completed"}));
    assert_eq!(asked([&silent], ""), of("m2", "it is completed, but the agent was never asked"));
}

fn read(log: Log) -> Read {
    Read { logs: BTreeMap::from([(log.session, log)]), ..Read::default() }
}

#[test]
fn a_log_may_grow_and_nothing_else() {
    let cut = |records| {
        let mut log = log();
        log.records.truncate(records);
        read(log)
    };
    let mut history = History::default();
    assert_eq!(history.follow(&cut(7)), vec![]);
    assert_eq!(history.follow(&cut(12)), vec![]);
    let gone = |seq, what: &str| vec![Finding::Rewritten { session: 1, seq, what: what.to_owned() }];
    assert_eq!(history.follow(&cut(11)), gone(12, "it is gone"));
    let mut changed = cut(12);
    changed.logs.get_mut(&1).unwrap().records[4].body = text("3 ");
    assert_eq!(history.follow(&changed), gone(5, "it has changed"));
    assert_eq!(history.follow(&Read::default()), gone(12, "the whole session is gone"));
    assert_eq!(history.session_of("tab"), Some(1));
}

#[test]
fn a_turn_that_ran_when_the_host_died_gets_its_end_and_no_more_words() {
    let after_death = |body| {
        let mut history = History::default();
        let mut log = log();
        log.records.truncate(5);
        history.follow(&read(log.clone()));
        log.records.push(Record { seq: 6, at: 0, turn: 1, body });
        history.follow(&read(log))
    };
    let ended = |code: &str| {
        Body::Json(json!({"type": "turnEnded", "outcome": "failed", "detail": {"code": code, "message": "…"}}))
    };
    assert_eq!(after_death(ended("host_restarted")), vec![]);
    let expected = wrong(1, "event 6 goes on with a turn that ran when the host died");
    assert_eq!(after_death(text("3 ")), expected);
    assert_eq!(after_death(ended("agent_exited")), expected);
}
