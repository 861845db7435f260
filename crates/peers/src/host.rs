//! The program under test, with one agent configured: its folders, its process, its agents' processes. Knows nothing of what
//! it shows.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::install::Installed;
use crate::peer::{Peer, fill};

/// How long the host may take to start and to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long an agent may take to its first session; some need long on a busy machine.
const AGENT_START_MS: u64 = 90_000;

/// The folders of one agent's trial.
#[derive(Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    program: PathBuf,
}

impl Place {
    pub(crate) fn new(folder: &Path, program: &Path) -> Result<Self> {
        let place = Self { folder: folder.to_owned(), program: program.to_owned() };
        for folder in [place.workspace(), place.home()] {
            std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        Ok(place)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn config(&self) -> PathBuf {
        self.folder.join("config.toml")
    }

    /// Writes the agent's own files and the host's configuration that names it.
    pub(crate) fn configure(&self, peer: &Peer, installed: &Installed, base: &str) -> Result<()> {
        let home = self.home();
        let home = home.to_str().context("the folder's name is no text")?;
        for (path, content) in peer.files {
            let path = self.home().join(path);
            let above = path.parent().context("a file lies in a folder")?;
            std::fs::create_dir_all(above).with_context(|| format!("cannot make {}", above.display()))?;
            std::fs::write(&path, fill(content, base, home))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        std::fs::write(self.config(), config(peer, installed, base, home))
            .with_context(|| format!("cannot write {}", self.config().display()))
    }

    /// Writes the host's configuration as it is given.
    pub(crate) fn configure_as(&self, config: &str) -> Result<()> {
        std::fs::write(self.config(), config).with_context(|| format!("cannot write {}", self.config().display()))
    }

    /// The program with what makes it work in these folders.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg("--data").arg(self.data());
        command.arg("--config").arg(self.config()).arg("--workspace").arg(self.workspace());
        // A group of its own: Ctrl-C is for us, who end the host ourselves.
        command.env("NO_COLOR", "1").stdin(Stdio::null()).process_group(0).kill_on_drop(true);
        command
    }

    /// Trusts the workspace and starts a host for it.
    pub(crate) async fn serve(&self) -> Result<Host> {
        let trusted = self.command(&["trust"]).output().await.context("the program cannot be run")?;
        if !trusted.status.success() {
            bail!("`switchboard trust` failed: {}", String::from_utf8_lossy(&trusted.stderr).trim());
        }
        let log = std::fs::File::create(self.folder.join("host.log")).context("no log can be written")?;
        let mut command = self.command(&["serve", "--json", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().context("the host cannot be started")?;
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().context("the host has no output")?);
        let _ = tokio::time::timeout(PATIENCE, lines.read_line(&mut line)).await;
        let Ok(ready) = serde_json::from_str::<Ready>(&line) else {
            let log = std::fs::read_to_string(self.folder.join("host.log")).unwrap_or_default();
            bail!("the host did not get ready: {} {line}", log.lines().next_back().unwrap_or_default());
        };
        let address = ready.url.trim_start_matches("http://").to_owned();
        Ok(Host { child, address, token: ready.token, data: self.data(), _out: lines })
    }
}

/// The host's configuration. TOML's strings are JSON's.
fn config(peer: &Peer, installed: &Installed, base: &str, home: &str) -> String {
    let program = installed.modules.join(peer.command[0]);
    let mut command: Vec<String> = vec![program.display().to_string()];
    // A script without a first line that says so is Node's.
    if peer.command[0].ends_with(".js") {
        command.insert(0, installed.node.join("node").display().to_string());
    }
    command.extend(peer.command[1..].iter().map(|word| fill(word, base, home)));
    let mut path = installed.node.display().to_string();
    if let Ok(rest) = std::env::var("PATH") {
        path = format!("{path}:{rest}");
    }
    let mut env = vec![format!("PATH = {}", json!(path)), format!("HOME = {}", json!(home))];
    env.extend(peer.env.iter().map(|(name, value)| format!("{name} = {}", json!(fill(value, base, home)))));
    format!(
        "default_agent = {name}\nstartup_timeout_ms = {AGENT_START_MS}\n\n[agents.{bare}]\nkind = \"acp\"\ncommand = {command}\n\
         env = {{ {env} }}\n",
        name = json!(peer.name),
        bare = peer.name,
        command = json!(command),
        env = env.join(", "),
    )
}

#[derive(Deserialize)]
struct Ready {
    url: String,
    token: String,
}

/// A running host. Killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Host {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    data: PathBuf,
    _out: BufReader<tokio::process::ChildStdout>,
}

impl Host {
    /// The processes that lead the agents that the host has written down.
    pub(crate) fn agents(&self) -> Vec<i32> {
        let Ok(files) = std::fs::read_dir(self.data.join("children")) else { return Vec::new() };
        let texts = files.filter_map(|file| std::fs::read(file.ok()?.path()).ok());
        texts.filter_map(|text| serde_json::from_slice::<Written>(&text).ok()).map(|written| written.pid).collect()
    }

    /// Asks it to end; says how long it took, or that it did not.
    pub(crate) async fn end(mut self) -> Result<Duration> {
        let began = std::time::Instant::now();
        if let Some(pid) = self.child.id() {
            send(pid.cast_signed(), Signal::TERM);
        }
        match tokio::time::timeout(PATIENCE, self.child.wait()).await {
            Ok(_) => Ok(began.elapsed()),
            Err(_) => bail!("the host did not end within {} s of SIGTERM", PATIENCE.as_secs()),
        }
    }
}

#[derive(Deserialize)]
struct Written {
    pid: i32,
}

/// Kills one process. Numbers up to 1 are never one of ours.
pub(crate) fn kill(pid: i32) {
    send(pid, Signal::KILL);
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid).filter(|_| pid > 1) {
        // Whoever is gone already needs no signal.
        let _ = kill_process(pid, signal);
    }
}

/// Megabytes of memory of a process and all that descend from it.
pub(crate) fn memory_of(root: i32) -> u64 {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let found: Vec<(i32, i32, u64)> = numbers.filter_map(|pid| Some((pid, parent(pid)?, resident(pid)?))).collect();
    let mut family = vec![root];
    let mut at = 0;
    while let Some(elder) = family.get(at).copied() {
        family.extend(found.iter().filter(|(_, parent, _)| *parent == elder).map(|(pid, _, _)| *pid));
        at += 1;
    }
    let bytes: u64 = found.iter().filter(|(pid, _, _)| family.contains(pid)).map(|(_, _, bytes)| bytes).sum();
    bytes / 1_000_000
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

fn resident(pid: i32) -> Option<u64> {
    let pages = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    Some(pages.split_whitespace().nth(1)?.parse::<u64>().ok()? * rustix::param::page_size() as u64)
}
