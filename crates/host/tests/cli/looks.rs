//! Commands that only look or print: agents, schemas, completions, help; and how `serve` ends.

use rustix::process::Signal;
use serde_json::Value;

use super::stage::{Heard, LINES, Stage, signal};

#[test]
fn schemas_are_printed_for_one_dialect_or_all() {
    let stage = Stage::new();
    let all: Value = serde_json::from_str(&stage.call(&["schema"]).good().out).unwrap();
    assert_eq!(
        all.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["acp", "apex", "bb", "chat", "plain", "switchboard", "tabs", "tools"]
    );
    for (dialect, direction) in
        [("tabs", "viewToHost"), ("chat", "hostToView"), ("switchboard", "hostToView"), ("plain", "agentToHost")]
    {
        let one = stage.call(&["schema", "--dialect", dialect, "--json"]).good().json();
        assert_eq!((one.len(), &one[0]), (1, &all[dialect]));
        assert!(one[0][direction]["oneOf"].is_array(), "{dialect}");
    }
    let acp = stage.call(&["schema", "--dialect", "acp", "--json"]).good().json();
    assert!(acp[0]["hostToAgent"]["requests"].is_object());
    let unknown = stage.call(&["schema", "--dialect", "klingon"]);
    assert_eq!(
        (unknown.code, unknown.err.contains("acp, apex, bb, chat, plain, switchboard, tabs, tools")),
        (2, true),
        "{unknown:?}"
    );
}

#[test]
fn shells_get_their_completions() {
    let stage = Stage::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stage.call(&["completions", shell]).good().out;
        assert!(script.contains("sessions") && script.contains("doctor"), "{shell}");
    }
    assert_eq!(stage.call(&["completions", "csh"]).code, 2);
    if std::process::Command::new("bash").arg("--version").output().is_ok() {
        let check = stage.command("bash", &["-n", "-c", &stage.call(&["completions", "bash"]).out]).output().unwrap();
        assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    }
}

/// The whole of `--help`, so that a change of it is seen.
const HELP: &str = "\
One host between the places where people talk to coding agents and the agents. Without a command: a host for the current folder, with the page opened

Usage: switchboard [OPTIONS] [COMMAND]

Commands:
  serve        Run the host alone
  open         Print (and open) a fresh one-time link to the page
  connect      Join standard input and output to the running host, starting one if none runs
  run          One turn in the terminal
  agents       Agents: which there are; add, try and remove them
  sessions     Sessions: history without a browser
  tools        Tools: which there are; call one
  rules        Rules: what is allowed or denied without a question
  inspect      Show the recorded wire of a session, of its agent and of its views, message by message
  trust        Trust a workspace: its configured agents may start
  untrust      Trust a workspace no longer
  secrets      Secrets that agents need: store, list and remove them
  agent        Be the built-in agent: an ACP agent on standard input and output, over Ollama or any OpenAI-compatible server
  doctor       Check the set-up, the store and the agents, and say how to mend what is wrong
  schema       Print the JSON Schema of every message of a dialect
  completions  Print completions for a shell

Options:
      --data <DIR>       Keep all state in this folder
      --config <FILE>    Read this configuration instead of the user's usual one
      --workspace <DIR>  Work in this folder instead of the current one
      --json             Print one JSON value a line
  -h, --help             Print help
  -V, --version          Print version
";

#[test]
fn the_help_names_every_command_and_flag() {
    let stage = Stage::new();
    assert_eq!(stage.call(&["--help"]).good().out, HELP);
    for line in HELP.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty()) {
        let command = line.split_whitespace().next().unwrap();
        let help = stage.call(&[command, "--help"]).good().out;
        assert!(help.contains(&format!("Usage: switchboard {command}")), "{help}");
    }
    assert_eq!(stage.call(&["no-such-command"]).code, 2);
    assert_eq!(stage.call(&["--version"]).good().out, format!("switchboard {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_agent_that_nobody_configured_cannot_be_the_default() {
    let stage = Stage::new();
    let done = stage.call(&["serve", "--agent", "nobody"]);
    assert_eq!((done.code, done.err.contains("`demo`")), (3, true), "{done:?}");
}

#[test]
fn a_host_that_is_interrupted_twice_leaves_at_once() {
    let stage = Stage::new();
    let mut host = stage.switchboard(&["serve", "--listen", ":0", "--json"]).spawn().unwrap();
    let mut out = Heard::of(host.stdout.take().unwrap());
    let mut err = Heard::of(host.stderr.take().unwrap());
    out.until("listening");
    // An agent that does not listen makes the host's end slow.
    let open = b"{\"type\":\"new-tab\",\"tabId\":\"t\"}\n{\"type\":\"prompt\",\"tabId\":\"t\",\"messageId\":\"m\",\"text\":\"demo: hang\"}\n";
    stage.converse(&LINES, open, "prompt-started").good();
    signal(host.id(), Signal::INT);
    err.until("the host stops");
    let code = loop {
        signal(host.id(), Signal::INT);
        if let Some(status) = host.try_wait().unwrap() {
            break status.code();
        }
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    };
    assert_eq!(code, Some(130));
}
