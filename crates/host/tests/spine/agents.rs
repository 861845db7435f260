//! Agents of kind `plain` as real processes: their environment, their exits, their restarts, their place in the world.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::host::{Place, eventually, is_alive, shell_agent, signal};

const ECHO: &str = r#"      say "{\"type\":\"response-chunk\",\"sessionId\":\"$id\",\"messageId\":\"$name\",\"chunk\":\"for $id\"}"
      say "{\"type\":\"response-complete\",\"sessionId\":\"$id\",\"messageId\":\"$name\"}""#;

#[tokio::test]
async fn one_process_serves_many_sessions() {
    let script = format!("echo started >> starts\n{}", shell_agent(ECHO));
    let place = Place::new().with_agent("small", &script).trusted();
    let host = place.serve();
    let mut view = host.view().await;
    for n in 0..5 {
        let tab = format!("tab {n}");
        view.send(json!({"type": "new-tab", "tabId": tab, "agent": "small"})).await;
        view.prompt(&tab, "m1", "hello").await;
    }
    let mut texts = BTreeSet::new();
    for _ in 0..5 {
        let chunk = view.wait_type("response-chunk").await;
        texts.insert(chunk["chunk"].as_str().unwrap().to_owned());
    }
    assert_eq!(texts.len(), 5, "each tab has its own session: {texts:?}");
    assert_eq!(std::fs::read_to_string(place.workspace().join("starts")).unwrap().lines().count(), 1);
    assert!(!view.told.iter().any(|m| m.to_string().contains("sessionId")), "session ids never reach the view");
}

#[tokio::test]
async fn hundreds_of_tabs_that_want_one_agent_at_once_all_get_it() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    for n in 0..400 {
        let tab = format!("tab {n}");
        view.send(json!({"type": "new-tab", "tabId": tab})).await;
        view.prompt(&tab, "m1", "demo: silent").await;
    }
    for _ in 0..400 {
        assert_eq!(view.wait_type("response-complete").await["reason"], "completed");
    }
    assert_eq!(host.children().len(), 1);
}

#[tokio::test]
async fn a_childs_environment_is_the_allow_list_and_what_was_granted() {
    let script = format!("env > seen-env\n{}", shell_agent(ECHO));
    let place = Place::new().with_agent("small", &script).trusted();
    let place = place.with_config("env = { GRANTED = \"yes\" }\ninherit = [\"PASSED_ON\"]\n");
    let host = place.serve_with(|command| {
        command.env("PASSED_ON", "too").env("SECRET_TOKEN", "canary").env("LC_TIME", "C").env("AWS_KEY", "canary");
    });
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "small"})).await;
    view.prompt("tab", "m1", "hello").await;
    view.wait_done("m1").await;
    let env = std::fs::read_to_string(place.workspace().join("seen-env")).unwrap();
    assert!(env.contains("GRANTED=yes") && env.contains("PASSED_ON=too") && env.contains("LC_TIME=C"), "{env}");
    assert!(!env.contains("canary"), "{env}");
    let listed =
        ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL", "TZ", "GRANTED", "PASSED_ON", "SWITCHBOARD_LIFE"];
    // What the shell itself sets on its way is not the host's doing.
    let of_the_shell = ["PWD", "OLDPWD", "SHLVL", "_"];
    for name in env.lines().filter_map(|line| line.split('=').next()) {
        let known = listed.contains(&name) || of_the_shell.contains(&name) || name.starts_with("LC_");
        assert!(known, "{name} was passed on");
    }
}

#[tokio::test]
async fn an_exit_is_noticed_at_once_told_to_every_tab_and_mended_by_the_next_prompt() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("a").await;
    view.open("b").await;
    view.prompt("a", "m1", "demo: crash 3").await;
    let done = view.wait_done("m1").await;
    assert_eq!((&done["reason"], &done["detail"]["code"]), (&json!("failed"), &json!("agent_exited")));
    view.wait_for("b is told too", |m| m["type"] == "agent-exited" && m["tabId"] == "b").await;
    let mut exited: Vec<&Value> =
        view.told.iter().filter(|m| m["type"] == "agent-exited").map(|m| &m["tabId"]).collect();
    exited.sort_by_key(|tab| tab.to_string());
    assert_eq!(exited, vec!["a", "b"]);
    let message = view.told.iter().find(|m| m["type"] == "agent-exited").unwrap()["message"].clone();
    assert!(message.as_str().unwrap().contains("code 3"), "{message}");
    view.prompt("a", "m2", "demo: echo back again").await;
    view.wait_type("agent-restarted").await;
    assert_eq!(view.wait_done("m2").await["reason"], "completed");
}

#[tokio::test]
async fn restart_agent_starts_it_again_by_hand() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    eventually("the agent runs", || host.children().len() == 1);
    let first = host.children()[0];
    view.send(json!({"type": "restart-agent", "tabId": "tab"})).await;
    view.wait_type("agent-exited").await;
    view.wait_type("agent-restarted").await;
    eventually("the old one is gone", || !is_alive(first));
    view.prompt("tab", "m1", "demo: echo fresh").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
}

#[tokio::test]
async fn a_killed_agent_fails_its_turn_with_the_signal_named() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: slow 1000").await;
    view.wait_type("response-chunk").await;
    signal(host.children()[0], "KILL");
    let exited = view.wait_type("agent-exited").await;
    assert!(exited["message"].as_str().unwrap().contains("SIGKILL"), "{exited}");
    assert_eq!(view.wait_done("m1").await["reason"], "failed");
}

#[tokio::test]
async fn a_crash_loop_ends_with_a_clear_message_and_a_restart_by_hand() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    for n in 0..5 {
        let name = format!("crash {n}");
        view.prompt("tab", &name, "demo: crash 1").await;
        assert_eq!(view.wait_done(&name).await["reason"], "failed");
    }
    view.prompt("tab", "in vain", "demo: echo hello").await;
    let done = view.wait_done("in vain").await;
    assert_eq!(done["detail"]["code"], "agent_unavailable");
    assert!(done["detail"]["message"].as_str().unwrap().contains("5 times"), "{done}");
    view.send(json!({"type": "restart-agent", "tabId": "tab"})).await;
    view.wait_type("agent-restarted").await;
    view.prompt("tab", "again", "demo: echo hello").await;
    assert_eq!(view.wait_done("again").await["reason"], "completed");
}

#[tokio::test]
async fn words_that_come_before_their_session_is_known_are_kept_for_it() {
    let script = r#"while IFS= read -r line; do
  case $line in
    *'"type":"new-session"'*)
      echo '{"type":"status","sessionId":"early","message":"early bird"}'
      echo '{"type":"session-created","sessionId":"early"}' ;;
    *'"type":"process-prompt"'*) echo '{"type":"response-complete","sessionId":"early"}' ;;
  esac
done
"#;
    let place = Place::new().with_agent("small", script).trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "small"})).await;
    assert_eq!(view.wait_type("status").await["message"], "early bird");
    view.prompt("tab", "m1", "hello").await;
    assert_eq!(view.wait_done("m1").await["reason"], "completed");
}

#[tokio::test]
async fn an_agent_that_ignores_sigterm_is_killed_at_the_end() {
    let script = format!("trap '' TERM\n{}\nwhile :; do sleep 1; done\n", shell_agent(ECHO));
    let place = Place::new().with_agent("stubborn", &script).trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "stubborn"})).await;
    view.prompt("tab", "m1", "hello").await;
    view.wait_done("m1").await;
    let children = host.children();
    assert_eq!(host.stop(), Some(0));
    assert!(children.iter().all(|pid| !is_alive(*pid)), "nothing is left running");
}

#[tokio::test]
async fn context_goes_to_the_agent() {
    let answer = r#"      printf '%s\n' "$line" > seen-prompt
      say "{\"type\":\"response-complete\",\"sessionId\":\"$id\"}""#;
    let place = Place::new().with_agent("small", &shell_agent(answer)).trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "small"})).await;
    let context = json!([{"path": "src/a.rs", "content": "fn a() {}"}, {"path": "src/b.rs"}]);
    view.send(json!({"type": "prompt", "tabId": "tab", "messageId": "m1", "text": "look", "context": context})).await;
    view.wait_done("m1").await;
    let seen: Value =
        serde_json::from_str(&std::fs::read_to_string(place.workspace().join("seen-prompt")).unwrap()).unwrap();
    assert_eq!((&seen["text"], &seen["context"]), (&json!("look"), &context));
}

#[tokio::test]
async fn what_an_agent_of_one_session_writes_to_its_error_output_is_kept_with_it() {
    let script = format!("echo 'up and running' >&2\n{}", shell_agent(ECHO));
    let place = Place::new().with_agent("own", &script).trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "own"})).await;
    view.prompt("tab", "m1", "hello").await;
    view.wait_done("m1").await;
    eventually("the line is in the log", || {
        let exported = place.command(&["sessions", "export", "1"]).output().unwrap();
        String::from_utf8_lossy(&exported.stdout).contains("up and running")
    });
    assert!(!view.told.iter().any(|told| told.to_string().contains("up and running")), "it is no word of the agent");
}

#[tokio::test]
async fn a_daemon_of_an_agent_ends_with_the_host_and_after_a_kill_with_the_next_one() {
    let script = format!("( setsid sh -c 'echo $$ > daemon; exec sleep 1000' & )\n{}", shell_agent(ECHO));
    let place = Place::new().with_agent("small", &script).trusted();
    let daemon = place.workspace().join("daemon");
    for end in ["by SIGTERM", "by SIGKILL"] {
        let host = place.serve();
        let mut view = host.view().await;
        view.send(json!({"type": "new-tab", "tabId": end, "agent": "small"})).await;
        view.prompt(end, "m1", "hello").await;
        view.wait_done("m1").await;
        let number = || std::fs::read_to_string(&daemon).ok()?.strip_suffix('\n')?.parse().ok();
        eventually("the daemon runs", || number().is_some_and(is_alive));
        let pid: u32 = number().unwrap();
        std::fs::remove_file(&daemon).unwrap();
        if end == "by SIGTERM" {
            assert_eq!(host.stop(), Some(0));
        } else {
            host.kill_9();
            assert!(is_alive(pid), "nobody has ended it yet");
            let next = place.serve();
            eventually("the next host ends it", || !is_alive(pid));
            drop(next);
        }
        assert!(!is_alive(pid), "{end}");
    }
}
