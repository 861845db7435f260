//! Whole tasks: what a person wants, from the first look to the last word.

use serde_json::json;
use switchboard_agent::deed::{Deed, Outcome};
use switchboard_agent::talk::{Message, Used};
use switchboard_agent::worker::{Do, Kept, Step, StepStatus, TurnEnd};

use super::room::{Room, call, calls, denied, done, says, text, used, words};

const SUM: &str = "pub fn sum(a: i64, b: i64) -> i64 {\n    a - b\n}\n";

#[test]
fn a_fault_is_found_mended_tested_mended_again_and_reported() {
    let files = [("Cargo.toml", "[package]\n"), ("src/sum.rs", SUM), ("src/lib.rs", "mod sum;\n")];
    let script = vec![
        vec![
            text("I look."),
            call(
                "update_plan",
                json!({"steps": [{"content": "look", "status": "in_progress"}, {"content": "mend", "status": "pending"}]}),
            ),
            call("list_files", json!({})),
            call("search", json!({"pattern": "fn sum"})),
            used(900, 40),
            done(),
        ],
        calls("read_file", json!({"path": "src/sum.rs"})),
        // The first try is wrong, and the tests say so.
        calls("edit_file", json!({"path": "src/sum.rs", "old_text": "    a - b\n", "new_text": "    a * b\n"})),
        calls("run_command", json!({"command": "cargo test"})),
        calls("edit_file", json!({"path": "src/sum.rs", "old_text": "a * b", "new_text": "a + b"})),
        calls("run_command", json!({"command": "cargo test"})),
        vec![
            call(
                "update_plan",
                json!({"steps": [{"content": "look", "status": "completed"}, {"content": "mend", "status": "completed"}]}),
            ),
            done(),
        ],
        vec![text("It was a minus. "), text("The tests pass."), used(2_000, 60), done()],
    ];
    let mut room = Room::new(&files, script);
    assert_eq!(room.turn("sum(1, 2) gives -1, mend it"), TurnEnd::Done);
    assert_eq!(room.workspace.files["src/sum.rs"], SUM.replace("a - b", "a + b"));
    assert_eq!(room.workspace.commands, ["cargo test", "cargo test"]);
    // Two edits and two commands were shown to the person before they happened; reading asks nobody.
    assert_eq!(room.workspace.asked.len(), 4);
    let results = room.results();
    assert_eq!(results[1], "Cargo.toml\nsrc/lib.rs\nsrc/sum.rs\n");
    assert_eq!(results[2], "src/sum.rs:1:pub fn sum(a: i64, b: i64) -> i64 {\n");
    assert_eq!(results[3], format!("[src/sum.rs, lines 1-3, the whole file]\n{SUM}"));
    assert_eq!(results[4], "src/sum.rs is changed at line 2.");
    assert_eq!(results[5], "[exit code 101]\ntest adds ... FAILED\n  left: -1\n right: 3\n");
    assert_eq!(results[7], "[exit code 0]\ntest adds ... ok\n");
    assert_eq!(room.said(), "I look.It was a minus. The tests pass.");
    assert!(room.worker.plan().iter().all(|step| step.status == StepStatus::Completed));
    let end = Do::EndTurn { end: TurnEnd::Done, used: Used { input: 2_900, output: 100, cached: 0, thought: 0 } };
    assert_eq!(room.seen.last(), Some(&end));
    let last = Message::Assistant {
        text: "It was a minus. The tests pass.".to_owned(),
        thought: String::new(),
        calls: vec![],
    };
    assert_eq!(room.worker.messages().last(), Some(&last));
}

#[test]
fn an_edit_reads_the_file_and_then_writes_it_bound_to_what_it_read() {
    let edit = json!({"path": "a", "old_text": "x", "new_text": "y"});
    let mut room = Room::new(&[("a", "x\n")], vec![calls("edit_file", edit), says("ok")]);
    assert_eq!(room.turn("do"), TurnEnd::Done);
    let deeds: Vec<Deed> = room
        .seen
        .iter()
        .filter_map(|done| match done {
            Do::Begin { deed: Some(deed), .. } | Do::Then { deed, .. } => Some(deed.clone()),
            _ => None,
        })
        .collect();
    let path = "a".to_owned();
    let write = Deed::Write { path: path.clone(), before: Some("x\n".to_owned()), after: "y\n".to_owned() };
    assert_eq!(deeds, vec![Deed::ReadWhole { path }, write]);
}

#[test]
fn a_denied_edit_is_fed_back_and_changes_nothing() {
    let edit = json!({"path": "src/sum.rs", "old_text": "a - b", "new_text": "a + b"});
    let mut room = Room::new(&[("src/sum.rs", SUM)], vec![calls("edit_file", edit), says("Then not.")]);
    room.workspace.denials.push_back(denied("not in this file", false));
    assert_eq!(room.turn("mend it"), TurnEnd::Done);
    assert_eq!(room.workspace.files["src/sum.rs"], SUM);
    assert!(room.results()[0].starts_with("The person said no: not in this file."), "{:?}", room.results());
    assert_eq!(room.asks.len(), 2);
}

#[test]
fn a_denial_that_stops_ends_the_turn_and_leaves_nothing_open() {
    let answer = vec![
        call("run_command", json!({"command": "rm -r /"})),
        call("read_file", json!({"path": "src/sum.rs"})),
        done(),
    ];
    let mut room = Room::new(&[("src/sum.rs", SUM)], vec![answer, says("Sorry.")]);
    room.workspace.denials.push_back(denied("", true));
    assert_eq!(room.turn("tidy up"), TurnEnd::Cancelled);
    assert_eq!(room.asks.len(), 1);
    assert_eq!(room.results()[1], "cancelled: the person stopped the turn");
    // And the next prompt goes on from there.
    assert_eq!(room.turn("why?"), TurnEnd::Done);
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let edit = json!({"path": "a", "old_text": "x", "new_text": "y"});
    let mut room = Room::new(&[("a", "x\n")], vec![calls("edit_file", edit), says("I look again.")]);
    let refused = Outcome::Failed("a has changed since it was read; read it again".to_owned());
    room.workspace.denials.push_back(Some(refused));
    assert_eq!(room.turn("do"), TurnEnd::Done);
    assert_eq!(room.results(), ["It could not be done: a has changed since it was read; read it again"]);
}

#[test]
fn new_files_are_written_and_the_same_text_is_not_written_twice() {
    let write = json!({"path": "new.txt", "content": "one\ntwo\n"});
    let script = vec![calls("write_file", write.clone()), calls("write_file", write), says("Done.")];
    let mut room = Room::new(&[], script);
    assert_eq!(room.turn("write"), TurnEnd::Done);
    assert_eq!(room.workspace.files["new.txt"], "one\ntwo\n");
    assert_eq!(room.workspace.asked.len(), 1);
    assert_eq!(
        room.results(),
        ["new.txt is written (new, 2 lines).", "new.txt has exactly this text already; nothing was written."]
    );
}

#[test]
fn a_plan_is_shown_kept_told_again_and_never_completed_by_itself() {
    let steps = vec![
        Step { content: "look".to_owned(), status: StepStatus::Completed },
        Step { content: "mend".to_owned(), status: StepStatus::InProgress },
    ];
    let plan =
        json!({"steps": [{"content": "look", "status": "completed"}, {"content": "mend", "status": "in_progress"}]});
    let mut room = Room::new(&[], vec![calls("update_plan", plan), says("I stop here."), says("Going on.")]);
    assert_eq!(room.turn("do"), TurnEnd::Done);
    assert!(room.seen.contains(&Do::Plan(steps.clone())));
    assert!(room.seen.contains(&Do::Keep(Kept::Plan { steps: steps.clone() })));
    assert_eq!(room.worker.plan(), steps);
    assert_eq!(room.notes(), ["1 of 2 steps of the plan are not done."]);
    assert_eq!(room.turn("go on"), TurnEnd::Done);
    assert!(super::room::system(&room.asks[2]).contains("[x] look\n[>] mend\n"));
}

#[test]
fn prompts_wait_for_each_other_and_none_is_lost() {
    let mut room = Room::new(&[], vec![]);
    room.hear(super::room::prompt("first"));
    assert!(room.hear(super::room::prompt("second")).is_empty());
    room.hear(switchboard_agent::worker::Heard::Model(text("one")));
    let then = room.hear(switchboard_agent::worker::Heard::Model(done()));
    let ends = then.iter().position(|done| matches!(done, Do::EndTurn { .. })).expect("an end");
    let asks = then.iter().position(|done| matches!(done, Do::AskModel(_))).expect("a question");
    assert!(ends < asks);
    let second = Do::Keep(Kept::Message { message: Message::User { parts: words("second") } });
    assert!(then.contains(&second));
}

#[test]
fn a_prompt_too_many_is_told_so_in_its_own_place() {
    let mut room = Room::new(&[], vec![]);
    for n in 0..20 {
        room.hear(super::room::prompt(&format!("{n}")));
    }
    // One is worked on, sixteen wait, three are not taken.
    assert_eq!(room.notes().len(), 3);
    for _ in 0..20 {
        room.hear(switchboard_agent::worker::Heard::Cancel);
    }
    let ends: Vec<bool> = room
        .seen
        .iter()
        .filter_map(|done| match done {
            Do::EndTurn { end, .. } => Some(*end == TurnEnd::Cancelled),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [vec![true; 17], vec![false; 3]].concat());
}
