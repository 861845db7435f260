//! The commands and flags. Parses; does nothing.

mod sessions;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::cli::exit::Failure;
use crate::config::watch::UserConfig;
use crate::config::{Config, user_file};
use crate::folder::Folder;
use switchboard_dialects::framing::FramingKind;
use switchboard_types::{SessionId, WorkspaceRoot};

pub use sessions::{ExportFormat, RoleArg, SearchArgs, SessionsCommand};

/// Where `serve` listens unless it is told otherwise.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:7171";

/// One host between the places where people talk to coding agents and the agents. Without a command: a host for the current
/// folder, with the page opened.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, disable_help_subcommand = true)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub flags: Flags,
    /// What to do; without one: host for the current folder, with the page opened.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Flags of every command.
#[derive(Debug, Args)]
pub struct Flags {
    /// Keep all state in this folder
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Read this configuration instead of the user's usual one
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Work in this folder instead of the current one
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Print one JSON value a line
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the host alone
    Serve(ServeArgs),
    /// Print (and open) a fresh one-time link to the page
    Open,
    /// Join standard input and output to the running host, starting one if none runs
    Connect(ConnectArgs),
    /// One turn in the terminal
    Run(RunArgs),
    /// Agents: which there are; add, try and remove them
    #[command(subcommand)]
    Agents(AgentsCommand),
    /// Sessions: history without a browser
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Tools: which there are; call one
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Rules: what is allowed or denied without a question
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Show the recorded wire of a session, of its agent and of its views, message by message
    Inspect(InspectArgs),
    /// Trust a workspace: its configured agents may start
    Trust {
        /// The workspace; the current folder if absent
        dir: Option<PathBuf>,
    },
    /// Trust a workspace no longer
    Untrust {
        /// The workspace; the current folder if absent
        dir: Option<PathBuf>,
    },
    /// Secrets that agents need: store, list and remove them
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// Be the built-in agent: an ACP agent on standard input and output, over Ollama or any OpenAI-compatible server
    Agent(AgentArgs),
    /// Check the set-up, the store and the agents, and say how to mend what is wrong
    Doctor,
    /// Print the JSON Schema of every message of a dialect
    Schema {
        /// The dialect; all of them if absent
        #[arg(long, value_name = "NAME")]
        dialect: Option<String>,
    },
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Be the demo agent on standard input and output
    #[command(hide = true)]
    DemoAgent,
}

/// Flags of `serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Listen here; port 0 picks a free one, and without an address it is this machine's own
    #[arg(long, value_name = "ADDR:PORT", default_value = DEFAULT_LISTEN, value_parser = listen_address)]
    pub listen: SocketAddr,
    /// The agent that works when none is named
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Run on by itself, away from the terminal; take another port if this one is taken
    #[arg(long, hide = true)]
    pub detached: bool,
}

/// Flags of `connect`.
#[derive(Debug, Args)]
pub struct ConnectArgs {
    /// The dialect to speak
    #[arg(long, value_name = "NAME", required_unless_present = "origin")]
    pub dialect: Option<String>,
    /// How messages lie in the stream
    #[arg(long, value_enum, default_value_t = Framing::ContentLength)]
    pub framing: Framing,
    /// What a browser says when it starts its native messaging host: its extension first
    #[arg(value_name = "ORIGIN", hide = true, trailing_var_arg = true)]
    pub origin: Vec<String>,
}

/// How messages lie in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Framing {
    /// A header with the length, then the message
    ContentLength,
    /// One message a line
    Lines,
}

impl Framing {
    /// The framing that is meant.
    #[must_use]
    pub fn kind(self) -> FramingKind {
        match self {
            Self::ContentLength => FramingKind::ContentLength,
            Self::Lines => FramingKind::Lines,
        }
    }
}

/// Flags of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The agent to ask; the workspace's default if absent
    #[arg(long, value_name = "NAME", conflicts_with = "session")]
    pub agent: Option<String>,
    /// Go on with this session
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
    /// What to ask; `-`, or nothing where standard input is a pipe or a file, reads it from there
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
}

/// Flags of `inspect`.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Which session
    #[arg(value_name = "SESSION", value_parser = session_id)]
    pub session: SessionId,
    /// Go on with what comes
    #[arg(short, long)]
    pub follow: bool,
    /// Turn the session's record on or off
    #[arg(long, value_enum, value_name = "ON|OFF")]
    pub record: Option<OnOff>,
    /// Show only what comes after this entry
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub after: u64,
    /// Show messages whole, as they were
    #[arg(long)]
    pub raw: bool,
    /// Show messages whole, laid out
    #[arg(long, conflicts_with = "raw")]
    pub pretty: bool,
}

impl InspectArgs {
    pub(super) fn body(&self) -> super::inspect::Body {
        match (self.raw, self.pretty) {
            (true, _) => super::inspect::Body::Raw,
            (false, true) => super::inspect::Body::Pretty,
            (false, false) => super::inspect::Body::Short,
        }
    }
}

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnOff {
    /// On
    On,
    /// Off
    Off,
}

/// What to do about agents.
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// List the agents that are configured for the workspace, and the well-known ones that could be
    List,
    /// Write an agent into your own configuration: a well-known one by its name, any other by its command
    Add(AddArgs),
    /// Start an agent and say, step by step, what it can do
    Check(CheckArgs),
    /// Take an agent out of your own configuration
    Remove {
        /// Which agent
        name: String,
    },
}

/// What to add.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// The agent's name; without a command, that of a well-known agent, or `ollama`
    pub name: String,
    /// What it is: how its command speaks, `acp` if nobody says, or the built-in agent over a model's server
    #[arg(long, value_enum)]
    pub kind: Option<KindArg>,
    /// The model that it works with; needed only where the server has several
    #[arg(long, value_name = "MODEL", conflicts_with = "command")]
    pub model: Option<String>,
    /// Where models are served; else where Ollama is
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub base_url: Option<String>,
    /// The stored secret that goes to that server as its token
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub secret: Option<String>,
    /// A variable of the host's environment to pass on to it; may be given again
    #[arg(long, value_name = "VARIABLE", requires = "command")]
    pub inherit: Vec<String>,
    /// Its program and arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What to check.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Which agent: a configured one, or a well-known one that is not configured yet
    pub name: String,
    /// Also send it one prompt, and show that an answer comes
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// Check it in an empty folder of its own, which needs no trust
    #[arg(long)]
    pub apart: bool,
}

/// The kinds of agents that can be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KindArg {
    /// Lines of JSON
    Plain,
    /// The Agent Client Protocol
    Acp,
    /// JSON-RPC with a header before each message
    Apex,
    /// The built-in agent, with a model of a server
    Model,
}

/// What the built-in agent works with.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Where the model's server is; else what the settings say, else OLLAMA_HOST, else Ollama's usual place
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Which model; else what the settings say, else one of the server's
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The stored secret that is the server's token; SWITCHBOARD_MODEL_TOKEN goes before it
    #[arg(long, value_name = "NAME")]
    pub secret: Option<String>,
    /// Leave out the instructions of the workspace (AGENTS.md)
    #[arg(long)]
    pub no_instructions: bool,
}

/// What to do about tools.
#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// List the tools that can be called
    List,
    /// Call a tool and print what it gives
    Run(CallArgs),
}

/// What to call.
#[derive(Debug, Args)]
pub struct CallArgs {
    /// Which tool
    pub name: String,
    /// What goes in, as a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub params: String,
    /// How long it may take from its start, in milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=switchboard_types::limits::MAX_CALL_MS))]
    pub timeout: Option<u64>,
    /// Call it for this session instead of the workspace's bench
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
}

/// What to do about rules.
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List the rules, the oldest first
    List,
    /// Say what would become of a command if an agent asked for it here, and why; nothing is run
    Test(TestArgs),
    /// Take a rule out
    Remove {
        /// Which rule
        #[arg(value_name = "ID")]
        id: String,
    },
}

/// What to do with secrets.
#[derive(Debug, Subcommand)]
pub enum SecretsCommand {
    /// Store one; its value comes from standard input, and is not shown on a terminal
    Set {
        /// What to call it
        name: String,
    },
    /// List their names and where each may be sent; never a value
    List,
    /// Remove one
    Remove {
        /// Which one
        name: String,
    },
}

/// What to judge.
#[derive(Debug, Args)]
pub struct TestArgs {
    /// The command, as a shell would read it, in quotes
    #[arg(value_name = "COMMAND", allow_hyphen_values = true)]
    pub command: String,
    /// The folder that it would run in; the workspace's own if absent
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// As if the session let commands run without a question
    #[arg(long)]
    pub auto: bool,
}

fn session_id(text: &str) -> Result<SessionId, String> {
    let wrong = "a session's id is a number; `switchboard sessions list` names them";
    text.parse().map(SessionId).map_err(|_| wrong.to_owned())
}

/// An address as people write it: `:PORT` is a port of this machine alone.
fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let whole = if text.starts_with(':') { format!("127.0.0.1{text}") } else { text.to_owned() };
    whole.parse().map_err(|_| "it must be ADDR:PORT or :PORT, such as 127.0.0.1:7171 or :0".to_owned())
}

impl Cli {
    /// The data folder, opened.
    pub fn folder(&self) -> Result<Folder, Failure> {
        let path = Folder::usual_or(self.flags.data.as_deref())?;
        Ok(Folder::open(&path)?)
    }

    /// Where the user's configuration comes from.
    #[must_use]
    pub fn source(&self) -> UserConfig {
        UserConfig { file: user_file(self.flags.config.as_deref()), default_agent: None }
    }

    /// The user's configuration.
    pub fn config(&self) -> Result<Config, Failure> {
        Ok(self.source().read()?)
    }

    /// The workspace: `dir`, else `--workspace`, else the current folder.
    pub fn workspace(&self, dir: Option<&std::path::Path>) -> Result<WorkspaceRoot, Failure> {
        let dir = dir.or(self.flags.workspace.as_deref()).unwrap_or(std::path::Path::new("."));
        let not_found = |why: &str| Failure::not_found(format!("the folder `{}` {why}", dir.display()));
        let root = dir.canonicalize().map_err(|error| not_found(&format!("cannot be used: {error}")))?;
        if !root.is_dir() {
            return Err(not_found("is not a folder"));
        }
        root.to_str().map(WorkspaceRoot::from).ok_or_else(|| not_found("has a name that is not UTF-8"))
    }

    /// The workspace to be trusted no longer: one whose folder is gone must not wait for whoever makes it anew.
    pub fn former_workspace(&self, dir: Option<&std::path::Path>) -> Result<WorkspaceRoot, Failure> {
        let named = dir.or(self.flags.workspace.as_deref());
        let gone = named.and_then(|dir| std::path::absolute(dir).ok()).filter(|dir| !dir.exists());
        match gone.as_ref().and_then(|dir| dir.to_str()) {
            Some(root) => Ok(WorkspaceRoot::from(root)),
            None => self.workspace(dir),
        }
    }

    /// How data is printed.
    #[must_use]
    pub fn format(&self) -> Format {
        if self.flags.json { Format::Json } else { Format::Words }
    }
}

/// How data is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON value a line.
    Json,
    /// For people.
    Words,
}
