//! The program under test: its folders, its process, its agents' processes and the signals that they get. Knows nothing of
//! what it is told or shows.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use tempfile::TempDir;
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::plan::Care;
use crate::teller;

/// How long anything may take before it counts as stuck, however starved it is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Who else wants every core while the host starves; not more, whatever the machine.
const MAX_COMPETITORS: usize = 4;

/// Why the storm itself cannot go on.
#[derive(Debug, Error)]
pub enum Trouble {
    /// A file or a process could not be had.
    #[error("{what}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// The database could not be looked at.
    #[error(transparent)]
    File(#[from] crate::check::FileError),
    /// The program did not do what it does at every start.
    #[error("{0}")]
    Program(String),
}

impl Trouble {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        |source| Self::Io { what, source }
    }
}

/// A data folder and a workspace that outlive the hosts that run on them.
#[derive(Debug)]
pub(crate) struct Place {
    folder: TempDir,
    program: PathBuf,
}

impl Place {
    /// A fresh place whose workspace is trusted and has the agent that keeps accounts.
    pub(crate) async fn new(program: &Path, within: &Path) -> Result<Self, Trouble> {
        let folder = tempfile::Builder::new().prefix("storm-").tempdir_in(within);
        let folder = folder.map_err(Trouble::io(format!("no folder within {}", within.display())))?;
        let place = Self { folder, program: program.to_owned() };
        let failed = || Trouble::io(format!("cannot write to {}", place.path().display()));
        std::fs::create_dir(place.workspace()).map_err(failed())?;
        let script = place.workspace().join("teller.sh");
        std::fs::write(&script, teller::SCRIPT).map_err(failed())?;
        let config =
            format!("[agents.{}]\nkind = \"plain\"\ncommand = [\"/bin/sh\", \"{}\"]\n", teller::NAME, script.display());
        std::fs::write(place.path().join("config.toml"), config).map_err(failed())?;
        let trusted = place.command(Care::Fed, &["trust"]).output().await;
        let trusted = trusted.map_err(Trouble::io(format!("cannot run {}", program.display())))?;
        if !trusted.status.success() {
            let words = String::from_utf8_lossy(&trusted.stderr);
            return Err(Trouble::Program(format!("`switchboard trust` failed: {words}")));
        }
        Ok(place)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves the folder where it is.
    pub(crate) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    fn workspace(&self) -> PathBuf {
        self.path().join("workspace")
    }

    fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data().join("switchboard.db")
    }

    /// What the agent that keeps accounts was asked so far.
    pub(crate) fn account(&self) -> String {
        std::fs::read_to_string(self.workspace().join(teller::ACCOUNT)).unwrap_or_default()
    }

    /// What the commands that were asked for left behind.
    pub(crate) fn traces(&self) -> String {
        std::fs::read_to_string(self.workspace().join(teller::TRACES)).unwrap_or_default()
    }

    fn command(&self, care: Care, args: &[&str]) -> Command {
        let mut command = match care {
            Care::Fed => Command::new(&self.program),
            Care::Starved => {
                let mut command = Command::new("nice");
                command.args(["-n", "19"]).arg(&self.program);
                command
            }
        };
        command.args(args).arg("--data").arg(self.data());
        command.arg("--config").arg(self.path().join("config.toml")).arg("--workspace").arg(self.workspace());
        // A group of its own: Ctrl-C is for the storm, which ends the host itself.
        command.env("NO_COLOR", "1").stdin(Stdio::null()).process_group(0).kill_on_drop(true);
        command
    }

    fn spawn(&self, care: Care) -> Result<Child, Trouble> {
        let failed = || Trouble::io("the host could not be started");
        let log = std::fs::OpenOptions::new().append(true).create(true).open(self.path().join("host.log"));
        let mut command = self.command(care, &["serve", "--json", "--listen", "127.0.0.1:0"]);
        command.stdout(Stdio::piped()).stderr(log.map_err(failed())?).spawn().map_err(failed())
    }

    /// Starts a host and kills it after so long, ready or not.
    pub(crate) async fn stillborn(&self, lives: Duration) -> Result<(), Trouble> {
        let mut child = self.spawn(Care::Fed)?;
        pause(lives).await;
        child.kill().await.map_err(Trouble::io("the host could not be killed"))
    }

    /// Starts a host and waits until it is ready.
    pub(crate) async fn serve(&self, care: Care) -> Result<Host, Trouble> {
        let competitors = match care {
            Care::Fed => Vec::new(),
            Care::Starved => competitors()?,
        };
        let began = Instant::now();
        let mut child = self.spawn(care)?;
        let mut line = String::new();
        let Some(out) = child.stdout.take() else { return Err(Trouble::Program("the host has no output".to_owned())) };
        let mut lines = BufReader::new(out);
        let _ = tokio::time::timeout(PATIENCE, lines.read_line(&mut line)).await;
        let start = began.elapsed();
        let Ok(ready) = serde_json::from_str::<Ready>(&line) else {
            let log = std::fs::read_to_string(self.path().join("host.log")).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(5).collect();
            return Err(Trouble::Program(format!("no ready line but {line:?}; the log ends with {tail:?}")));
        };
        let address = ready.url.trim_start_matches("http://").to_owned();
        let data = self.data();
        Ok(Host { child, address, token: ready.token, began, start, data, _competitors: competitors, _out: lines })
    }
}

/// The write lock of a database file, held by us.
#[derive(Debug)]
pub(crate) struct FileLock(rusqlite::Connection);

impl FileLock {
    /// Takes the lock between two commits of the host.
    pub(crate) fn take(database: &Path) -> Result<Self, Trouble> {
        let failed = crate::check::FileError::Engine;
        let file = rusqlite::Connection::open(database).map_err(failed)?;
        file.busy_timeout(PATIENCE).map_err(failed)?;
        // The file is to stay as the host left it, also if we are the last to close it.
        file.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
        file.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        Ok(Self(file))
    }

    pub(crate) fn release(self) -> Result<(), Trouble> {
        let failed = crate::check::FileError::Engine;
        self.0.execute_batch("ROLLBACK").map_err(failed)?;
        self.0.close().map_err(|(_, error)| failed(error))?;
        Ok(())
    }
}

fn competitors() -> Result<Vec<Child>, Trouble> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_COMPETITORS);
    let busy = |_| Command::new("sh").args(["-c", "while :; do :; done"]).kill_on_drop(true).spawn();
    (0..cores).map(busy).collect::<Result<_, _>>().map_err(Trouble::io("no competitor could be started"))
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
    /// When it was started.
    pub(crate) began: Instant,
    /// From its start to its ready line.
    pub(crate) start: Duration,
    data: PathBuf,
    _competitors: Vec<Child>,
    _out: BufReader<tokio::process::ChildStdout>,
}

impl Host {
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.child.id() {
            send(pid as i32, signal);
        }
    }

    /// SIGKILL; gives how long it took to be gone.
    pub(crate) async fn kill(&mut self) -> Result<Duration, Trouble> {
        let began = Instant::now();
        self.child.kill().await.map_err(Trouble::io("the host could not be killed"))?;
        Ok(began.elapsed())
    }

    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Waits for its end by itself; gives the exit code, or none if it did not end in time.
    pub(crate) async fn ended(&mut self) -> Result<Option<i32>, Trouble> {
        match tokio::time::timeout(PATIENCE, self.child.wait()).await {
            Ok(status) => Ok(status.map_err(Trouble::io("the host cannot be waited for"))?.code()),
            Err(_) => Ok(None),
        }
    }

    pub(crate) async fn stand_still(&self, micros: u64) {
        self.signal(Signal::STOP);
        pause(Duration::from_micros(micros)).await;
        self.signal(Signal::CONT);
    }

    /// The processes of agents that the host has written down.
    pub(crate) fn children(&self) -> Vec<AgentProcess> {
        let Ok(files) = std::fs::read_dir(self.data.join("children")) else { return Vec::new() };
        let texts = files.filter_map(|file| std::fs::read(file.ok()?.path()).ok());
        texts.filter_map(|text| serde_json::from_slice(&text).ok()).collect()
    }
}

/// An agent's process, as the host has written it down.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct AgentProcess {
    pub(crate) pid: i32,
    start: u64,
    pub(crate) agent: String,
}

impl AgentProcess {
    pub(crate) fn signal(&self, signal: Signal) {
        send(self.pid, signal);
    }

    /// Whether this very process still runs; a zombie is dead, nobody has looked yet.
    pub(crate) fn is_alive(&self) -> bool {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)) else { return false };
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let start = fields.get(19).and_then(|field| field.parse().ok());
        start == Some(self.start) && fields.first() != Some(&"Z")
    }
}

/// Waits so long, as exactly as the system can; the runtime's own clock counts in milliseconds.
pub(crate) async fn pause(time: Duration) {
    // A thread that is never started is a pause that was cut short.
    let _ = tokio::task::spawn_blocking(move || std::thread::sleep(time)).await;
}

fn send(pid: i32, signal: Signal) {
    // Whoever is gone already needs no signal. Numbers up to 1 are never one process of ours.
    if let Some(pid) = Pid::from_raw(pid).filter(|_| pid > 1) {
        let _ = kill_process(pid, signal);
    }
}
