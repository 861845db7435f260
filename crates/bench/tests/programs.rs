//! The bench's own programs do what the measurements take for granted: the agent speaks `plain`, the raw limit carries
//! every byte, framing finds every message. Nothing here measures, and no time is asserted.

#![expect(clippy::unwrap_used, reason = "all of this is test code")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_bench::crowd::{Crowd, Times};
use switchboard_bench::load::Load;
use switchboard_bench::mold::stamp_of;
use switchboard_bench::process::Program;
use switchboard_bench::subject::{Kind, Places, Subject};
use switchboard_bench::wire::{Wire, unmasked};

const AGENT: &str = env!("CARGO_BIN_EXE_bench-agent");
const RAW: &str = env!("CARGO_BIN_EXE_bench-raw");
const FRAMING: &str = env!("CARGO_BIN_EXE_bench-framing");
const PATIENCE: Duration = Duration::from_secs(60);

/// What a `plain` agent answers to some lines, up to the end of its output.
fn conversation(lines: &[Value]) -> Vec<Value> {
    let mut agent = Command::new(AGENT).arg("plain").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut to, mut from) = (agent.stdin.take().unwrap(), BufReader::new(agent.stdout.take().unwrap()));
    let mut said = Vec::new();
    for line in lines {
        to.write_all(format!("{line}\n").as_bytes()).unwrap();
        // The next line is said when this one is answered, so that answers come in order.
        loop {
            let mut answer = String::new();
            assert!(from.read_line(&mut answer).unwrap() > 0, "the agent left");
            let answer: Value = serde_json::from_str(&answer).unwrap();
            let last = answer["type"] != "response-chunk";
            said.push(answer);
            if last {
                break;
            }
        }
    }
    drop(to);
    assert!(agent.wait().unwrap().success());
    said
}

fn prompt(text: &str) -> Value {
    json!({"type": "process-prompt", "sessionId": "s1", "messageId": "m7", "text": text})
}

#[test]
fn the_agent_streams_what_the_prompt_asks_for_and_ends_the_turn() {
    let said = conversation(&[json!({"type": "new-session", "requestId": "r1", "cwd": "/"}), prompt("flat 3")]);
    assert_eq!(said[0], json!({"type": "session-created", "requestId": "r1", "sessionId": "s1"}));
    let types: Vec<&str> = said.iter().skip(1).filter_map(|line| line["type"].as_str()).collect();
    assert_eq!(types, ["response-chunk", "response-chunk", "response-chunk", "response-complete"]);
    assert!(said.iter().skip(1).all(|line| line["sessionId"] == "s1" && line["messageId"] == "m7"));
}

#[test]
fn a_paced_message_carries_its_time_and_a_wrong_prompt_ends_the_turn() {
    let said = conversation(&[prompt("paced 1000 2"), prompt("flat much")]);
    assert_eq!(said.len(), 4);
    assert!(said[..2].iter().all(|line| stamp_of(line.to_string().as_bytes()).is_some()));
    assert_eq!((&said[2]["type"], &said[3]["type"]), (&json!("response-complete"), &json!("error")));
}

#[test]
fn the_raw_limit_carries_every_message_to_every_view() {
    let folder = tempfile::tempdir().unwrap();
    let programs = Path::new(AGENT).parent().unwrap().to_path_buf();
    let data = folder.path().to_path_buf();
    let places = Places { programs, data: data.clone(), node: None, python: data.clone(), kept: data };
    let mut raw = Subject::start(Kind::Raw, &places).unwrap();
    let run = raw.run(3, Load::Flat { count: 500 }).unwrap();
    assert_eq!(run.seen.chunks, 1500);
    let run = raw.run(2, Load::Paced { rate: 2000, count: 20 }).unwrap();
    assert_eq!((run.seen.chunks, run.seen.latencies.len()), (40, 40));
}

#[test]
fn a_file_of_frames_is_sent_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("frames");
    std::fs::write(&file, unmasked(r#"{"type":"response-chunk","chunk":"x"}"#).repeat(1000)).unwrap();
    let mut program =
        Program::start(Command::new(RAW).arg("sendfile").arg(&file), &folder.path().join("errors")).unwrap();
    let port = u16::try_from(program.ready["port"].as_u64().unwrap()).unwrap();
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.read_exact(&mut [0]).unwrap();
    let mut view = Crowd::new(Wire::WebSocket, vec![socket]).unwrap();
    program.say("send").unwrap();
    assert_eq!(view.read_chunks(1000, Times::Ignored, PATIENCE).unwrap().chunks, 1000);
    assert!(program.memory().unwrap() > 0);
}

#[test]
fn every_way_of_framing_finds_every_message() {
    for way in ["scan", "ours", "rpc", "lsp-server", "copy", "write"] {
        let done = Command::new(FRAMING).args([way, "2000"]).output().unwrap();
        assert!(done.status.success(), "{way}: {}", String::from_utf8_lossy(&done.stderr));
    }
    assert!(!Command::new(FRAMING).args(["scan", "3"]).output().unwrap().status.success());
}
