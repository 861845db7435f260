//! New processes of agents, one at a time and many at once: from a view's prompt until each has said its first word, and what
//! the host holds of memory for them. The limit starts the same agent and asks it the same without any host.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::{Bench, Findings, progress};
use crate::crowd::Times;
use crate::row::{Row, Unit};
use crate::subject::{Durability, Places, Subject, another_agent};

const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let many = bench.extent.pick(5, 50);
    let mut one = Row::new("a new agent until its first word", Unit::Millis);
    let mut all = Row::new(format!("{many} new agents at once, until each has said a word"), Unit::Millis);
    let mut memory = Row::new(format!("memory of the host for one of {many} agents that live"), Unit::Bytes);
    for round in 0..bench.rounds {
        progress(&format!("new agents, round {}", round + 1));
        let single = bench.extent.pick(2, 10);
        let ours = Subject::with_agents(Durability::Full, &bench.places, single + many)?;
        for number in 0..single {
            one.ours.push(through_the_host(&ours, number, 1)?);
            one.limit.push(without_a_host(&bench.places, 1)?);
        }
        ours.program.rest()?;
        let before = ours.program.memory()? as f64;
        all.ours.push(through_the_host(&ours, single, many)?);
        ours.program.rest()?;
        memory.ours.push((ours.program.memory()? as f64 - before) / f64::from(many));
        all.limit.push(without_a_host(&bench.places, many)?);
    }
    Ok(Findings { rows: vec![one, all, memory], ..Findings::default() })
}

/// Milliseconds until each of so many tabs, each with another agent, has got a word. The agents live on.
fn through_the_host(ours: &Subject, first: u32, count: u32) -> Result<f64> {
    let mut crowd = ours.views(usize::try_from(count)?)?;
    let start = Instant::now();
    for (view, number) in (first..first + count).enumerate() {
        let tab = another_agent(number);
        crowd.say(view, &json!({"type": "new-tab", "tabId": tab, "agent": tab}).to_string())?;
        let prompt = json!({"type": "prompt", "tabId": tab, "messageId": "m1", "text": "flat 1"});
        crowd.say(view, &prompt.to_string())?;
    }
    crowd.read_chunks(1, Times::Ignored, PATIENCE)?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// The same with nothing in between.
fn without_a_host(places: &Places, count: u32) -> Result<f64> {
    let start = Instant::now();
    let mut agents = (0..count).map(|_| Agent::start(places)).collect::<Result<Vec<_>>>()?;
    let new_session = json!({"type": "new-session", "requestId": "r", "cwd": "/"});
    agents.iter_mut().try_for_each(|agent| agent.say(&new_session))?;
    for agent in &mut agents {
        let session = agent.hear("session-created")?["sessionId"].clone();
        agent.say(&json!({"type": "process-prompt", "sessionId": session, "messageId": "m1", "text": "flat 1"}))?;
    }
    agents.iter_mut().try_for_each(|agent| agent.hear("response-chunk").map(drop))?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// The bench's agent with its pipes.
struct Agent {
    child: Child,
    says: BufReader<std::process::ChildStdout>,
}

impl Agent {
    fn start(places: &Places) -> Result<Self> {
        let mut command = Command::new(places.program("bench-agent"));
        let mut child = command.arg("plain").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let says = BufReader::new(child.stdout.take().context("no standard output")?);
        Ok(Self { child, says })
    }

    fn say(&mut self, line: &Value) -> Result<()> {
        let stdin = self.child.stdin.as_mut().context("no standard input")?;
        Ok(stdin.write_all(format!("{line}\n").as_bytes())?)
    }

    fn hear(&mut self, kind: &str) -> Result<Value> {
        let mut line = String::new();
        self.says.read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line)?;
        if said["type"] != kind {
            bail!("the agent said {said} where `{kind}` was to come");
        }
        Ok(said)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It ends when nobody speaks to it any more.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
