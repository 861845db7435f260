//! `agents check`: an agent is really started, each step is said, and nothing is left of it.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::stage::{Done, Stage, eventually, signal};

fn steps(done: &Done) -> Vec<(Value, Value)> {
    done.json().iter().map(|line| (line["step"].clone(), line["state"].clone())).collect()
}

fn good(names: &[&str]) -> Vec<(Value, Value)> {
    names.iter().map(|name| (json!(name), json!("good"))).collect()
}

/// An agent in this stage's configuration.
fn with_agent(script: &str, more: &str) -> Stage {
    let stage = Stage::new();
    stage.script("agent.sh", &format!("#!/bin/sh\n{script}"));
    let file = stage.workspace().join("agent.sh");
    stage.configure(&format!("{more}\n[agents.small]\nkind = \"plain\"\ncommand = [{file:?}]\n"));
    stage
}

fn trusted(stage: Stage) -> Stage {
    stage.call(&["trust"]).good();
    stage
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}

/// All that a check may leave in the data folder, and must not.
fn nothing_is_left(stage: &Stage) {
    for folder in ["checks", "children"] {
        let left = std::fs::read_dir(stage.data().join(folder)).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{folder}");
    }
    let left = std::fs::read_dir(stage.data()).unwrap().filter_map(Result::ok);
    assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().starts_with("check-")).count(), 0);
}

#[test]
fn each_step_is_said_to_its_end() {
    let stage = Stage::new();
    let done = stage.call(&["agents", "check", "demo", "--prompt", "demo: echo hi", "--json"]).good();
    assert_eq!(steps(&done), good(&["program", "started", "session", "prompt", "closed"]), "{done:?}");
    assert_eq!(done.json()[3]["message"], "answered: hi");
    assert!(done.json().iter().all(|line| line["ms"].is_u64()));
    let words = stage.call(&["agents", "check", "demo"]).good().out;
    assert!(words.contains("✓ session: opened (") && words.ends_with("`demo` works.\n"), "{words}");
    nothing_is_left(&stage);
}

#[test]
fn a_question_of_the_agent_is_denied() {
    let stage = Stage::new();
    let done = stage.call(&["agents", "check", "demo", "--prompt", "demo: approve", "--json"]).good();
    assert!(done.json()[3]["message"].as_str().unwrap().contains("You decided: deny"), "{done:?}");
}

#[test]
fn trust_is_needed_as_ever_or_an_empty_folder() {
    let opens = r#"while read -r line; do
  pwd > "$HOME/where"
  case $line in *new-session*) echo '{"type":"session-created","sessionId":"s"}' ;; esac
done
"#;
    let stage = with_agent(opens, "");
    let refused = stage.call(&["agents", "check", "small"]);
    assert_eq!((refused.code, refused.err.contains("switchboard trust")), (4, true), "{refused:?}");
    assert!(refused.err.contains("--apart") && !stage.home().join("where").exists(), "{refused:?}");
    let done = stage.call(&["agents", "check", "small", "--apart", "--json"]).good();
    assert_eq!(steps(&done), good(&["program", "started", "session", "closed"]), "{done:?}");
    let place = std::fs::read_to_string(stage.home().join("where")).unwrap();
    assert!(place.contains("check-") && !std::path::Path::new(place.trim()).exists(), "{place}");
    nothing_is_left(&stage);
}

#[test]
fn what_is_not_there_is_said_with_what_to_do() {
    let stage = trusted(with_agent("", ""));
    let nobody = stage.call(&["agents", "check", "nobody"]);
    assert_eq!((nobody.code, nobody.err.contains("agents list")), (3, true), "{nobody:?}");
    std::fs::remove_file(stage.workspace().join("agent.sh")).unwrap();
    let done = stage.call(&["agents", "check", "small", "--json"]);
    assert_eq!((done.code, steps(&done)), (5, vec![(json!("program"), json!("wrong"))]), "{done:?}");
    assert!(done.json()[0]["mend"].as_str().unwrap().contains("`command`"));
}

#[test]
fn an_agent_that_dies_is_quoted() {
    let stage = trusted(with_agent("echo 'the key is missing' >&2\nexit 7\n", ""));
    let done = stage.call(&["agents", "check", "small"]);
    assert_eq!(done.code, 5, "{done:?}");
    assert!(done.out.contains("exited with code 7") && done.out.contains("the key is missing"), "{done:?}");
    nothing_is_left(&stage);
}

#[test]
fn an_agent_that_says_nothing_is_given_up_in_time() {
    let limits = "startup_slow_ms = 100\nstartup_timeout_ms = 400\n";
    let stage = trusted(with_agent("echo $$ > pid\ncat > /dev/null\n", limits));
    let done = stage.call(&["agents", "check", "small"]);
    assert_eq!(done.code, 5, "{done:?}");
    assert!(done.err.contains("still waiting") && done.out.contains("startup_timeout_ms"), "{done:?}");
    let pid = std::fs::read_to_string(stage.workspace().join("pid")).unwrap();
    assert!(!is_alive(&pid), "nothing is left running");
    nothing_is_left(&stage);
}

#[test]
fn who_interrupts_leaves_nothing_running() {
    let script = "sleep 1000 &\necho $! > child.new\nmv child.new child\ncat > /dev/null\n";
    let stage = trusted(with_agent(script, ""));
    let mut check = stage.switchboard(&["agents", "check", "small"]).spawn().unwrap();
    let file = stage.workspace().join("child");
    eventually("the agent's own child", || file.exists());
    let pid = std::fs::read_to_string(&file).unwrap();
    assert!(is_alive(&pid));
    signal(check.id(), Signal::INT);
    assert_eq!(check.wait().unwrap().code(), Some(130));
    eventually("the end of the agent's tree", || !is_alive(&pid));
    nothing_is_left(&stage);
}

#[test]
fn a_check_does_not_disturb_the_host_that_runs() {
    let stage = Stage::new();
    let mut host = stage.serve();
    stage.call(&["agents", "check", "demo"]).good();
    assert_eq!(stage.call(&["run", "demo: echo still there"]).good().out, "still there\n");
    assert!(host.try_wait().unwrap().is_none());
    let _ = host.kill();
    let _ = host.wait();
}

/// An agent of kind `acp`: it says who it is, and opens a session unless `SIGNED_IN` is not set.
const ACP: &str = r#"#!/usr/bin/env python3
import json, os, sys

def say(value):
    print(json.dumps({"jsonrpc": "2.0", **value}), flush=True)

def update(update):
    say({"method": "session/update", "params": {"sessionId": "s", "update": update}})

LOGIN = {"id": "login", "name": "Sign in with a browser", "type": "terminal", "args": ["login"]}
for line in sys.stdin:
    asked = json.loads(line)
    method, about = asked.get("method"), {"id": asked.get("id")}
    if method == "initialize":
        info = {"name": "fake", "title": "Fake", "version": "9.9"}
        can = {"loadSession": True, "promptCapabilities": {"image": True}}
        say({**about, "result": {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": can, "authMethods": [LOGIN]}})
    elif method == "session/new" and "SIGNED_IN" not in os.environ:
        say({**about, "error": {"code": -32000, "message": "Authentication required"}})
    elif method == "session/new":
        modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
        say({**about, "result": {"sessionId": "s", "modes": modes}})
        commands = [{"name": "help", "description": "says what there is"}]
        update({"sessionUpdate": "available_commands_update", "availableCommands": commands})
    elif method == "session/prompt":
        update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hello from the fake"}})
        say({**about, "result": {"stopReason": "end_turn"}})
    elif method and "id" in asked:
        say({**about, "error": {"code": -32601, "message": "no such method"}})
"#;

#[test]
fn an_acp_agent_says_who_it_is_and_what_it_offers_or_how_to_sign_in() {
    let stage = Stage::new();
    stage.script("fake.py", ACP);
    let entry = "[agents.fake]\nkind = \"acp\"\ncommand = [\"./fake.py\"]\n";
    stage.configure(&format!("{entry}env = {{ SIGNED_IN = \"yes\" }}\n"));
    stage.call(&["trust"]).good();
    let done = stage.call(&["agents", "check", "fake", "--prompt", "hi", "--json"]).good();
    let all = ["program", "started", "introduced", "session", "options", "commands", "prompt", "closed"];
    assert_eq!(steps(&done), good(&all), "{done:?}");
    let lines = done.json();
    assert!(lines[2]["message"].as_str().unwrap().contains("9.9, protocol ACP 1"), "{}", lines[2]);
    assert!(lines[2]["details"]["abilities"].as_array().is_some_and(|can| !can.is_empty()), "{}", lines[2]);
    assert_eq!(lines[5]["message"], "/help");
    assert_eq!(lines[6]["message"], "answered: hello from the fake");

    stage.configure(entry);
    let done = stage.call(&["agents", "check", "fake"]);
    assert_eq!(done.code, 5, "{done:?}");
    assert!(done.out.contains("✗ session:") && done.out.contains("Sign in with a browser: "), "{done:?}");
    nothing_is_left(&stage);
}
