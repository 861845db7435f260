//! The engine under test's host, and what it really said.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::super::host::{PATIENCE, Place};

/// A running engine. It ends when it is dropped.
pub(super) struct Engine {
    child: Child,
    pub(super) port: u16,
}

impl Engine {
    pub(super) fn start(args: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spine/engine.py");
        let mut command = Command::new("python3");
        command.arg("-u").arg(script).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        Self { child, port: u16::try_from(ready["port"].as_u64().unwrap()).unwrap() }
    }

    /// A place whose agent `e` is this engine; more of its table may follow.
    pub(super) fn place(&self, more: &str) -> Place {
        let table = format!("\n[agents.e]\nkind = \"engine\"\nurl = \"http://127.0.0.1:{}\"\n{more}\n", self.port);
        Place::new().with_config(&table).trusted()
    }

    pub(super) fn get(&self, path: &str) -> Value {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(socket, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        socket.read_to_string(&mut text).unwrap();
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }

    /// The engine's name of the session that was asked this.
    pub(super) fn session_asked(&self, prompt: &str) -> String {
        let sessions = self.get("/_sessions")["sessions"].clone();
        let sessions = sessions.as_object().unwrap();
        let asked = |inputs: &Value| inputs.as_array().unwrap().iter().any(|input| input == prompt);
        sessions.iter().find(|(_, inputs)| asked(inputs)).unwrap_or_else(|| panic!("{prompt} never arrived")).0.clone()
    }

    /// What a session really said, and the numbers of what it said and then lost.
    pub(super) fn truth(&self, session: &str) -> (Vec<Value>, Vec<u64>) {
        let truth = self.get(&format!("/_truth?session={session}"));
        let lost = truth["lost"].as_array().unwrap().iter().map(|seq| seq.as_u64().unwrap()).collect();
        (truth["events"].as_array().unwrap().clone(), lost)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Already gone if the test ended it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every event of a session's log, from the command line.
pub(super) fn log(place: &Place, session: u64) -> Vec<Value> {
    let out = place.command(&["sessions", "export", &session.to_string()]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The numbers of all sessions.
pub(super) fn sessions(place: &Place) -> Vec<u64> {
    let out = place.command(&["sessions", "list", "--json"]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let id = |line: &str| {
        let entry: Value = serde_json::from_str(line).unwrap();
        entry["id"]
            .as_u64()
            .or_else(|| entry["id"].as_str()?.parse().ok())
            .or_else(|| entry["session"].as_u64())
            .unwrap()
    };
    text.lines().map(id).collect()
}

/// The first prompt of a log.
pub(super) fn prompt_of(log: &[Value]) -> Option<String> {
    let queued = log.iter().find(|event| event["body"]["type"] == "promptQueued")?;
    queued["body"]["prompt"]["text"].as_str().map(str::to_owned)
}

/// Checks a log against what was really said: all of it in order, once each; what is missing was told before what follows it.
pub(super) fn check(log: &[Value], truth: &[Value]) {
    let mut next = 0;
    for event in log {
        let body = &event["body"];
        if body["type"] == "sourceGap" && event.get("source").is_none() {
            let to = body["to"].as_u64().unwrap_or(next + 1);
            assert_eq!(body["from"].as_u64(), Some(next + 1), "the gap begins where the log stands: {body}");
            next = to;
            continue;
        }
        let Some(source) = event.get("source") else { continue };
        let seq = source["seq"].as_u64().unwrap();
        assert_eq!(seq, next + 1, "the log has a hole or a repeat that nobody was told of");
        let said = &truth[usize::try_from(seq - 1).unwrap()];
        assert_eq!((&source["id"], &source["type"]), (&said["id"], &said["type"]));
        if matches!(body["type"].as_str(), Some("text" | "thought")) {
            assert_eq!(body["text"], said["payload"]["text"]);
        }
        next = seq;
    }
    assert_eq!(next, truth.len() as u64, "the log is not all that was said");
}
