//! The program under test, started as people start it.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::view::View;

/// How long anything may take before a test gives up on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A data folder and a workspace that outlive the hosts that run on them.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { folder: TempDir::new().unwrap() };
        std::fs::create_dir(place.workspace()).unwrap();
        std::fs::write(place.config(), "").unwrap();
        place
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data().join("switchboard.db")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    /// A plain agent named `name`, as a shell script, in the user's configuration; the workspace is trusted.
    pub(crate) fn with_agent(self, name: &str, script: &str) -> Self {
        let path = self.workspace().join(format!("{name}.sh"));
        std::fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let entry = format!("\n[agents.{name}]\nkind = \"plain\"\ncommand = [\"./{name}.sh\"]\n");
        self.with_config(&entry)
    }

    /// An ACP agent named `name` that does what its prompts say, in Python, in the user's configuration.
    pub(crate) fn with_acp(self, name: &str, more: &str) -> Self {
        let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spine/acp_agent.py");
        let command = format!("command = [\"python3\", \"-u\", {:?}]", agent.to_str().unwrap());
        self.with_config(&format!("\n[agents.{name}]\nkind = \"acp\"\n{command}\n{more}\n"))
    }

    pub(crate) fn with_config(self, more: &str) -> Self {
        let config = std::fs::read_to_string(self.config()).unwrap();
        std::fs::write(self.config(), config + more).unwrap();
        self
    }

    /// Writes the user's configuration anew.
    pub(crate) fn configure(&self, text: &str) {
        std::fs::write(self.config(), text).unwrap();
    }

    pub(crate) fn configuration(&self) -> String {
        std::fs::read_to_string(self.config()).unwrap()
    }

    pub(crate) fn trusted(self) -> Self {
        let out = self.command(&["trust"]).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        self
    }

    /// The program with this place's folders.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        command
            .args(args)
            .arg("--data")
            .arg(self.data())
            .arg("--config")
            .arg(self.config())
            .arg("--workspace")
            .arg(self.workspace())
            .env("NO_COLOR", "1")
            // What a test stores is not for the keyring of whoever runs it.
            .env("SWITCHBOARD_KEYRING", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn serve(&self) -> Host {
        self.serve_with(|_| {})
    }

    pub(crate) fn serve_with(&self, change: impl FnOnce(&mut Command)) -> Host {
        self.serve_on("127.0.0.1:0", change)
    }

    /// At an address, which another host may have had before.
    pub(crate) fn serve_on(&self, address: &str, change: impl FnOnce(&mut Command)) -> Host {
        let log = self.folder.path().join(format!("host-{}.log", uniq()));
        let mut command = self.command(&["serve", "--json", "--listen", address]);
        command.stderr(std::fs::File::create(&log).unwrap());
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Ok(ready) = serde_json::from_str::<Value>(&line) else {
            panic!("no ready line but {line:?}; the log says: {}", std::fs::read_to_string(&log).unwrap());
        };
        Host { child, ready, log, data: self.data() }
    }
}

/// A running host. Killed when it is dropped.
pub(crate) struct Host {
    child: Child,
    pub(crate) ready: Value,
    log: PathBuf,
    data: PathBuf,
}

impl Host {
    pub(crate) fn url(&self) -> &str {
        self.ready["url"].as_str().unwrap()
    }

    pub(crate) fn address(&self) -> &str {
        self.url().strip_prefix("http://").unwrap()
    }

    pub(crate) fn token(&self) -> &str {
        self.ready["token"].as_str().unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) async fn view(&self) -> View {
        View::connect(self.address(), self.token()).await
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    pub(crate) fn kill_9(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM, then waits for the end; gives the exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        signal(self.child.id(), "TERM");
        self.child.wait().unwrap().code()
    }

    /// Pids of the agents that the host says are its children.
    pub(crate) fn children(&self) -> Vec<u32> {
        children_of(&self.data)
    }

    /// Resident memory in KiB.
    pub(crate) fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// One HTTP request by hand, since tests need headers that no library sends.
    pub(crate) fn http(&self, request: &str) -> Answer {
        use std::io::Write;
        let mut socket = std::net::TcpStream::connect(self.address()).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(request.as_bytes()).unwrap();
        let mut text = Vec::new();
        socket.read_to_end(&mut text).unwrap();
        Answer(String::from_utf8_lossy(&text).into_owned())
    }

    pub(crate) fn get(&self, path: &str, headers: &str) -> Answer {
        let host = self.address();
        self.http(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"))
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.token())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // Already gone where the test ended it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An HTTP answer as it came.
pub(crate) struct Answer(pub(crate) String);

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.0.split_whitespace().nth(1).unwrap_or_else(|| panic!("no status in {:?}", self.0)).parse().unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let head = self.0.split("\r\n\r\n").next()?;
        head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn body(&self) -> &str {
        self.0.split_once("\r\n\r\n").map_or("", |(_, body)| body)
    }
}

pub(crate) fn signal(pid: u32, name: &str) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).status().unwrap();
    assert!(status.success());
}

pub(crate) fn children_of(data: &Path) -> Vec<u32> {
    let Ok(files) = std::fs::read_dir(data.join("children")) else { return Vec::new() };
    files.filter_map(|file| file.ok()?.file_name().to_str()?.parse().ok()).collect()
}

pub(crate) fn is_alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // A zombie is dead; nobody has looked yet.
    !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}

/// Waits for a condition of the world outside, looking again and again.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

fn uniq() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A plain agent in the shell: opens sessions, answers each prompt with `answer` (which sees `$id`, `$name` and `$line`).
pub(crate) fn shell_agent(answer: &str) -> String {
    format!(
        r#"n=0
field() {{ printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }}
say() {{ printf '%s\n' "$1"; }}
while IFS= read -r line; do
  case $line in
    *'"type":"new-session"'*) n=$((n+1)); say "{{\"type\":\"session-created\",\"requestId\":\"$(field requestId)\",\"sessionId\":\"s$n\"}}" ;;
    *'"type":"process-prompt"'*) id=$(field sessionId); name=$(field messageId)
{answer}
      ;;
  esac
done
"#
    )
}
