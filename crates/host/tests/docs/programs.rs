//! The whole programs of the pages, taken out of them and run: the agent in twenty lines, the view in fifty.

use serde_json::Value;

use super::pages::{blocks, only, read};
use super::stage::{Host, Joined, Stage};

const AGENT_PAGE: &str = "docs/agents/plain.md";
const BACKEND_PAGE: &str = "docs/agents/apex.md";
const VIEW_PAGE: &str = "docs/views/tabs.md";
const TOOLS_PAGE: &str = "docs/views/tools.md";
const HTTP_PAGE: &str = "docs/http.md";
const SIDEBAR_PAGE: &str = "docs/views/bb.md";

/// A view that passes everything on as it is.
const TALK: &str = r#"
import { createInterface } from "node:readline";
const [address, token] = process.argv.slice(2);
const link = new WebSocket(address, ["switchboard.v1", `bearer.${token}`]);
link.onmessage = ({ data }) => console.log(data);
link.onopen = () => createInterface({ input: process.stdin }).on("line", (line) => link.send(line));
"#;

/// The view of the page, started by the command that the page shows.
fn view(stage: &Stage, host: &Host) -> Joined {
    std::fs::write(stage.workspace().join("view.mjs"), only(VIEW_PAGE, "js").text).unwrap();
    stage.shell(host, only(VIEW_PAGE, "sh").text.trim())
}

/// A workspace as the page on agents says to make it, trusted by the command that it shows.
fn with_agent() -> Stage {
    let (agent, config) = (only(AGENT_PAGE, "python"), only(AGENT_PAGE, "toml"));
    let stage = Stage::new().with_program("agent.py", &agent.text).with(".switchboard/config.toml", &config.text);
    let steps: Vec<_> = blocks(AGENT_PAGE).into_iter().filter(|block| block.language() == "sh").collect();
    assert_eq!(steps[0].text, "switchboard trust\nswitchboard\n");
    stage.run(&["trust"]);
    stage
}

#[test]
fn the_programs_are_as_long_as_their_pages_say() {
    let code = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(code(&only(AGENT_PAGE, "python").text) <= 20);
    assert!(code(&only(BACKEND_PAGE, "python").text) <= 20);
    assert!(code(&only(VIEW_PAGE, "js").text) <= 50, "{}", code(&only(VIEW_PAGE, "js").text));
}

#[test]
fn the_view_of_the_page_shows_what_the_agent_of_the_page_answers() {
    let stage = with_agent();
    let host = stage.serve("127.0.0.1:0");
    let mut view = view(&stage, &host);
    view.types("one two three");
    view.says("[completed]", 1);
    assert_eq!(view.said.trim(), "eno owt eerht \n[completed]", "{}", host.log());
    view.types("four");
    view.says("[completed]", 2);
    assert!(view.said.contains("ruof \n[completed]"), "{:?}", view.said);
}

#[test]
fn the_sidebar_of_the_page_talks_and_asks_before_it_acts() {
    let stage = Stage::new().with("sidebar.mjs", &only(SIDEBAR_PAGE, "js").text);
    let host = stage.serve("127.0.0.1:0");
    let mut sidebar = stage.shell(&host, only(SIDEBAR_PAGE, "sh").text.trim());
    sidebar.says("say something:", 1);
    sidebar.types("demo: echo one two three");
    sidebar.says("[completed]", 1);
    assert!(sidebar.said.contains("one two three"), "{:?}", sidebar.said);
    sidebar.types("demo: approve");
    sidebar.says("or deny it", 1);
    let asked = sidebar.said.split("allow ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().to_owned();
    sidebar.types(&format!("deny {asked}"));
    sidebar.says("[completed]", 2);
}

#[test]
fn the_requests_of_the_page_on_http_are_answered_as_it_says() {
    let stage = Stage::new();
    let host = stage.serve("127.0.0.1:0");
    let mut asked = stage.script(&host, &only(HTTP_PAGE, "bash").text);
    asked.says("run_finished", 1);
    for part in [r#""engine_version""#, r#""session_id":"1""#, r#""turn_id""#, r#""type":"assistant_delta""#, "hello"] {
        assert!(asked.said.contains(part), "no {part} in {:?}", asked.said);
    }
}

#[test]
fn the_views_of_the_page_on_tools_lend_one_and_call_it() {
    let program = |name: &str| {
        let found = blocks(TOOLS_PAGE).into_iter().find(|block| block.words == ["js", name]);
        found.unwrap_or_else(|| panic!("{TOOLS_PAGE} has no {name}")).text
    };
    let stage = Stage::new().with("lender.mjs", &program("lender")).with("caller.mjs", &program("caller"));
    stage.run(&["trust"]);
    let host = stage.serve("127.0.0.1:0");
    let lines = blocks(TOOLS_PAGE).into_iter().find(|block| block.text.contains("lender.mjs ws://")).unwrap().text;
    let (lend, call) = lines.trim().split_once('\n').unwrap();
    let (mut lender, mut caller) = (stage.shell(&host, lend), stage.shell(&host, call));
    lender.says("lent: shout", 1);
    caller.says("call a tool:", 1);
    caller.types(r#"shout {"text": "hello"}"#);
    caller.says("gives: \"HELLO\"", 1);
    caller.types(r#"shout {"volume": 3}"#);
    caller.says("fails:", 1);
    assert!(caller.said.contains("REQUIRED") && caller.said.contains("UNKNOWN_PARAMETER"), "{:?}", caller.said);
    caller.types(r#"run_terminal_command {"command": "touch made"}"#);
    caller.says("y/n", 1);
    caller.types("y");
    caller.says("gives:", 2);
    assert!(stage.workspace().join("made").exists(), "{:?}\n{}", caller.said, host.log());
}

#[test]
fn the_view_of_the_page_asks_for_consent_stops_a_turn_and_outlives_its_host() {
    let stage = Stage::new();
    let host = stage.serve("127.0.0.1:0");
    let mut view = view(&stage, &host);
    view.types("demo: approve");
    view.says("(y/n)", 1);
    view.types("y");
    view.says("[completed]", 1);
    assert!(view.said.contains("allow_once"), "{:?}", view.said);
    view.types("demo: slow 100000");
    view.says("2 ", 1);
    view.types("/stop");
    view.says("[cancelled]", 1);
    let address = host.address().to_owned();
    drop(host);
    view.types("demo: echo typed while nobody listened");
    let host = stage.serve(&address);
    view.says("[completed]", 2);
    assert_eq!(view.said.matches("typed while nobody listened").count(), 1, "{:?}", view.said);
    assert_eq!(view.said.matches("[cancelled]").count(), 1, "{:?}\n{}", view.said, host.log());
}

/// A workspace as the page on backends says to make it.
fn with_backend() -> Stage {
    let (backend, config) = (only(BACKEND_PAGE, "python"), only(BACKEND_PAGE, "toml"));
    let stage = Stage::new().with_program("backend.py", &backend.text).with(".switchboard/config.toml", &config.text);
    assert_eq!(only(BACKEND_PAGE, "sh").text, "switchboard trust\nswitchboard\n");
    stage.run(&["trust"]);
    stage
}

#[test]
fn the_backend_of_the_page_answers() {
    assert_eq!(with_backend().run(&["run", "one two three"]).trim(), "eno owt eerht");
}

#[test]
fn the_backend_of_the_page_with_a_library_answers() {
    let config = only(BACKEND_PAGE, "toml").text.replace(r#"["./backend.py"]"#, r#"["node", "backend.mjs"]"#);
    assert!(read(BACKEND_PAGE).contains(r#"`command = ["node", "backend.mjs"]`"#));
    let stage = Stage::new().with("backend.mjs", &only(BACKEND_PAGE, "js").text);
    let stage = stage.with(".switchboard/config.toml", &config);
    std::os::unix::fs::symlink(node_modules(), stage.workspace().join("node_modules")).unwrap();
    stage.run(&["trust"]);
    assert_eq!(stage.run(&["run", "one two three"]).trim(), "eno owt eerht");
}

/// Where `vscode-jsonrpc` is; installed first where it is not. Tests in other processes may be about to do the same.
fn node_modules() -> std::path::PathBuf {
    let folder = super::pages::root().join("crates/bench/node").canonicalize().unwrap();
    let modules = folder.join("node_modules");
    let lock = std::fs::File::create(std::env::temp_dir().join("switchboard-test-npm.lock")).unwrap();
    lock.lock().unwrap();
    if !modules.join("vscode-jsonrpc/package.json").exists() {
        let npm =
            std::process::Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder).output();
        let npm = npm.unwrap_or_else(|error| panic!("npm is needed for this test: {error}"));
        assert!(npm.status.success(), "npm: {}", String::from_utf8_lossy(&npm.stderr));
    }
    modules
}

#[test]
fn the_first_steps_are_those_of_the_pages_they_lead_to() {
    let first = "docs/start.md";
    assert_eq!(only(first, "python").text, only(AGENT_PAGE, "python").text);
    assert_eq!(only(first, "toml").text, only(AGENT_PAGE, "toml").text);
    let steps: Vec<_> = blocks(first).into_iter().filter(|block| block.language() == "sh").collect();
    assert!(steps.iter().any(|step| step.text == only(VIEW_PAGE, "sh").text), "the view is started as its page says");
    let shown = steps.iter().find(|step| step.text.starts_with("switchboard run")).expect("a prompt without the page");
    assert_eq!(shown.text, "switchboard run \"one two three\"\n");
    assert_eq!(with_agent().run(&["run", "one two three"]).trim(), "eno owt eerht");
    let text = read(first);
    assert!(text.contains("`one two three`") && text.contains("`eno owt eerht`"));
}

#[test]
fn the_short_talks_are_what_is_really_said() {
    let talk = |page: &str, direction: &str| {
        let said = blocks(page).into_iter().find(|block| block.words.get(2).is_some_and(|word| word == direction));
        said.unwrap_or_else(|| panic!("{page} has no talk {direction}")).text
    };
    let stage = with_agent();
    let mut agent = stage.program("./agent.py");
    for (at, line) in talk(AGENT_PAGE, "hostToAgent").lines().enumerate() {
        agent.types(line);
        agent.says("\n", at + 1);
    }
    agent.says("response-complete", 1);
    let values = |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    assert_eq!(values(&agent.said), values(&talk(AGENT_PAGE, "agentToHost")));

    let stage = with_backend();
    let mut backend = stage.program("./backend.py");
    for line in talk(BACKEND_PAGE, "hostToAgent").lines() {
        backend.types_raw(&format!("Content-Length: {}\r\n\r\n{line}", line.len()));
    }
    backend.says("\"result\"", 1);
    backend.says("}}", 3);
    let said = unframed(&backend.said);
    let (answer, pieces) = said.split_last().unwrap();
    assert_eq!(pieces, values(&talk(BACKEND_PAGE, "agentToHost")));
    let shown = blocks(BACKEND_PAGE).into_iter().find(|block| block.words == ["json"]).unwrap().text;
    assert_eq!(*answer, serde_json::from_str::<Value>(&shown).unwrap());

    let stage = Stage::new().with("talk.mjs", TALK);
    let host = stage.serve("127.0.0.1:0");
    let mut view = stage.shell(&host, &only(VIEW_PAGE, "sh").text.trim().replace("view.mjs", "talk.mjs"));
    for line in talk(VIEW_PAGE, "viewToHost").lines() {
        view.types(line);
    }
    view.says("response-complete", 1);
    view.says("\n", talk(VIEW_PAGE, "hostToView").lines().count());
    assert_eq!(view.said, talk(VIEW_PAGE, "hostToView"));
}

#[test]
fn a_log_that_says_everything_has_no_token() {
    let stage = Stage::new();
    let host = stage.serve("127.0.0.1:0");
    let token = host.ready["token"].as_str().unwrap().to_owned();
    let mut view = view(&stage, &host);
    view.types("demo: env");
    view.says("[completed]", 1);
    stage.run(&["open"]);
    stage.run(&["trust"]);
    let log = host.log();
    assert!(log.contains("DEBUG"), "the log says everything");
    assert!(!log.contains(&token) && !view.said.contains(&token), "{log}");
}

/// Messages out of content-length frames.
fn unframed(mut text: &str) -> Vec<Value> {
    let mut messages = Vec::new();
    while let Some((head, rest)) = text.split_once("\r\n\r\n") {
        let length: usize = head.strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        messages.push(serde_json::from_str(rest.get(..length).unwrap()).unwrap());
        text = rest.get(length..).unwrap();
    }
    messages
}
