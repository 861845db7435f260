//! Who is configured for a workspace, and whether each may start there. Starts none.

use std::path::Path;

use serde::Serialize;
use switchboard_types::{AgentName, WorkspaceRoot};

use crate::agents::{AgentKind, AgentSpec, find_program, known};
use crate::cli::args::Cli;
use crate::cli::exit::Failure;
use crate::config::{Config, WORKSPACE_FILE, user_file};

/// What is configured for one workspace.
pub(in crate::cli) struct Configured {
    /// The workspace.
    pub(in crate::cli) root: WorkspaceRoot,
    /// Whether a person trusts it.
    pub(in crate::cli) trusted: bool,
    /// The user's own configuration.
    pub(in crate::cli) user: Config,
    /// The same with the workspace's file on top, if it counts.
    pub(in crate::cli) merged: Config,
}

impl Configured {
    /// Reads the files that count. The workspace's is not even read before it is trusted.
    pub(in crate::cli) fn read(user: Config, root: WorkspaceRoot, trusted: bool) -> Result<Self, Failure> {
        let merged = if trusted { user.in_trusted_workspace(Path::new(root.as_str()))? } else { user.clone() };
        Ok(Self { root, trusted, user, merged })
    }

    /// All agents, the demo first.
    pub(in crate::cli) fn agents(&self, cli: &Cli) -> Vec<Listed> {
        let default = self.merged.default_agent();
        let list = |spec: AgentSpec| {
            let blocked = match (spec.name.is_demo(), self.trusted) {
                (true, _) | (false, true) => None,
                (false, false) => Some("the workspace is not trusted; see `switchboard trust`".to_owned()),
            };
            Listed {
                default: spec.name == default,
                from: self.origin(cli, &spec),
                installed: self.has(&spec),
                blocked,
                spec,
            }
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

    /// Whether its program is there; none for what is no program.
    fn has(&self, spec: &AgentSpec) -> Option<bool> {
        let word = spec.kind.process()?.command.first()?;
        let path = std::env::var_os("PATH");
        Some(find_program(word, Path::new(self.root.as_str()), path.as_deref()).is_ok())
    }

    /// The workspace's own file.
    pub(in crate::cli) fn file(&self) -> std::path::PathBuf {
        Path::new(self.root.as_str()).join(WORKSPACE_FILE)
    }
}

/// An agent in the list.
pub(in crate::cli) struct Listed {
    pub(in crate::cli) spec: AgentSpec,
    pub(super) default: bool,
    pub(super) from: String,
    installed: Option<bool>,
    /// Why it may not start here; none if it may.
    pub(in crate::cli) blocked: Option<String>,
}

impl Listed {
    /// What it is, in one line.
    pub(super) fn what(&self) -> String {
        match &self.spec.kind {
            AgentKind::Plain(process) | AgentKind::Acp(process) | AgentKind::Apex { process, .. } => {
                process.command.join(" ")
            }
            AgentKind::Engine { url, .. } => url.clone(),
            AgentKind::Model { base_url, model, .. } => format!("{model} at {base_url}"),
        }
    }

    pub(super) fn entry(&self) -> Entry<'_> {
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
            known: known::named(self.spec.name.as_str()).is_some(),
            installed: self.installed,
            configured: true,
        }
    }
}

/// An agent for programs.
#[derive(Serialize)]
pub(super) struct Entry<'a> {
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
    /// Whether it bears the name of a well-known agent.
    known: bool,
    /// Whether its program is there; absent for what is no program.
    #[serde(skip_serializing_if = "Option::is_none")]
    installed: Option<bool>,
    configured: bool,
}
