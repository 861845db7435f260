//! The host of a turn: the one that runs, or one in this process for as long as the turn takes. What others do with ours
//! meanwhile is theirs: it stays until they have left.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use switchboard_types::WorkspaceRoot;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::cli::control::Control;
use crate::cli::exit::Failure;
use crate::cli::serve::{self, Announce, Listen, PortTaken, Serve};
use crate::cli::stop::{Signals, StopBy};
use crate::config::Config;
use crate::config::watch::UserConfig;
use crate::folder::{Folder, Lease, LeaseError, running_host};

/// How long a host that is just starting or stopping may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// From look to look.
const BETWEEN: Duration = Duration::from_millis(25);
/// Our own link is counted for a moment after it is closed; whoever is there longer is somebody else.
const OWN_LINK: Duration = Duration::from_secs(1);
/// What counts the links in the host's numbers.
const LINKS: &str = "switchboard_view_links_open ";

/// The host of a turn.
pub(in crate::cli) struct Host {
    control: Control,
    own: Option<Own>,
}

struct Own {
    stop: watch::Sender<bool>,
    running: JoinHandle<Result<(), Failure>>,
}

impl Host {
    /// Joins the host that runs, or becomes one.
    pub(in crate::cli) async fn join_or_be(
        folder: Folder,
        config: (Config, UserConfig),
        workspace: &WorkspaceRoot,
    ) -> Result<Self, Failure> {
        let began = Instant::now();
        loop {
            if let Some(running) = running_host(&folder) {
                return Ok(Self { control: Control::of(&running, folder.token()?)?, own: None });
            }
            match Lease::take(&folder) {
                Ok(lease) => return Self::be(folder, lease, config, workspace.clone()).await,
                Err(LeaseError::Held(held)) if began.elapsed() < PATIENCE => {
                    tracing::debug!(%held, "waiting for the data folder");
                    tokio::time::sleep(BETWEEN).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn be(
        folder: Folder,
        lease: Lease,
        (config, source): (Config, UserConfig),
        workspace: WorkspaceRoot,
    ) -> Result<Self, Failure> {
        let (stop, stopping) = watch::channel(false);
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let serve = Serve {
            folder: folder.clone(),
            lease,
            config,
            source,
            listen: Listen { addr, if_taken: PortTaken::Fail },
            workspace,
            announce: Announce::Quietly,
            stop: StopBy::Command(stopping),
        };
        let mut running = tokio::spawn(serve::host(serve));
        let us = std::process::id();
        let found = loop {
            if let Some(found) = running_host(&folder).filter(|found| found.pid == us) {
                break found;
            }
            tokio::select! {
                ended = &mut running => {
                    let failed = |error| Failure::failed(format!("the host ended badly: {error}"));
                    ended.map_err(failed)??;
                    return Err(Failure::failed("the host ended before it was ready"));
                }
                () = tokio::time::sleep(BETWEEN) => {}
            }
        };
        Ok(Self { control: Control::of(&found, folder.token()?)?, own: Some(Own { stop, running }) })
    }

    pub(in crate::cli) fn control(&self) -> &Control {
        &self.control
    }

    /// Ends our own host, once nobody else is at it. Whoever interrupts does not wait.
    pub(in crate::cli) async fn leave(self, signals: &mut Signals, interrupted: bool) -> Result<(), Failure> {
        let Self { control, own: Some(Own { stop, mut running }) } = self else { return Ok(()) };
        let (began, mut told) = (Instant::now(), false);
        while !interrupted && others(&control).await {
            if began.elapsed() > OWN_LINK && !std::mem::replace(&mut told, true) {
                tracing::warn!("another view uses this host; it stays until that view leaves, or until Ctrl-C");
            }
            tokio::select! {
                _ = signals.next() => break,
                _ = &mut running => return Ok(()),
                () = tokio::time::sleep(BETWEEN) => {}
            }
        }
        // Nobody listens only if it has ended already.
        let _ = stop.send(true);
        tokio::select! {
            ended = running => ended.map_err(|error| Failure::failed(format!("the host ended badly: {error}")))?,
            // What was acknowledged is on the disk.
            _ = signals.next() => Ok(()),
        }
    }
}

/// Whether somebody else has a link to the host.
async fn others(control: &Control) -> bool {
    let Ok(numbers) = control.metrics().await else { return false };
    let links = numbers.lines().find_map(|line| line.strip_prefix(LINKS));
    links.and_then(|links| links.trim().parse::<u64>().ok()).is_some_and(|links| links > 0)
}
