//! What the tests need of the system: Chromium, which the browser tests drive, Python, in which the example agents are
//! written, bubblewrap, which holds commands in, strace, which tells what they run, and a keyring with its bus. Installs them by Debian's packages where they are missing and it may; never downloads from elsewhere.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, ensure};

/// Names of Chromium, the best first.
const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Says where the program is when it has another name.
const CHOICE: &str = "SWITCHBOARD_CHROMIUM";
const ADVICE: &str = "the browser tests need Chromium: install it (on Debian, as root: `apt-get install chromium`), or name the program by SWITCHBOARD_CHROMIUM";

/// Python is there, installed by Debian's packages if it has to be.
pub(crate) fn need_python() -> Result<()> {
    if find(&["python3"]).is_some() {
        return Ok(());
    }
    println!("Python is not installed; asking apt-get for it");
    let advice = "the tests run example agents in Python: install python3";
    apt_get(&["update"]).context(advice)?;
    apt_get(&["install", "--yes", "--no-install-recommends", "python3"]).context(advice)
}

/// Bubblewrap, strace and curl are there, installed by Debian's packages if they have to be. The tests that need them fail without.
pub(crate) fn need_walls() -> Result<()> {
    let missing: Vec<&str> = [("bwrap", "bubblewrap"), ("strace", "strace"), ("curl", "curl")]
        .into_iter()
        .filter(|(program, _)| find(&[program]).is_none())
        .map(|(_, package)| package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("{} missing; asking apt-get", missing.join(" and "));
    let advice = "the tests hold commands in, watch them and ask by HTTP: install bubblewrap, strace and curl";
    apt_get(&["update"]).context(advice)?;
    apt_get(&[&["install", "--yes", "--no-install-recommends"][..], &missing].concat()).context(advice)
}

/// A session bus and a keyring are there, installed by Debian's packages if they have to be. The tests that need them fail without.
pub(crate) fn need_keyring() -> Result<()> {
    let missing: Vec<&str> = [("dbus-daemon", "dbus-daemon"), ("gnome-keyring-daemon", "gnome-keyring")]
        .into_iter()
        .filter(|(program, _)| find(&[program]).is_none())
        .map(|(_, package)| package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("{} missing; asking apt-get", missing.join(" and "));
    let advice = "the tests store secrets in a keyring of their own: install dbus-daemon and gnome-keyring";
    apt_get(&["update"]).context(advice)?;
    apt_get(&[&["install", "--yes", "--no-install-recommends"][..], &missing].concat()).context(advice)
}

/// Where Chromium is, installed by Debian's packages if it has to be.
pub(crate) fn chromium() -> Result<PathBuf> {
    if let Some(chosen) = env::var_os(CHOICE).map(PathBuf::from) {
        ensure!(chosen.is_file(), "{CHOICE} is {}, where no program is; {ADVICE}", chosen.display());
        return Ok(chosen);
    }
    if let Some(found) = find(NAMES) {
        return Ok(found);
    }
    println!("Chromium is not installed; asking apt-get for it");
    apt_get(&["update"]).context(ADVICE)?;
    apt_get(&["install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core"]).context(ADVICE)?;
    find(NAMES).with_context(|| format!("Chromium was installed and is still not to be found in PATH; {ADVICE}"))
}

fn find(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let places = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| fs::metadata(place).is_ok_and(|found| found.is_file()))
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    println!("$ apt-get {}", arguments.join(" "));
    let status = Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive").status();
    let status = status.context("apt-get could not be started")?;
    ensure!(status.success(), "apt-get {} failed ({status})", arguments.join(" "));
    Ok(())
}
