//! A person's home, folder and terminal, for one test. Whatever runs there ends with it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use switchboard_host::folder::{Folder, Running, running_host};
use tempfile::TempDir;

/// How long anything may take before a test gives up on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// `connect`, one message of the dialect `tabs` a line.
pub(crate) const LINES: [&str; 5] = ["connect", "--dialect", "tabs", "--framing", "lines"];

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// The values that it printed, one a line.
    pub(crate) fn json(&self) -> Vec<Value> {
        let read = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?} of {self:?}"));
        self.out.lines().map(read).collect()
    }

    /// The same, where it must have worked.
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

pub(crate) struct Stage {
    home: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self { home: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(stage.workspace()).unwrap();
        stage
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.home.path().join("project")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data/switchboard")
    }

    /// Writes the user's own configuration.
    pub(crate) fn configure(&self, text: &str) -> PathBuf {
        let file = self.home.path().join("config/switchboard/config.toml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Writes a program into the workspace.
    pub(crate) fn script(&self, name: &str, text: &str) {
        let path = self.workspace().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Any program, in this home and folder; whatever it has no terminal.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        let bin = Path::new(env!("CARGO_BIN_EXE_switchboard")).parent().unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        command.args(args).current_dir(self.workspace()).env_clear().env("PATH", path).env("HOME", self.home());
        command.env("XDG_DATA_HOME", self.home().join("data")).env("XDG_CONFIG_HOME", self.home().join("config"));
        command.env("NO_COLOR", "1").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn switchboard(&self, args: &[&str]) -> Command {
        self.command(env!("CARGO_BIN_EXE_switchboard"), args)
    }

    pub(crate) fn call(&self, args: &[&str]) -> Done {
        self.switchboard(args).output().unwrap().into()
    }

    /// The same, with something on standard input.
    pub(crate) fn feed(&self, args: &[&str], input: &[u8]) -> Done {
        let mut child = self.switchboard(args).stdin(Stdio::piped()).spawn().unwrap();
        // A command that does not want all of it may close its end.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap().into()
    }

    /// The same, but the input ends only when this was said.
    pub(crate) fn converse(&self, args: &[&str], input: &[u8], until: &str) -> Done {
        let mut child = self.switchboard(args).stdin(Stdio::piped()).spawn().unwrap();
        let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
        // Beside the reading, since neither side takes all at once.
        let writing = std::thread::spawn(move || stdin.write_all(&input).map(|()| stdin));
        let (mut out, err) = (Heard::of(child.stdout.take().unwrap()), Heard::of(child.stderr.take().unwrap()));
        out.until(until);
        drop(writing.join().unwrap());
        let code = child.wait().unwrap().code().unwrap_or(-1);
        Done { code, out: out.rest(), err: err.rest() }
    }

    /// The host that runs here.
    pub(crate) fn host(&self) -> Option<Running> {
        running_host(&Folder::as_it_is(&self.data()))
    }

    /// Starts a host and waits until it listens.
    pub(crate) fn serve(&self) -> Child {
        let mut command = self.switchboard(&["serve", "--listen", ":0"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        eventually("a host", || self.host().is_some());
        child
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(running) = self.host() {
            signal(running.pid, Signal::TERM);
            eventually("the end of the host", || self.host().is_none());
        }
    }
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    // It may be gone already.
    let _ = kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal);
}

/// Waits for a condition of the world outside, looking again and again.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Bytes of a stream as they come, in a thread of their own.
pub(crate) struct Heard {
    pieces: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
}

impl Heard {
    pub(crate) fn of(mut stream: impl Read + Send + 'static) -> Self {
        let (send, pieces) = sync_channel(64);
        std::thread::spawn(move || {
            let mut buffer = [0; 64 * 1024];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                if send.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { pieces, bytes: Vec::new() }
    }

    /// Waits until this was said.
    pub(crate) fn until(&mut self, wanted: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut from = 0;
        while !String::from_utf8_lossy(&self.bytes[from..]).contains(wanted) {
            // It may begin at the end of what has come.
            from = self.bytes.len().saturating_sub(wanted.len());
            let left = deadline.saturating_duration_since(Instant::now());
            match self.pieces.recv_timeout(left) {
                Ok(piece) => self.bytes.extend(piece),
                Err(_) => panic!("no {wanted:?} in {:?}", String::from_utf8_lossy(&self.bytes)),
            }
        }
    }

    /// All that was said to the end.
    pub(crate) fn rest(mut self) -> String {
        while let Ok(piece) = self.pieces.recv_timeout(PATIENCE) {
            self.bytes.extend(piece);
        }
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// A terminal with a person at it.
pub(crate) struct Terminal {
    person: File,
    program: PathBuf,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let program = ptsname(&person, Vec::new()).unwrap().into_string().unwrap().into();
        Self { person: File::from(person), program }
    }

    /// The program's end of it.
    pub(crate) fn end(&self) -> Stdio {
        File::options().read(true).write(true).open(&self.program).unwrap().into()
    }

    /// What the person sees.
    pub(crate) fn seen(&self) -> Heard {
        Heard::of(self.person.try_clone().unwrap())
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.person.write_all(text.as_bytes()).unwrap();
    }
}
