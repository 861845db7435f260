//! `tools list`: what can be called, by name.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::talk::{Answer, Heard, Talk};
use crate::cli::args::{Cli, Format};
use crate::cli::exit::{Exit, Failure};
use crate::cli::print::{self, Table};
use crate::cli::stop::Signals;

/// How long a host that has just started may take to know its tools.
const PATIENCE: Duration = Duration::from_secs(20);
/// From try to try.
pub(super) const BETWEEN: Duration = Duration::from_millis(50);

pub(super) async fn run(cli: &Cli, mut talk: Talk, signals: &mut Signals) -> Result<(), Failure> {
    let tools = tokio::select! {
        tools = all(&mut talk) => tools?,
        _ = signals.next() => return Err(Failure::new(Exit::Interrupted, "interrupted")),
    };
    talk.close().await;
    match cli.format() {
        Format::Json => tools.iter().for_each(print::json),
        Format::Words => in_words(&tools),
    }
    Ok(())
}

async fn all(talk: &mut Talk) -> Result<Vec<Value>, Failure> {
    let began = Instant::now();
    loop {
        talk.ask("tools", "GET_TOOLS", json!({})).await?;
        match answer(talk, "tools").await? {
            Answer { tools: Some(tools), .. } => return Ok(tools),
            Answer { error: Some(error), .. } if error.is_early() && began.elapsed() < PATIENCE => {
                tokio::time::sleep(BETWEEN).await;
            }
            Answer { error: Some(error), .. } => return Err(error.failure()),
            Answer { .. } => return Err(Failure::failed("the host's answer is not understood")),
        }
    }
}

async fn answer(talk: &mut Talk, wanted: &str) -> Result<Answer, Failure> {
    loop {
        match talk.hear().await? {
            Heard::Answer { request, answer } if request == wanted => return Ok(*answer),
            Heard::Answer { .. } | Heard::Question { .. } | Heard::Nothing => {}
        }
    }
}

fn in_words(tools: &[Value]) {
    let mut table = Table::new(["NAME", "TYPE", "WHAT IT DOES"]);
    for tool in tools {
        let kind = tool["type"].as_str().unwrap_or_default();
        let named = &tool[kind];
        let name = named["name"].as_str().unwrap_or(kind);
        let about = named["description"].as_str().unwrap_or_default();
        // The first sentence is for people, the rest for models.
        let first = about.lines().next().unwrap_or_default();
        table.row([name, kind, first.split_once(". ").map_or(first, |(first, _)| first)]);
    }
    table.print();
}
