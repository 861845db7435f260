//! Questions before a tool runs, over the dialect `tools`; and that nothing is left running after a call is over.

use serde_json::json;

use super::bench::Bench;
use super::host::{Place, eventually};

/// How many processes have this in their arguments.
fn running(marker: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok());
    let arguments = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    arguments.filter(|arguments| String::from_utf8_lossy(arguments).contains(marker)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_answer_of_two_views_wins_and_the_other_is_told() {
    let place = Place::new().trusted();
    let host = place.serve();
    let (mut bench, mut other) = (Bench::at(&host).await, Bench::at(&host).await);
    bench.subscribe().await;
    other.subscribe().await;
    let id = bench.begin("run_terminal_command", json!({"command": "touch made"})).await;
    let (here, there) = (bench.question().await, other.question().await);
    assert_eq!(here, there);
    assert_eq!(here["kind"], "command", "{here}");
    assert!(here["command"].as_str().unwrap().contains("touch made"), "{here}");
    assert!(here["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{here}");

    let unknown = other.decide(&there, "maybe").await;
    assert_eq!(unknown["error"]["details"][0]["code"], "ENUM_MISMATCH", "{unknown}");
    let mut late = Bench::at(&host).await;
    late.subscribe().await;
    assert_eq!(late.question().await, here, "whoever comes later sees it, too");
    assert!(!place.workspace().join("made").exists());

    assert_eq!(other.decide(&there, "allow_once").await, json!({"status": "applied", "decision": "allow_once"}));
    let second = bench.decide(&here, "deny").await;
    assert_eq!(second, json!({"status": "already_resolved", "decision": "allow_once"}));
    let result = bench.result(id).await;
    assert_eq!(result["success"], true, "{result}");
    assert!(place.workspace().join("made").exists());
    let nobody = late.decide(&json!({"approvalId": "999:a1"}), "deny").await;
    assert_eq!(nobody["error"]["code"], "VALIDATION_ERROR", "{nobody}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_command_is_what_runs() {
    let place = Place::new().trusted();
    let host = place.serve();
    let mut bench = Bench::at(&host).await;
    bench.subscribe().await;
    let id = bench.begin("run_terminal_command", json!({"command": "touch first"})).await;
    let question = bench.question().await;
    assert_eq!(question["editable"], true, "{question}");
    let answer = json!({"type": "APPROVAL_RESPONSE", "approvalId": question["approvalId"], "decision": "allow_once", "command": "touch second"});
    assert_eq!(bench.told(answer).await["status"], "applied");
    assert_eq!(bench.result(id).await["success"], true);
    assert!(place.workspace().join("second").exists() && !place.workspace().join("first").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_takes_too_long_or_is_cancelled_leaves_no_process() {
    let place = Place::new().trusted();
    let host = place.serve();
    let mut bench = Bench::at(&host).await;
    bench.subscribe().await;
    for (marker, timeout) in [("31415.01", 1_500), ("31415.02", 600_000)] {
        let marker = format!("{marker}{}", std::process::id());
        // A child, a grandchild that left its parent, and one with a session of its own.
        let command = format!("(sleep {marker} &); setsid sleep {marker} & sleep {marker}");
        let request = json!({"toolName": "run_terminal_command", "parameters": {"command": command}, "timeout": timeout, "executionId": marker});
        let id = bench.ask(json!({"type": "EXECUTE_TOOL", "request": request})).await;
        let question = bench.question().await;
        bench.decide(&question, "allow_once").await;
        eventually("three that sleep", || running(&format!("sleep\0{marker}")) == 3);
        let wanted = if timeout == 600_000 {
            let cancel = json!({"type": "CANCEL_EXECUTION", "executionId": marker});
            assert_eq!(bench.told(cancel).await, json!({"cancelled": true}));
            "CANCELLED"
        } else {
            "TIMEOUT"
        };
        let result = bench.result(id).await;
        assert_eq!(result["error"]["code"], wanted, "{result}");
        assert_eq!(running(&marker), 0, "{wanted}: something is left when the answer comes");
    }
}
