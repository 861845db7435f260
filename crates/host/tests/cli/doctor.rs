//! `doctor`: finds what was broken on purpose, says how to mend it, and is content once it is.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::stage::{Done, Stage};

fn states(done: &Done) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    done.json().iter().map(|one| (text(&one["check"]), text(&one["state"]))).collect()
}

fn found(done: &Done, check: &str, state: &str) -> bool {
    states(done).contains(&(check.to_owned(), state.to_owned()))
}

#[test]
fn a_fresh_machine_is_well_and_nothing_is_made() {
    let stage = Stage::new();
    let done = stage.call(&["doctor"]).good();
    assert!(done.out.contains("✓ data folder") && done.out.contains("not there yet"), "{done:?}");
    assert!(!stage.data().exists());
    assert!(!done.out.contains('\u{1b}'), "NO_COLOR is honoured");
}

#[test]
fn what_is_broken_is_found_and_said_how_to_mend() {
    let stage = Stage::new();
    stage.call(&["run", "demo: echo hi"]).good();
    assert!(stage.call(&["doctor"]).good().out.contains("1 sessions"));

    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&stage.data(), 0o755);
    mode(&stage.data().join("token"), 0o644);
    let done = stage.call(&["doctor", "--json"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(found(&done, "data folder", "wrong") && found(&done, "token", "wrong"), "{done:?}");
    assert!(done.json().iter().all(|one| one["state"] != "wrong" || one["mend"].is_string()));
    mode(&stage.data(), 0o700);
    mode(&stage.data().join("token"), 0o600);

    let config = stage.configure("[agents.small]\nkind = \"plain\"\ncommand = [\"no-such-program\"]\n");
    let done = stage.call(&["doctor", "--json"]);
    assert_eq!((done.code, found(&done, "agent", "wrong")), (1, true), "{done:?}");
    std::fs::write(&config, "agents = 1\n").unwrap();
    let done = stage.call(&["doctor"]);
    assert_eq!(done.code, 1);
    assert!(done.out.contains("✗ configuration") && done.out.contains("line 1"), "{done:?}");
    std::fs::remove_file(&config).unwrap();

    let database = stage.data().join("switchboard.db");
    let mut bytes = std::fs::read(&database).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0xa5);
    std::fs::write(&database, &bytes).unwrap();
    let done = stage.call(&["doctor", "--json"]);
    assert_eq!((done.code, found(&done, "store", "wrong")), (1, true), "{done:?}");
    assert_eq!(std::fs::read(&database).unwrap(), bytes, "a look changes nothing");
    stage.call(&["run", "demo: echo mended"]).good();
    assert!(found(&stage.call(&["doctor", "--json"]).good(), "store", "doubtful"), "a file was set aside");
}

#[test]
fn a_host_that_runs_is_asked() {
    let stage = Stage::new();
    let mut host = stage.serve();
    let done = stage.call(&["doctor"]).good();
    assert!(done.out.contains(&format!("✓ host: process {} at http://127.0.0.1:", host.id())), "{done:?}");
    let _ = host.kill();
    let _ = host.wait();
}

#[test]
fn a_folder_that_is_not_trusted_is_a_doubt_until_it_is() {
    let stage = Stage::new();
    std::fs::create_dir(stage.workspace().join(".switchboard")).unwrap();
    let config = "[agents.small]\nkind = \"plain\"\ncommand = [\"sh\"]\n";
    std::fs::write(stage.workspace().join(".switchboard/config.toml"), config).unwrap();
    stage.call(&["run", "demo: echo hi"]).good();
    assert!(found(&stage.call(&["doctor", "--json"]).good(), "workspace", "doubtful"));
    stage.call(&["trust"]).good();
    let done = stage.call(&["doctor", "--json"]).good();
    assert!(found(&done, "workspace", "good") && done.out.contains("`small`"), "{done:?}");
}
