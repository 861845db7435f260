//! llama.cpp's server as a process, and the tiny models that it serves: made once by a script of ours, kept in the cache.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::install::venv;

/// How long the server may take to be as it is wanted.
const PATIENCE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(20);

const MAKES: &str = include_str!("../../../python/tiny_model.py");
const SERVES: &str = include_str!("../../../python/serve_tiny.py");

/// What a model is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Has a vocabulary that takes long to load; its answers are short.
    Slow,
    /// Never ends by itself.
    Talks,
    /// Leans to calling tools.
    Calls,
}

impl Way {
    const ALL: &[Self] = &[Self::Slow, Self::Talks, Self::Calls];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Talks => "talks",
            Self::Calls => "calls",
        }
    }
}

/// What is installed and made.
#[derive(Debug)]
pub(super) struct Kit {
    python: PathBuf,
    folder: PathBuf,
}

impl Kit {
    /// Installs the packages and makes the models, where they are not there yet.
    pub(super) async fn ready(cache: &Path, packages: &[&str]) -> Result<Self> {
        let cache = std::path::absolute(cache)?;
        let python = venv(&cache.join("llama"), packages).await?;
        let kit = Self { python, folder: cache.join("llama-models") };
        let made = std::fs::read_to_string(kit.folder.join("tiny_model.py")).is_ok_and(|script| script == MAKES);
        if !made {
            kit.make().await?;
        }
        std::fs::write(kit.folder.join("serve_tiny.py"), SERVES)?;
        Ok(kit)
    }

    async fn make(&self) -> Result<()> {
        std::fs::create_dir_all(&self.folder).with_context(|| format!("cannot make {}", self.folder.display()))?;
        let script = self.folder.join("new_tiny_model.py");
        std::fs::write(&script, MAKES)?;
        for way in Way::ALL {
            eprintln!("making the model that is called {}", way.word());
            let made = Command::new(&self.python).arg(&script).arg(self.model(*way)).arg(way.word()).output().await?;
            ensure!(made.status.success(), "no model: {}", String::from_utf8_lossy(&made.stderr).trim());
        }
        // Only now, so that what was broken off is made again.
        std::fs::rename(script, self.folder.join("tiny_model.py")).context("the script cannot be kept")
    }

    fn model(&self, way: Way) -> PathBuf {
        self.folder.join(format!("{}.gguf", way.word()))
    }
}

/// A server that runs. Killed when it is dropped.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    log: PathBuf,
}

impl Server {
    pub(super) fn start(kit: &Kit, way: Way, port: u16, log: &Path) -> Result<Self> {
        let file = std::fs::File::create(log).context("no log can be written")?;
        let mut command = Command::new(&kit.python);
        command.arg(kit.folder.join("serve_tiny.py")).arg(kit.model(way)).arg(port.to_string()).arg(way.word());
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).kill_on_drop(true);
        let child = command.spawn().context("the server cannot be started")?;
        Ok(Self { child, log: log.to_owned() })
    }

    pub(super) async fn kill(mut self) -> Result<()> {
        self.child.kill().await.context("the server cannot be ended")
    }

    /// Whether its log has these words in time.
    pub(super) async fn says(&self, words: &str, patience: Duration) -> bool {
        let began = Instant::now();
        while began.elapsed() < patience {
            if std::fs::read_to_string(&self.log).is_ok_and(|log| log.contains(words)) {
                return true;
            }
            tokio::time::sleep(STEP).await;
        }
        false
    }
}

/// A port that nobody has at the moment.
pub(super) fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Waits until the server answers so.
pub(super) async fn until(port: u16, wanted: u16) -> Result<()> {
    let began = Instant::now();
    let mut last = None;
    while began.elapsed() < PATIENCE {
        last = status(port).await;
        if last == Some(wanted) {
            return Ok(());
        }
        tokio::time::sleep(STEP).await;
    }
    bail!("the server does not answer {wanted}; it answers {last:?}")
}

/// How the server answers to whether it is well.
pub(super) async fn status(port: u16) -> Option<u16> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok()?;
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.ok()?;
    let mut head = [0; 12];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut head)).await.ok()?.ok()?;
    str::from_utf8(&head).ok()?.get(9..)?.parse().ok()
}
