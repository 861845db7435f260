//! `run`: one turn in the terminal, with and without a host, with and without a person.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::stage::{Done, Heard, LINES, Stage, Terminal, signal};

const AGENT: &str = r#"#!/bin/sh
while IFS= read -r line; do
  case $line in
    *new-session*) echo '{"type":"session-created","sessionId":"s"}' ;;
    *process-prompt*) printf '{"type":"response-chunk","sessionId":"s","chunk":"%s"}\n' "$(pwd -P | sed 's,.*/,,')"
      echo '{"type":"response-complete","sessionId":"s"}' ;;
  esac
done
"#;

fn bodies(log: &[Value]) -> Vec<String> {
    log.iter().map(|event| event["body"]["type"].as_str().unwrap_or_default().to_owned()).collect()
}

fn export(stage: &Stage, id: u64) -> Vec<Value> {
    stage.call(&["sessions", "export", &id.to_string()]).good().json()
}

#[test]
fn a_turn_prints_its_text_leaves_history_and_nothing_running() {
    let stage = Stage::new();
    let done = stage.call(&["run", "demo: echo hello there"]).good();
    assert_eq!((done.out.as_str(), done.err.as_str()), ("hello there\n", ""));
    assert!(stage.host().is_none());
    assert_eq!(std::fs::read_dir(stage.data().join("children")).unwrap().count(), 0, "no child is left");
    let listed = stage.call(&["sessions", "list", "--json"]).good().json();
    assert_eq!(
        (listed.len(), &listed[0]["open"], &listed[0]["title"]),
        (1, &json!(false), &json!("demo: echo hello there"))
    );
}

#[test]
fn json_is_one_event_a_line_and_last_the_outcome_with_the_session() {
    let stage = Stage::new();
    let mut said = stage.call(&["run", "--json", "demo: echo hi"]).good().json();
    assert_eq!(said.pop().unwrap(), json!({"outcome": "completed", "session": 1}));
    assert_eq!(bodies(&said), ["promptQueued", "titleChanged", "turnStarted", "text", "turnEnded"]);
    let log = export(&stage, 1);
    assert!(said.iter().all(|event| log.contains(event)), "they are the log's own");
    let mut failed = stage.call(&["run", "--json", "demo: error"]);
    assert_eq!(failed.code, 1);
    let last = failed.json().pop().unwrap();
    assert_eq!((&last["outcome"], &last["session"]), (&json!("failed"), &json!(2)));
    assert!(last["detail"]["message"].as_str().unwrap().contains("asked to fail"), "{last}");
    failed.err.clear();
}

#[test]
fn a_prompt_comes_by_words_by_dash_or_by_pipe() {
    let stage = Stage::new();
    assert_eq!(stage.call(&["run", "demo:", "echo", "three", "words"]).good().out, "three words\n");
    assert_eq!(stage.feed(&["run"], b"demo: echo piped\n").good().out, "piped\n");
    assert_eq!(stage.feed(&["run", "-"], b"demo: echo dashed").good().out, "dashed\n");
    for (args, input) in [(vec!["run"], &b" \n"[..]), (vec!["run", ""], b""), (vec!["run", "-"], b"\xff")] {
        let done = stage.feed(&args, input);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains("prompt"), "{done:?}");
    }
    let large = vec![b'"'; 9 * 1024 * 1024];
    let done = stage.feed(&["run"], &large);
    assert_eq!((done.code, done.err.contains("too large")), (2, true), "{}", done.err);
}

#[test]
fn how_it_ends_is_its_exit_code() {
    let stage = Stage::new();
    stage.script("agent.sh", AGENT);
    stage.configure(
        "[agents.small]\nkind = \"plain\"\ncommand = [\"./agent.sh\"]\n\
         [agents.gone]\nkind = \"plain\"\ncommand = [\"no-such-program\"]\n",
    );
    let ends = |args: &[&str], code: i32, words: &str| {
        let done = stage.call(args);
        assert_eq!(done.code, code, "{args:?}: {done:?}");
        assert!(done.err.contains(words), "{args:?}: {done:?}");
    };
    ends(&["run", "demo: error"], 1, "asked to fail");
    ends(&["run", "demo: crash"], 1, "");
    ends(&["run", "--agent", "nobody", "x"], 3, "nobody");
    ends(&["run", "--session", "999", "x"], 3, "no session 999");
    ends(&["run", "--session", "one", "x"], 2, "number");
    ends(&["run", "--agent", "small", "x"], 4, "switchboard trust");
    stage.call(&["trust"]).good();
    assert_eq!(stage.call(&["run", "--agent", "small", "x"]).good().out, "project\n");
    ends(&["run", "--agent", "gone", "x"], 5, "no-such-program");
}

#[test]
fn an_agent_of_a_folder_that_is_not_trusted_is_denied_and_says_what_to_do() {
    let stage = Stage::new();
    stage.script("agent.sh", AGENT);
    std::fs::create_dir(stage.workspace().join(".switchboard")).unwrap();
    let config = "default_agent = \"small\"\n[agents.small]\nkind = \"plain\"\ncommand = [\"./agent.sh\"]\n";
    std::fs::write(stage.workspace().join(".switchboard/config.toml"), config).unwrap();
    let denied = stage.call(&["run", "--agent", "small", "x"]);
    assert_eq!((denied.code, denied.err.contains("`switchboard trust`")), (4, true), "{denied:?}");
    stage.call(&["trust"]).good();
    assert_eq!(stage.call(&["run", "x"]).good().out, "project\n");
}

#[test]
fn a_session_goes_on_where_it_was() {
    let stage = Stage::new();
    stage.call(&["run", "demo: echo one"]).good();
    let done = stage.call(&["run", "--json", "--session", "1", "demo: echo two"]).good();
    let said = done.json();
    assert_eq!(said.last().unwrap(), &json!({"outcome": "completed", "session": 1}));
    assert!(!done.out.contains("demo: echo one"), "what was said before is not said again");
    let log = export(&stage, 1);
    assert_eq!(bodies(&log).iter().filter(|kind| *kind == "turnEnded").count(), 2);
    let seqs: Vec<u64> = log.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    assert_eq!(stage.call(&["sessions", "list", "--json"]).json().len(), 1);
    let both = stage.call(&["run", "--session", "1", "--agent", "demo", "x"]);
    assert_eq!(both.code, 2);
}

#[test]
fn a_host_that_runs_is_used_and_stays() {
    let stage = Stage::new();
    let mut host = stage.serve();
    assert_eq!(stage.call(&["run", "demo: echo hi"]).good().out, "hi\n");
    // A tab that a view has open stays open.
    let open = b"{\"type\":\"new-tab\",\"tabId\":\"t\"}\n{\"type\":\"prompt\",\"tabId\":\"t\",\"messageId\":\"m\",\"text\":\"demo: echo a\"}\n";
    stage.converse(&LINES, open, "response-complete").good();
    assert_eq!(stage.call(&["run", "--session", "2", "demo: echo b"]).good().out, "b\n");
    let open: Vec<Value> = stage.call(&["sessions", "list", "--json"]).good().json();
    let open: Vec<(&Value, &Value)> = open.iter().map(|one| (&one["id"], &one["open"])).collect();
    assert_eq!(open, vec![(&json!(2), &json!(true)), (&json!(1), &json!(false))]);
    assert_eq!(stage.host().unwrap().pid, host.id());
    signal(host.id(), Signal::TERM);
    assert_eq!(host.wait().unwrap().code(), Some(0));
}

#[test]
fn without_a_terminal_consent_is_denied() {
    let stage = Stage::new();
    let done = stage.call(&["run", "demo: approve"]).good();
    assert!(done.out.contains("You decided: deny"), "{done:?}");
    assert!(done.err.contains("no terminal"), "{done:?}");
}

/// Runs a command with a person at the terminal who answers each question.
fn at_a_terminal(stage: &Stage, args: &[&str], answers: &[(&str, &str)]) -> (i32, String) {
    let mut terminal = Terminal::new();
    let mut seen = terminal.seen();
    let mut command = stage.switchboard(args);
    let mut child = command.stdin(terminal.end()).stdout(terminal.end()).stderr(terminal.end()).spawn().unwrap();
    drop(command);
    for (question, answer) in answers {
        seen.until(question);
        terminal.types(answer);
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (code, seen.rest())
}

#[test]
fn a_person_at_the_terminal_is_asked_and_the_answer_counts() {
    let stage = Stage::new();
    for (answer, decision) in [("y\n", "allow_once"), ("s\n", "allow_session"), ("n\n", "deny")] {
        // What is no answer is asked again.
        let answers = [("deny and stop: ", "what?\n"), ("deny and stop: ", answer)];
        let (code, seen) = at_a_terminal(&stage, &["run", "demo: approve"], &answers);
        assert_eq!(code, 0, "{seen}");
        assert!(seen.contains(&format!("You decided: {decision}")), "{decision}: {seen}");
    }
    let (code, seen) = at_a_terminal(&stage, &["run", "demo: approve"], &[("deny and stop: ", "x\n")]);
    assert_eq!(code, 130, "{seen}");
}

#[test]
fn foreign_text_does_nothing_to_a_terminal_and_is_raw_elsewhere() {
    let stage = Stage::new();
    let prompt = "demo: echo \u{1b}[31mred\u{7}";
    assert_eq!(stage.call(&["run", prompt]).good().out, "\u{1b}[31mred\u{7}\n");
    let (code, seen) = at_a_terminal(&stage, &["run", prompt], &[]);
    assert_eq!(code, 0);
    assert!(seen.contains("\\u{1b}[31mred\\u{7}") && !seen.contains('\u{7}'), "{seen:?}");
}

/// A turn under way, and what it says.
fn under_way(stage: &Stage, prompt: &str, until: &str) -> (std::process::Child, Heard, Heard) {
    let mut child = stage.switchboard(&["run", prompt]).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, err) = (Heard::of(child.stdout.take().unwrap()), Heard::of(child.stderr.take().unwrap()));
    out.until(until);
    (child, out, err)
}

#[test]
fn an_interrupt_cancels_the_turn() {
    let stage = Stage::new();
    let (mut child, _out, err) = under_way(&stage, "demo: slow 100000", "word-2");
    signal(child.id(), Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(err.rest().contains("Ctrl-C again"));
    let log = export(&stage, 1);
    assert!(bodies(&log).contains(&"cancelAsked".to_owned()), "{log:?}");
    let ended = log.iter().find(|event| event["body"]["type"] == "turnEnded").unwrap();
    assert_eq!(ended["body"]["outcome"], "cancelled");
    assert!(stage.host().is_none());
}

#[test]
fn a_second_interrupt_leaves_at_once() {
    let stage = Stage::new();
    let mut child = stage.switchboard(&["run", "--json", "demo: hang"]).spawn().unwrap();
    let mut out = Heard::of(child.stdout.take().unwrap());
    let mut err = Heard::of(child.stderr.take().unwrap());
    out.until("turnStarted");
    signal(child.id(), Signal::INT);
    err.until("Ctrl-C again");
    // The agent does not listen; the host would wait ten seconds for it.
    signal(child.id(), Signal::INT);
    signal(child.id(), Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let done: Done = stage.call(&["run", "demo: echo well again"]).good();
    assert_eq!(done.out, "well again\n");
}

#[test]
fn whoever_stops_reading_stops_the_turn() {
    let stage = Stage::new();
    let (mut child, out, _err) = under_way(&stage, "demo: slow 100000", "word-2");
    drop(out);
    // The thread that reads for us ends with the next piece, and the pipe with it.
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
