//! What holds after all files are read. Knows nothing of TOML.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use switchboard_types::{AgentName, Settings};
use thiserror::Error;
use toml::Spanned;

use super::agent;
use super::file::{DurabilityWord, File};
use super::paths::Asked;
use super::place::{ConfigError, Source};
use super::policy::{Tables, ToolPolicy};
use super::values;
use crate::agents::spec::this_program;
use crate::agents::{AgentSpec, WantedBy};

/// The workspace's file, within its folder.
pub const WORKSPACE_FILE: &str = ".switchboard/config.toml";
/// A configuration is written by hand.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;
/// A day; whoever waits longer for a word does not wait.
const MAX_STALL_SECONDS: u64 = 86_400;
/// Some three years.
const MAX_IDLE_MINUTES: u64 = 1_576_800;
/// What a workspace must not set, and why.
const USERS_OWN: &str = "only the user's own file may set this; it is about the host as a whole";

/// How much a commit survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Power loss.
    #[default]
    Full,
    /// The death of the host, but not of the machine.
    Normal,
}

/// How long an agent may take to open its first session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Startup {
    /// After this many milliseconds the person is told that it takes long.
    pub slow_ms: u64,
    /// After this many it is given up.
    pub timeout_ms: u64,
}

impl Default for Startup {
    fn default() -> Self {
        Self { slow_ms: 10_000, timeout_ms: 30_000 }
    }
}

/// How long an agent may be still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stillness {
    /// After so many milliseconds of a turn without a word the person is told.
    pub stall_ms: u64,
    /// After so many without a turn its process is unloaded; none if it never is.
    pub idle_ms: Option<u64>,
}

impl Default for Stillness {
    fn default() -> Self {
        Self { stall_ms: 40_000, idle_ms: Some(30 * 60_000) }
    }
}

/// Who else may talk to the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// Origins besides our own.
    pub allowed_origins: Vec<String>,
    /// Hosts besides our own.
    pub allowed_hosts: Vec<String>,
}

/// Why an agent cannot be had; its text goes out with the code `agent_unavailable`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AgentUnavailable {
    /// Nobody configured it.
    #[error("there is no agent `{name}` in the configuration; it has: {known}")]
    Unknown {
        /// Who was asked for.
        name: AgentName,
        /// Who is there.
        known: String,
    },
}

/// The configuration as it holds for one workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// How much a commit survives.
    pub durability: Durability,
    /// How long an agent may take to start.
    pub startup: Startup,
    /// How long an agent may be still.
    pub stillness: Stillness,
    /// Who else may talk to the host.
    pub server: Server,
    /// What holds for tools.
    pub tools: ToolPolicy,
    /// What people set at a view, as the user's own file has it.
    pub settings: Settings,
    /// The same as the workspace's file has it.
    pub workspace_settings: Settings,
    /// What a workspace's file wants and may not have; each for a person.
    pub left_out: Vec<String>,
    default_agent: Option<AgentName>,
    agents: BTreeMap<AgentName, AgentSpec>,
    demo: PathBuf,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            startup: Startup::default(),
            stillness: Stillness::default(),
            server: Server::default(),
            tools: ToolPolicy::default(),
            settings: Settings::default(),
            workspace_settings: Settings::default(),
            left_out: Vec::new(),
            default_agent: None,
            agents: BTreeMap::new(),
            demo: this_program(),
        }
    }
}

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    User,
    Workspace,
}

impl Config {
    /// Reads the user's file; see [`super::user_file`].
    pub fn read(file: Option<(PathBuf, Asked)>) -> Result<Self, ConfigError> {
        let config = Self::default();
        match file {
            Some((file, asked)) => config.overlaid(&file, asked, Owner::User),
            None => Ok(config),
        }
    }

    /// The same with the file of a workspace on top. Only for a trusted workspace: the file names programs to run.
    pub fn in_trusted_workspace(&self, root: &Path) -> Result<Self, ConfigError> {
        self.clone().overlaid(&root.join(WORKSPACE_FILE), Asked::AsUsual, Owner::Workspace)
    }

    /// The same with another default agent, which must exist.
    pub fn with_default_agent(self, name: AgentName) -> Result<Self, ConfigError> {
        if !name.is_demo() && !self.agents.contains_key(&name) {
            return Err(ConfigError::NoSuchAgent(name.to_string(), self.known()));
        }
        Ok(Self { default_agent: Some(name), ..self })
    }

    /// What people have set, as it holds here.
    #[must_use]
    pub fn effective_settings(&self) -> Settings {
        self.workspace_settings.over(&self.settings)
    }

    /// Who works when nobody is named.
    #[must_use]
    pub fn default_agent(&self) -> AgentName {
        self.default_agent.clone().unwrap_or_else(|| AgentName::from(AgentName::DEMO))
    }

    /// All agents, the demo first.
    pub fn agents(&self) -> impl Iterator<Item = AgentSpec> {
        std::iter::once(AgentSpec::demo(&self.demo)).chain(self.agents.values().cloned())
    }

    /// The agent of this name.
    pub fn agent(&self, name: &AgentName) -> Result<AgentSpec, AgentUnavailable> {
        if name.is_demo() {
            return Ok(AgentSpec::demo(&self.demo));
        }
        let unknown = || AgentUnavailable::Unknown { name: name.clone(), known: self.known() };
        self.agents.get(name).cloned().ok_or_else(unknown)
    }

    fn known(&self) -> String {
        let names: Vec<_> = self.agents().map(|spec| format!("`{}`", spec.name)).collect();
        names.join(", ")
    }

    fn overlaid(self, file: &Path, asked: Asked, owner: Owner) -> Result<Self, ConfigError> {
        let unreadable = |source| ConfigError::Unreadable { file: file.to_owned(), source };
        let text = match text_of(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && asked == Asked::AsUsual => return Ok(self),
            Err(error) => return Err(unreadable(error)),
        };
        self.understood(Source { file, text: &text }, owner)
    }

    /// Whether the user has set anything up: an agent, a default, or what people set at a view.
    #[must_use]
    pub fn is_set_up(&self) -> bool {
        let anybody = !self.agents.is_empty() || self.default_agent.is_some();
        anybody || self.settings != Settings::default() || self.workspace_settings != Settings::default()
    }

    /// What the text of a file means on top of this.
    pub(super) fn understood(self, source: Source<'_>, owner: Owner) -> Result<Self, ConfigError> {
        let parsed: File = toml::from_str(source.text).map_err(|error| source.toml_error(&error))?;
        self.merged(source, parsed, owner)
    }

    /// The agent of this name as it is configured, whether it can run or not; the demo is none.
    #[must_use]
    pub fn configured(&self, name: &AgentName) -> Option<&AgentSpec> {
        self.agents.get(name)
    }

    fn merged(mut self, source: Source<'_>, file: File, owner: Owner) -> Result<Self, ConfigError> {
        if owner == Owner::Workspace {
            refuse_users_own(source, &file)?;
        }
        self.set_startup(source, file.startup_slow_ms.as_ref(), file.startup_timeout_ms.as_ref())?;
        self.set_stillness(source, file.stall_seconds.as_ref(), file.idle_unload_minutes.as_ref())?;
        if let Some(word) = file.durability {
            self.durability = match word.into_inner() {
                DurabilityWord::Full => Durability::Full,
                DurabilityWord::Normal => Durability::Normal,
            };
        }
        if let Some(server) = file.server {
            let server = server.into_inner();
            self.server.allowed_origins = origins(source, server.allowed_origins)?;
            self.server.allowed_hosts = server.allowed_hosts.into_iter().map(Spanned::into_inner).collect();
        }
        let tables = Tables { containment: file.containment, approvals: file.approvals, edits: file.edits };
        match owner {
            Owner::User => self.tools.set(source, tables)?,
            Owner::Workspace => self.left_out.extend(self.tools.tighten(source, tables)?),
        }
        let settings = values::read(source, file.settings)?;
        match owner {
            Owner::User => {
                let sensitive_file_patterns = self.tools.users_patterns();
                self.settings = Settings { sensitive_file_patterns, ..settings };
            }
            Owner::Workspace => {
                let sensitive_file_patterns = self.tools.workspaces_patterns();
                self.workspace_settings = Settings { sensitive_file_patterns, ..settings };
            }
        }
        for (name, table) in file.agents {
            let by = match owner {
                Owner::User => WantedBy::User,
                Owner::Workspace => WantedBy::Workspace,
            };
            let spec = agent::read(source, by, &name, table)?;
            self.agents.insert(spec.name.clone(), spec);
        }
        if let Some(name) = file.default_agent {
            let chosen = AgentName::new(name.get_ref().as_str());
            self = self.with_default_agent(chosen).map_err(|error| source.wrong(name.span(), error.to_string()))?;
        }
        Ok(self)
    }

    fn set_startup(
        &mut self,
        source: Source<'_>,
        slow: Option<&Spanned<u64>>,
        timeout: Option<&Spanned<u64>>,
    ) -> Result<(), ConfigError> {
        let startup = Startup {
            slow_ms: slow.map_or(self.startup.slow_ms, |slow| *slow.get_ref()),
            timeout_ms: timeout.map_or(self.startup.timeout_ms, |timeout| *timeout.get_ref()),
        };
        if startup.timeout_ms <= startup.slow_ms {
            let span = timeout.or(slow).map(Spanned::span).unwrap_or_default();
            let message = format!(
                "`startup_timeout_ms` ({}) must be more than `startup_slow_ms` ({})",
                startup.timeout_ms, startup.slow_ms
            );
            return Err(source.wrong(span, message));
        }
        self.startup = startup;
        Ok(())
    }

    fn set_stillness(
        &mut self,
        source: Source<'_>,
        stall: Option<&Spanned<u64>>,
        idle: Option<&Spanned<u64>>,
    ) -> Result<(), ConfigError> {
        if let Some(seconds) = stall {
            if !(1..=MAX_STALL_SECONDS).contains(seconds.get_ref()) {
                let message = format!("`stall_seconds` is a number from 1 to {MAX_STALL_SECONDS}");
                return Err(source.wrong(seconds.span(), message));
            }
            self.stillness.stall_ms = seconds.get_ref() * 1000;
        }
        if let Some(minutes) = idle {
            if *minutes.get_ref() > MAX_IDLE_MINUTES {
                let message = format!("`idle_unload_minutes` is a number up to {MAX_IDLE_MINUTES}; 0 means never");
                return Err(source.wrong(minutes.span(), message));
            }
            self.stillness.idle_ms = Some(minutes.get_ref() * 60_000).filter(|idle| *idle > 0);
        }
        Ok(())
    }
}

/// A file's whole text, within bounds.
pub(super) fn text_of(file: &Path) -> io::Result<String> {
    // A pipe or a device in the file's place must not hold up the host.
    let file = fs::OpenOptions::new().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(file)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    file.take(MAX_CONFIG_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_CONFIG_BYTES {
        return Err(io::Error::other(format!("it is larger than {MAX_CONFIG_BYTES} bytes")));
    }
    Ok(text)
}

fn refuse_users_own(source: Source<'_>, file: &File) -> Result<(), ConfigError> {
    let spans = [
        file.server.as_ref().map(Spanned::span),
        file.durability.as_ref().map(Spanned::span),
        file.startup_slow_ms.as_ref().map(Spanned::span),
        file.startup_timeout_ms.as_ref().map(Spanned::span),
        file.stall_seconds.as_ref().map(Spanned::span),
        file.idle_unload_minutes.as_ref().map(Spanned::span),
        file.approvals.as_ref().map(Spanned::span),
    ];
    match spans.into_iter().flatten().next() {
        Some(span) => Err(source.wrong(span, USERS_OWN)),
        None => Ok(()),
    }
}

/// Origins are compared letter by letter later, so anything that no browser would send is an error now.
fn origins(source: Source<'_>, origins: Vec<Spanned<String>>) -> Result<Vec<String>, ConfigError> {
    let check = |origin: Spanned<String>| {
        let text = origin.get_ref();
        let host = text.split_once("://").map(|(_, host)| host);
        let is_origin = host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '*', '@', ' ']));
        if !is_origin {
            let message = "an origin is SCHEME://HOST[:PORT], without a path or a wildcard";
            return Err(source.wrong(origin.span(), message));
        }
        Ok(origin.into_inner())
    };
    origins.into_iter().map(check).collect()
}
