//! How agents start, with what environment, and what is said when they cannot.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use switchboard_host::agents::{AgentKind, AgentSpec, EnvValue, Graces, ProcessSpec, SecretName};
use switchboard_host::link::AgentInput;
use switchboard_types::{LifeId, WorkspaceRoot};

use super::stage::{Stage, demo, is_done, plain, quick, text, trouble};

async fn why_not(stage: &mut Stage, spec: &AgentSpec) -> String {
    let _orders = stage.start(spec);
    match stage.next().await {
        AgentInput::Ended { life: LifeId(1), message } => message,
        other => panic!("it was not to start: {other:?}"),
    }
}

#[tokio::test]
async fn what_cannot_start_says_why_in_words() {
    let mut stage = Stage::new(quick(), 16);
    let script = stage.root.path().join("agent.sh");
    std::fs::write(&script, "#!/nowhere/interpreter\n").unwrap();
    let (base_url, model) = ("http://127.0.0.1:1".into(), "m".into());
    let secret = Some(SecretName::of_user("models"));
    let kind = AgentKind::Model { base_url, model, secret, settings: serde_json::json!({}) };
    let model = AgentSpec { name: "c".into(), kind };
    let secret = Some(SecretName::of_user("theirs"));
    let kind = AgentKind::Engine { url: "http://127.0.0.1:1".into(), secret, config_path: None, workspace: None };
    let engine = AgentSpec { name: "e".into(), kind };
    let mut secretive = ProcessSpec::new(["sh"]);
    secretive.env.insert("KEY".into(), EnvValue::Secret(SecretName::of_user("mine")));
    let secretive = AgentSpec { name: "s".into(), kind: AgentKind::Plain(secretive) };
    let cases = [
        (plain(["no-such-program-here"]), "agent `x` could not be started: there is no program `no-such-program-here`"),
        (plain(["./nothing.sh"]), "there is no program"),
        (plain(["./agent.sh"]), "is not executable; try `chmod +x`"),
        (model, "wants a secret: there is no secret `models`"),
        (secretive, "`KEY` wants a secret: there is no secret `mine`"),
        (engine, "there is no secret `theirs`; store it with `switchboard secrets set theirs`"),
    ];
    for (spec, expected) in cases {
        let message = why_not(&mut stage, &spec).await;
        assert!(message.contains(expected), "{message}");
    }
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let message = why_not(&mut stage, &plain(["./agent.sh"])).await;
    assert!(message.contains("interpreter"), "{message}");
}

#[tokio::test]
async fn a_folder_that_is_gone_is_named() {
    let mut stage = Stage::new(quick(), 16);
    let _orders = stage.agents.spawn(LifeId(9), &plain(["sh"]), &WorkspaceRoot::from("/nowhere/at/all"));
    let AgentInput::Ended { life: LifeId(9), message } = stage.next().await else { panic!("it must end") };
    assert!(message.contains("its folder `/nowhere/at/all` is not there"), "{message}");
}

#[tokio::test]
async fn a_child_gets_the_allowed_environment_and_nothing_else() {
    let mut stage = Stage::new(quick(), 16);
    let mut spec = demo();
    let AgentKind::Plain(process) = &mut spec.kind else { panic!("the demo is plain") };
    process.inherit = vec!["CARGO_MANIFEST_DIR".into(), "NOT_THERE".into()];
    process.env.insert("LOG".into(), EnvValue::Plain("info".into()));
    let _orders = stage.asked(&spec, "demo: env").await;
    let said = text(&stage.until(is_done).await);
    let allowed = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL", "TZ", "CARGO_MANIFEST_DIR"];
    let mut expected: BTreeSet<String> = std::env::vars()
        .map(|(name, _)| name)
        .filter(|name| allowed.contains(&name.as_str()) || name.starts_with("LC_"))
        .collect();
    expected.extend(["LOG".into(), "SWITCHBOARD_LIFE".into()]);
    assert_eq!(said.lines().map(str::to_owned).collect::<BTreeSet<_>>(), expected);
}

#[tokio::test]
async fn an_agent_works_in_its_workspace_and_leads_its_own_group() {
    let mut stage = Stage::new(Graces::default(), 16);
    let script = stage.root.path().join("agent.sh");
    let body = "#!/bin/sh\nprintf '{\"type\":\"error\",\"message\":\"%s\"}\\n' \"$(pwd -P)\"\necho $$ > pid\ncat\n";
    std::fs::write(&script, body).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let orders = stage.start(&plain(["./agent.sh"]));
    let root = stage.root.path().canonicalize().unwrap();
    assert_eq!(stage.until(|_| true).await, vec![trouble(root.to_str().unwrap())]);
    let pid = stage.number_in("pid").await;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let group = stat.rsplit(')').next().unwrap().split_whitespace().nth(2).unwrap();
    assert_eq!(group, pid.to_string());
    drop(orders);
    let (_, message) = stage.hear_out().await;
    assert_eq!(message, "agent `x` was ended by the host: it exited with code 0");
}
