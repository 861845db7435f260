//! The walls around one command: the disk read-only, the workspace writable, protected places and secrets not, no network unless
//! it is allowed. Starts nothing.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use switchboard_types::Network;
use tokio::process::Command;

use super::protected::{Protected, Watch, protect};
use super::script::Script;
use super::{Fence, hidden};

/// Where our own program is behind the walls.
pub(super) const INNER: &str = "/dev/switchboard/start";
/// Places of all users that every command gets for itself, empty.
const PRIVATE: &[&str] = &["/tmp", "/var/tmp", "/run"];
/// Bytes that a command can put into each of them; they are memory.
const PRIVATE_BYTES: &str = "4294967296";
/// What systems keep in `/run` although programs need it.
const OF_RUN: &[&str] = &["/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers"];
/// The file that says who knows the names of machines.
const NAMES: &str = "/etc/resolv.conf";

/// A command behind its walls, ready to be started.
#[derive(Debug)]
pub(crate) struct Wrapped {
    pub(crate) command: Command,
    /// To be passed on to it, and to stay open until it has started.
    pub(crate) pass: Vec<OwnedFd>,
    /// What to look at when it has ended.
    pub(crate) watch: Option<Watch>,
}

/// What one command gets.
#[derive(Debug)]
pub(crate) struct Room<'a> {
    /// The workspace, without links.
    pub(crate) root: &'a Path,
    /// The very folder.
    pub(crate) handle: OwnedFd,
    /// The host's data folder, without links.
    pub(crate) own: &'a Path,
    /// Whether the network is there.
    pub(crate) network: Network,
    /// The entry `.git` of a repository that git may write to.
    pub(crate) git: Option<PathBuf>,
}

/// What every command gets.
pub(super) fn base(program: &Path, network: Network) -> Vec<OsString> {
    let mut all: Vec<OsString> = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        .into_iter()
        .chain(match network {
            Network::Open => Some("--share-net"),
            Network::Closed => None,
        })
        .chain(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
        .map(OsString::from)
        .collect();
    for place in PRIVATE {
        // Where it is a link, what it leads to is private already, or read-only.
        if std::fs::symlink_metadata(place).is_ok_and(|found| found.is_dir()) {
            all.extend(["--size", PRIVATE_BYTES, "--tmpfs", place].map(OsString::from));
        }
    }
    for place in OF_RUN {
        all.extend(["--ro-bind-try", place, place].map(OsString::from));
    }
    let names = Path::new(NAMES).canonicalize().ok();
    if let (Network::Open, Some(names)) = (network, names.filter(|names| names.starts_with("/run"))) {
        all.extend(["--ro-bind".into(), names.clone().into(), names.into()]);
    }
    all.extend(["--ro-bind".into(), program.into(), INNER.into(), "--chdir".into(), "/".into()]);
    all
}

/// Puts a command behind walls. The words are the script's.
pub(crate) fn wrap(fence: &Fence, room: Room<'_>, script: &Script, words: Vec<OsString>) -> io::Result<Wrapped> {
    let bwrap = fence.bwrap().ok_or_else(|| io::Error::other("bubblewrap is not there"))?;
    let writable: Vec<PathBuf> = fence
        .wanted
        .writable
        .iter()
        .filter_map(|folder| folder.canonicalize().ok())
        .filter(|folder| folder.is_dir())
        .collect();
    check(bwrap, room.root, &writable)?;
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let hidden = hidden::all(home.as_deref(), room.own, &fence.wanted.hidden, runtime.as_deref());
    // What is hidden around a folder that is wanted comes first, so that the folder is seen again.
    let around = |path: &PathBuf| writable.iter().any(|folder| folder.starts_with(path)) || room.root.starts_with(path);
    let (before, after): (Vec<_>, Vec<_>) = hidden.into_iter().partition(around);

    let Protected { arguments, watch } = protect(room.root, room.git.as_deref())?;
    let mut command = Command::new(bwrap);
    // Variables of the command would be bubblewrap's too, and that is not behind walls: the script sets them.
    command.env_clear().current_dir("/").args(base(&fence.program()?, room.network));
    for path in &before {
        command.arg("--tmpfs").arg(path);
    }
    command.arg("--bind-fd").arg(room.handle.as_raw_fd().to_string()).arg(room.root);
    for folder in &writable {
        command.arg("--bind").arg(folder).arg(folder);
    }
    for path in &before {
        command.arg("--remount-ro").arg(path);
    }
    command.args(after.iter().flat_map(|path| hide(path)));
    command.args(arguments).arg("--").arg(INNER);
    command.args(script.arguments(words).map_err(io::Error::other)?);
    Ok(Wrapped { command, pass: vec![room.handle], watch: Some(watch) })
}

/// A script without walls.
pub(crate) fn outside(fence: &Fence, script: &Script, words: Vec<OsString>) -> io::Result<Wrapped> {
    let mut command = Command::new(fence.program()?);
    command.env_clear().current_dir("/").args(script.arguments(words).map_err(io::Error::other)?);
    Ok(Wrapped { command, pass: Vec::new(), watch: None })
}

fn check(bwrap: &Path, root: &Path, writable: &[PathBuf]) -> io::Result<()> {
    let whole = Path::new("/");
    if root == whole || writable.iter().any(|folder| folder == whole) {
        return Err(io::Error::other("the whole disk would be writable; open a folder as the workspace instead"));
    }
    if writable.iter().map(PathBuf::as_path).chain([root]).any(|folder| bwrap.starts_with(folder)) {
        return Err(io::Error::other("bubblewrap itself lies in a folder that the command may write to"));
    }
    Ok(())
}

fn hide(path: &Path) -> Vec<OsString> {
    if path.is_dir() {
        vec!["--tmpfs".into(), path.into(), "--remount-ro".into(), path.into()]
    } else {
        vec!["--ro-bind".into(), "/dev/null".into(), path.into()]
    }
}
