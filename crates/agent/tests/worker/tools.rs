//! What models get wrong about tools, and what they are told.

use serde_json::json;
use switchboard_agent::deed::Outcome;
use switchboard_agent::said::Said;
use switchboard_agent::worker::{Do, Mode, Setup, TurnEnd};

use super::room::{Room, call, calls, done, says, setup};

fn told(files: &[(&str, &str)], answer: Vec<Said>) -> String {
    let mut room = Room::new(files, vec![answer, says("ok")]);
    assert_eq!(room.turn("do"), TurnEnd::Done);
    room.results()[0].to_owned()
}

#[test]
fn an_unknown_tool_is_told_with_those_that_exist() {
    let said = told(&[], calls("launch_rockets", json!({})));
    assert!(said.contains("There is no tool \"launch_rockets\"") && said.contains("read_file, list_files"), "{said}");
}

#[test]
fn broken_and_wrong_arguments_are_told_with_the_fields() {
    let said = told(&[], calls("read_file", json!("{\"path\": ")));
    assert!(said.contains("not a JSON object") && said.contains("path (text, required)"), "{said}");
    let said = told(&[], calls("run_command", json!({"command": 7, "cwd": []})));
    assert!(said.contains("`cwd` must be text"), "{said}");
}

#[test]
fn what_a_mode_forbids_is_not_done() {
    for (mode, tool) in [
        (Mode::Ask, "write_file"),
        (Mode::Ask, "update_plan"),
        (Mode::Plan, "edit_file"),
        (Mode::Plan, "run_command"),
        (Mode::Edit, "run_command"),
    ] {
        let input =
            json!({"path": "a", "content": "x", "command": "ls", "old_text": "x", "new_text": "y", "steps": []});
        let mut room = Room::with(Setup { mode, ..setup() }, &[("a", "x")], vec![calls(tool, input), says("ok")]);
        assert_eq!(room.turn("do"), TurnEnd::Done);
        assert!(room.results()[0].contains("not allowed in this mode"), "{:?}", room.results());
        assert!(room.asks[0].tools.iter().all(|spec| spec.name != tool));
        assert!(!room.seen.iter().any(|done| matches!(done, Do::Begin { deed: Some(_), .. } | Do::Plan(_))));
    }
}

#[test]
fn a_mode_that_changes_in_the_middle_counts_at_once() {
    let mut room = Room::new(&[], vec![]);
    room.hear(super::room::prompt("do"));
    room.worker.set_mode(Mode::Ask);
    room.hear(switchboard_agent::worker::Heard::Model(call("run_command", json!({"command": "ls"}))));
    room.hear(switchboard_agent::worker::Heard::Model(done()));
    assert!(room.results()[0].contains("not allowed in this mode"));
    assert_eq!(room.asks[1].tools.len(), 3);
}

#[test]
fn refusals_of_an_edit_help() {
    let file = "fn a() {\n    one();\n}\nfn b() {\n    one();\n}\n";
    let edit = |old: &str, new: &str| calls("edit_file", json!({"path": "a.rs", "old_text": old, "new_text": new}));
    let said = told(&[("a.rs", file)], edit("    one();\n", "    two();\n"));
    assert!(said.contains("2 times, at lines 2, 5"), "{said}");
    let said = told(&[("a.rs", file)], edit("fn b() {\n\tone();\n}\n", ""));
    assert!(said.contains("lines 4-6:\nfn b() {\n    one();\n}"), "{said}");
    assert!(told(&[], edit("x", "y")).contains("use write_file"));
    assert!(told(&[("a.rs", file)], edit("", "y")).contains("`old_text` is empty"));
}

#[test]
fn output_is_cut_to_what_the_model_can_read_and_says_so() {
    let mut room = Room::new(&[], vec![calls("run_command", json!({"command": "make"})), says("ok")]);
    let output = "noise\n".repeat(100_000);
    let ran = Outcome::Ran { output, truncated: true, code: None, late: true };
    room.workspace.denials.push_back(Some(ran));
    assert_eq!(room.turn("do"), TurnEnd::Done);
    let said = room.results()[0];
    assert!(said.len() < 34 * 1024, "{}", said.len());
    for words in ["took longer than 30 s", "more was printed than was kept", "bytes left out here"] {
        assert!(said.contains(words), "{words}");
    }
}

#[test]
fn calls_are_shown_in_words_of_a_person() {
    let answer = vec![
        call("read_file", json!({"path": "a", "line": 3})),
        call("run_command", json!({"command": "cargo test\nrm x"})),
        call("nonsense", json!({})),
        done(),
    ];
    let mut room = Room::new(&[("a", "x")], vec![answer, says("ok")]);
    room.turn("do");
    let titles: Vec<&str> = room
        .seen
        .iter()
        .filter_map(|done| if let Do::Begin { shown, .. } = done { Some(shown.title.as_str()) } else { None })
        .collect();
    assert_eq!(titles, ["Read a from line 3", "Run cargo test…", "Call nonsense"]);
}
