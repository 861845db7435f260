//! A small ACP client that drives the real program over its pipes, and checks every message against the protocol's own types.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use agent_client_protocol_schema::v1::SessionNotification;
use serde_json::{Value, json};

/// How long anything may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the client offers to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offers {
    /// Files and terminals; asks a person only when it is asked to.
    All,
    /// The same, and says that it asks by itself.
    Gate,
    /// Nothing.
    Nothing,
}

/// A folder of state and one to work in, which outlive the agents that run on them.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { folder: tempfile::TempDir::new().unwrap() };
        std::fs::create_dir(place.work()).unwrap();
        place
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap()
    }

    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }
}

/// The agent, and all that it has said.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    heard: Receiver<Value>,
    pub(crate) told: Vec<Value>,
    /// What a person answers, in order; when it is empty, `allow_once`.
    pub(crate) answers: Vec<&'static str>,
    /// Requests of the agent that the client has not answered, because it was told to leave them.
    pub(crate) left: Vec<Value>,
    /// Methods that are not answered.
    pub(crate) ignores: Vec<&'static str>,
    /// What the agent has asked for.
    pub(crate) asked: Vec<Value>,
    ids: u64,
    terminals: Vec<std::process::Output>,
}

impl Client {
    pub(crate) fn start(place: &Place, args: &[&str], offers: Offers) -> Self {
        Self::start_with(place, args, offers, |_| {})
    }

    pub(crate) fn start_with(place: &Place, args: &[&str], offers: Offers, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        command.arg("agent").args(args).arg("--data").arg(place.data()).current_dir(place.work());
        command.env("SWITCHBOARD_KEYRING", "off").env_remove("OLLAMA_HOST").env("HOME", place.data());
        command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
        change(&mut command);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (say, heard) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = say.send(serde_json::from_str(&line).expect("every line is JSON"));
            }
        });
        let input = child.stdin.take();
        let mut client = Self {
            child,
            input,
            heard,
            told: Vec::new(),
            answers: Vec::new(),
            left: Vec::new(),
            ignores: Vec::new(),
            asked: Vec::new(),
            ids: 0,
            terminals: Vec::new(),
        };
        let all = json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true});
        let capabilities = match offers {
            Offers::All => all,
            Offers::Nothing => json!({}),
            Offers::Gate => {
                let mut all = all;
                all["_meta"] = json!({"switchboard": {"gate": true}});
                all
            }
        };
        let greeting = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        let about = client.call("initialize", greeting);
        assert_eq!(about["result"]["protocolVersion"], 1);
        client
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    pub(crate) fn send_text(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    /// Asks; the answer is fetched by its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.ids += 1;
        let id = self.ids;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// The answer to a request; what comes before it is taken and served.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.until(&format!("the answer to {id}"), |message| message["method"].is_null() && message["id"] == id)
    }

    /// Takes and serves messages up to the first for which this holds.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let Ok(message) = self.heard.recv_timeout(PATIENCE) else {
                panic!("not in time: {what}; told: {:#?}", self.told);
            };
            self.told.push(message.clone());
            if message["method"] == "session/update" {
                let typed = serde_json::from_value::<SessionNotification>(message["params"].clone());
                typed.unwrap_or_else(|error| panic!("{message} is no update: {error}"));
            }
            if !message["method"].is_null() && !message["id"].is_null() {
                self.serve(&message);
            }
            if holds(&message) {
                return message;
            }
        }
    }

    pub(crate) fn open(&mut self, place: &Place) -> String {
        let opened = self.call("session/new", json!({"cwd": place.work(), "mcpServers": []}));
        opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned()
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> Value {
        let id = self.send_prompt(session, text);
        self.answer(id)
    }

    pub(crate) fn send_prompt(&mut self, session: &str, text: &str) -> u64 {
        self.ask("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]}))
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// All updates of a kind.
    pub(crate) fn updates(&self, kind: &str) -> Vec<&Value> {
        let updates = self.told.iter().map(|message| &message["params"]["update"]);
        updates.filter(|update| update["sessionUpdate"] == kind).collect()
    }

    /// All text of the answers.
    pub(crate) fn text(&self) -> String {
        let chunks = self.updates("agent_message_chunk");
        chunks.iter().filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
    }

    pub(crate) fn asked_for(&self, method: &str) -> Vec<&Value> {
        self.asked.iter().filter(|asked| asked["method"] == method).map(|asked| &asked["params"]).collect()
    }

    fn serve(&mut self, message: &Value) {
        self.asked.push(message.clone());
        let method = message["method"].as_str().unwrap();
        if self.ignores.contains(&method) {
            self.left.push(message.clone());
            return;
        }
        let params = &message["params"];
        let done = match method {
            "fs/read_text_file" => read(params),
            "fs/write_text_file" => {
                let path = Path::new(params["path"].as_str().unwrap());
                assert!(path.is_absolute());
                std::fs::write(path, params["content"].as_str().unwrap()).unwrap();
                Ok(json!({}))
            }
            "session/request_permission" => {
                let answer = if self.answers.is_empty() { "allow_once" } else { self.answers.remove(0) };
                Ok(match answer {
                    "cancelled" => json!({"outcome": {"outcome": "cancelled"}}),
                    option => json!({"outcome": {"outcome": "selected", "optionId": option}}),
                })
            }
            "terminal/create" => {
                let args: Vec<_> = params["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
                let mut command = Command::new(params["command"].as_str().unwrap());
                let output = command.args(args).current_dir(params["cwd"].as_str().unwrap()).output().unwrap();
                self.terminals.push(output);
                Ok(json!({"terminalId": format!("t{}", self.terminals.len())}))
            }
            "terminal/wait_for_exit" => Ok(json!({"exitCode": self.terminals.last().unwrap().status.code()})),
            "terminal/output" => {
                let last = self.terminals.last().unwrap();
                let text =
                    format!("{}{}", String::from_utf8_lossy(&last.stdout), String::from_utf8_lossy(&last.stderr));
                Ok(json!({"output": text, "truncated": false, "exitStatus": {"exitCode": last.status.code()}}))
            }
            "terminal/kill" | "terminal/release" => Ok(json!({})),
            other => panic!("the agent asks for {other}"),
        };
        let answer = match done {
            Ok(result) => json!({"jsonrpc": "2.0", "id": message["id"], "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": message["id"], "error": error}),
        };
        self.send(&answer);
    }

    /// As `kill -9` does it.
    pub(crate) fn kill_9(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Hangs up, and waits for the end.
    pub(crate) fn hang_up(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(params: &Value) -> Result<Value, Value> {
    let path = Path::new(params["path"].as_str().unwrap());
    assert!(path.is_absolute());
    let missing = |_| json!({"code": -32002, "message": "Resource not found"});
    let text = std::fs::read_to_string(path).map_err(missing)?;
    let from = usize::try_from(params["line"].as_u64().unwrap_or(1) - 1).unwrap();
    let limit = params["limit"].as_u64().map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
    Ok(json!({"content": text.split_inclusive('\n').skip(from).take(limit).collect::<String>()}))
}
