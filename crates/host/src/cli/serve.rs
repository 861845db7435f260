//! `serve`: what the host needs to start, and what it says when it is ready. The host itself is joined in `driver`.

use std::net::SocketAddr;

use serde_json::json;
use switchboard_types::{AgentName, WorkspaceRoot};

use super::args::{Cli, Format, ServeArgs};
use super::exit::Failure;
use super::stop::StopBy;
use super::{browser, print};
use crate::agents::{self, end_leftovers};
use crate::config::Config;
use crate::config::watch::UserConfig;
use crate::driver;
use crate::folder::{Folder, FolderError, Lease};

/// All that the host needs to start.
#[derive(Debug)]
pub struct Serve {
    /// Where its data is.
    pub folder: Folder,
    /// The right to be this folder's host; to be kept until all is ended.
    pub lease: Lease,
    /// The user's configuration; a trusted workspace's comes on top, per workspace.
    pub config: Config,
    /// Where that comes from, to be read again when it changes.
    pub source: UserConfig,
    /// Where to listen.
    pub listen: Listen,
    /// The host's own workspace.
    pub workspace: WorkspaceRoot,
    /// How it says that it is ready.
    pub announce: Announce,
    /// Who asks it to stop.
    pub stop: StopBy,
}

/// Where to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen {
    /// The address; port 0 picks a free one.
    pub addr: SocketAddr,
    /// What to do if somebody else has the port.
    pub if_taken: PortTaken,
}

/// What to do if somebody else has the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortTaken {
    /// Say so and end: the port was asked for.
    Fail,
    /// Take any free one: nobody asked for this one.
    PickAnother,
}

/// How the host says that it is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announce {
    /// The one line of the contract.
    Json,
    /// For people.
    Words,
    /// For people, and the page is opened.
    WordsAndPage,
    /// Only to other commands: whoever started it waits for that, too.
    Quietly,
}

/// Where the host listens, once it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Its address, such as `http://127.0.0.1:7171`.
    pub url: String,
    /// A fresh one-time link to the page.
    pub login: String,
}

impl Serve {
    /// Tells other commands, and whoever started it, that the host listens. To be called once, when it does.
    pub fn ready(&self, ready: &Ready) -> Result<(), FolderError> {
        self.lease.announce(&ready.url)?;
        match self.announce {
            Announce::Json => {
                let line = json!({
                    "event": "listening",
                    "url": ready.url,
                    "token": self.folder.token()?.reveal(),
                    "login": ready.login,
                    "pid": std::process::id(),
                });
                print::line(&line.to_string());
            }
            Announce::Words | Announce::WordsAndPage => {
                print::words(&format!("Switchboard listens at {} and works in {}.", ready.url, self.workspace));
                print::words(&format!("Open this link, once: {}", ready.login));
            }
            Announce::Quietly => tracing::info!(url = ready.url, workspace = %self.workspace, "the host listens"),
        }
        if self.announce == Announce::WordsAndPage {
            browser::open(&ready.login);
        }
        Ok(())
    }
}

/// `serve`.
pub async fn run(cli: &Cli, args: &ServeArgs) -> Result<(), Failure> {
    if args.detached {
        // Fails only for the leader of a group, and then nobody's terminal can end it anyway.
        let _ = rustix::process::setsid();
    }
    let default_agent = args.agent.as_deref().map(AgentName::new);
    let source = UserConfig { default_agent, ..cli.source() };
    let config = source.read()?;
    let workspace = cli.workspace(None)?;
    let folder = cli.folder()?;
    let lease = Lease::take(&folder)?;
    let if_taken = if args.detached { PortTaken::PickAnother } else { PortTaken::Fail };
    let listen = Listen { addr: args.listen, if_taken };
    let announce = match cli.format() {
        _ if args.detached => Announce::Quietly,
        Format::Json => Announce::Json,
        Format::Words => Announce::Words,
    };
    host(Serve { folder, lease, config, source, listen, workspace, announce, stop: StopBy::Signals }).await
}

/// Prepares the process and runs the host to its end.
pub(super) async fn host(serve: Serve) -> Result<(), Failure> {
    match agents::files::raise_limit() {
        Ok(limit) => tracing::debug!(?limit, "open files"),
        Err(error) => tracing::warn!(%error, "the limit of open files could not be raised"),
    }
    if !serve.listen.addr.ip().is_loopback() {
        tracing::warn!(
            addr = %serve.listen.addr,
            "listening beyond this machine: whoever has the token can run commands here, and nothing is encrypted"
        );
    }
    for leftover in end_leftovers(serve.folder.path()) {
        tracing::info!(pid = leftover.pid, agent = leftover.agent, fate = ?leftover.fate, "a dead host left a child");
    }
    driver::run(serve).await
}
