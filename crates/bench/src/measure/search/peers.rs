//! tantivy and LanceDB as peers of the search, each through a small Python program of ours and its wheels in an environment
//! of its own. Whoever cannot be installed is left out, and it is said why.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use switchboard_types::SearchOrder;

use super::super::progress;
use crate::subject::Places;

/// How long the wheels may take to come.
const INSTALL_TIME: Duration = Duration::from_secs(600);
/// How long one answer may take: the first one is the whole index.
const PATIENCE: Duration = Duration::from_secs(1200);

/// Who searches besides us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    Tantivy,
    LanceDb,
}

impl Peer {
    pub(super) const ALL: [Self; 2] = [Self::Tantivy, Self::LanceDb];

    /// As the table calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tantivy => "tantivy",
            Self::LanceDb => "LanceDB",
        }
    }

    /// As its wheel and its class in the script are called.
    fn wheel(self) -> &'static str {
        match self {
            Self::Tantivy => "tantivy",
            Self::LanceDb => "lancedb",
        }
    }
}

/// What it says when everything is indexed.
#[derive(Deserialize)]
pub(super) struct Indexed {
    pub(super) seconds: f64,
    pub(super) bytes: f64,
}

/// What it found, question by question, and how long each took.
#[derive(Deserialize)]
pub(super) struct Answers {
    pub(super) micros: Vec<f64>,
    #[serde(default)]
    pub(super) found: Vec<Vec<u64>>,
}

/// A peer that has indexed the messages and can be asked, until this is dropped.
pub(super) struct Engine {
    pub(super) peer: Peer,
    pub(super) indexed: Indexed,
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Engine {
    /// Installs it if that was not done, and lets it index; `folder` is for its files.
    pub(super) fn start(peer: Peer, places: &Places, folder: &Path, messages: &Path, questions: &Path) -> Result<Self> {
        let python = install(peer, places)?;
        let errors = fs::OpenOptions::new().create(true).append(true).open(places.log())?;
        let mut child = Command::new(python)
            .arg(places.python.join("search.py"))
            .arg(peer.wheel())
            .args([folder, messages, questions])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .context("python")?;
        let stdin = child.stdin.take().context("no standard input")?;
        let out = BufReader::new(child.stdout.take().context("no standard output")?);
        let (sender, lines) = sync_channel(1);
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let nothing = Indexed { seconds: 0.0, bytes: 0.0 };
        let mut engine = Self { peer, indexed: nothing, child, stdin, lines };
        engine.indexed = engine.hear(places)?;
        Ok(engine)
    }

    /// Asks all questions.
    pub(super) fn ask(&mut self, order: SearchOrder, places: &Places) -> Result<Answers> {
        let order = match order {
            SearchOrder::Newest => "newest",
            SearchOrder::Ranked => "ranked",
        };
        self.say(order)?;
        self.hear(places)
    }

    /// Adds so many messages, each of which is found before the next.
    pub(super) fn add(&mut self, messages: u64, places: &Places) -> Result<Answers> {
        self.say(&format!("add {messages}"))?;
        self.hear(places)
    }

    fn say(&mut self, line: &str) -> Result<()> {
        self.stdin.write_all(format!("{line}\n").as_bytes()).with_context(|| format!("{} is gone", self.peer.name()))
    }

    fn hear<T: DeserializeOwned>(&self, places: &Places) -> Result<T> {
        let line = self.lines.recv_timeout(PATIENCE).with_context(|| {
            let log = fs::read_to_string(places.log()).unwrap_or_default();
            let why = log.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").to_owned();
            format!("{} gives no answer within {} s: {why}", self.peer.name(), PATIENCE.as_secs())
        })?;
        serde_json::from_str(&line).with_context(|| format!("{} said `{line}`", self.peer.name()))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Its files are thrown away with the run, so it need not tidy up.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The interpreter of an environment that has the peer's wheels.
fn install(peer: Peer, places: &Places) -> Result<PathBuf> {
    let list = places.python.join(format!("{}.txt", peer.wheel()));
    let wanted = fs::read_to_string(&list).with_context(|| list.display().to_string())?;
    let home = places.kept.join("python").join(peer.wheel());
    let (python, mark) = (home.join("bin/python"), home.join("installed.txt"));
    if fs::read_to_string(&mark).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    progress(&format!("installing {}", peer.name()));
    let until = Instant::now() + INSTALL_TIME;
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"]).arg(&home);
    finish(venv, until).with_context(|| format!("no Python environment for {}", peer.name()))?;
    let mut pip = Command::new(&python);
    // Only what is built already: whoever needs a compiler here does not install.
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
    pip.args(["--only-binary", ":all:", "--requirement"]).arg(&list);
    finish(pip, until).with_context(|| format!("{} does not install", peer.name()))?;
    fs::write(mark, wanted)?;
    Ok(python)
}

/// Lets a command end by itself, if it does so in time.
fn finish(mut command: Command, until: Instant) -> Result<()> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    while Instant::now() < until {
        match child.try_wait()? {
            Some(ended) if ended.success() => return Ok(()),
            Some(ended) => bail!("`{}` ended with {ended}", command.get_program().display()),
            None => sleep(Duration::from_millis(50)),
        }
    }
    child.kill()?;
    child.wait()?;
    bail!("it takes more than {} minutes", INSTALL_TIME.as_secs() / 60)
}
