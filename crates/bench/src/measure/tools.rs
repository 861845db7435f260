//! Tools: judging a command, checking parameters, listing tools, and calls of one that does nothing, one at a time and many
//! at once. The limit of judging is reading the command alone; the peer is Node with `ajv` and `ws`, without log or policy.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use switchboard_host::runner::validate::Check;
use switchboard_types::{FunctionTool, ToolDefinition};

use super::{Bench, Findings, progress};
use crate::row::{Row, Unit};
use crate::stats::percentile;
use crate::subject::{Durability, Kind, Subject};
use crate::wire::masked;

/// Commands as agents ask for them.
const COMMANDS: [&str; 8] = [
    "ls -la",
    "git status --short && git diff --stat",
    "cargo test -p switchboard-core --test policy",
    "grep -rn 'fn main' src | head -20",
    "cd crates/core && cargo build --release",
    "rm -rf target/debug",
    "npm install && npm run build",
    "find . -name '*.rs' -exec wc -l {} +",
];
/// The longest answer that is read.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let mut judged = Row::new("a command judged", Unit::Micros);
    let mut checked = Row::new("parameters checked", Unit::PerSecond).beside("ajv");
    let mut listed = (Row::new("tools listed, p50", Unit::Micros), Row::new("tools listed, p99", Unit::Micros));
    let mut called = (
        Row::new("a tool that does nothing, p50, FULL log", Unit::Micros),
        Row::new("a tool that does nothing, p99, FULL log", Unit::Micros),
    );
    let many = bench.extent.pick(50, 1000);
    let mut at_once = Row::new(format!("{many} calls at once, all of them, FULL log"), Unit::Millis);
    for round in 0..bench.rounds {
        progress(&format!("tools, round {}", round + 1));
        let (ours, limit) = judging(bench.extent.pick(20, 2_000));
        judged.ours.push(ours);
        judged.limit.push(limit);
        let checks = bench.extent.pick(1_000, 200_000);
        checked.ours.push(checking(checks)?);
        if let Some(rate) = checking_by_peer(bench, checks)? {
            checked.peer.push(rate);
        }
        for kind in [Kind::Ours(Durability::Full), Kind::Node] {
            let Some(subject) = registry(bench, kind)? else { continue };
            let times = Times::take(&subject, bench.extent.pick(20, 1_000), many)?;
            let is_ours = matches!(kind, Kind::Ours(_));
            let put = |row: &mut Row, value: f64| if is_ours { row.ours.push(value) } else { row.peer.push(value) };
            put(&mut listed.0, percentile(&times.list, 0.5).unwrap_or_default());
            put(&mut listed.1, percentile(&times.list, 0.99).unwrap_or_default());
            put(&mut called.0, percentile(&times.call, 0.5).unwrap_or_default());
            put(&mut called.1, percentile(&times.call, 0.99).unwrap_or_default());
            put(&mut at_once, times.at_once_ms);
        }
    }
    let rows = vec![judged, checked, listed.0, listed.1, called.0, called.1, at_once];
    Ok(Findings { rows, ..Findings::default() })
}

/// Microseconds for one command: read and judged, and read only.
fn judging(rounds: u32) -> (f64, f64) {
    let each = |work: &dyn Fn(&str)| {
        let start = Instant::now();
        for _ in 0..rounds {
            COMMANDS.iter().for_each(|command| work(std::hint::black_box(command)));
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds) / COMMANDS.len() as f64
    };
    let ours = each(&|command| drop(std::hint::black_box(crate::judged::command(command))));
    let limit = each(&|command| drop(std::hint::black_box(crate::judged::parse(command))));
    (ours, limit)
}

fn schema() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["path", "content"],
        "properties": {
            "path": {"type": "string", "minLength": 1, "maxLength": 4096},
            "content": {"type": "string"},
            "mode": {"type": "string", "enum": ["create", "replace"]},
            "line": {"type": "integer", "minimum": 1},
        },
    })
}

fn parameters() -> Value {
    json!({"path": "src/main.rs", "content": "fn main() {}\n", "mode": "replace", "line": 3})
}

/// Checks a second.
fn checking(count: u32) -> Result<f64> {
    let function =
        FunctionTool { name: "write".into(), description: String::new(), parameters: schema(), strict: None };
    let check = Check::of(&ToolDefinition::Function { function }).map_err(anyhow::Error::msg)?;
    let parameters = parameters();
    let start = Instant::now();
    for _ in 0..count {
        if check.check(std::hint::black_box(&parameters)).is_err() {
            bail!("the parameters must be right");
        }
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

fn checking_by_peer(bench: &Bench, count: u32) -> Result<Option<f64>> {
    let Some(folder) = &bench.places.node else { return Ok(None) };
    let mut command = Command::new("node");
    command.arg(folder.join("tools.mjs")).arg("validate").arg(count.to_string());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let given = json!({"schema": schema(), "parameters": parameters()}).to_string();
    child.stdin.take().context("no standard input")?.write_all(given.as_bytes())?;
    let output = child.wait_with_output()?;
    let answer: Value = serde_json::from_slice(&output.stdout).context("ajv gave no rate")?;
    Ok(answer["perSecond"].as_f64())
}

/// A registry that serves; none if it is the peer and there is no Node.
fn registry(bench: &Bench, kind: Kind) -> Result<Option<Subject>> {
    if kind == Kind::Node && bench.places.node.is_none() {
        return Ok(None);
    }
    Subject::registry(kind, &bench.places).map(Some)
}

/// What was measured of one registry.
struct Times {
    /// Microseconds of each listing.
    list: Vec<f64>,
    /// Microseconds of each call, one after the other.
    call: Vec<f64>,
    /// Milliseconds until each of many calls that were made at once has its answer.
    at_once_ms: f64,
}

impl Times {
    fn take(subject: &Subject, count: u32, many: u32) -> Result<Self> {
        let mut lender = Talk(subject.connect_to("tools")?);
        let noop = json!({
            "type": "function", "readOnly": true,
            "function": {"name": "noop", "description": "does nothing", "parameters": {
                "type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"],
            }},
        });
        lender.ask(&json!({"type": "REGISTER_TOOLS", "requestId": "lend", "tools": [noop]}))?;
        // Ends with its link, which ends with the subject.
        std::thread::spawn(move || lender.lend());
        let mut caller = Talk(subject.connect_to("tools")?);
        let call = |number: u32| {
            let request = json!({"toolName": "noop", "parameters": {"number": number}});
            json!({"type": "EXECUTE_TOOL", "requestId": number, "request": request})
        };
        caller.ask(&call(0))?;
        let (mut list, mut calls) = (Vec::new(), Vec::new());
        for number in 1..=count {
            list.push(micros(|| caller.ask(&json!({"type": "GET_TOOLS", "requestId": number})).map(drop))?);
            calls.push(micros(|| succeeded(&caller.ask(&call(number))?))?);
        }
        let start = Instant::now();
        for number in 0..many {
            caller.say(&call(number))?;
        }
        for _ in 0..many {
            succeeded(&caller.hear()?)?;
        }
        Ok(Self { list, call: calls, at_once_ms: start.elapsed().as_secs_f64() * 1e3 })
    }
}

fn succeeded(answer: &Value) -> Result<()> {
    if answer["result"]["success"] == true { Ok(()) } else { bail!("a call failed: {answer}") }
}

fn micros(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64() * 1e6)
}

/// A view's socket, one message at a time.
struct Talk(TcpStream);

impl Talk {
    fn say(&mut self, message: &Value) -> Result<()> {
        Ok(self.0.write_all(&masked(&message.to_string()))?)
    }

    fn hear(&mut self) -> Result<Value> {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).context("the link has ended")?;
        let length = match head[1] & 0x7f {
            126 => {
                let mut bytes = [0; 2];
                self.0.read_exact(&mut bytes)?;
                usize::from(u16::from_be_bytes(bytes))
            }
            127 => {
                let mut bytes = [0; 8];
                self.0.read_exact(&mut bytes)?;
                usize::try_from(u64::from_be_bytes(bytes))?
            }
            short => usize::from(short),
        };
        if length > MAX_ANSWER_BYTES {
            bail!("an answer of {length} bytes");
        }
        let mut text = vec![0; length];
        self.0.read_exact(&mut text)?;
        if head[0] & 0xf != 1 { self.hear() } else { Ok(serde_json::from_slice(&text)?) }
    }

    fn ask(&mut self, message: &Value) -> Result<Value> {
        self.say(message)?;
        self.hear()
    }

    /// Does nothing, as often as it is asked for.
    fn lend(mut self) {
        while let Ok(call) = self.hear() {
            let done = json!({"type": "TOOL_RESULT", "callId": call["callId"], "success": true, "data": {}});
            if self.say(&done).is_err() {
                return;
            }
        }
    }
}
