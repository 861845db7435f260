//! Starting a host that outlives whoever starts it. Race-safe: the lease decides who becomes the host, and whoever loses
//! joins the winner.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use crate::agents::shown::shown_bytes;
use crate::agents::spec::this_program;
use crate::cli::args::Cli;
use crate::cli::exit::{Exit, Failure};
use crate::folder::{Folder, Lease, LeaseError, Running, running_host};

/// Where a host in the background writes its log.
pub(in crate::cli) const LOG_FILE: &str = "host.log";
/// A log that is larger is set aside when the next host starts.
const MAX_LOG_BYTES: u64 = 4 * 1024 * 1024;
/// How long a host may take to start; a large store that is damaged is salvaged first.
const PATIENCE: Duration = Duration::from_secs(60);
/// After this time whoever waits is told why.
const SLOW: Duration = Duration::from_secs(2);
/// From look to look.
const BETWEEN: Duration = Duration::from_millis(25);
/// Bytes of the log's end that are looked at when a host has died.
const TAIL_BYTES: u64 = 2048;
/// Lines of them that are shown.
const TAIL_LINES: usize = 8;

/// The host that runs for this folder; one is started if none does.
pub(in crate::cli) async fn running_or_started(cli: &Cli, folder: &Folder) -> Result<Running, Failure> {
    let began = Instant::now();
    let (mut child, mut told) = (None, false);
    loop {
        if let Some(running) = running_host(folder)
            && answers(&running).await
        {
            reap(child);
            return Ok(running);
        }
        match &mut child {
            None => child = Some(start(cli, folder)?),
            Some(host) => {
                // The loser of a race ends at once, and the winner is the one to wait for.
                let ended = host.try_wait().ok().flatten();
                match ended.filter(|_| !is_held(folder)) {
                    // It lost to a host that was just stopping, and now nobody has the folder.
                    Some(status) if status.code() == Some(Exit::Unreachable as i32) => child = None,
                    Some(status) => return Err(died(folder, &status.to_string())),
                    None => {}
                }
            }
        }
        if began.elapsed() > PATIENCE {
            reap(child);
            return Err(died(folder, "it takes too long to start"));
        }
        if began.elapsed() > SLOW && !std::mem::replace(&mut told, true) {
            tracing::warn!("waiting for the host to start; its log is {}", folder.file(LOG_FILE).display());
        }
        tokio::time::sleep(BETWEEN).await;
    }
}

/// Whether the host takes connections; one that stops has an address but takes none.
async fn answers(running: &Running) -> bool {
    let Some(authority) = running.url.strip_prefix("http://") else { return true };
    TcpStream::connect(authority.trim_end_matches('/')).await.is_ok()
}

fn is_held(folder: &Folder) -> bool {
    matches!(Lease::look(folder), Err(LeaseError::Held(_)))
}

fn start(cli: &Cli, folder: &Folder) -> Result<Child, Failure> {
    let failed =
        |error: std::io::Error| Failure::unreachable(format!("no host runs, and none can be started: {error}"));
    let mut command = Command::new(this_program());
    command.arg("serve").arg("--detached").arg("--data").arg(folder.path());
    command.arg("--workspace").arg(cli.workspace(None)?.as_str());
    if let Some(config) = &cli.flags.config {
        command.arg("--config").arg(std::path::absolute(config).map_err(failed)?);
    }
    // It must hold neither our terminal nor our folder.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log(&folder.file(LOG_FILE)).map_err(failed)?);
    command.current_dir("/").env("NO_COLOR", "1").spawn().map_err(failed)
}

fn log(path: &Path) -> std::io::Result<File> {
    if fs::metadata(path).is_ok_and(|log| log.len() > MAX_LOG_BYTES) {
        let mut old = path.as_os_str().to_owned();
        old.push(".old");
        fs::rename(path, PathBuf::from(old))?;
    }
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

/// Somebody must notice its end, or it stays as a zombie as long as we live.
fn reap(child: Option<Child>) {
    if let Some(mut child) = child {
        std::thread::spawn(move || child.wait());
    }
}

fn died(folder: &Folder, how: &str) -> Failure {
    let path = folder.file(LOG_FILE);
    let tail = tail(&path).unwrap_or_default();
    Failure::unreachable(format!("the host could not be started ({how}); {} ends with:\n{tail}", path.display()))
}

fn tail(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let lines: Vec<&[u8]> = bytes.trim_ascii_end().split(|byte| *byte == b'\n').collect();
    let last = lines.iter().rev().take(TAIL_LINES).rev();
    Ok(last.map(|line| format!("  {}", shown_bytes(line, 500))).collect::<Vec<_>>().join("\n"))
}
