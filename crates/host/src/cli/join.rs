//! Commands that talk to the running host, and the bare command, which becomes the host if none runs.

use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_types::WorkspaceRoot;

use super::args::{Cli, DEFAULT_LISTEN, Format};
use super::control::Control;
use super::exit::Failure;
use super::serve::{self, Announce, Listen, PortTaken, Serve};
use super::stop::StopBy;
use super::{browser, print};
use crate::folder::{Folder, Lease, LeaseError, Running, running_host};

/// How long a host that is just starting may take to say where it listens.
const PATIENCE: Duration = Duration::from_secs(10);
/// From look to look.
const BETWEEN: Duration = Duration::from_millis(50);

/// The bare command: joins the host of the data folder, or becomes it.
pub async fn here(cli: &Cli) -> Result<(), Failure> {
    let (folder, workspace) = (cli.folder()?, cli.workspace(None)?);
    let began = Instant::now();
    loop {
        if let Some(running) = running_host(&folder) {
            return join(cli, &folder, &running, &workspace).await;
        }
        match Lease::take(&folder) {
            Ok(lease) => return host(cli, folder, lease, workspace).await,
            Err(LeaseError::Held(held)) if began.elapsed() < PATIENCE => {
                tracing::debug!(%held, "waiting for the host to say where it listens");
                tokio::time::sleep(BETWEEN).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

async fn host(cli: &Cli, folder: Folder, lease: Lease, workspace: WorkspaceRoot) -> Result<(), Failure> {
    let (config, source) = (cli.config()?, cli.source());
    let addr = DEFAULT_LISTEN.parse().map_err(|_| Failure::failed("the usual address is wrong"))?;
    let listen = Listen { addr, if_taken: PortTaken::PickAnother };
    let announce = match cli.format() {
        Format::Json => Announce::Json,
        Format::Words => Announce::WordsAndPage,
    };
    serve::host(Serve { folder, lease, config, source, listen, workspace, announce, stop: StopBy::Signals }).await
}

async fn join(cli: &Cli, folder: &Folder, running: &Running, workspace: &WorkspaceRoot) -> Result<(), Failure> {
    let control = Control::of(running, folder.token()?)?;
    control.add_workspace(workspace).await?;
    if cli.format() == Format::Words {
        print::words(&format!("Switchboard already runs at {} and now works in {workspace} too.", running.url));
    }
    show_link(cli, &control).await
}

/// `open`: a fresh link.
pub async fn open(cli: &Cli) -> Result<(), Failure> {
    let folder = cli.folder()?;
    let running = running_host(&folder).ok_or_else(|| {
        Failure::unreachable(format!("no host runs for {}; start one with `switchboard`", folder.path().display()))
    })?;
    show_link(cli, &Control::of(&running, folder.token()?)?).await
}

async fn show_link(cli: &Cli, control: &Control) -> Result<(), Failure> {
    let login = control.login().await?;
    match cli.format() {
        Format::Json => print::line(&json!({ "login": login }).to_string()),
        Format::Words => print::words(&format!("Open this link, once: {login}")),
    }
    browser::open(&login);
    Ok(())
}
