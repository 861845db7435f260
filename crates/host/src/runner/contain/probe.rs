//! Whether bubblewrap works here: found, asked, tried once with the very walls that commands get. Says what to do where it does
//! not. Blocks; not for tasks.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use switchboard_types::Containment;

use super::wrap::base;
use super::{Fence, Mode, Tool, Wanted, script};

/// The program.
const PROGRAM: &str = "bwrap";
/// Time for one trial; it takes some milliseconds.
const MAX_TIME: Duration = Duration::from_secs(10);
/// Between two looks whether it is done.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// What is read of what it says.
const MAX_SAID_BYTES: u64 = 64 * 1024;
/// How to get it.
const INSTALL: &str = "install bubblewrap (on Debian and Ubuntu: `apt install bubblewrap`, on Fedora: `dnf install bubblewrap`, \
                       on Arch: `pacman -S bubblewrap`) and start the host again";

/// Looks what can be had of what is wanted. `path` is the host's own PATH.
#[must_use]
pub fn probe(wanted: Wanted, path: Option<&OsStr>) -> Fence {
    let found = match wanted.mode {
        Mode::Off => {
            Err("the configuration turns it off: `[containment] mode = \"off\"`; take that line out".to_owned())
        }
        Mode::Auto | Mode::Required => find(path).and_then(|bwrap| attempt(&bwrap, &wanted).map(|by| (bwrap, by))),
    };
    let (told, tool) = match (found, wanted.mode) {
        (Ok((bwrap, by)), _) => (Containment::Works { by }, Some(Tool { bwrap })),
        (Err(reason), Mode::Required) => (Containment::Missing { reason }, None),
        (Err(reason), Mode::Auto | Mode::Off) => (Containment::None { reason }, None),
    };
    Fence { told, tool, wanted }
}

/// Only what the system's own user has installed counts: anything else could be written by those who are to be held in.
fn find(path: Option<&OsStr>) -> Result<PathBuf, String> {
    let folders = std::env::split_paths(path.unwrap_or_default()).filter(|folder| folder.is_absolute());
    let mut foreign = None;
    for file in folders.filter_map(|folder| folder.join(PROGRAM).canonicalize().ok()) {
        if is_the_systems(&file) {
            return Ok(file);
        }
        foreign.get_or_insert(file);
    }
    Err(match foreign {
        Some(file) => {
            format!("`{}` is not used, since others than root could have written it; {INSTALL}", file.display())
        }
        None => format!("bubblewrap is not installed; {INSTALL}"),
    })
}

fn is_the_systems(file: &Path) -> bool {
    let is_roots = |path: &Path| path.metadata().is_ok_and(|found| found.uid() == 0 && found.mode() & 0o022 == 0);
    file.is_file() && file.ancestors().all(is_roots)
}

/// What it calls itself, if it works.
fn attempt(bwrap: &Path, wanted: &Wanted) -> Result<String, String> {
    let asked = said(Command::new(bwrap).arg("--version"))?;
    let by = asked.text.lines().next().unwrap_or_default().trim().to_owned();
    let help = said(Command::new(bwrap).arg("--help"))?;
    // Without it a folder can only be named by its path, which may lead elsewhere a moment later.
    if !help.text.contains("--bind-fd") {
        return Err(format!(
            "`{}` is {by}, which is too old: it has no `--bind-fd`; {INSTALL}, 0.10 or later or a version of your \
             distribution from the autumn of 2024 or later",
            bwrap.display()
        ));
    }
    let fence = Fence { told: Containment::Works { by: by.clone() }, tool: None, wanted: wanted.clone() };
    let program = fence.program().map_err(|error| format!("the host's own program cannot be found: {error}"))?;
    let mut command = Command::new(bwrap);
    command.env_clear().args(base(&program, switchboard_types::Network::Closed)).arg("--");
    command.arg(super::wrap::INNER).arg(script::SUBCOMMAND);
    let tried = said(&mut command)?;
    if tried.worked {
        return Ok(by);
    }
    Err(explain(tried.text.trim()))
}

struct Said {
    worked: bool,
    text: String,
}

/// Runs it to its end, or for so long.
fn said(command: &mut Command) -> Result<Said, String> {
    let failed = |error: io::Error| format!("bubblewrap cannot be started: {error}; {INSTALL}");
    let (reader, writer) = io::pipe().map_err(failed)?;
    let twin = writer.try_clone().map_err(failed)?;
    let mut child = command.stdin(Stdio::null()).stdout(writer).stderr(twin).spawn().map_err(failed)?;
    // The command holds the other end of the pipe.
    *command = Command::new(PROGRAM);
    let heard = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = reader.take(MAX_SAID_BYTES).read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let began = Instant::now();
    let worked = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status.success(),
            None if began.elapsed() > MAX_TIME => {
                // An error means that it is gone by itself.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("a trial of bubblewrap was not done after {} s", MAX_TIME.as_secs()));
            }
            None => thread::sleep(BETWEEN_LOOKS),
        }
    };
    Ok(Said { worked, text: heard.join().unwrap_or_default() })
}

/// Why a trial fails, and what to do, as far as the system says.
fn explain(said: &str) -> String {
    let shown = crate::agents::shown::shown(said, 300);
    let setting = |name: &str| std::fs::read_to_string(name).ok().map(|value| value.trim().to_owned());
    let is = |name: &str, value: &str| setting(name).as_deref() == Some(value);
    let what = if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        "this system lets only root make namespaces: `sysctl -w kernel.unprivileged_userns_clone=1`, and the same in /etc/sysctl.d \
         to keep it"
    } else if is("/proc/sys/user/max_user_namespaces", "0") {
        "this system allows no user namespaces: `sysctl -w user.max_user_namespaces=15000`, and the same in /etc/sysctl.d to keep \
         it"
    } else if is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        "AppArmor forbids it, as it does on Ubuntu since 23.10: put a profile for /usr/bin/bwrap with the rule `userns,` into \
         /etc/apparmor.d (the package apparmor-profiles has one, bwrap-userns-restrict) and load it by `apparmor_parser -r`"
    } else if is_in_container() {
        "the host runs in a container that allows no further namespaces: start it with `--security-opt seccomp=unconfined \
         --security-opt apparmor=unconfined --security-opt systempaths=unconfined`, or run the host outside of it"
    } else {
        "run `bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc true` to see more"
    };
    format!("bubblewrap is installed but does not work here: {shown}; {what}")
}

fn is_in_container() -> bool {
    let marked = ["/.dockerenv", "/run/.containerenv"].iter().any(|file| Path::new(file).exists());
    marked || std::env::var_os("container").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_roots_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let fake = folder.path().join(PROGRAM);
        std::fs::write(&fake, "#!/bin/sh\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(&fake, mode).unwrap();
        let error = find(Some(folder.path().as_os_str())).unwrap_err();
        assert!(error.contains("others than root"), "{error}");
        assert!(find(None).unwrap_err().contains("apt install bubblewrap"));
    }

    #[test]
    fn off_says_so_and_required_says_that_it_is_missing() {
        let off = probe(Wanted { mode: Mode::Off, ..Wanted::default() }, None);
        assert!(matches!(off.told(), Containment::None { reason } if reason.contains("mode = \"off\"")));
        let required = probe(Wanted { mode: Mode::Required, ..Wanted::default() }, None);
        assert!(matches!(required.told(), Containment::Missing { reason } if reason.contains("not installed")));
    }
}
