//! Events of an engine over HTTP to a view of the dialect `bb`, flat out: read from its stream, durable in the log, and sent in
//! batches. The limit copies the same bytes from socket to socket; the peer reads the stream with fetch and sends batches
//! with `ws`, without a log.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::{Bench, Findings, progress};
use crate::process::Program;
use crate::row::{Row, Unit};
use crate::stream::Counter;
use crate::subject::{Durability, Subject};
use crate::wire::masked;

/// How long a run may take.
const PATIENCE: Duration = Duration::from_secs(180);
/// Bytes of one read.
const READ_BYTES: usize = 256 * 1024;

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let pick = |quick, full| bench.extent.pick(quick, full);
    let (ours, limit, peer): (u64, u64, u64) = (pick(2_000, 200_000), pick(5_000, 1_000_000), pick(1_000, 50_000));
    let mut rates = [
        Row::new("an engine's events to one view of bb, NORMAL log", Unit::PerSecond),
        Row::new("an engine's events to one view of bb, FULL log", Unit::PerSecond),
    ];
    let mut cost = Row::new("host CPU for one event of an engine, FULL log", Unit::Micros);
    for round in 0..bench.rounds {
        progress(&format!("engine, round {}", round + 1));
        let engine = Engine::start(bench)?;
        let copied = engine.copied(bench, limit)?;
        let relayed = engine.relayed(bench, peer)?;
        for (row, durability) in rates.iter_mut().zip([Durability::Normal, Durability::Full]) {
            let (rate, cpu) = engine.hosted(bench, durability, ours)?;
            row.ours.push(rate);
            row.limit.push(copied);
            row.peer.extend(relayed);
            if durability == Durability::Full {
                cost.ours.push(cpu);
            }
        }
    }
    let [normal, full] = rates;
    Ok(Findings { rows: vec![normal, full, cost], ..Findings::default() })
}

/// An engine that runs.
struct Engine {
    /// Held, since it ends when this does.
    _program: Program,
    port: u16,
}

impl Engine {
    fn start(bench: &Bench) -> Result<Self> {
        let program = Program::start(&mut Command::new(bench.places.program("bench-engine")), &bench.places.log())?;
        let port = program.ready["port"].as_u64().and_then(|port| u16::try_from(port).ok()).context("no port")?;
        Ok(Self { _program: program, port })
    }

    /// Asks the engine for a session; its id.
    fn session(&self) -> Result<String> {
        let answer = request(self.port, "POST", "/v1/sessions", &json!({}))?;
        Ok(answer["session_id"].as_str().context("no session")?.to_owned())
    }

    /// Asks for a turn; its events come to whoever follows.
    fn input(&self, session: &str, count: u64) -> Result<()> {
        let input = json!({"content": format!("flat {count}"), "message_id": "m1"});
        request(self.port, "POST", &format!("/v1/sessions/{session}/input"), &input).map(drop)
    }

    /// Events a second through our host, and its microseconds for one.
    fn hosted(&self, bench: &Bench, durability: Durability, count: u64) -> Result<(f64, f64)> {
        let url = format!("http://127.0.0.1:{}", self.port);
        let subject = Subject::with_engine(durability, &bench.places, &url)?;
        let mut view = subject.connect_to("bb")?;
        view.set_read_timeout(Some(PATIENCE))?;
        let mut asked = |id: &str, method: &str, params: &Value| -> Result<Value> {
            let text = json!({"v": 1, "kind": "req", "id": id, "method": method, "params": params}).to_string();
            view.write_all(&masked(&text))?;
            answer_to(&mut view, id)
        };
        asked("1", "bb.init", &json!({}))?;
        let session = asked("2", "bb.createSession", &json!({"agent": "engine"}))?;
        let session = session["result"]["sessionId"].as_str().with_context(|| format!("no session in {session}"))?;
        // A short turn first, so that what happens only once is over.
        asked("3", "bb.sendMessage", &json!({"sessionId": session, "text": "flat 100"}))?;
        count_until(&mut view, 100)?;
        subject.program.rest()?;
        let before = subject.program.cpu()?;
        let params = json!({"sessionId": session, "text": format!("flat {count}")});
        let text = json!({"v": 1, "kind": "req", "id": "4", "method": "bb.sendMessage", "params": params}).to_string();
        view.write_all(&masked(&text))?;
        let seconds = count_until(&mut view, count)?;
        subject.program.rest()?;
        let used = subject.program.cpu()?.saturating_sub(before);
        Ok((count as f64 / seconds, used.as_secs_f64() * 1e6 / count as f64))
    }

    /// Events a second through a copy of the bytes from socket to socket.
    fn copied(&self, bench: &Bench, count: u64) -> Result<f64> {
        let session = self.session()?;
        let mut command = Command::new(bench.places.program("bench-raw"));
        command.args(["stream", &self.port.to_string(), &format!("/v1/sessions/{session}/events")]);
        let program = Program::start(&mut command, &bench.places.log())?;
        let mut view = TcpStream::connect(("127.0.0.1", port_of(&program)?))?;
        view.set_read_timeout(Some(PATIENCE))?;
        view.read_exact(&mut [0])?;
        self.input(&session, count)?;
        Ok(count as f64 / count_until(&mut view, count)?)
    }

    /// Events a second through the peer; none without Node.
    fn relayed(&self, bench: &Bench, count: u64) -> Result<Option<f64>> {
        let Some(folder) = &bench.places.node else { return Ok(None) };
        let session = self.session()?;
        let mut command = Command::new("node");
        command.arg(folder.join("engine.mjs")).args([self.port.to_string(), session.clone()]);
        let program = Program::start(&mut command, &bench.places.log())?;
        let mut view = crate::subject::handshake(port_of(&program)?, "bb", "")?;
        view.set_read_timeout(Some(PATIENCE))?;
        self.input(&session, count)?;
        Ok(Some(count as f64 / count_until(&mut view, count)?))
    }
}

fn port_of(program: &Program) -> Result<u16> {
    program.ready["port"].as_u64().and_then(|port| u16::try_from(port).ok()).context("no port")
}

/// Reads until so many pieces of the answer have come; seconds between the first bytes and the last.
fn count_until(view: &mut TcpStream, count: u64) -> Result<f64> {
    let (mut counter, mut buffer, mut first) = (Counter::default(), vec![0; READ_BYTES], None);
    while counter.deltas < count {
        let got = view.read(&mut buffer).context("the events do not come")?;
        if got == 0 {
            bail!("the stream ended after {} of {count}", counter.deltas);
        }
        first.get_or_insert_with(Instant::now);
        counter.take(buffer.get(..got).unwrap_or_default());
    }
    Ok(first.map_or(0.0, |first| first.elapsed().as_secs_f64()).max(1e-9))
}

/// Reads frames up to the answer to a request.
fn answer_to(view: &mut TcpStream, id: &str) -> Result<Value> {
    loop {
        let mut head = [0; 2];
        view.read_exact(&mut head)?;
        let size = match head[1] & 0x7f {
            126 => {
                let mut size = [0; 2];
                view.read_exact(&mut size)?;
                u64::from(u16::from_be_bytes(size))
            }
            127 => {
                let mut size = [0; 8];
                view.read_exact(&mut size)?;
                u64::from_be_bytes(size)
            }
            short => u64::from(short),
        };
        let mut text = vec![0; usize::try_from(size)?];
        view.read_exact(&mut text)?;
        let told: Value = serde_json::from_slice(&text).unwrap_or_default();
        if told["kind"] == "res" && told["id"] == id {
            return if told["ok"] == true { Ok(told) } else { bail!("refused: {told}") };
        }
    }
}

/// One request by hand; the JSON of its answer.
pub(super) fn request(port: u16, method: &str, path: &str, body: &Value) -> Result<Value> {
    authorized(port, method, path, "", body)
}

/// The same with headers.
pub(super) fn authorized(port: u16, method: &str, path: &str, headers: &str, body: &Value) -> Result<Value> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let body = body.to_string();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n");
    socket.write_all(format!("{head}{headers}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
    let mut answer = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let text = String::from_utf8_lossy(&answer);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                if !head.starts_with("HTTP/1.1 2") {
                    bail!("{method} {path} was refused: {text}");
                }
                return Ok(serde_json::from_str(body).unwrap_or_default());
            }
        }
        let got = socket.read(&mut buffer)?;
        if got == 0 {
            bail!("{method} {path} was not answered");
        }
        answer.extend_from_slice(buffer.get(..got).unwrap_or_default());
    }
}
