//! What an agent is: its kind, its command, its environment. Plain data; the configuration makes it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub use switchboard_types::ProcessPer;
use switchboard_types::{AgentHome, AgentInfo, AgentName};

/// An agent that can be asked for by name.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentSpec {
    /// Its name in the configuration.
    pub name: AgentName,
    /// What it is.
    pub kind: AgentKind,
}

/// What sort of agent it is, with what that sort needs.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentKind {
    /// A process that speaks `plain`.
    Plain(ProcessSpec),
    /// A process that speaks ACP.
    Acp(ProcessSpec),
    /// A process that speaks `apex`.
    Apex {
        /// The process.
        process: ProcessSpec,
        /// Goes out as `initialConfig`.
        config: serde_json::Value,
    },
    /// A service behind HTTP and SSE.
    Engine {
        /// Where it is.
        url: String,
        /// Sent as bearer, to this origin only.
        secret: Option<SecretName>,
        /// Its own configuration for new sessions, by its path there.
        config_path: Option<String>,
        /// The folder there in which new sessions work.
        workspace: Option<String>,
    },
    /// The built-in agent over a model's server.
    Model {
        /// Where the server is.
        base_url: String,
        /// Which model.
        model: String,
        /// Sent as bearer, to this origin only.
        secret: Option<SecretName>,
        /// What people have set for it; it is told at its start and when it changes.
        settings: serde_json::Value,
    },
}

impl AgentKind {
    /// The kind's word in the configuration.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Plain(_) => "plain",
            Self::Acp(_) => "acp",
            Self::Apex { .. } => "apex",
            Self::Engine { .. } => "engine",
            Self::Model { .. } => "model",
        }
    }

    /// Where it works.
    #[must_use]
    pub fn home(&self) -> AgentHome {
        match self {
            Self::Plain(_) | Self::Acp(_) | Self::Apex { .. } | Self::Model { .. } => AgentHome::Here,
            Self::Engine { .. } => AgentHome::Elsewhere,
        }
    }

    /// The process that the configuration names, for the kinds that have one there.
    #[must_use]
    pub fn process(&self) -> Option<&ProcessSpec> {
        match self {
            Self::Plain(process) | Self::Acp(process) | Self::Apex { process, .. } => Some(process),
            Self::Engine { .. } | Self::Model { .. } => None,
        }
    }
}

/// A process to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSpec {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// Variables set for it.
    pub env: BTreeMap<String, EnvValue>,
    /// Names passed on from the host's own environment.
    pub inherit: Vec<String>,
    /// How many sessions share one process.
    pub per: ProcessPer,
    /// Whether all that goes over its pipes is kept, to be looked at.
    pub record: bool,
}

impl ProcessSpec {
    /// A command with nothing else set, one process for all sessions.
    pub fn new(command: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            inherit: Vec::new(),
            per: ProcessPer::Shared,
            record: false,
        }
    }
}

/// The name of a stored secret; not the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretName {
    /// What it is stored as.
    pub name: String,
    /// Who wants it.
    pub by: WantedBy,
}

impl SecretName {
    /// One that the user's own configuration names.
    pub fn of_user(name: impl Into<String>) -> Self {
        Self { name: name.into(), by: WantedBy::User }
    }
}

/// Whose configuration names a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedBy {
    /// The user's own.
    User,
    /// A workspace's, which somebody else may have written.
    Workspace,
}

/// The value of a variable.
#[derive(Clone, PartialEq, Eq)]
pub enum EnvValue {
    /// As it stands in the configuration.
    Plain(String),
    /// To be taken from the store of secrets.
    Secret(SecretName),
    /// The same, of a secret that is bound to an origin, for a child that sends it nowhere else.
    Token(Token),
}

/// A secret for one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Which secret.
    pub secret: SecretName,
    /// Where it may be sent.
    pub origin: String,
    /// Whether the child can start without it.
    pub need: Need,
}

/// Whether something must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Without it there is no start.
    Must,
    /// It is given if it is there.
    May,
}

impl fmt::Debug for EnvValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // People put keys in here too, whatever the document says.
            Self::Plain(_) => f.write_str("Plain(…)"),
            Self::Secret(name) => f.debug_tuple("Secret").field(name).finish(),
            Self::Token(token) => f.debug_tuple("Token").field(token).finish(),
        }
    }
}

impl AgentSpec {
    /// What the core and views know of it.
    #[must_use]
    pub fn info(&self) -> AgentInfo {
        let process = match &self.kind {
            AgentKind::Model { .. } => ProcessPer::Session,
            AgentKind::Plain(process) | AgentKind::Acp(process) | AgentKind::Apex { process, .. } => process.per,
            AgentKind::Engine { .. } => ProcessPer::Shared,
        };
        AgentInfo { name: self.name.clone(), kind: self.kind.word().to_owned(), process, home: self.kind.home() }
    }

    /// The built-in demo agent: this very program under another command.
    #[must_use]
    pub fn demo(program: &Path) -> Self {
        let command = [program.to_string_lossy().into_owned(), "demo-agent".to_owned()];
        Self { name: AgentName::from(AgentName::DEMO), kind: AgentKind::Plain(ProcessSpec::new(command)) }
    }
}

/// The file of this program, also when it was replaced by a newer one while it runs.
#[must_use]
pub fn this_program() -> PathBuf {
    match std::env::current_exe() {
        Ok(path) if path.exists() => path,
        Ok(_) | Err(_) => PathBuf::from("/proc/self/exe"),
    }
}
