//! What is measured: our host, the raw limit and the peer, each behind the same three things: start it, connect views,
//! stream to them. Never looks into what is streamed.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use crate::crowd::{Crowd, Seen, Times};
use crate::load::Load;
use crate::process::Program;
use crate::wire::Wire;

/// How long one run may take.
const PATIENCE: Duration = Duration::from_secs(180);
/// Chunks of the run that warms a subject up.
const WARM_UP: u64 = 2000;

/// What a commit of our host survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Power loss.
    Full,
    /// The end of the program.
    Normal,
}

/// Who is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Switchboard.
    Ours(Durability),
    /// A copy loop.
    Raw,
    /// Node with `ws` and `vscode-jsonrpc`.
    Node,
}

/// Where programs are found and data is put.
#[derive(Clone, Debug)]
pub struct Places {
    /// The folder of the built programs.
    pub programs: PathBuf,
    /// A folder of this run, on the disk that is measured.
    pub data: PathBuf,
    /// The peer's folder with its packages, if there is Node.
    pub node: Option<PathBuf>,
    /// The scripts of peers in Python, and what they need.
    pub python: PathBuf,
    /// A folder that outlives this run, for what is installed.
    pub kept: PathBuf,
}

impl Places {
    /// A built program.
    #[must_use]
    pub fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// Where programs complain.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.data.join("errors.log")
    }
}

/// A program that runs, and how to reach it.
#[derive(Debug)]
pub struct Subject {
    /// The process.
    pub program: Program,
    kind: Kind,
    port: u16,
    token: String,
    opened: u64,
    data: PathBuf,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What the views saw.
    pub seen: Seen,
    /// Processor time that the host used for it, in microseconds.
    pub cpu_us: f64,
}

impl Run {
    /// Chunks a second, over all views.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.seen.chunks as f64 / self.seen.seconds.max(1e-9)
    }

    /// The host's microseconds for one chunk to one view.
    #[must_use]
    pub fn cpu_per_delivery(&self) -> f64 {
        self.cpu_us / (self.seen.chunks as f64).max(1.0)
    }
}

impl Subject {
    /// Starts it. Ours gets a new data folder.
    pub fn start(kind: Kind, places: &Places) -> Result<Self> {
        match kind {
            Kind::Ours(durability) => Self::start_in(prepare(durability, places)?, kind, places),
            Kind::Raw | Kind::Node => Self::start_in(PathBuf::new(), kind, places),
        }
    }

    /// Starts ours with so many agents besides the default one.
    pub fn with_agents(durability: Durability, places: &Places, more_agents: u32) -> Result<Self> {
        Self::start_in(prepare_with(durability, places, more_agents)?, Kind::Ours(durability), places)
    }

    /// Starts ours with an engine as its agent `engine`.
    pub fn with_engine(durability: Durability, places: &Places, url: &str) -> Result<Self> {
        let engine = format!("[agents.engine]\nkind = \"engine\"\nurl = {}\n", json!(url));
        Self::with_agent(durability, places, &engine)
    }

    /// Starts ours with one more agent, as its configuration writes it.
    pub fn with_agent(durability: Durability, places: &Places, agent: &str) -> Result<Self> {
        let data = prepare(durability, places)?;
        let config = fs::read_to_string(data.join("config.toml"))?;
        fs::write(data.join("config.toml"), config + agent)?;
        Self::start_in(data, Kind::Ours(durability), places)
    }

    fn start_in(data: PathBuf, kind: Kind, places: &Places) -> Result<Self> {
        let program = Program::start(&mut command(kind, places, &data)?, &places.log())?;
        let port = match kind {
            Kind::Ours(_) => program.ready["url"].as_str().and_then(|url| url.rsplit(':').next()?.parse().ok()),
            Kind::Raw | Kind::Node => program.ready["port"].as_u64().and_then(|port| u16::try_from(port).ok()),
        };
        let token = program.ready["token"].as_str().unwrap_or_default().to_owned();
        let port = port.with_context(|| format!("no port in {}", program.ready))?;
        Ok(Self { program, kind, port, token, opened: 0, data })
    }

    /// Starts it and lets it stream a little, so that what happens only once is over.
    pub fn warm(kind: Kind, places: &Places) -> Result<Self> {
        let mut subject = Self::start(kind, places)?;
        subject.run(1, Load::Flat { count: WARM_UP })?;
        Ok(subject)
    }

    /// Where its data lies.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Starts a registry of tools: ours, or the peer's.
    pub fn registry(kind: Kind, places: &Places) -> Result<Self> {
        match kind {
            Kind::Ours(_) | Kind::Raw => Self::start(kind, places),
            Kind::Node => {
                let folder = places.node.as_ref().context("there is no Node here")?;
                let program = Program::start(Command::new("node").arg(folder.join("tools.mjs")), &places.log())?;
                let port = program.ready["port"].as_u64().and_then(|port| u16::try_from(port).ok());
                let port = port.with_context(|| format!("no port in {}", program.ready))?;
                Ok(Self { program, kind, port, token: String::new(), opened: 0, data: PathBuf::new() })
            }
        }
    }

    /// A view's socket, after its handshake. It is seated nowhere.
    pub fn connect(&self) -> Result<TcpStream> {
        self.connect_to("tabs")
    }

    /// The same for any dialect.
    pub fn connect_to(&self, dialect: &str) -> Result<TcpStream> {
        if self.kind == Kind::Raw {
            let mut socket = TcpStream::connect(("127.0.0.1", self.port)).context("a view could not connect")?;
            socket.set_nodelay(true)?;
            socket.read_exact(&mut [0])?;
            return Ok(socket);
        }
        handshake(self.port, dialect, &self.token)
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What opens its doors.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Views that are connected and idle.
    pub fn views(&self, count: usize) -> Result<Crowd> {
        let sockets: Result<Vec<TcpStream>> = (0..count).map(|_| self.connect()).collect();
        Crowd::new(self.wire(), sockets?)
    }

    /// Seats all views at a tab, for ours; the others know no tabs.
    pub fn seat(&self, crowd: &mut Crowd, tab: &str) -> Result<()> {
        if !matches!(self.kind, Kind::Ours(_)) {
            return Ok(());
        }
        for view in 0..crowd.len() {
            crowd.say(view, &json!({"type": "new-tab", "tabId": tab}).to_string())?;
        }
        crowd.wait_for_others(1, PATIENCE)
    }

    /// Streams to so many new views of a new tab.
    pub fn run(&mut self, views: usize, load: Load) -> Result<Run> {
        let mut crowd = self.views(views)?;
        let tab = self.new_tab();
        self.seat(&mut crowd, &tab)?;
        self.stream(&mut crowd, &tab, load)
    }

    /// Streams to views that are seated.
    pub fn stream(&mut self, crowd: &mut Crowd, tab: &str, load: Load) -> Result<Run> {
        self.program.rest()?;
        let before = self.program.cpu()?;
        match self.kind {
            Kind::Ours(_) => {
                let prompt = json!({"type": "prompt", "tabId": tab, "messageId": "m1", "text": load.to_string()});
                crowd.say(0, &prompt.to_string())?;
            }
            Kind::Raw | Kind::Node => self.program.say(&load.to_string())?,
        }
        let times = match load {
            Load::Flat { .. } => Times::Ignored,
            Load::Paced { .. } => Times::Taken,
        };
        let seen = crowd.read_chunks(load.count(), times, PATIENCE)?;
        self.program.rest()?;
        let used = self.program.cpu()?.saturating_sub(before);
        Ok(Run { seen, cpu_us: used.as_secs_f64() * 1e6 })
    }

    /// A tab that nobody has had.
    pub fn new_tab(&mut self) -> String {
        self.opened += 1;
        format!("t{}", self.opened)
    }

    fn wire(&self) -> Wire {
        match self.kind {
            Kind::Ours(_) | Kind::Node => Wire::WebSocket,
            Kind::Raw => Wire::Lines,
        }
    }
}

/// A view's socket at a door for WebSockets, after its handshake.
pub fn handshake(port: u16, dialect: &str, token: &str) -> Result<TcpStream> {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).context("a view could not connect")?;
    socket.set_nodelay(true)?;
    let request = format!(
        "GET /ws/{dialect} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    socket.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    // Byte by byte, since what follows the head is the first frame.
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).context("the handshake was not answered")?;
        answer.extend_from_slice(&byte);
    }
    if !answer.starts_with(b"HTTP/1.1 101") {
        bail!("the handshake was refused: {}", String::from_utf8_lossy(&answer));
    }
    Ok(socket)
}

/// The command line of our host for a data folder that was prepared.
pub fn serve(places: &Places, data: &Path) -> Command {
    let mut command = ours(places, data);
    command.args(["serve", "--json", "--listen", "127.0.0.1:0"]).arg("--workspace").arg(data.join("workspace"));
    command
}

fn ours(places: &Places, data: &Path) -> Command {
    let mut command = Command::new(places.program("switchboard"));
    command.arg("--data").arg(data.join("state")).arg("--config").arg(data.join("config.toml"));
    command
}

fn command(kind: Kind, places: &Places, data: &Path) -> Result<Command> {
    Ok(match kind {
        Kind::Ours(_) => serve(places, data),
        Kind::Raw => {
            let mut command = Command::new(places.program("bench-raw"));
            command.arg("relay").arg(places.program("bench-agent"));
            command
        }
        Kind::Node => {
            let folder = places.node.as_ref().context("there is no Node here")?;
            let mut command = Command::new("node");
            command.arg(folder.join("host.mjs")).arg(places.program("bench-agent"));
            command
        }
    })
}

/// The name of one of the agents that are not the default, each with a process of its own.
#[must_use]
pub fn another_agent(number: u32) -> String {
    format!("another-{number}")
}

/// A data folder with the bench's agent and a trusted workspace.
pub fn prepare(durability: Durability, places: &Places) -> Result<PathBuf> {
    prepare_with(durability, places, 0)
}

/// The same with so many agents more.
fn prepare_with(durability: Durability, places: &Places, more_agents: u32) -> Result<PathBuf> {
    let name = match durability {
        Durability::Full => "full",
        Durability::Normal => "normal",
    };
    let number = fs::read_dir(&places.data)?.count();
    let data = places.data.join(format!("{name}-{number}"));
    fs::create_dir_all(data.join("workspace"))?;
    let agent = json!([places.program("bench-agent"), "plain"]);
    let mut config = format!(
        "default_agent = \"load\"\ndurability = \"{name}\"\n[agents.load]\nkind = \"plain\"\ncommand = {agent}\n"
    );
    for number in 0..more_agents {
        config += &format!("[agents.{}]\nkind = \"plain\"\ncommand = {agent}\n", another_agent(number));
    }
    fs::write(data.join("config.toml"), config)?;
    let trusted = ours(places, &data).arg("trust").arg(data.join("workspace")).output()?;
    if !trusted.status.success() {
        bail!("the workspace could not be trusted: {}", String::from_utf8_lossy(&trusted.stderr));
    }
    Ok(data)
}
