//! Our own agent through the host with llama.cpp's server behind it, which serves a tiny model of random weights that is made
//! here. What the model says means nothing, so nothing is asked of it but that it streams.

mod server;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use self::server::{Kit, Server, Way, free_port, status};
use super::{Other, note};
use crate::host::{Place, memory_of};
use crate::run::{Options, end};
use crate::trial::{Outcome, ended, failed, passed, short};
use crate::view::{Answer, TAB, View};

/// The server as a Python package, and what writes its models.
pub(super) const PACKAGES: &[&str] = &["xllamacpp==2026.10.11549", "gguf==0.19.0"];

/// How long a turn may take, retries and their waiting included.
const TURN: Duration = Duration::from_secs(150);
/// How long a cancelled turn may take to end.
const CANCEL: Duration = Duration::from_secs(10);
/// Prompts within which chance must have had it.
const ENOUGH: usize = 6;

struct Stage<'a> {
    kit: &'a Kit,
    port: u16,
    place: &'a Place,
    view: View,
    server: Option<Server>,
}

pub(super) async fn tries(options: &Options) -> Result<Vec<(&'static str, Outcome)>> {
    let kit = Kit::ready(&options.cache, PACKAGES).await.context("llama.cpp's server cannot be installed")?;
    let place = Place::new(&options.folder.join(Other::Llama.name()), &options.program)?;
    let port = free_port()?;
    place.configure_as(&format!(
        "default_agent = \"tiny\"\n\n[agents.tiny]\nkind = \"model\"\nbase_url = \"http://127.0.0.1:{port}\"\nmodel = \"tiny\"\n\n\
         [settings]\nmax_iterations = 3\n"
    ))?;
    let host = place.serve().await?;
    let view = View::open(&host, &place.folder().join("view.jsonl")).await?;
    let mut stage = Stage { kit: &kit, port, place: &place, view, server: None };
    let mut outcomes = Vec::new();
    let other = Other::Llama;
    note(other, &mut outcomes, "loading", stage.loading().await);
    let megabytes: u64 = host.agents().into_iter().map(memory_of).sum();
    note(other, &mut outcomes, "answer", stage.answers().await);
    note(other, &mut outcomes, "usage", stage.usage().await);
    note(other, &mut outcomes, "tool calls", stage.calls().await);
    note(other, &mut outcomes, "cancel", stage.cancel().await);
    note(other, &mut outcomes, "killed server", stage.killed().await);
    note(other, &mut outcomes, "no server", stage.nobody().await);
    note(other, &mut outcomes, "server again", stage.again().await);
    outcomes.push(("memory", passed(format!("{megabytes} MB"))));
    drop(stage);
    note(other, &mut outcomes, "end", Ok(end(host).await));
    Ok(outcomes)
}

impl Stage<'_> {
    /// Puts another server in the place of the one that runs.
    async fn serve(&mut self, way: Way) -> Result<()> {
        if let Some(server) = self.server.take() {
            server.kill().await?;
        }
        let log = self.place.folder().join(format!("server-{}.log", way.word()));
        self.server = Some(Server::start(self.kit, way, self.port, &log)?);
        Ok(())
    }

    async fn serve_ready(&mut self, way: Way) -> Result<()> {
        self.serve(way).await?;
        server::until(self.port, 200).await
    }

    /// The first prompt comes while the server still loads and answers 503 to everything.
    async fn loading(&mut self) -> Result<Outcome> {
        self.serve(Way::Slow).await?;
        server::until(self.port, 503).await?;
        let began = Instant::now();
        self.view.say(json!({"type": "new-tab", "tabId": TAB, "agent": "tiny"})).await?;
        let name = self.view.prompt("hello").await?;
        self.view.until(TURN, |view| view.read(&name).end.is_some()).await;
        let turn = self.view.read(&name);
        let took = began.elapsed();
        let was_told = self.log().await?.iter().any(|event| event.to_string().contains("Asking again"));
        Ok(match ended(&turn, "completed") {
            Err(why) => failed(why),
            Ok(()) if !was_told => failed("it was never told to wait"),
            Ok(()) if turn.text.is_empty() => failed("no text"),
            Ok(()) => passed(format!("waited, answered after {:.1} s", took.as_secs_f64())),
        })
    }

    async fn answers(&mut self) -> Result<Outcome> {
        let mut chunks = 0;
        for _ in 0..ENOUGH {
            let before = self.view.count("response-chunk");
            let turn = self.view.turn("and again", TURN).await?;
            if let Err(why) = ended(&turn, "completed") {
                // A model that says nothing twice is no fault of anybody.
                if !why.contains("answered nothing") {
                    return Ok(failed(why));
                }
            }
            chunks = chunks.max(self.view.count("response-chunk") - before);
            if chunks > 1 {
                return Ok(passed(format!("{chunks} pieces")));
            }
        }
        Ok(failed(format!("{chunks} pieces at most in {ENOUGH} answers")))
    }

    /// The session's log.
    async fn log(&self) -> Result<Vec<Value>> {
        let out = self.place.command(&["sessions", "export", "1"]).output().await?;
        let log = String::from_utf8_lossy(&out.stdout).into_owned();
        Ok(log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// What the server counts is in the log.
    async fn usage(&mut self) -> Result<Outcome> {
        let log = self.log().await?;
        let counted = log.iter().rev().map(|event| &event["body"]).find(|body| body["type"] == "usage");
        Ok(match counted.and_then(|body| Some((body["used"].as_u64()?, body["size"].as_u64()?))) {
            Some((used, size)) if used > 0 => passed(format!("{used} of {size} tokens")),
            other => failed(format!("counted {other:?}")),
        })
    }

    /// A model that leans to calling tools calls some, with whatever comes to its mind; the person allows nothing.
    async fn calls(&mut self) -> Result<Outcome> {
        self.serve_ready(Way::Calls).await?;
        self.view.answer = Answer::Deny;
        let mut shown = 0;
        let mut ends = Vec::new();
        for _ in 0..ENOUGH {
            let turn = self.view.turn("do something", TURN).await?;
            let Some((reason, _)) = &turn.end else { return Ok(failed("no end")) };
            ends.push(reason.clone());
            let open = |tool: &&Value| tool["status"] != "completed" && tool["status"] != "failed";
            if let Some(open) = turn.tools.values().find(open) {
                return Ok(failed(format!("a call was left open: {}", short(&open.to_string()))));
            }
            shown += turn.tools.len();
        }
        self.view.answer = Answer::Allow;
        Ok(if shown == 0 { failed("no call") } else { passed(format!("{shown} calls in {ENOUGH} turns")) })
    }

    async fn cancel(&mut self) -> Result<Outcome> {
        self.serve_ready(Way::Talks).await?;
        let name = self.view.prompt("tell me a lot").await?;
        if !self.view.until(TURN, |view| view.read(&name).text.len() > 50).await {
            return Ok(failed("no text before the cancel"));
        }
        let began = Instant::now();
        self.view.say(json!({"type": "cancel", "tabId": TAB, "messageId": name})).await?;
        self.view.until(CANCEL, |view| view.read(&name).end.is_some()).await;
        let took = began.elapsed();
        if let Err(why) = ended(&self.view.read(&name), "cancelled") {
            return Ok(failed(why));
        }
        let Some(server) = &self.server else { return Ok(failed("no server")) };
        Ok(match server.says("cancel task", CANCEL).await {
            true => passed(format!("{:.2} s, and the server stops", took.as_secs_f64())),
            false => failed("the server goes on"),
        })
    }

    /// The server dies in the middle of an answer.
    async fn killed(&mut self) -> Result<Outcome> {
        self.serve_ready(Way::Talks).await?;
        let name = self.view.prompt("tell me a lot").await?;
        if !self.view.until(TURN, |view| view.read(&name).text.len() > 50).await {
            return Ok(failed("no text before the kill"));
        }
        if let Some(server) = self.server.take() {
            server.kill().await?;
        }
        self.view.until(TURN, |view| view.read(&name).end.is_some()).await;
        Ok(self.failed_in_words(&name))
    }

    async fn nobody(&mut self) -> Result<Outcome> {
        let name = self.view.prompt("hello?").await?;
        self.view.until(TURN, |view| view.read(&name).end.is_some()).await;
        Ok(self.failed_in_words(&name))
    }

    /// The person reads where nobody answers.
    fn failed_in_words(&self, prompt: &str) -> Outcome {
        let turn = self.view.read(prompt);
        match &turn.end {
            Some((reason, words)) if reason == "failed" && words.contains(&self.port.to_string()) => {
                passed(format!("“{}”", short(words).replace(&self.port.to_string(), "PORT")))
            }
            Some((reason, words)) => failed(format!("ended {reason}: {}", short(words))),
            None => failed("no end"),
        }
    }

    async fn again(&mut self) -> Result<Outcome> {
        self.serve_ready(Way::Slow).await?;
        let (before, began) = (self.view.count("response-chunk"), Instant::now());
        for _ in 0..ENOUGH {
            let turn = self.view.turn("hello again", TURN).await?;
            if ended(&turn, "completed").is_ok() && self.view.count("response-chunk") > before {
                return Ok(passed(""));
            }
        }
        let now = status(self.port).await;
        Ok(failed(format!("nothing in {:.0} s; the server says {now:?}", began.elapsed().as_secs_f64())))
    }
}
