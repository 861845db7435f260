//! A person stops the turn: at once, in every state, and the conversation can go on.

use serde_json::json;
use switchboard_agent::deed::Deed;
use switchboard_agent::talk::Message;
use switchboard_agent::trouble::TroubleKind;
use switchboard_agent::worker::{Do, Heard, TurnEnd};

use super::room::{Room, call, done, fails, prompt, says, setup, text};

/// Stops the turn, and has another one to show that all is well.
fn cancel(room: &mut Room) -> Vec<Do> {
    let done = room.hear(Heard::Cancel);
    assert!(matches!(done.last(), Some(Do::EndTurn { end: TurnEnd::Cancelled, .. })), "{done:?}");
    assert!(!room.worker.is_working() && room.worker.due().is_none());
    room.watch.assert_kept(&room.worker);
    room.script(vec![says("Yes?")]);
    assert_eq!(room.turn("still there?"), TurnEnd::Done);
    done
}

#[test]
fn before_the_first_word() {
    let mut room = Room::new(&[], vec![]);
    room.hear(prompt("do"));
    assert_eq!(cancel(&mut room)[0], Do::HangUp);
}

#[test]
fn in_the_middle_of_an_answer_what_was_said_is_kept() {
    let mut room = Room::new(&[], vec![]);
    room.hear(prompt("do"));
    room.hear(Heard::Model(text("I was about to")));
    room.hear(Heard::Model(call("run_command", json!({"command": "ls"}))));
    assert_eq!(cancel(&mut room)[0], Do::HangUp);
    let kept = Message::Assistant { text: "I was about to".to_owned(), thought: String::new(), calls: vec![] };
    assert_eq!(room.worker.messages()[1], kept);
}

#[test]
fn while_a_command_runs() {
    let mut room = Room::new(&[], vec![]);
    room.hear(prompt("do"));
    room.hear(Heard::Model(call("run_command", json!({"command": "make"}))));
    room.hear(Heard::Model(call("read_file", json!({"path": "a"}))));
    room.hear(Heard::Model(done()));
    let (id, deed) = room.last_deed();
    assert!(matches!(deed, Deed::Run { .. }));
    assert_eq!(cancel(&mut room)[0], Do::Abandon { call: id });
    assert_eq!(
        room.results(),
        [
            "cancelled: the person stopped the turn; it may have been done in part",
            "cancelled: the person stopped the turn"
        ]
    );
}

#[test]
fn while_a_person_is_asked_about_an_edit() {
    let mut room = Room::new(&[("a", "x")], vec![]);
    room.hear(prompt("do"));
    room.hear(Heard::Model(call("edit_file", json!({"path": "a", "old_text": "x", "new_text": "y"}))));
    room.hear(Heard::Model(done()));
    let (id, deed) = room.last_deed();
    let outcome = room.workspace.carry_out(&deed);
    room.hear(Heard::Deed { call: id.clone(), outcome });
    assert!(matches!(room.last_deed().1, Deed::Write { .. }));
    assert_eq!(cancel(&mut room)[0], Do::Abandon { call: id });
}

#[test]
fn while_waiting_to_ask_again() {
    let mut room = Room::new(&[], vec![]);
    room.hear(prompt("do"));
    room.hear(Heard::Model(fails(TroubleKind::Busy).remove(0)));
    assert!(room.worker.due().is_some());
    let done = cancel(&mut room);
    assert_eq!(done.len(), 1, "{done:?}");
}

#[test]
fn while_a_summary_is_made() {
    let mut room = Room::with(setup(), &[], vec![says("a"), says("b")]);
    room.turn("one");
    room.turn("two");
    room.hear(prompt("/compact"));
    let before = room.worker.messages().to_vec();
    assert_eq!(room.hear(Heard::Cancel)[0], Do::HangUp);
    assert_eq!(room.worker.messages(), before);
}

#[test]
fn words_that_come_too_late_touch_nothing() {
    let mut room = Room::new(&[], vec![]);
    room.hear(prompt("do"));
    room.hear(Heard::Model(call("run_command", json!({"command": "make"}))));
    room.hear(Heard::Model(done()));
    let (id, deed) = room.last_deed();
    room.hear(Heard::Cancel);
    let outcome = room.workspace.carry_out(&deed);
    assert!(room.hear(Heard::Deed { call: id, outcome }).is_empty());
    assert!(room.worker.hear(9, Heard::Model(text("late"))).is_empty());
    assert!(room.hear(Heard::Cancel).is_empty());
}
