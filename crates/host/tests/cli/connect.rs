//! `connect`: both framings, a host that is started and stays, and every way that it can end.

use std::io::Write;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::stage::{Heard, LINES, Stage, eventually, signal};

fn framed(messages: &[&str]) -> Vec<u8> {
    messages
        .iter()
        .flat_map(|message| format!("Content-Length: {}\r\n\r\n{message}", message.len()).into_bytes())
        .collect()
}

/// Messages out of content-length frames; nothing else may be between them.
fn unframed(mut text: &str) -> Vec<Value> {
    let mut messages = Vec::new();
    while !text.is_empty() {
        let (head, rest) = text.split_once("\r\n\r\n").unwrap();
        let length: usize = head.strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        messages.push(serde_json::from_str(rest.get(..length).unwrap()).unwrap());
        text = rest.get(length..).unwrap();
    }
    messages
}

#[test]
fn a_host_is_started_and_outlives_us_and_messages_pass_byte_for_byte() {
    let stage = Stage::new();
    let text = "é \\\"🦀\\\" \\u001b";
    let prompt = format!(r#"{{"type":"prompt","tabId":"t","messageId":"m","text":"demo: echo {text}"}}"#);
    let input = framed(&[r#"{"type":"webview-ready"}"#, r#"{"type":"new-tab","tabId":"t"}"#, &prompt]);
    let done = stage.converse(&["connect", "--dialect", "tabs"], &input, "response-complete").good();
    let told = unframed(&done.out);
    assert_eq!(told[0], json!({"type": "tabs-restored", "tabs": []}));
    let chunks: String = told.iter().filter_map(|one| one["chunk"].as_str()).collect();
    assert_eq!(chunks, "é \"🦀\" \u{1b}");
    let first = stage.host().expect("the host stays");
    let again = stage.feed(&LINES, b"{\"type\":\"webview-ready\"}").good();
    assert_eq!(again.json()[0]["tabs"][0]["tabId"], "t", "a last line may lack its end");
    assert_eq!(stage.host().map(|host| host.pid), Some(first.pid), "it is the same host");
    assert!(std::fs::read_to_string(stage.data().join("host.log")).unwrap().contains("the host listens"));
}

#[test]
fn the_pages_own_dialect_passes_too() {
    let stage = Stage::new();
    let hello = format!("{{\"type\":\"hello\",\"version\":\"{}\",\"seats\":[]}}\n", env!("CARGO_PKG_VERSION"));
    let args = ["connect", "--dialect", "switchboard", "--framing", "lines"];
    let done = stage.converse(&args, hello.as_bytes(), "welcome").good();
    assert_eq!(done.json()[0]["type"], "welcome");
}

#[test]
fn many_that_start_at_once_share_one_host() {
    let stage = Stage::new();
    let children: Vec<_> = (0..5)
        .map(|_| {
            let mut child = stage.switchboard(&LINES).stdin(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(b"{\"type\":\"webview-ready\"}\n").unwrap();
            child
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("tabs-restored"));
    }
    assert!(stage.host().is_some());
}

#[test]
fn a_host_that_goes_is_told_with_code_5() {
    let stage = Stage::new();
    let mut host = stage.serve();
    let mut child = stage.switchboard(&LINES).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"type\":\"webview-ready\"}\n").unwrap();
    Heard::of(child.stdout.take().unwrap()).until("tabs-restored");
    signal(host.id(), Signal::TERM);
    host.wait().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the host has stopped"));
    drop(stdin);
}

#[test]
fn a_host_that_cannot_start_says_why() {
    let stage = Stage::new();
    stage.configure("default_agent = 7\n");
    let done = stage.call(&LINES);
    assert_eq!(done.code, 5, "{done:?}");
    assert!(done.err.contains("host.log ends with:") && done.err.contains("line 1, key `default_agent`"), "{done:?}");
}

#[test]
fn what_is_too_large_or_no_text_is_refused_in_the_dialects_own_form() {
    let stage = Stage::new();
    let mut input = vec![b' '; 16 * 1024 * 1024 + 1];
    input.extend_from_slice(b"\n\xff\xfe\n{\"type\":\"webview-ready\"}\n");
    let told = stage.converse(&LINES, &input, "tabs-restored").good().json();
    let mut kinds: Vec<Value> = told.iter().map(|one| json!([one["type"], one["error"]["code"]])).collect();
    kinds.sort_by_key(ToString::to_string);
    assert_eq!(
        kinds,
        vec![json!(["error", "bad_json"]), json!(["error", "too_large"]), json!(["tabs-restored", null])]
    );

    let fatal = stage.feed(&["connect", "--dialect", "tabs"], b"Content-Length: 16777217\r\n\r\n");
    assert_eq!((fatal.code, &unframed(&fatal.out)[0]["error"]["code"]), (1, &json!("too_large")), "{fatal:?}");
    let fatal = stage.feed(&["connect", "--dialect", "tabs"], b"noise\nContent-Length: x\r\n\r\n");
    assert_eq!((fatal.code, &unframed(&fatal.out)[0]["error"]["code"]), (1, &json!("bad_json")), "{fatal:?}");
    assert!(fatal.err.contains("noise"), "{fatal:?}");
}

#[test]
fn a_large_message_passes_and_a_reader_that_goes_is_no_error() {
    let stage = Stage::new();
    let large = "x".repeat(4 * 1024 * 1024);
    let input = format!(
        "{{\"type\":\"new-tab\",\"tabId\":\"t\"}}\n\
         {{\"type\":\"prompt\",\"tabId\":\"t\",\"messageId\":\"m\",\"text\":\"demo: echo {large}\"}}\n"
    );
    let done = stage.converse(&LINES, input.as_bytes(), "response-complete").good();
    let chunks: usize = done.json().iter().filter_map(|one| one["chunk"].as_str()).map(str::len).sum();
    assert_eq!(chunks, large.len());

    let mut child = stage.switchboard(&LINES).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    stdin.write_all(b"{\"type\":\"webview-ready\"}\n").unwrap();
    eventually("the end", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_this_version_does_not_speak_is_said() {
    let stage = Stage::new();
    for (args, words) in [
        (vec!["connect", "--dialect", "klingon"], "there are: tabs, tools, bb, chat, switchboard"),
        (vec!["connect", "https://example.com/"], "chrome-extension://ID/"),
        (vec!["connect", "--dialect", "tabs", "--framing", "pigeon"], "content-length"),
        (vec!["connect"], "--dialect"),
    ] {
        let done = stage.call(&args);
        assert_eq!(done.code, 2, "{args:?}: {done:?}");
        assert!(done.err.contains(words), "{args:?}: {done:?}");
    }
    assert!(stage.host().is_none(), "none of them starts a host");
}
