//! What a person begins with a slash.

use serde_json::json;
use switchboard_agent::context::SUMMARY_MARK;
use switchboard_agent::trouble::TroubleKind;
use switchboard_agent::worker::{Facts, Mode, Setup, TurnEnd};

use super::room::{Room, calls, fails, last_words, says, setup};

#[test]
fn help_and_context_are_answered_without_the_model() {
    let mut room = Room::new(&[], vec![]);
    assert_eq!(room.turn("/help"), TurnEnd::Done);
    assert!(room.said().contains("/compact"));
    assert_eq!(room.turn("/context"), TurnEnd::Done);
    assert!(room.said().contains("of 32768 tokens"), "{}", room.said());
    assert!(room.worker.messages().is_empty());
    // As long as nobody knows how large it is, no number is made up.
    let facts = Facts { context: None, ..setup().facts };
    let mut room = Room::with(Setup { facts, ..setup() }, &[], vec![]);
    assert_eq!(room.turn("/context"), TurnEnd::Done);
    assert!(room.said().contains("How many tiny can read is not known yet"), "{}", room.said());
    assert!(!room.said().contains('%') && !room.said().contains("8192"), "{}", room.said());
}

#[test]
fn plan_is_one_turn_in_plan_mode() {
    let script = vec![calls("write_file", json!({"path": "a", "content": "x"})), says("A plan."), says("Now.")];
    let mut room = Room::new(&[], script);
    assert_eq!(room.turn("/plan a new door"), TurnEnd::Done);
    assert_eq!(last_words(&room.asks[0]), "a new door");
    assert!(room.results()[0].contains("not allowed in this mode"));
    room.turn("do it");
    assert_eq!(room.asks[2].tools.len(), 7);
    assert_eq!(room.worker.mode(), Mode::Agent);
    assert!(matches!(room.turn("/plan"), TurnEnd::Failed(_)));
}

#[test]
fn compact_makes_a_summary_now() {
    let mut room = Room::new(&[], vec![says("a"), says("b"), says("They said one and two."), says("c")]);
    assert_eq!(room.turn("/compact"), TurnEnd::Done);
    assert!(room.said().contains("nothing to make shorter"));
    room.turn("one");
    room.turn("two");
    assert_eq!(room.turn("/compact"), TurnEnd::Done);
    assert!(room.said().contains("was made shorter"), "{}", room.said());
    room.turn("three");
    let first = &room.asks[3].messages[1];
    let shown = format!("{first:?}");
    assert!(shown.contains(SUMMARY_MARK) && shown.contains("They said one and two."), "{shown}");
}

#[test]
fn a_compact_that_fails_changes_nothing() {
    let mut room = Room::new(&[], vec![says("a"), says("b"), fails(TroubleKind::NoServer)]);
    room.turn("one");
    room.turn("two");
    let before = room.worker.messages().to_vec();
    let TurnEnd::Failed(why) = room.turn("/compact") else { panic!("there is no summary") };
    assert!(why.ends_with("NoServer."), "{why}");
    assert_eq!(room.worker.messages(), before);
}

#[test]
fn init_lets_the_model_write_the_instructions_where_it_may() {
    let script =
        vec![calls("write_file", json!({"path": "AGENTS.md", "content": "Run cargo test.\n"})), says("Written.")];
    let mut room = Room::new(&[], script);
    assert_eq!(room.turn("/init"), TurnEnd::Done);
    assert_eq!(room.workspace.files["AGENTS.md"], "Run cargo test.\n");
    let mut room = Room::with(Setup { mode: Mode::Ask, ..setup() }, &[], vec![]);
    assert_eq!(room.turn("/init"), TurnEnd::Done);
    assert!(room.said().contains("Choose the mode"));
}
