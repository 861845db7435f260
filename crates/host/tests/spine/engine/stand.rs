//! The engine under test's host, and what it really said.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::super::host::{Host, PATIENCE, Place};

/// A running engine. It ends when it is dropped.
pub(crate) struct Engine {
    child: Child,
    args: Vec<String>,
    pub(super) port: u16,
}

impl Engine {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::start_at(0, args.iter().map(|&arg| arg.to_owned()).collect())
    }

    /// Ends it with all that it knows, and starts it again at the same address.
    pub(super) fn restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        *self = Self::start_at(self.port, self.args.clone());
    }

    fn start_at(port: u16, args: Vec<String>) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spine/engine.py");
        let mut command = Command::new("python3");
        command.arg("-u").arg(script).arg("--port").arg(port.to_string()).args(&args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        Self { child, args, port: u16::try_from(ready["port"].as_u64().unwrap()).unwrap() }
    }

    /// A place whose agent `e` is this engine; more of its table may follow.
    pub(crate) fn place(&self, more: &str) -> Place {
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

    /// What a session really said, log by log, and the numbers of what it said in the last one and then lost.
    pub(super) fn logs(&self, session: &str) -> (Vec<Vec<Value>>, Vec<u64>) {
        let truth = self.get(&format!("/_truth?session={session}"));
        let lost = truth["lost"].as_array().unwrap().iter().map(|seq| seq.as_u64().unwrap()).collect();
        let former = truth["former"].as_array().unwrap().iter();
        (former.chain([&truth["events"]]).map(|log| log.as_array().unwrap().clone()).collect(), lost)
    }

    /// What a session really said in its last log.
    pub(super) fn truth(&self, session: &str) -> Vec<Value> {
        self.logs(session).0.pop().unwrap()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Already gone if the test ended it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every event of a session's log.
pub(super) fn log(host: &Host, session: u64) -> Vec<Value> {
    let mut log: Vec<Value> = Vec::new();
    loop {
        let after = log.last().map_or(0, |event| event["seq"].as_u64().unwrap());
        let answer = host.get(&format!("/control/log?id={session}&after={after}"), &host.bearer());
        assert_eq!(answer.status(), 200, "{}", answer.0);
        let more: Vec<Value> = answer.body().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        if more.is_empty() {
            return log;
        }
        log.extend(more);
    }
}

/// The numbers of all sessions.
pub(super) fn sessions(host: &Host) -> Vec<u64> {
    let answer = host.get("/control/sessions", &host.bearer());
    let listed: Value = serde_json::from_str(answer.body()).unwrap();
    listed["sessions"].as_array().unwrap().iter().map(|entry| entry["id"].as_u64().unwrap()).collect()
}

/// The first prompt of a log.
pub(super) fn prompt_of(log: &[Value]) -> Option<String> {
    let queued = log.iter().find(|event| event["body"]["type"] == "promptQueued")?;
    queued["body"]["prompt"]["text"].as_str().map(str::to_owned)
}

/// Checks a log against what was really said: all of it in order, once each; what is missing was told before what follows it.
pub(super) fn check(log: &[Value], truth: &[Value]) {
    check_logs(log, &[truth.to_vec()]);
}

/// The same where the engine has begun its log anew: that was told, and of the last one nothing is missing.
pub(super) fn check_logs(log: &[Value], logs: &[Vec<Value>]) {
    let (mut next, mut at, mut fresh, mut anew) = (0, 0, true, false);
    for event in log {
        let body = &event["body"];
        if body["type"] == "sourceGap" && event.get("source").is_none() {
            if body["from"].is_null() {
                (next, at, fresh, anew) = (0, at + usize::from(!fresh), true, true);
                continue;
            }
            let to = body["to"].as_u64().unwrap_or(next + 1);
            assert_eq!(body["from"].as_u64(), Some(next + 1), "the gap begins where the log stands: {body}");
            next = to;
            continue;
        }
        let Some(source) = event.get("source") else { continue };
        let seq = source["seq"].as_u64().unwrap();
        // A log that is begun anew may begin anywhere: that something is missing was told.
        let whole = seq == next + 1 || std::mem::take(&mut anew);
        assert!(whole, "event {seq} after {next}: a hole or a repeat that nobody was told of");
        anew = false;
        let place = usize::try_from(seq - 1).unwrap();
        if std::mem::take(&mut fresh) {
            // A log of which nothing was taken before it was gone is left out.
            let is_it = |at: &usize| logs[*at].get(place).is_some_and(|said| said["id"] == source["id"]);
            at = (at..logs.len()).find(is_it).expect("an event that no log has, or only one that was over");
        }
        let said = &logs[at][place];
        assert_eq!((&source["id"], &source["type"]), (&said["id"], &said["type"]));
        if matches!(body["type"].as_str(), Some("text" | "thought")) {
            assert_eq!(body["text"], said["payload"]["text"]);
        }
        next = seq;
    }
    assert_eq!(at, logs.len() - 1, "the last log was not read");
    assert_eq!(next, logs.last().unwrap().len() as u64, "the log is not all that was said");
}
