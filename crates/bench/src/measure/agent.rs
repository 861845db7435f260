//! The built-in agent over a model that streams flat out: tokens a second out of `switchboard agent`, and out of the whole host to
//! a view; and what a long session costs it in memory. The limit reads the same stream from the same server, and only counts.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use memchr::memmem;
use serde_json::{Value, json};

use super::{Bench, Findings, progress};
use crate::process::Program;
use crate::row::{Row, Unit};
use crate::subject::{Durability, Subject};
use crate::tokens::{EVENT, MODEL, TOKEN};
use crate::wire::masked;

/// How long one read may wait.
const PATIENCE: Duration = Duration::from_secs(180);
const READ_BYTES: usize = 256 * 1024;
/// Tokens of an answer in the long session.
const SMALL_ANSWER: u64 = 200;
/// Ends a turn, in a view's dialect.
const COMPLETE: &[u8] = b"\"response-complete\"";

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    // The stream of an answer may have 16 MiB.
    let count: u64 = bench.extent.pick(2_000, 80_000);
    let marks: [u64; 3] = bench.extent.pick([2, 5, 10], [10, 100, 1_000]);
    let mut loops = Row::new("tokens through the built-in agent", Unit::PerSecond);
    let mut hosted = Row::new("tokens through the built-in agent and the host to one view, FULL log", Unit::PerSecond);
    let mut memory =
        marks.map(|mark| Row::new(format!("memory of the built-in agent after {mark} turns"), Unit::Bytes));
    for round in 0..bench.rounds {
        progress(&format!("the built-in agent, round {}", round + 1));
        let model = Model::start(bench)?;
        let bare = model.read_bare(count)?;
        let mut agent = Agent::start(bench, &model)?;
        // The first answer of a process is no one's measure.
        agent.session(bench)?.turn(1_000)?;
        loops.ours.push(agent.session(bench)?.turn(count)?);
        loops.limit.push(bare);
        hosted.ours.push(model.through_the_host(bench, count)?);
        hosted.limit.push(bare);
        let mut session = agent.session(bench)?;
        let mut done = 0;
        for (row, mark) in memory.iter_mut().zip(marks) {
            for _ in done..mark {
                session.turn(SMALL_ANSWER)?;
            }
            done = mark;
            row.ours.push(session.memory()?);
        }
    }
    let rows = [loops, hosted].into_iter().chain(memory).collect();
    Ok(Findings { rows, ..Findings::default() })
}

/// The model's server.
struct Model {
    /// Held, since it ends when this does.
    _program: Program,
    port: u16,
}

impl Model {
    fn start(bench: &Bench) -> Result<Self> {
        let program = Program::start(&mut Command::new(bench.places.program("bench-model")), &bench.places.log())?;
        let port = program.ready["port"].as_u64().and_then(|port| u16::try_from(port).ok()).context("no port")?;
        Ok(Self { _program: program, port })
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Tokens a second of whoever reads the stream and does nothing with it.
    fn read_bare(&self, count: u64) -> Result<f64> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let body =
            json!({"model": MODEL, "messages": [{"role": "user", "content": format!("flat {count}")}]}).to_string();
        let start = Instant::now();
        let head =
            format!("POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nContent-Length: {}\r\n\r\n", body.len());
        socket.write_all(format!("{head}{body}").as_bytes())?;
        let (mut buffer, mut kept, mut found) = (vec![0; READ_BYTES], 0, 0);
        loop {
            let read = socket.read(&mut buffer[kept..])?;
            if read == 0 {
                break;
            }
            let filled = kept + read;
            found += memmem::find_iter(&buffer[..filled], EVENT).count() as u64;
            // The beginning of an event may lie at the end of what was read.
            kept = filled.min(EVENT.len() - 1);
            buffer.copy_within(filled - kept..filled, 0);
        }
        ensure!(found == count, "{found} tokens where {count} were streamed");
        Ok(count as f64 / start.elapsed().as_secs_f64())
    }

    /// The same through the agent as the host runs it, to a view that is connected.
    fn through_the_host(&self, bench: &Bench, count: u64) -> Result<f64> {
        let agent =
            format!("[agents.model]\nkind = \"model\"\nbase_url = {}\nmodel = {}\n", json!(self.url()), json!(MODEL));
        let ours = Subject::with_agent(Durability::Full, &bench.places, &agent)?;
        let mut socket = ours.connect()?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut say = |what: Value| socket.write_all(&masked(&what.to_string()));
        let prompt = |name: &str, count: u64| json!({"type": "prompt", "tabId": "t", "messageId": name, "text": format!("flat {count}")});
        say(json!({"type": "new-tab", "tabId": "t", "agent": "model"}))?;
        say(prompt("m1", 1))?;
        until_complete(&mut socket)?;
        let start = Instant::now();
        socket.write_all(&masked(&prompt("m2", count).to_string()))?;
        let bytes = until_complete(&mut socket)?;
        let took = start.elapsed();
        ensure!(bytes as u64 >= count * TOKEN.len() as u64, "{bytes} bytes are too few for {count} tokens");
        Ok(count as f64 / took.as_secs_f64())
    }
}

/// Reads until a turn is over, and says how many bytes that were.
fn until_complete(socket: &mut TcpStream) -> Result<usize> {
    let (mut buffer, mut kept, mut all) = (vec![0; READ_BYTES], 0, 0);
    loop {
        let read = socket.read(&mut buffer[kept..])?;
        ensure!(read > 0, "the host has hung up");
        all += read;
        let filled = kept + read;
        if memmem::find(&buffer[..filled], COMPLETE).is_some() {
            return Ok(all);
        }
        kept = filled.min(COMPLETE.len() - 1);
        buffer.copy_within(filled - kept..filled, 0);
    }
}

/// `switchboard agent` with its pipes.
struct Agent {
    child: Child,
    says: BufReader<ChildStdout>,
    asked: u64,
}

impl Agent {
    fn start(bench: &Bench, model: &Model) -> Result<Self> {
        let data = bench.places.data.join("agent");
        let mut command = Command::new(bench.places.program("switchboard"));
        command.args(["agent", "--base-url", &model.url(), "--model", MODEL, "--data"]).arg(&data);
        let errors = std::fs::OpenOptions::new().create(true).append(true).open(bench.places.log())?;
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).spawn()?;
        let says = BufReader::with_capacity(READ_BYTES, child.stdout.take().context("no standard output")?);
        let mut agent = Self { child, says, asked: 0 };
        agent.call("initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}), |_| {})?;
        Ok(agent)
    }

    /// Asks something, shows each update, and gives the answer.
    fn call(&mut self, method: &str, params: &Value, mut each: impl FnMut(&Value)) -> Result<Value> {
        self.asked += 1;
        let line = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        self.child.stdin.as_mut().context("no standard input")?.write_all(format!("{line}\n").as_bytes())?;
        let mut line = String::new();
        loop {
            line.clear();
            ensure!(self.says.read_line(&mut line)? > 0, "the agent has ended");
            let mut said: Value = serde_json::from_str(&line)?;
            if said["id"] == self.asked && said["method"].is_null() {
                if !said["error"].is_null() {
                    bail!("the agent says {}", said["error"]);
                }
                return Ok(said["result"].take());
            }
            each(&said["params"]["update"]);
        }
    }

    fn session(&mut self, bench: &Bench) -> Result<Session<'_>> {
        let cwd = bench.places.data.join("empty");
        std::fs::create_dir_all(&cwd)?;
        let cwd: &Path = &cwd;
        let opened = self.call("session/new", &json!({"cwd": cwd, "mcpServers": []}), |_| {})?;
        Ok(Session { agent: self, id: opened["sessionId"].clone() })
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It ends when nobody speaks to it any more.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// One of its sessions.
struct Session<'a> {
    agent: &'a mut Agent,
    id: Value,
}

impl Session<'_> {
    /// Tokens a second of one answer.
    fn turn(&mut self, count: u64) -> Result<f64> {
        let prompt = json!([{"type": "text", "text": format!("flat {count}")}]);
        let (params, mut bytes) = (json!({"sessionId": self.id, "prompt": prompt}), 0);
        let start = Instant::now();
        let done = self.agent.call("session/prompt", &params, |update| {
            if update["sessionUpdate"] == "agent_message_chunk" {
                bytes += update["content"]["text"].as_str().map_or(0, str::len);
            }
        })?;
        let took = start.elapsed();
        ensure!(done["stopReason"] == "end_turn", "the turn ended {done}");
        ensure!(bytes as u64 == count * TOKEN.len() as u64, "{bytes} bytes of {count} tokens came through");
        Ok(count as f64 / took.as_secs_f64())
    }

    /// Bytes of memory that the agent has now.
    fn memory(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.agent.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse().context("VmRSS")?;
        Ok(kilobytes * 1024.0)
    }
}
