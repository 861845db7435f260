//! `agents list`: who is configured for a workspace, and which well-known agents could be. Starts none.

use serde::Serialize;
use serde_json::{Value, json};
use switchboard_types::{AgentName, ModelServer};

use super::configured::{Configured, Listed};
use super::model;
use crate::agents::known::{self, Found, Nearness};
use crate::cli::args::{Cli, Format};
use crate::cli::exit::Failure;
use crate::cli::print::{self, Table};
use crate::cli::reach::Reach;

/// Why an agent that is not configured does not start.
const WHY: &str = "it is not configured; see `switchboard agents add`";
/// Models that are named in a line.
const MAX_NAMED: usize = 12;

/// A well-known agent that is not configured, for programs.
#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    title: &'a str,
    kind: &'static str,
    command: &'a [String],
    default: bool,
    may_start: bool,
    why: &'static str,
    known: bool,
    installed: bool,
    /// How near it is, in one word.
    state: &'static str,
    install: &'a str,
    sign_in: &'a str,
    configured: bool,
}

/// Lists them.
pub(super) async fn run(cli: &Cli) -> Result<(), Failure> {
    let (user, root) = (cli.config()?, cli.workspace(None)?);
    let trusted = Reach::find(&cli.folder()?).await?.trusts(&root).await?;
    let configured = Configured::read(user, root, trusted)?;
    let agents = configured.agents(cli);
    let is_configured = |name: &str| agents.iter().any(|agent| agent.spec.name.as_str() == name);
    let mut others = known::look();
    others.retain(|found| !is_configured(found.known.name));
    let ollama = if is_configured(model::OLLAMA) { None } else { model::here().await };
    if cli.format() == Format::Json {
        agents.iter().for_each(|agent| print::json(&agent.entry()));
        others.iter().for_each(|found| print::json(&entry(found)));
        ollama.iter().for_each(|server| print::json(&served(server)));
        return Ok(());
    }
    show(&agents);
    if !trusted && configured.file().exists() {
        print::words(&format!(
            "{} does not count until you trust the folder: `switchboard trust`.",
            configured.file().display()
        ));
    }
    show_others(&others);
    ollama.iter().for_each(show_server);
    Ok(())
}

/// A model server of this machine, for programs.
fn served(ModelServer { base_url, models, .. }: &ModelServer) -> Value {
    let models: Vec<_> = models.iter().map(|model| &model.name).collect();
    json!({
        "name": model::OLLAMA, "title": "Ollama", "kind": "model", "base_url": base_url, "models": models,
        "default": false, "may_start": false, "why": WHY, "known": true, "installed": true, "state": "installed",
        "configured": false,
    })
}

fn show_server(ModelServer { base_url, models, .. }: &ModelServer) {
    let names: Vec<_> = models.iter().take(MAX_NAMED).map(|model| model.name.as_str()).collect();
    let more = if models.len() > MAX_NAMED { ", …" } else { "" };
    let has = if names.is_empty() { "no model yet".to_owned() } else { format!("{}{more}", names.join(", ")) };
    print::words(&format!(
        "Ollama answers at {base_url} with {has}; `switchboard agents add ollama --model MODEL` puts one to work."
    ));
}

fn entry(found: &Found) -> Entry<'_> {
    Entry {
        name: found.known.name,
        title: found.known.title,
        kind: "acp",
        command: &found.command,
        default: false,
        may_start: false,
        why: WHY,
        known: true,
        installed: found.nearness.is_installed(),
        state: match found.nearness {
            Nearness::Installed => "installed",
            Nearness::Adapted => "adapted",
            Nearness::Fetchable => "fetchable",
            Nearness::Absent => "absent",
        },
        install: found.known.install,
        sign_in: found.known.sign_in,
        configured: false,
    }
}

fn show(agents: &[Listed]) {
    let mut table = Table::new(["NAME", "KIND", "STARTS HERE", "FROM", "COMMAND OR ADDRESS"]);
    for agent in agents {
        let name = format!("{}{}", agent.spec.name, if agent.default { " (default)" } else { "" });
        let starts = if agent.blocked.is_none() { "yes" } else { "no" };
        table.row([&name, agent.spec.kind.word(), starts, &agent.from, &agent.what()]);
    }
    table.print();
    let mut reasons: Vec<&str> = agents.iter().filter_map(|agent| agent.blocked.as_deref()).collect();
    reasons.dedup();
    reasons.iter().for_each(|why| print::words(&format!("Not started: {why}.")));
}

fn show_others(others: &[Found]) {
    let names = |nearness: Nearness| {
        let of = others.iter().filter(|found| found.nearness == nearness);
        of.map(|found| AgentName::from(found.known.name).to_string()).collect::<Vec<_>>().join(", ")
    };
    let mut table = Table::new(["INSTALLED", "NAME FOR PEOPLE", "WOULD BE STARTED BY"]);
    let near: Vec<_> = others.iter().filter(|found| found.nearness.is_installed()).collect();
    for found in &near {
        table.row([found.known.name, found.known.title, &found.command.join(" ")]);
    }
    print::line("");
    if near.is_empty() {
        print::words("No other well-known agent is installed.");
    } else {
        table.print();
        print::words("Installed and not configured; `switchboard agents add NAME` does that.");
    }
    let fetchable = names(Nearness::Fetchable);
    if !fetchable.is_empty() {
        print::words(&format!("npx can fetch at the first start: {fetchable}."));
    }
    let absent = names(Nearness::Absent);
    if !absent.is_empty() {
        print::words(&format!("Known, and not installed: {absent}."));
    }
}
