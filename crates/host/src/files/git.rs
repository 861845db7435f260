//! git, asked for objects of a repository: without a shell, within bounds of time and size, and without anything that the
//! repository's own settings could make it run or fetch. Never changes the repository.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use switchboard_types::{Reject, RejectCode};

use super::SHOWN_PATH;
use crate::agents::program;
use crate::agents::shown::{shown, shown_bytes};

/// A file of a revision.
pub(super) const MAX_BLOB_BYTES: u64 = 8 * 1024 * 1024;
/// Time for all that one request has git do.
const MAX_TIME: Duration = Duration::from_secs(10);
/// What git may say when something is wrong.
const MAX_ERROR_BYTES: u64 = 4096;
/// Time between two looks at whether it has ended, once it has said everything.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);
/// Variables of the host that git gets: where it is found, and where the user's own settings are.
const PASSED_ON: &[&str] = &["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR"];
/// Variables that it gets besides. No other of git's own is passed on.
const SET: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // Objects that are not here are not fetched; and if a version does not know this, no way of fetching is allowed.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("GIT_PAGER", "cat"),
];
/// Settings that go before those of the repository.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "credential.helper=",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "safe.bareRepository=explicit",
];

/// The git of one request.
pub(super) struct Git {
    program: PathBuf,
    folder: PathBuf,
    until: Instant,
}

/// What it has said.
struct Said {
    status: ExitStatus,
    out: Vec<u8>,
    error: String,
}

impl Git {
    /// Finds it.
    pub(super) fn find(folder: &Path) -> Result<Self, Reject> {
        let missing =
            |_| Reject::new(RejectCode::Conflict, "git is not installed, so there are no revisions to compare");
        let path = std::env::var_os("PATH");
        let program = program::find("git", folder, path.as_deref()).map_err(missing)?;
        Ok(Self { program, folder: folder.to_owned(), until: Instant::now() + MAX_TIME })
    }

    /// A file of a revision; none if the revision has no such file.
    pub(super) fn file(&self, revision: &str, path: &str) -> Result<Option<Vec<u8>>, Reject> {
        let tree = self.tree(revision)?;
        let listed = self.run(&["ls-tree", "-z", &tree, "--", path], MAX_ERROR_BYTES + SHOWN_PATH as u64)?;
        if !listed.status.success() {
            return Err(failed(&listed));
        }
        // `mode type object<TAB>path<NUL>`
        let entry = listed.out.split(|byte| *byte == 0).next().unwrap_or_default();
        if entry.is_empty() {
            return Ok(None);
        }
        let head = entry.split(|byte| *byte == b'\t').next().unwrap_or_default();
        let words: Vec<&str> = std::str::from_utf8(head).unwrap_or_default().split(' ').collect();
        match words.as_slice() {
            ["100644" | "100755" | "100664", "blob", object] if is_object(object) => self.blob(object, path).map(Some),
            _ => {
                let message =
                    format!("`{}` is no file in revision `{}`", shown(path, SHOWN_PATH), shown(revision, 100));
                Err(Reject::new(RejectCode::BadMessage, message))
            }
        }
    }

    fn tree(&self, revision: &str) -> Result<String, Reject> {
        let named = format!("{revision}^{{tree}}");
        let said = self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &named], MAX_ERROR_BYTES)?;
        let object = String::from_utf8_lossy(&said.out).trim().to_owned();
        match said.status.code() {
            Some(0) if is_object(&object) => Ok(object),
            Some(1) => {
                let message = format!("the repository has no revision `{}`", shown(revision, 100));
                Err(Reject::new(RejectCode::NotFound, message))
            }
            _ if said.error.contains("not a git repository") => {
                let message = "the workspace is no git repository, so it has no revisions; ask without one for what the session changed";
                Err(Reject::new(RejectCode::NotFound, message))
            }
            _ => Err(failed(&said)),
        }
    }

    fn blob(&self, object: &str, path: &str) -> Result<Vec<u8>, Reject> {
        let said = self.run(&["cat-file", "blob", object], MAX_BLOB_BYTES)?;
        if said.out.len() as u64 > MAX_BLOB_BYTES {
            let message = format!("`{}` is over {MAX_BLOB_BYTES} bytes, too large to compare", shown(path, SHOWN_PATH));
            return Err(Reject::new(RejectCode::TooLarge, message));
        }
        if said.status.success() { Ok(said.out) } else { Err(failed(&said)) }
    }

    /// Runs it to its end, or until it says more than it may: then one byte more than that is taken, and it is ended.
    fn run(&self, arguments: &[&str], most: u64) -> Result<Said, Reject> {
        let broken = |error: std::io::Error| Reject::new(RejectCode::Internal, format!("git cannot be run: {error}"));
        let mut child = self.command(arguments).spawn().map_err(broken)?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (out_to, out) = sync_channel(1);
        let (error_to, error) = sync_channel(1);
        if let (Some(said), Some(complained)) = (child.stdout.take(), child.stderr.take()) {
            // Whoever waits may have given up.
            thread::spawn(move || out_to.send(taken(said, most + 1)));
            thread::spawn(move || error_to.send(taken(complained, MAX_ERROR_BYTES)));
        }
        let heard = out.recv_timeout(self.left());
        let ended = matches!(&heard, Ok(out) if out.len() as u64 <= most) && self.has_ended(group);
        let status = end(&mut child, group).map_err(broken)?;
        // Its group is gone, and with it whoever could still hold the other end.
        let error = error.recv_timeout(MAX_TIME).unwrap_or_default();
        match heard {
            Ok(out) if ended || out.len() as u64 > most => Ok(Said { status, out, error: shown_bytes(&error, 1000) }),
            Ok(_) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                let message = format!("git was not done after {} s, and was ended", MAX_TIME.as_secs());
                Err(Reject::new(RejectCode::Conflict, message))
            }
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().current_dir(&self.folder).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let passed = PASSED_ON.iter().filter_map(|name| Some((OsStr::new(name), std::env::var_os(name)?)));
        command.envs(passed).envs(SET.iter().copied());
        command.args(["--no-pager", "--no-optional-locks", "--no-replace-objects"]);
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        command.args(arguments);
        command
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Waits for its end without taking it, so that its group is still its own.
    fn has_ended(&self, group: Option<Pid>) -> bool {
        let Some(pid) = group else { return true };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(pid), look) {
                Ok(None) if self.left() > Duration::ZERO => thread::sleep(BETWEEN_LOOKS),
                Ok(None) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }
}

/// Ends whatever is left of it, then takes its end.
fn end(child: &mut Child, group: Option<Pid>) -> std::io::Result<ExitStatus> {
    if let Some(group) = group {
        // Nobody being left is no error.
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait()
}

fn taken(from: impl Read, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What came before an error is all there is.
    let _ = from.take(most).read_to_end(&mut bytes);
    bytes
}

fn is_object(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn failed(said: &Said) -> Reject {
    let why = if said.error.is_empty() { said.status.to_string() } else { said.error.clone() };
    Reject::new(RejectCode::Conflict, format!("git could not say: {why}"))
}
