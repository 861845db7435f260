//! A home folder, a host in it and programs that are joined to it, as a reader of the pages would have them.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// How long anything may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the pages say that a host listens.
const USUAL_ADDRESS: &str = "127.0.0.1:7171";

/// A home folder with a workspace and a configuration in it, and the data where the pages say that it is.
pub(crate) struct Stage {
    home: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self { home: TempDir::new().unwrap() };
        std::fs::create_dir(stage.workspace()).unwrap();
        std::fs::write(stage.config(), "").unwrap();
        stage
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.home.path().join("workspace")
    }

    fn data(&self) -> PathBuf {
        self.home.path().join(".local/share/switchboard")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.home.path().join("config.toml")
    }

    /// Writes a file into the workspace.
    pub(crate) fn with(self, path: &str, text: &str) -> Self {
        let path = self.workspace().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Writes a program into the workspace.
    pub(crate) fn with_program(self, path: &str, text: &str) -> Self {
        let stage = self.with(path, text);
        std::fs::set_permissions(stage.workspace().join(path), std::fs::Permissions::from_mode(0o755)).unwrap();
        stage
    }

    /// The program with this place's folders.
    pub(crate) fn switchboard(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        command.args(args).arg("--data").arg(self.data());
        command.arg("--config").arg(self.config()).arg("--workspace").arg(self.workspace());
        command
            .env("NO_COLOR", "1")
            .env("SWITCHBOARD_KEYRING", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// What a command prints; it must succeed.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        let out = self.switchboard(args).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    /// A command of a page, in the workspace, in a shell whose home this is; the usual address stands for the host's.
    pub(crate) fn shell(&self, host: &Host, line: &str) -> Joined {
        assert!(line.contains(USUAL_ADDRESS), "{line}");
        let line = format!("exec {}", line.replace(USUAL_ADDRESS, host.address()));
        let mut shell = Command::new("sh");
        Joined::start(shell.args(["-c", &line]).env("HOME", self.home.path()).current_dir(self.workspace()))
    }

    /// The same for a whole script of Bash.
    pub(crate) fn script(&self, host: &Host, text: &str) -> Joined {
        assert!(text.contains(USUAL_ADDRESS), "{text}");
        let text = text.replace(USUAL_ADDRESS, host.address());
        let mut shell = Command::new("bash");
        Joined::start(shell.args(["-c", &text]).env("HOME", self.home.path()).current_dir(self.workspace()))
    }

    /// A program of the workspace, on its own.
    pub(crate) fn program(&self, path: &str) -> Joined {
        Joined::start(Command::new(self.workspace().join(path)).current_dir(self.workspace()))
    }

    pub(crate) fn serve(&self, listen: &str) -> Host {
        let log = self.home.path().join("host.log");
        let mut command = self.switchboard(&["serve", "--json", "--listen", listen]);
        command.env("SWITCHBOARD_LOG", "trace");
        command.stderr(std::fs::OpenOptions::new().append(true).create(true).open(&log).unwrap());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Ok(ready) = serde_json::from_str(&line) else {
            panic!("no ready line but {line:?}; the log says: {}", std::fs::read_to_string(&log).unwrap());
        };
        Host { child, ready, log }
    }
}

/// A running host. Killed when it is dropped.
pub(crate) struct Host {
    child: Child,
    pub(crate) ready: Value,
    log: PathBuf,
}

impl Host {
    pub(crate) fn address(&self) -> &str {
        self.ready["url"].as_str().unwrap().strip_prefix("http://").unwrap()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program with its input and output. Killed when it is dropped.
pub(crate) struct Joined {
    child: Child,
    stdin: ChildStdin,
    bytes: Receiver<Vec<u8>>,
    pub(crate) said: String,
}

impl Joined {
    fn start(command: &mut Command) -> Self {
        let name = command.get_program().to_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{name:?} is needed for this test: {error}"));
        let mut stdout = child.stdout.take().unwrap();
        let (send, bytes) = sync_channel(64);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(size @ 1..) = stdout.read(&mut buffer) {
                if send.send(buffer[..size].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { stdin: child.stdin.take().unwrap(), child, bytes, said: String::new() }
    }

    pub(crate) fn types(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// As it is, without an end of line.
    pub(crate) fn types_raw(&mut self, text: &str) {
        self.stdin.write_all(text.as_bytes()).unwrap();
    }

    /// Reads until so many of these have been said since the start.
    pub(crate) fn says(&mut self, what: &str, times: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.said.matches(what).count() < times {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.bytes.recv_timeout(left) {
                Ok(bytes) => self.said += &String::from_utf8_lossy(&bytes),
                Err(RecvTimeoutError::Timeout) => panic!("not {what:?} within {PATIENCE:?}, but {:?}", self.said),
                Err(RecvTimeoutError::Disconnected) => panic!("it ended without {what:?}: {:?}", self.said),
            }
        }
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
