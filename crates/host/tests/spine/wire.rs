//! The recorded wire, through the real program: both sides, both ways, each message with the events that it became, and
//! nothing of anybody else.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::host::{Host, Place, eventually, shell_agent};

fn record(place: &Place, session: &str, switch: &str) -> String {
    let out = place.command(&["inspect", session, "--record", switch]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn lines(place: &Place, args: &[&str]) -> Vec<Value> {
    let out = place.command(args).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn entries(place: &Place, session: &str) -> Vec<Value> {
    lines(place, &["inspect", session, "--json"])
}

/// The record once it has an entry of this sort.
fn entries_with(place: &Place, session: &str, holds: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut found = Vec::new();
    eventually("an entry of the record", || {
        found = entries(place, session);
        found.iter().any(&holds)
    });
    found
}

fn is(entry: &Value, side: &str, dir: &str, name: &str) -> bool {
    entry["side"] == side && entry["dir"] == dir && entry["name"] == name
}

fn wire_folder(place: &Place) -> PathBuf {
    place.data().join("wire")
}

async fn talked(place: &Place, host: &Host, tab: &str, prompt: &str) {
    let mut view = host.view().await;
    view.open(tab).await;
    record(place, "1", "on");
    view.prompt(tab, "m1", prompt).await;
    view.wait_done("m1").await;
}

#[tokio::test]
async fn every_message_of_both_sides_is_there_with_the_events_of_the_log() {
    let place = Place::new();
    let host = place.serve();
    talked(&place, &host, "tab", "demo: echo hello").await;
    let entries = entries_with(&place, "1", |entry| is(entry, "view", "out", "response-complete"));
    let log = lines(&place, &["sessions", "export", "1"]);
    let find = |side: &str, dir: &str, name: &str| {
        let found = entries.iter().find(|entry| is(entry, side, dir, name));
        found.unwrap_or_else(|| panic!("no {name} {dir} of the {side} among {entries:#?}")).clone()
    };
    let kind = |seq: &Value| log[usize::try_from(seq.as_u64().unwrap()).unwrap() - 1]["body"]["type"].clone();

    let prompt = find("view", "in", "prompt");
    assert_eq!((&prompt["dialect"], &prompt["verdict"]), (&json!("tabs"), &json!("ok")));
    assert_eq!(kind(&prompt["events"]["from"]), "promptQueued");
    assert_eq!(prompt["events"]["kinds"][0], "promptQueued");
    let asked = find("agent", "out", "process-prompt");
    assert!(asked["raw"].as_str().unwrap().contains("demo: echo hello") && asked["events"].is_null());
    let chunk = find("agent", "in", "response-chunk");
    assert_eq!((kind(&chunk["events"]["from"]), &chunk["dialect"]), (json!("text"), &json!("plain")));
    let said = find("view", "out", "response-chunk");
    assert_eq!(said["events"], chunk["events"]);
    let raw: Value = serde_json::from_str(said["raw"].as_str().unwrap()).unwrap();
    assert_eq!((&raw["index"], raw["chunk"].as_str().unwrap().trim()), (&said["events"]["from"], "hello"));
    assert_eq!(said["bytes"], said["raw"].as_str().unwrap().len());
    let complete = find("agent", "in", "response-complete");
    assert_eq!(kind(&complete["events"]["to"]), "turnEnded");

    // In their order, without a hole, and each event of the turn has its one cause.
    let numbers: Vec<u64> = entries.iter().map(|entry| entry["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let mut caused: Vec<u64> = Vec::new();
    for entry in entries.iter().filter(|entry| entry["dir"] == "in" && entry["events"].is_object()) {
        let (from, to) = (entry["events"]["from"].as_u64().unwrap(), entry["events"]["to"].as_u64().unwrap());
        caused.extend(from..=to);
    }
    assert!(caused.windows(2).all(|pair| pair[0] < pair[1]), "{caused:?}");
    let of_words =
        log.iter().filter(|event| event["body"]["type"] == "text" || event["body"]["type"] == "promptQueued");
    for event in of_words {
        assert!(caused.contains(&event["seq"].as_u64().unwrap()), "{event} came from nowhere");
    }
}

#[tokio::test]
async fn noise_and_refusals_are_there_with_their_reasons() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    record(&place, "1", "on");
    view.send_text("{broken").await;
    view.wait_error("bad_json").await;
    view.send(json!({"type": "cancel", "tabId": "tab", "messageId": "never"})).await;
    view.send(json!({"type": "no-such-type", "tabId": "tab"})).await;
    view.wait_error("unknown_type").await;
    view.prompt("tab", "m1", "demo: garbage").await;
    view.wait_done("m1").await;
    let entries = entries_with(&place, "1", |entry| is(entry, "view", "out", "response-complete"));
    let noise: Vec<&Value> = entries.iter().filter(|entry| entry["verdict"] == "noise").collect();
    assert!(noise.iter().all(|entry| entry["side"] == "agent" && !entry["why"].as_str().unwrap().is_empty()));
    assert!(noise.len() > 1, "{entries:#?}");
    let refused: Vec<&Value> = entries.iter().filter(|entry| entry["verdict"] == "refused").collect();
    assert_eq!(refused[0]["raw"], "{broken");
    assert!(refused.iter().any(|entry| entry["name"] == "no-such-type" && entry["why"].is_string()));
    let broken = entries.iter().position(|entry| entry["raw"] == "{broken").unwrap();
    assert!(is(&entries[broken + 1], "view", "out", "error"), "{:#?}", entries[broken + 1]);
}

#[tokio::test]
async fn of_another_session_on_the_same_link_and_in_the_same_process_nothing_is_kept() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("mine").await;
    view.open("other").await;
    record(&place, "1", "on");
    for tab in ["mine", "other"] {
        view.prompt(tab, &format!("{tab}-turn"), &format!("demo: echo words-of-{tab}")).await;
        view.wait_done(&format!("{tab}-turn")).await;
    }
    view.send_text("{broken-about-other").await;
    view.wait_error("bad_json").await;
    view.send(json!({"type": "webview-ready", "lastSeenIndex": {"mine": 0, "other": 0}})).await;
    view.wait_type("tabs-restored").await;
    view.prompt("mine", "last", "demo: echo at last").await;
    view.wait_done("last").await;
    let ended = |entry: &Value| {
        is(entry, "view", "out", "response-complete") && entry["raw"].as_str().unwrap().contains("\"last\"")
    };
    let entries = entries_with(&place, "1", ended);
    let all = format!("{entries:?}");
    assert!(all.contains("words-of-mine"));
    assert!(!all.contains("words-of-other") && !all.contains("other-turn") && !all.contains("broken-about-other"));
    // That there was something is said; what it was is not.
    let withheld = |entry: &&Value| entry["dir"] == "in" && entry["side"] == "view" && entry["raw"].is_null();
    assert!(entries.iter().filter(withheld).count() >= 2, "{entries:#?}");
    assert!(!wire_folder(&place).join("2.jsonl").exists());
}

#[tokio::test]
async fn what_is_not_recorded_leaves_nothing_on_the_disk_and_the_switch_says_so() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: echo hello").await;
    view.wait_done("m1").await;
    let out = place.command(&["inspect", "1"]).output().unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success() && said.contains("inspect 1 --record on") && said.contains("record = true"), "{said}");
    assert_eq!(entries(&place, "1"), Vec::<Value>::new());
    assert!(!wire_folder(&place).exists());
    assert_eq!(place.command(&["inspect", "77"]).output().unwrap().status.code(), Some(3));

    assert!(record(&place, "1", "on").contains("is recorded from now on"));
    assert!(record(&place, "1", "off").contains("is not recorded any more"));
    view.prompt("tab", "m2", "demo: echo again").await;
    view.wait_done("m2").await;
    let kept = entries_with(&place, "1", |entry| entry["name"] == "recording off");
    let names: Vec<&str> = kept.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["recording on", "recording off"]);
}

#[tokio::test]
async fn a_record_survives_the_host_goes_on_after_it_and_goes_with_its_session() {
    let place = Place::new();
    let host = place.serve();
    talked(&place, &host, "tab", "demo: echo before").await;
    let before = entries_with(&place, "1", |entry| is(entry, "view", "out", "response-complete"));
    host.kill_9();
    // Without a host the files are read; the lease shows that nobody writes.
    let alone = entries(&place, "1");
    assert!(alone.len() >= before.len() && alone[..before.len()] == before[..]);
    let follow = place.command(&["inspect", "1", "--follow", "--json"]).output().unwrap();
    assert_eq!(follow.status.code(), Some(5));

    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "webview-ready", "lastSeenIndex": {"tab": 0}})).await;
    view.prompt("tab", "m2", "demo: echo after").await;
    view.wait_done("m2").await;
    let after = entries_with(&place, "1", |entry| {
        is(entry, "view", "out", "response-complete") && entry["raw"].as_str().unwrap().contains("\"m2\"")
    });
    let numbers: Vec<u64> = after.iter().map(|entry| entry["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let started = after.iter().filter(|entry| entry["name"] == "started" && entry["side"] == "agent").count();
    assert!(started >= 1, "{after:#?}");

    assert!(wire_folder(&place).join("1.jsonl").exists());
    let deleted = place.command(&["sessions", "delete", "1", "--yes"]).output().unwrap();
    assert!(deleted.status.success());
    eventually("the end of the record", || std::fs::read_dir(wire_folder(&place)).unwrap().count() == 0);
}

#[tokio::test]
async fn an_agent_whose_table_says_so_is_recorded_from_its_first_message_and_its_secrets_are_gone() {
    let script = shell_agent(
        r#"say "{\"type\":\"response-chunk\",\"sessionId\":\"$id\",\"chunk\":\"my key is $PLANTED and ghp_0123456789abcdefABCDEF\"}"
      say "noise with password=hunter2hunter2"
      echo "stderr with $PLANTED" >&2
      say "{\"type\":\"response-complete\",\"sessionId\":\"$id\"}""#,
    );
    let place = Place::new().with_agent("small", &script);
    let place = place.with_config("env = { PLANTED = \"a-planted-value\" }\nrecord = true\n").trusted();
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "small"})).await;
    view.wait_type("tab-opened").await;
    let prompt = format!("the token is {} and \"authorization\": \"Bearer abcdef0123456789\"", host.token());
    view.prompt("tab", "m1", &prompt).await;
    view.wait_done("m1").await;
    let entries = entries_with(&place, "1", |entry| is(entry, "view", "out", "response-complete"));
    for name in ["new-tab", "new-session", "session-created", "process-prompt"] {
        assert!(entries.iter().any(|entry| entry["name"] == name), "no {name} in {entries:#?}");
    }
    let opened = entries.iter().find(|entry| is(entry, "view", "in", "new-tab")).unwrap();
    assert_eq!(opened["events"]["from"], 1);
    let stored = std::fs::read_to_string(wire_folder(&place).join("1.jsonl")).unwrap();
    for secret in ["a-planted-value", "ghp_", "hunter2", host.token(), "abcdef0123456789"] {
        assert!(!stored.contains(secret), "{secret} is in the record");
    }
    assert!(stored.contains("[removed]"));
    // The log itself has it, as it has all that was said: only the record is cleaned.
    assert!(format!("{:?}", lines(&place, &["sessions", "export", "1"])).contains("a-planted-value"));
}

#[tokio::test]
async fn a_follower_sees_what_comes_and_ends_with_the_host() {
    use std::io::{BufRead, BufReader};
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    record(&place, "1", "on");
    let mut follower = place.command(&["inspect", "1", "--follow", "--json"]).spawn().unwrap();
    let mut seen = BufReader::new(follower.stdout.take().unwrap()).lines();
    assert!(seen.next().unwrap().unwrap().contains("recording on"));
    view.prompt("tab", "m1", "demo: echo hello").await;
    view.wait_done("m1").await;
    let complete = seen.find(|line| line.as_ref().unwrap().contains("\"name\":\"response-complete\""));
    assert!(complete.is_some());
    host.stop();
    assert_eq!(follower.wait().unwrap().code(), Some(5));
}

#[tokio::test]
async fn what_a_person_sees_is_a_line_for_each_message() {
    let place = Place::new();
    let host = place.serve();
    talked(&place, &host, "tab", "demo: echo hello").await;
    entries_with(&place, "1", |entry| is(entry, "view", "out", "response-complete"));
    let out = place.command(&["inspect", "1"]).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let line = text.lines().find(|line| line.contains("agent ──▶") && line.contains("response-chunk")).unwrap();
    assert!(line.contains("plain demo life 1") && line.contains("text"), "{line}");
    assert!(!text.contains('\u{1b}'), "no colours where there is no terminal");
    let pretty = place.command(&["inspect", "1", "--pretty"]).output().unwrap();
    assert!(String::from_utf8(pretty.stdout).unwrap().contains("  \"type\": \"prompt\""));
}
