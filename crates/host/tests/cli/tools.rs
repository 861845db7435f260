//! `tools`: the registry on the terminal, by a host of its own and by one that runs; approvals asked there.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;

use super::stage::{Heard, Stage, Terminal, eventually, signal};

const RUN: [&str; 3] = ["tools", "run", "run_terminal_command"];

fn with_file() -> Stage {
    let stage = Stage::new();
    std::fs::write(stage.workspace().join("a.txt"), "one\ntwo\n").unwrap();
    stage
}

fn run(params: &str) -> Vec<&str> {
    RUN.iter().copied().chain(["--params", params]).collect()
}

#[test]
fn tools_are_listed_for_people_and_for_programs_whoever_is_asked() {
    let stage = Stage::new();
    let words = stage.call(&["tools", "list"]).good().out;
    assert!(words.starts_with("NAME") && words.contains("read_file") && words.contains("function"), "{words}");
    let alone = stage.call(&["tools", "list", "--json"]).good();
    let names: Vec<String> =
        alone.json().iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect();
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(names, sorted);
    for name in ["edit_file", "list_files", "read_file", "run_terminal_command", "search_workspace", "write_file"] {
        assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
    }
    let mut host = stage.serve();
    assert_eq!(stage.call(&["tools", "list", "--json"]).good().out, alone.out);
    let _ = host.kill();
    let _ = host.wait();
}

#[test]
fn a_tool_gives_its_data_as_json() {
    let stage = with_file();
    let done = stage.call(&["tools", "run", "read_file", "--params", r#"{"path":"a.txt"}"#]).good();
    assert_eq!((done.json()[0]["content"].as_str(), done.err.as_str()), (Some("one\ntwo\n"), ""));
    let fed = stage.feed(&["tools", "run", "read_file", "--params", "-"], br#"{"path":"a.txt"}"#).good();
    assert_eq!(fed.out, done.out);
    // On a terminal it is laid out.
    let terminal = Terminal::new();
    let mut seen = terminal.seen();
    let mut child = stage
        .switchboard(&["tools", "run", "read_file", "--params", r#"{"path":"a.txt"}"#])
        .stdout(terminal.end())
        .spawn()
        .unwrap();
    seen.until("\n  \"content\": \"one\\ntwo\\n\"");
    assert!(child.wait().unwrap().success());
    // It is on record.
    let listed = stage.call(&["sessions", "list", "--json"]).good().json();
    assert_eq!((&listed[0]["agent"], listed.len()), (&json!("bench"), 1));
    let log = stage.call(&["sessions", "export", &listed[0]["id"].to_string()]).good().json();
    let asked = |event: &&serde_json::Value| {
        event["body"]["type"] == "toolCall" && event["body"]["call"]["tool"] == "read_file"
    };
    assert_eq!(log.iter().filter(asked).count(), 3, "{log:?}");
    let ended = |event: &&serde_json::Value| event["body"]["call"]["status"] == "completed";
    assert_eq!(log.iter().filter(ended).count(), 3, "{log:?}");
}

#[test]
fn what_goes_wrong_has_its_exit_code() {
    let stage = with_file();
    for (args, code, said) in [
        (&["tools", "run", "no_such_tool"][..], 3, "TOOL_NOT_FOUND"),
        (&["tools", "run", "read_file"], 2, "`path` is missing"),
        (&["tools", "run", "read_file", "--params", "[]"], 2, "JSON object"),
        (&["tools", "run", "read_file", "--params", "{"], 2, "JSON object"),
        (&["tools", "run", "read_file", "--timeout", "0"], 2, "--timeout"),
        (&["tools", "run", "read_file", "--params", r#"{"path":"gone"}"#], 1, "EXECUTION_ERROR"),
        (&["tools", "run", "read_file", "--params", r#"{"path":"a.txt"}"#, "--session", "77"], 3, "no session 77"),
        (&["tools", "run", "run_terminal_command", "--params", r#"{"command":"echo hi"}"#], 4, "WORKSPACE_UNTRUSTED"),
        (&["tools"], 2, "Usage"),
    ] {
        let done = stage.call(args);
        assert!(done.code == code && done.err.contains(said), "{args:?}: {done:?}");
        assert_eq!(done.out, "", "{args:?}");
    }
}

#[test]
fn where_nobody_can_be_asked_a_command_is_denied() {
    let stage = with_file();
    stage.call(&["trust"]).good();
    // Away from any terminal that the tests may have.
    let params = r#"{"command":"touch made"}"#;
    let args: Vec<&str> = [env!("CARGO_BIN_EXE_switchboard")].into_iter().chain(run(params)).collect();
    let done: super::stage::Done = stage.command("setsid", &args).output().unwrap().into();
    assert!(done.code == 4 && done.err.contains("DENIED"), "{done:?}");
    assert!(!stage.workspace().join("made").exists());
}

#[test]
fn a_person_is_asked_on_the_terminal_before_a_command_runs() {
    let stage = with_file();
    stage.call(&["trust"]).good();
    for (answer, code, made) in [("n\n", 4, false), ("y\n", 0, true)] {
        let mut terminal = Terminal::new();
        let mut seen = terminal.seen();
        let child = stage
            .switchboard(&run(r#"{"command":"touch made && echo done"}"#))
            .stdin(terminal.end())
            .stderr(terminal.end())
            .spawn()
            .unwrap();
        seen.until("[y] allow once");
        terminal.types(answer);
        let done: super::stage::Done = child.wait_with_output().unwrap().into();
        assert_eq!((done.code, stage.workspace().join("made").exists()), (code, made), "{done:?}");
        assert_eq!(done.out.contains("done"), made, "{done:?}");
    }
}

#[test]
fn ctrl_c_cancels_the_call_and_what_it_runs() {
    let stage = with_file();
    stage.call(&["trust"]).good();
    let mut host = stage.serve();
    let mut terminal = Terminal::new();
    let mut seen = terminal.seen();
    let mut child = stage
        .switchboard(&run(r#"{"command":"touch begun; sleep 600"}"#))
        .stdin(terminal.end())
        .stderr(terminal.end())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = Heard::of(child.stdout.take().unwrap());
    seen.until("[y] allow once");
    terminal.types("y\n");
    eventually("the command", || stage.workspace().join("begun").exists());
    signal(child.id(), Signal::INT);
    assert_eq!((child.wait().unwrap().code(), out.rest().as_str()), (Some(130), ""));
    let log = stage.call(&["sessions", "export", "1"]).good().out;
    assert!(log.contains("CANCELLED") && log.contains("executionEnded"), "{log}");
    let _ = host.kill();
    let _ = host.wait();
}

#[test]
fn a_tool_that_takes_too_long_is_ended() {
    let stage = with_file();
    stage.call(&["trust"]).good();
    let mut terminal = Terminal::new();
    let mut seen = terminal.seen();
    let mut args = run(r#"{"command":"sleep 600"}"#);
    args.extend(["--timeout", "200"]);
    let mut child = stage.switchboard(&args).stdin(terminal.end()).stderr(terminal.end()).spawn().unwrap();
    seen.until("[y] allow once");
    terminal.types("y\n");
    seen.until("TIMEOUT");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_workspace_that_wants_commands_held_in_runs_none_where_that_does_not_work() {
    let stage = with_file();
    std::fs::create_dir(stage.workspace().join(".switchboard")).unwrap();
    let config = "[containment]\nmode = \"required\"\nwritable = [\"/var\"]\n";
    std::fs::write(stage.workspace().join(".switchboard/config.toml"), config).unwrap();
    stage.call(&["trust"]).good();
    // Nothing that could hold commands in is found there.
    let bare = |args: &[&str]| -> super::stage::Done {
        stage.switchboard(args).env("PATH", stage.home()).output().unwrap().into()
    };
    let done = bare(&run(r#"{"command":"touch made"}"#));
    assert!(done.code == 4 && done.err.contains("wants commands to be held in"), "{done:?}");
    assert!(!stage.workspace().join("made").exists());
    let reads = bare(&["tools", "run", "read_file", "--params", r#"{"path":"a.txt"}"#]);
    assert_eq!(reads.code, 0, "{reads:?}");
    // What it may not have is said, and what is missing.
    let found = bare(&["doctor"]);
    assert!(found.code == 1 && found.out.contains("✗ containment"), "{found:?}");
    assert!(found.out.contains("only your own file can let commands write elsewhere"), "{found:?}");
}
