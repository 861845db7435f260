//! Rounds, time, sizes: a turn always ends, and the person is told why and how to go on.

use serde_json::json;
use switchboard_agent::deed::Outcome;
use switchboard_agent::said::Said;
use switchboard_agent::worker::{Do, Facts, Heard, Limits, Setup, TurnEnd};

use super::room::{Room, call, calls, done, prompt, says, setup, text};

fn limited(limits: Limits, script: Vec<Vec<Said>>) -> Room {
    Room::with(Setup { limits, ..setup() }, &[("a", "x\n")], script)
}

#[test]
fn the_rounds_that_are_set_are_the_rounds_that_are_asked() {
    let reads = (1..=9).map(|line| calls("read_file", json!({"path": "a", "line": line}))).collect();
    let mut room = limited(Limits { rounds: 3, ..Limits::default() }, reads);
    assert_eq!(room.turn("do"), TurnEnd::Limit);
    assert_eq!(room.asks.len(), 3);
    // The calls of the last round were done, and no question without tools followed.
    assert_eq!(room.results().len(), 3);
    assert!(room.notes()[0].contains("3 rounds") && room.notes()[0].contains("go on"), "{:?}", room.notes());
    room.worker.set_limits(Limits { rounds: 1, ..Limits::default() }, None);
    assert_eq!(room.turn("go on"), TurnEnd::Limit);
    assert_eq!(room.asks.len(), 4);
}

#[test]
fn the_time_of_a_turn_ends_it_in_the_middle_of_an_answer() {
    let mut room = limited(Limits { turn_ms: 5_000, ..Limits::default() }, vec![]);
    room.hear(prompt("do"));
    room.hear(Heard::Model(text("I am slow")));
    assert_eq!(room.worker.due(), Some(room.now + 5_000));
    room.now += 5_000;
    let done = room.hear(Heard::Tick);
    assert!(done.contains(&Do::HangUp));
    assert!(matches!(done.last(), Some(Do::EndTurn { end: TurnEnd::Limit, .. })), "{done:?}");
}

#[test]
fn the_time_in_which_a_person_thinks_does_not_count() {
    let limits = Limits { turn_ms: 60_000, tool_ms: 10_000, ..Limits::default() };
    let mut room = limited(limits, vec![]);
    room.hear(prompt("do"));
    room.hear(Heard::Model(call("run_command", json!({"command": "make"}))));
    room.hear(Heard::Model(done()));
    assert_eq!(room.worker.due(), None);
    room.now += 3_600_000;
    assert!(room.hear(Heard::Tick).is_empty());
    let (call, _) = room.last_deed();
    let outcome = Outcome::Ran { output: String::new(), truncated: false, code: Some(0), late: false };
    room.hear(Heard::Deed { call, outcome });
    // What the command may have taken counts.
    room.now += 49_999;
    assert!(!room.hear(Heard::Tick).iter().any(|done| matches!(done, Do::EndTurn { .. })));
    room.now += 1;
    assert!(room.hear(Heard::Tick).iter().any(|done| matches!(done, Do::EndTurn { end: TurnEnd::Limit, .. })));
}

#[test]
fn the_same_call_that_fails_three_times_in_a_row_stops_the_turn() {
    let mut room = limited(Limits::default(), vec![calls("read_file", json!({"path": "b"})); 9]);
    assert_eq!(room.turn("read b"), TurnEnd::Limit);
    assert_eq!(room.asks.len(), 3);
    assert!(room.notes()[0].contains("3 times"), "{:?}", room.notes());
}

#[test]
fn failures_of_different_calls_are_fed_back_and_do_not_stop_it() {
    let mut script: Vec<Vec<Said>> = (0..6).map(|n| calls("read_file", json!({"path": format!("b{n}")}))).collect();
    script.push(says("There is no b."));
    let mut room = limited(Limits::default(), script);
    assert_eq!(room.turn("read b"), TurnEnd::Done);
    assert!(room.results().iter().all(|result| result.starts_with("There is no file b")));
}

#[test]
fn a_model_that_goes_in_circles_is_told() {
    let mut script = vec![calls("read_file", json!({"path": "a"})); 3];
    script.push(says("x"));
    let mut room = limited(Limits::default(), script);
    assert_eq!(room.turn("read a"), TurnEnd::Done);
    assert!(!room.results()[1].contains("same call") && room.results()[2].contains("same call 3 times in a row"));
}

#[test]
fn an_answer_without_end_is_stopped() {
    let mut room = limited(Limits::default(), vec![]);
    room.hear(prompt("do"));
    let piece = "again ".repeat(20_000);
    let mut pieces = 0;
    while room.worker.is_working() {
        room.hear(Heard::Model(text(&piece)));
        pieces += 1;
        assert!(pieces < 40);
    }
    assert!(room.seen.contains(&Do::HangUp));
    assert!(matches!(room.seen.last(), Some(Do::EndTurn { end: TurnEnd::Cut, .. })));
}

#[test]
fn two_large_files_of_one_answer_are_both_written() {
    let write = |path: &str| call("write_file", json!({"path": path, "content": "x".repeat(600_000)}));
    let facts = Facts { context: Some(2_000_000), ..setup().facts };
    let script = vec![vec![write("b"), write("c"), done()], says("Both are written.")];
    let mut room = Room::with(Setup { facts, ..setup() }, &[], script);
    assert_eq!(room.turn("write them"), TurnEnd::Done);
    let sizes: Vec<usize> = room.workspace.files.values().map(String::len).collect();
    assert_eq!(sizes, [600_000, 600_000]);
}

#[test]
fn more_calls_than_can_be_overseen_are_not_done() {
    let mut answer: Vec<Said> = (1..=40).map(|line| call("read_file", json!({"path": "a", "line": line}))).collect();
    answer.push(done());
    let mut room = limited(Limits::default(), vec![answer, says("ok")]);
    assert_eq!(room.turn("do"), TurnEnd::Done);
    assert_eq!(room.results().len(), 32);
    assert_eq!(room.notes().len(), 1);
}

#[test]
fn a_silent_model_is_noted_while_it_is_waited_for() {
    let mut room = limited(Limits::default(), vec![]);
    room.hear(prompt("do"));
    room.now += 60_000;
    room.hear(Heard::Tick);
    assert_eq!(room.notes(), ["tiny has not said a word for 60 s; still waiting."]);
    assert!(room.worker.is_working());
}

#[test]
fn a_prompt_with_nothing_in_it_or_too_much_is_refused_in_words() {
    let mut room = limited(Limits::default(), vec![]);
    let TurnEnd::Failed(why) = room.turn("  \n") else { panic!("nothing to do") };
    assert!(why.contains("empty"), "{why}");
    let TurnEnd::Failed(why) = room.turn(&"x".repeat(9 * 1024 * 1024)) else { panic!("too much") };
    assert!(why.contains("bytes"), "{why}");
    let TurnEnd::Failed(why) = room.turn(&"x".repeat(1024 * 1024)) else { panic!("more than the window") };
    assert!(why.contains("32768 tokens"), "{why}");
    // And none of it is in the way afterwards.
    assert!(room.worker.messages().is_empty());
    room.script(vec![says("ok")]);
    assert_eq!(room.turn("and now?"), TurnEnd::Done);
}
