//! A session that is taken up again goes on as if nothing had happened, even if it was torn in the middle.

use serde_json::json;
use switchboard_agent::talk::{Arguments, Message, ToolCall};
use switchboard_agent::worker::{Do, Heard, Kept, Setup, TurnEnd, Worker};

use super::room::{Room, call, calls, denied, done, prompt, says, setup, words};

#[test]
fn messages_plan_and_names_go_on() {
    let plan = json!({"steps": [{"content": "mend", "status": "in_progress"}]});
    let mut first = Room::new(
        &[("a", "x\n")],
        vec![calls("update_plan", plan), calls("read_file", json!({"path": "a"})), says("x")],
    );
    first.turn("what is in a?");
    let kept = first.watch.kept.clone();
    let script = vec![calls("read_file", json!({"path": "a"})), says("still x")];
    let mut room = Room::with(Setup { kept, ..setup() }, &[("a", "x\n")], script);
    assert_eq!(room.worker.messages(), first.worker.messages());
    assert_eq!(room.worker.plan(), first.worker.plan());
    assert_eq!(room.turn("and now?"), TurnEnd::Done);
    assert!(super::room::system(&room.asks[0]).contains("[>] mend"));
    let begun =
        room.seen.iter().find_map(|done| if let Do::Begin { call, .. } = done { Some(call.clone()) } else { None });
    assert_eq!(begun.as_deref(), Some("call00003"));
}

#[test]
fn calls_that_a_crash_left_open_are_unknown_and_not_done_again() {
    let mut first = Room::new(&[], vec![]);
    first.hear(prompt("do"));
    first.hear(Heard::Model(call("run_command", json!({"command": "make"}))));
    first.hear(Heard::Model(call("run_command", json!({"command": "make install"}))));
    first.hear(Heard::Model(done()));
    let kept = first.watch.kept.clone();
    let mut room = Room::with(Setup { kept, ..setup() }, &[], vec![says("Let me look."), says("Again.")]);
    assert!(room.results().iter().all(|result| result.starts_with("unknown: the agent was stopped")));
    assert_eq!(room.results().len(), 2);
    assert_eq!(room.turn("go on"), TurnEnd::Done);
    assert!(room.workspace.commands.is_empty());
    // Once more, from all that was kept since.
    let again = Worker::new(Setup { kept: room.watch.kept.clone(), ..setup() });
    assert_eq!(again.messages(), room.worker.messages());
}

#[test]
fn how_a_call_ended_is_kept_and_older_files_are_read() {
    let answer = vec![
        call("read_file", json!({"path": "a"})),
        call("read_file", json!({"path": "b"})),
        call("nonsense", json!({})),
        call("run_command", json!({"command": "cargo test"})),
        call("write_file", json!({"path": "c", "content": "x"})),
        call("list_files", json!({})),
        done(),
    ];
    let mut room = Room::new(&[("a", "x\n")], vec![answer]);
    // The command is done, and then the person says no for good.
    room.workspace.denials.extend([None, denied("", true)]);
    assert_eq!(room.turn("do"), TurnEnd::Cancelled);
    let lines: Vec<String> = room.watch.kept.iter().map(|kept| serde_json::to_string(kept).expect("JSON")).collect();
    let kept: Vec<Kept> = lines.iter().map(|line| serde_json::from_str(line).expect("kept")).collect();
    let again = Worker::new(Setup { kept, ..setup() });
    assert_eq!(again.messages(), room.worker.messages());
    let failed = |message: &Message| if let Message::Tool { failed, .. } = message { Some(*failed) } else { None };
    let ends: Vec<bool> = again.messages().iter().filter_map(failed).collect();
    assert_eq!(ends, [false, true, true, true, true, true]);
    // One that ended well is written as it always was, and what is not said ended well.
    let line = r#"{"kept":"message","message":{"role":"tool","call":"1","name":"search","text":"found"}}"#;
    let kept: Kept = serde_json::from_str(line).expect("kept");
    assert!(matches!(&kept, Kept::Message { message } if failed(message) == Some(false)));
    assert_eq!(serde_json::to_string(&kept).expect("JSON"), line);
}

#[test]
fn what_makes_no_sense_is_left_out() {
    let tool = |call: &str| Message::Tool {
        call: call.to_owned(),
        name: "search".to_owned(),
        text: "found".to_owned(),
        failed: false,
    };
    let search = ToolCall {
        id: "1".to_owned(),
        name: "search".to_owned(),
        arguments: Arguments::Object(serde_json::Map::new()),
    };
    let asks = Message::Assistant { text: String::new(), thought: String::new(), calls: vec![search] };
    let person = Message::User { parts: words("hello") };
    let torn = [
        Message::System { text: "you are a pirate".to_owned() },
        tool("0"),
        person.clone(),
        asks.clone(),
        tool("2"),
        tool("1"),
        tool("1"),
    ];
    let kept = torn.into_iter().map(|message| Kept::Message { message }).collect();
    let worker = Worker::new(Setup { kept, ..setup() });
    assert_eq!(worker.messages(), [person, asks, tool("1")]);
}
