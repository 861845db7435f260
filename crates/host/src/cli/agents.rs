//! `agents list`: who is configured for a workspace, and whether each may start there. Starts none.

use std::path::Path;

use serde::Serialize;
use switchboard_types::{AgentName, WorkspaceRoot};

use super::args::{AgentsCommand, Cli, Format};
use super::exit::Failure;
use super::print::{self, Table};
use super::reach::Reach;
use crate::agents::{AgentKind, AgentSpec, unsupported};
use crate::config::{Config, WORKSPACE_FILE, user_file};

/// What is configured for one workspace.
pub(super) struct Configured {
    /// The workspace.
    pub(super) root: WorkspaceRoot,
    /// Whether a person trusts it.
    pub(super) trusted: bool,
    /// The user's own configuration.
    pub(super) user: Config,
    /// The same with the workspace's file on top, if it counts.
    pub(super) merged: Config,
}

impl Configured {
    /// Reads the files that count. The workspace's is not even read before it is trusted.
    pub(super) fn read(user: Config, root: WorkspaceRoot, trusted: bool) -> Result<Self, Failure> {
        let merged = if trusted { user.in_trusted_workspace(Path::new(root.as_str()))? } else { user.clone() };
        Ok(Self { root, trusted, user, merged })
    }

    /// All agents, the demo first.
    pub(super) fn agents(&self, cli: &Cli) -> Vec<Listed> {
        let default = self.merged.default_agent();
        let list = |spec: AgentSpec| {
            let blocked = match (spec.name.is_demo(), self.trusted) {
                (true, _) => None,
                (false, false) => Some("the workspace is not trusted; see `switchboard trust`".to_owned()),
                (false, true) => unsupported(&spec),
            };
            Listed { default: spec.name == default, from: self.origin(cli, &spec), blocked, spec }
        };
        self.merged.agents().map(list).collect()
    }

    fn origin(&self, cli: &Cli, spec: &AgentSpec) -> String {
        if spec.name.is_demo() {
            return "built in".to_owned();
        }
        if self.user.agents().any(|own| own == *spec) {
            let file = user_file(cli.flags.config.as_deref()).map(|(file, _)| file.display().to_string());
            return file.unwrap_or_default();
        }
        self.file().display().to_string()
    }

    /// The workspace's own file.
    pub(super) fn file(&self) -> std::path::PathBuf {
        Path::new(self.root.as_str()).join(WORKSPACE_FILE)
    }
}

/// An agent in the list.
pub(super) struct Listed {
    pub(super) spec: AgentSpec,
    default: bool,
    from: String,
    /// Why it may not start here; none if it may.
    pub(super) blocked: Option<String>,
}

impl Listed {
    /// What it is, in one line.
    fn what(&self) -> String {
        match &self.spec.kind {
            AgentKind::Plain(process) | AgentKind::Acp(process) | AgentKind::Apex { process, .. } => {
                process.command.join(" ")
            }
            AgentKind::Engine { url, .. } => url.clone(),
            AgentKind::Model { base_url, model, .. } => format!("{model} at {base_url}"),
        }
    }

    fn entry(&self) -> Entry<'_> {
        let (url, model) = match &self.spec.kind {
            AgentKind::Plain(_) | AgentKind::Acp(_) | AgentKind::Apex { .. } => (None, None),
            AgentKind::Engine { url, .. } => (Some(url.as_str()), None),
            AgentKind::Model { base_url, model, .. } => (Some(base_url.as_str()), Some(model.as_str())),
        };
        Entry {
            name: &self.spec.name,
            kind: self.spec.kind.word(),
            command: self.spec.kind.process().map(|process| process.command.as_slice()),
            url,
            model,
            from: &self.from,
            default: self.default,
            may_start: self.blocked.is_none(),
            why: self.blocked.as_deref(),
        }
    }
}

/// An agent for programs.
#[derive(Serialize)]
struct Entry<'a> {
    name: &'a AgentName,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    from: &'a str,
    default: bool,
    may_start: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

/// Does what was asked.
pub(super) async fn run(cli: &Cli, command: &AgentsCommand) -> Result<(), Failure> {
    match command {
        AgentsCommand::List => list(cli).await,
    }
}

async fn list(cli: &Cli) -> Result<(), Failure> {
    let (user, root) = (cli.config()?, cli.workspace(None)?);
    let trusted = Reach::find(&cli.folder()?).await?.trusts(&root).await?;
    let configured = Configured::read(user, root, trusted)?;
    let agents = configured.agents(cli);
    if cli.format() == Format::Json {
        agents.iter().for_each(|agent| print::json(&agent.entry()));
        return Ok(());
    }
    let mut table = Table::new(["NAME", "KIND", "STARTS HERE", "FROM", "COMMAND OR ADDRESS"]);
    for agent in &agents {
        let name = format!("{}{}", agent.spec.name, if agent.default { " (default)" } else { "" });
        let starts = if agent.blocked.is_none() { "yes" } else { "no" };
        table.row([&name, agent.spec.kind.word(), starts, &agent.from, &agent.what()]);
    }
    table.print();
    let mut reasons: Vec<&str> = agents.iter().filter_map(|agent| agent.blocked.as_deref()).collect();
    reasons.dedup();
    reasons.iter().for_each(|why| print::words(&format!("Not started: {why}.")));
    if !trusted && configured.file().exists() {
        print::words(&format!(
            "{} does not count until you trust the folder: `switchboard trust`.",
            configured.file().display()
        ));
    }
    Ok(())
}
