//! `agents list`, `add` and `remove`: what is configured, what could be, and what is written into a person's own file.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::stage::{Done, Stage};

/// How many of a list are configured.
fn configured(listed: &[Value]) -> usize {
    listed.iter().filter(|agent| agent["configured"] == true).count()
}

#[test]
fn agents_are_listed_with_whether_they_may_start() {
    let stage = Stage::new();
    let file = stage
        .configure("default_agent = \"small\"\n[agents.small]\nkind = \"plain\"\ncommand = [\"sh\", \"-c\", \"x\"]\n");
    let listed = stage.call(&["agents", "list", "--json"]).good().json();
    let small = json!({
        "name": "small", "kind": "plain", "command": ["sh", "-c", "x"], "default": true, "may_start": false,
        "from": file, "why": "the workspace is not trusted; see `switchboard trust`",
        "known": false, "installed": true, "configured": true,
    });
    assert_eq!((configured(&listed), &listed[0]["name"], &listed[0]["may_start"]), (2, &json!("demo"), &json!(true)));
    assert_eq!(listed[1], small);
    assert!(stage.call(&["agents", "list"]).good().out.contains("small (default)"));
    stage.call(&["trust"]).good();
    std::fs::create_dir(stage.workspace().join(".switchboard")).unwrap();
    let own = stage.workspace().join(".switchboard/config.toml");
    std::fs::write(&own, "[agents.near]\nkind = \"acp\"\ncommand = [\"./near\"]\n").unwrap();
    let listed = stage.call(&["agents", "list", "--json"]).good().json();
    let near = listed.iter().find(|agent| agent["name"] == "near").unwrap();
    assert_eq!(near["from"], json!(own));
    let may: Vec<&Value> =
        listed.iter().filter(|agent| agent["name"] == "small").map(|one| &one["may_start"]).collect();
    assert_eq!(may, [&json!(true)]);
    let mut host = stage.serve();
    assert_eq!(stage.call(&["agents", "list", "--json"]).good().json(), listed, "a running host says the same");
    let _ = host.kill();
    let _ = host.wait();
}

/// Calls the program on a machine that has these programs, and those of the calls before, and no others.
fn on_machine_with(stage: &Stage, programs: &[&str], args: &[&str]) -> Done {
    let folder = stage.home().join("programs");
    std::fs::create_dir_all(&folder).unwrap();
    for program in programs {
        let file = folder.join(program);
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    stage.switchboard(args).env("PATH", folder).output().unwrap().into()
}

fn file(stage: &Stage) -> PathBuf {
    stage.home().join("config/switchboard/config.toml")
}

#[test]
fn a_well_known_agent_is_found_added_listed_and_taken_out() {
    let stage = Stage::new();
    let list = |programs: &[&str]| on_machine_with(&stage, programs, &["agents", "list", "--json"]).good().json();
    let state = |listed: &[Value], name: &str| {
        let agent = listed.iter().find(|agent| agent["name"] == name).unwrap();
        (agent["configured"].clone(), agent["installed"].clone(), agent["state"].clone())
    };
    let listed = list(&["gemini"]);
    assert_eq!(state(&listed, "gemini"), (json!(false), json!(true), json!("installed")));
    assert_eq!(state(&listed, "claude"), (json!(false), json!(false), json!("absent")));
    let words = on_machine_with(&stage, &[], &["agents", "list"]).good().out;
    assert!(words.contains("gemini     Gemini CLI") && words.contains("Known, and not installed: claude"), "{words}");

    let done = on_machine_with(&stage, &[], &["agents", "add", "gemini"]).good();
    assert!(done.out.contains("agents check gemini") && done.out.contains("GEMINI_API_KEY"), "{done:?}");
    let text = std::fs::read_to_string(file(&stage)).unwrap();
    assert!(text.starts_with("[agents.gemini]\nkind = \"acp\"\ncommand = [\"gemini\", \"--acp\"]\n"), "{text}");
    assert_eq!(std::fs::metadata(file(&stage)).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(state(&list(&[]), "gemini"), (json!(true), json!(true), Value::Null));

    let again = on_machine_with(&stage, &[], &["agents", "add", "gemini"]);
    assert_eq!((again.code, again.err.contains("agents remove gemini")), (2, true), "{again:?}");
    let gone = on_machine_with(&stage, &[], &["agents", "remove", "gemini", "--json"]).good();
    assert_eq!(gone.json(), [json!({ "removed": "gemini", "file": file(&stage) })]);
    assert_eq!(std::fs::read_to_string(file(&stage)).unwrap(), "");
    let again = on_machine_with(&stage, &[], &["agents", "remove", "gemini"]);
    assert_eq!((again.code, again.err.contains("has no agent `gemini`")), (3, true), "{again:?}");
}

#[test]
fn what_npx_would_fetch_is_offered_only_with_node() {
    let stage = Stage::new();
    let without = on_machine_with(&stage, &["npx"], &["agents", "add", "claude"]);
    assert_eq!((without.code, without.err.contains("npm install -g")), (3, true), "{without:?}");
    assert!(!file(&stage).exists());
    let done = on_machine_with(&stage, &["node", "claude"], &["agents", "add", "claude", "--json"]).good();
    let command = json!(["npx", "-y", "@agentclientprotocol/claude-agent-acp"]);
    let added = json!({ "added": "claude", "kind": "acp", "command": command, "file": file(&stage) });
    assert_eq!(done.json(), [added]);
}

#[test]
fn any_agent_is_added_by_its_command() {
    let stage = Stage::new();
    stage.configure("# Mine.\ndefault_agent = \"mine\"\n\n[agents.mine]\nkind = \"plain\"\ncommand = [\"sh\"]\n");
    let add = ["agents", "add", "near", "--kind", "plain", "--inherit", "KEY", "--", "sh", "-c", "exit 3", "--json"];
    stage.call(&add).good();
    let text = std::fs::read_to_string(file(&stage)).unwrap();
    let entry =
        "\n[agents.near]\nkind = \"plain\"\ncommand = [\"sh\", \"-c\", \"exit 3\", \"--json\"]\ninherit = [\"KEY\"]\n";
    assert!(text.starts_with("# Mine.\n") && text.ends_with(entry), "{text}");
    let missing = stage.call(&["agents", "add", "far", "--", "./nowhere"]).good();
    assert!(missing.out.contains("there is no program"), "{missing:?}");
    for (args, code, said) in [
        (&["agents", "add", "nobody"][..], 3, "is no well-known agent; those are: claude"),
        (&["agents", "add", "demo", "--", "sh"], 2, "the name `demo` is taken"),
        (&["agents", "add", "claude", "--kind", "plain"], 2, "COMMAND"),
        (&["agents", "remove", "demo"], 2, "built in"),
    ] {
        let done = stage.call(args);
        assert_eq!((done.code, done.err.contains(said)), (code, true), "{args:?} {done:?}");
    }
    let gone = stage.call(&["agents", "remove", "mine"]).good();
    assert!(gone.out.contains("default agent"), "{gone:?}");
    assert!(!std::fs::read_to_string(file(&stage)).unwrap().contains("default_agent"));
}

#[test]
fn an_agent_of_the_workspaces_own_file_is_left_there() {
    let stage = Stage::new();
    std::fs::create_dir(stage.workspace().join(".switchboard")).unwrap();
    let own = stage.workspace().join(".switchboard/config.toml");
    std::fs::write(&own, "[agents.near]\nkind = \"plain\"\ncommand = [\"./near\"]\n").unwrap();
    stage.call(&["trust"]).good();
    let done = stage.call(&["agents", "remove", "near"]);
    assert_eq!((done.code, done.err.contains(".switchboard/config.toml")), (3, true), "{done:?}");
}

#[test]
fn a_file_that_is_wrong_is_named_and_left_alone() {
    let stage = Stage::new();
    let file = stage.configure("[agents.x]\nkind = \"odd\"\n");
    let done = stage.call(&["agents", "add", "near", "--", "sh"]);
    assert_eq!((done.code, done.err.contains("line 2")), (2, true), "{done:?}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "[agents.x]\nkind = \"odd\"\n");
}

/// A model server with these models, for as long as the test lives.
fn ollama(models: &'static str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut peer in listener.incoming().flatten() {
            let mut head = String::new();
            let mut reader = BufReader::new(peer.try_clone().unwrap());
            while reader.read_line(&mut head).unwrap_or(0) > 2 {}
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length";
            // Whoever leaves early has heard enough.
            let _ = write!(peer, "{head}: {}\r\n\r\n{models}", models.len());
        }
    });
    host
}

fn beside(stage: &Stage, ollama: &str, args: &[&str]) -> Done {
    stage.switchboard(args).env("OLLAMA_HOST", ollama).output().unwrap().into()
}

#[test]
fn a_model_of_ollama_is_listed_and_added_by_one_word() {
    let stage = Stage::new();
    let (one, two) = (
        ollama(r#"{"models": [{"name": "qwen3:8b"}]}"#),
        ollama(r#"{"models": [{"name": "qwen3:8b"}, {"name": "tiny"}]}"#),
    );
    let listed = beside(&stage, &two, &["agents", "list", "--json"]).good().json();
    let found = listed.iter().find(|agent| agent["name"] == "ollama").unwrap();
    assert_eq!((&found["models"], &found["configured"]), (&json!(["qwen3:8b", "tiny"]), &json!(false)));
    let words = beside(&stage, &two, &["agents", "list"]).good().out;
    assert!(words.contains("with qwen3:8b, tiny; `switchboard agents add ollama"), "{words}");
    let which = beside(&stage, &two, &["agents", "add", "ollama"]);
    assert_eq!((which.code, which.err.contains("2 models: qwen3:8b, tiny; say which")), (2, true), "{which:?}");
    let url = format!("http://{one}");
    let added = beside(&stage, &one, &["agents", "add", "ollama", "--json"]).good().json();
    let expected =
        json!({"added": "ollama", "kind": "model", "base_url": url, "model": "qwen3:8b", "file": file(&stage)});
    assert_eq!(added, [expected]);
    let entry = format!("[agents.ollama]\nkind = \"model\"\nbase_url = \"{url}\"\nmodel = \"qwen3:8b\"\n");
    assert_eq!(std::fs::read_to_string(file(&stage)).unwrap(), entry);
    let listed = beside(&stage, &two, &["agents", "list", "--json"]).good().json();
    assert_eq!(listed.iter().filter(|agent| agent["name"] == "ollama").count(), 1);
}

#[test]
fn a_model_agent_is_added_by_its_address_and_what_makes_no_sense_is_refused() {
    let stage = Stage::new();
    let nobody = "127.0.0.1:9";
    let named = [
        "agents",
        "add",
        "far",
        "--kind",
        "model",
        "--base-url",
        "https://gpu.example/v1",
        "--model",
        "m",
        "--secret",
        "s",
    ];
    let words = beside(&stage, nobody, &named).good().out;
    assert!(words.contains("m at https://gpu.example/v1"), "{words}");
    let text = std::fs::read_to_string(file(&stage)).unwrap();
    assert!(text.ends_with("model = \"m\"\nsecret = \"s\"\n"), "{text}");
    for (args, code, said) in [
        (&["agents", "add", "ollama"][..], 5, "nothing listens there"),
        (&["agents", "add", "x", "--kind", "model", "--", "sh"], 2, "no command of its own"),
        (&["agents", "add", "x", "--kind", "acp", "--model", "m"], 2, "kind `model`"),
        (&["agents", "add", "x", "--base-url", "gpu:1", "--model", "m"], 2, "begins with http://"),
    ] {
        let done = beside(&stage, nobody, args);
        assert_eq!((done.code, done.err.contains(said)), (code, true), "{args:?} {done:?}");
    }
    assert_eq!(std::fs::read_to_string(file(&stage)).unwrap(), text);
}
