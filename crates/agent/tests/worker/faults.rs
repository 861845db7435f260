//! Faults that a loop of this kind had elsewhere, named one by one: none of them is here.

use serde_json::json;
use switchboard_agent::deed::Deed;
use switchboard_agent::worker::{Do, Heard, Limits, Setup, TurnEnd};

use super::room::{Room, call, calls, done, prompt, says, setup};

#[test]
fn the_limits_of_the_settings_are_not_ignored() {
    let limits = Limits { rounds: 2, turn_ms: 60_000, tool_ms: 7_000 };
    let script = (0..9).map(|n| calls("run_command", json!({"command": format!("try {n}")}))).collect();
    let mut room = Room::with(Setup { limits, ..setup() }, &[], script);
    assert_eq!(room.turn("do"), TurnEnd::Limit);
    assert_eq!(room.asks.len(), 2);
    assert!(room.workspace.asked.iter().all(|deed| matches!(deed, Deed::Run { timeout_ms: 7_000, .. })));
}

#[test]
fn no_magic_words_end_or_hold_up_a_turn() {
    // An answer without calls ends it, whatever it says; one with calls does not, even if it claims to be done.
    let mut claims = calls("write_file", json!({"path": "a", "content": "x"}));
    claims.insert(0, super::room::text("[TASK_COMPLETE] The task is complete."));
    let mut room = Room::new(&[], vec![claims, says("I wrote a.")]);
    assert_eq!(room.turn("write a"), TurnEnd::Done);
    assert_eq!(room.workspace.files["a"], "x");
    assert_eq!(room.asks.len(), 2);
    room.script(vec![says("I need to know more first.")]);
    assert_eq!(room.turn("write b"), TurnEnd::Done);
    assert_eq!(room.asks.len(), 3);
}

#[test]
fn nothing_is_done_that_the_model_did_not_call_no_branch_is_made() {
    let mut room = Room::new(&[("a", "x")], vec![says("ok")]);
    room.turn("change everything");
    assert!(!room.seen.iter().any(|done| matches!(done, Do::Begin { .. } | Do::Then { .. })));
}

#[test]
fn a_tool_that_takes_too_long_is_given_up() {
    let limits = Limits { tool_ms: 2_000, ..Limits::default() };
    let mut room = Room::with(Setup { limits, ..setup() }, &[], vec![]);
    room.hear(prompt("look"));
    room.hear(Heard::Model(call("search", json!({"pattern": "x"}))));
    room.hear(Heard::Model(done()));
    let (id, _) = room.last_deed();
    assert_eq!(room.worker.due(), Some(room.now + 2_000));
    room.now += 2_000;
    let done = room.hear(Heard::Tick);
    assert_eq!(done[0], Do::Abandon { call: id });
    assert!(room.results()[0].contains("longer than 2 s"), "{:?}", room.results());
    assert!(matches!(done.last(), Some(Do::AskModel(_))));
}

#[test]
fn a_second_prompt_is_not_ignored() {
    let mut room = Room::new(&[], vec![]);
    room.hear(prompt("one"));
    room.hear(prompt("two"));
    room.hear(Heard::Cancel);
    assert!(room.worker.is_working());
    room.hear(Heard::Cancel);
    assert!(!room.worker.is_working());
    assert_eq!(room.watch.ends, 2);
}

#[test]
fn a_tool_that_is_offered_is_there() {
    for spec in switchboard_agent::tools::offered(switchboard_agent::worker::Mode::Agent) {
        let mut room = Room::new(&[], vec![calls(&spec.name, json!({})), says("ok")]);
        room.turn("do");
        assert!(!room.results()[0].contains("There is no tool"), "{}: {:?}", spec.name, room.results());
    }
}
