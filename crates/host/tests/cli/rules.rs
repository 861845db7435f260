//! `rules`: the same from a running host and from the store; what would become of a command, and why.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_host::store::{Options, SqliteStore, Store as _};
use switchboard_types::{ArgPattern, Change, Commit, Rule, RuleEffect, RuleWhat, Ticket, Time};

use super::stage::Stage;

fn rule(id: &str, created: u64, effect: RuleEffect, what: RuleWhat) -> Change {
    let workspace = None;
    Change::Rule(Rule { id: id.into(), workspace, effect, what, created: Time(created), origin: "a test".to_owned() })
}

/// Writes rules into a store that nobody uses.
fn store(stage: &Stage, changes: Vec<Change>) {
    stage.call(&["sessions", "list"]).good();
    let (send, done) = std::sync::mpsc::sync_channel(1);
    let (store, _) = SqliteStore::open(&stage.data(), Options::default(), move |done| drop(send.send(done))).unwrap();
    store.commit(Commit { ticket: Ticket(1), entries: Vec::new(), changes });
    assert_eq!(done.recv_timeout(Duration::from_secs(20)).unwrap().changes_failed, None);
    store.close().unwrap();
}

/// A store with two rules.
fn with_rules() -> Stage {
    let stage = Stage::new();
    let args = vec![ArgPattern::Is { arg: "--version".to_owned() }];
    let run = RuleWhat::Command { program: "/usr/bin/git".to_owned(), args, cwd: "/".to_owned() };
    let changes = vec![
        rule("r1", 1_700_000_000_000, RuleEffect::Allow, run),
        rule("r2", 1_700_000_000_001, RuleEffect::Deny, RuleWhat::Edit { glob: "docs/**".to_owned() }),
    ];
    store(&stage, changes);
    stage
}

fn ids(stage: &Stage) -> Vec<Value> {
    stage.call(&["rules", "list", "--json"]).good().json().iter().map(|rule| rule["id"].clone()).collect()
}

#[test]
fn rules_are_listed_for_people_and_for_programs_whoever_is_asked() {
    let stage = Stage::new();
    assert!(stage.call(&["rules", "list"]).good().out.contains("There are no rules"));
    assert_eq!(stage.call(&["rules", "list", "--json"]).good().out, "");
    let stage = with_rules();
    let (words, lines) = (stage.call(&["rules", "list"]).good().out, stage.call(&["rules", "list", "--json"]).good());
    assert!(words.starts_with("ID") && words.contains("/usr/bin/git") && words.contains("everywhere"), "{words}");
    assert!(words.contains("deny") && words.contains("docs/**") && words.contains("a test"), "{words}");
    let listed = lines.json();
    assert_eq!((&listed[0]["id"], &listed[0]["effect"]), (&json!("r1"), &json!("allow")));
    assert_eq!(listed[1]["what"], json!({ "type": "edit", "glob": "docs/**" }));
    assert!(listed.iter().all(|one| one["description"].is_string() && one["created"].is_u64()), "{listed:?}");
    let mut host = stage.serve();
    assert_eq!(stage.call(&["rules", "list", "--json"]).good().out, lines.out);
    let _ = host.kill();
    let _ = host.wait();
}

#[test]
fn a_rule_is_taken_out_for_good_and_one_that_is_not_there_is_code_3() {
    let stage = with_rules();
    let done = stage.call(&["rules", "remove", "r9"]);
    assert!(done.code == 3 && done.err.contains("no rule `r9`"), "{done:?}");
    assert_eq!(
        stage.call(&["rules", "remove", "r1", "--json"]).good().json(),
        [json!({ "id": "r1", "removed": true })]
    );
    assert_eq!(stage.call(&["rules", "remove", "r1"]).code, 3);
    assert_eq!(ids(&stage), ["r2"]);
    let mut host = stage.serve();
    assert_eq!(stage.call(&["rules", "remove", "r9"]).code, 3);
    assert!(stage.call(&["rules", "remove", "r2"]).good().out.contains("Rule r2 is removed."));
    assert!(ids(&stage).is_empty());
    let _ = host.kill();
    let _ = host.wait();
    assert!(ids(&stage).is_empty());
}

#[test]
fn a_command_is_judged_and_nothing_is_run() {
    let stage = Stage::new();
    let test = |args: &[&str]| {
        let all: Vec<&str> = ["rules", "test", "--json"].iter().chain(args).copied().collect();
        stage.call(&all).good().json().remove(0)
    };
    let harmless = test(&["cat a.txt"]);
    let keys: Vec<&String> = harmless.as_object().unwrap().keys().collect();
    assert_eq!(keys[..3], ["severity", "decision", "reasons"]);
    assert_eq!((&harmless["severity"], &harmless["decision"]), (&json!("low"), &json!("ask")));
    assert_eq!(test(&["cat a.txt", "--auto"])["decision"], "allow");
    let harm = test(&["--auto", "touch made && rm -rf /"]);
    assert_eq!((&harm["severity"], &harm["decision"]), (&json!("critical"), &json!("ask")));
    assert!(harm["reasons"].as_array().is_some_and(|reasons| !reasons.is_empty()), "{harm}");
    assert!(!stage.workspace().join("made").exists());
    let words = stage.call(&["rules", "test", "rm -rf /"]).good().out;
    assert!(
        words.starts_with("ask: ") && words.contains("severity: critical") && words.contains("because "),
        "{words}"
    );
    assert!(words.contains("not trusted"), "{words}");
    stage.call(&["trust"]).good();
    assert!(!stage.call(&["rules", "test", "ls"]).good().out.contains("not trusted"));
}

#[test]
fn a_rule_shows_in_what_becomes_of_a_command() {
    let stage = Stage::new();
    let judged = |stage: &Stage| stage.call(&["rules", "test", "--json", "git --version"]).good().json().remove(0);
    let before = judged(&stage);
    assert_eq!((&before["decision"], before.get("rule")), (&json!("ask"), None), "{before}");
    // What it suggests is the rule that does it.
    let what: RuleWhat = serde_json::from_value(before["suggestion"].clone()).unwrap();
    let RuleWhat::Command { cwd, .. } = &what else { panic!("a rule about commands: {what:?}") };
    assert_eq!(*cwd, stage.workspace().to_str().unwrap());
    store(&stage, vec![rule("r7", 1_700_000_000_000, RuleEffect::Allow, what)]);
    let after = judged(&stage);
    assert_eq!((&after["decision"], &after["rule"]), (&json!("allow"), &json!("r7")), "{after}");
    let other = stage.call(&["rules", "test", "--json", "git status"]).good().json().remove(0);
    assert_eq!((&other["decision"], other.get("rule")), (&json!("ask"), None), "{other}");
}

#[test]
fn wrong_usage_is_code_2_and_a_folder_that_is_not_there_is_code_3() {
    let stage = Stage::new();
    for args in [&["rules"][..], &["rules", "test"], &["rules", "remove"], &["rules", "list", "x"]] {
        assert_eq!(stage.call(args).code, 2, "{args:?}");
    }
    assert_eq!(stage.call(&["rules", "test", "ls", "--cwd", "nowhere"]).code, 3);
}
