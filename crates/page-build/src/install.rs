//! The packages of `web/`, installed once for each lock file. Never lets two builds install at the same time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::PageError;
use crate::tools::{Tools, run};

const LOCK_FILE: &str = "package-lock.json";
/// The lock file as it was when the packages were installed; npm takes it away with them.
const STAMP: &str = "node_modules/.switchboard-installed";

/// The folder `web/` with its packages installed, held against other builds until it is dropped.
#[derive(Debug)]
pub struct Workshop {
    pub(crate) web: PathBuf,
    pub(crate) tools: Tools,
    // The system gives the lock back when the file is closed, also for whoever is killed.
    _held: File,
}

impl Workshop {
    /// A run of Node in the folder, for a tool of its packages: `node_modules/vite/bin/vite.js`, for example.
    #[must_use]
    pub fn tool(&self, path: &str) -> std::process::Command {
        let mut command = self.tools.node(&self.web);
        command.arg(self.web.join("node_modules").join(path));
        command
    }
}

/// Installs what the lock file says, unless it is installed already.
///
/// # Errors
/// If Node or npm is missing, or npm fails.
pub fn install(web: &Path) -> Result<Workshop, PageError> {
    let tools = Tools::find()?;
    let lock = web.join(LOCK_FILE);
    let held = File::open(&lock).and_then(|file| file.lock().map(|()| file)).map_err(PageError::file(&lock))?;
    // Read after the lock is held: whoever held it before may have installed the same.
    if !is_installed(web)? {
        install_packages(web, &tools)?;
    }
    Ok(Workshop { web: web.to_path_buf(), tools, _held: held })
}

fn is_installed(web: &Path) -> Result<bool, PageError> {
    let wanted = web.join(LOCK_FILE);
    let wanted = fs::read(&wanted).map_err(PageError::file(wanted))?;
    Ok(fs::read(web.join(STAMP)).is_ok_and(|installed| installed == wanted))
}

fn install_packages(web: &Path, tools: &Tools) -> Result<(), PageError> {
    let mut npm = tools.npm(web);
    // No package's own scripts run on this machine, and what the cache has is not asked for again.
    npm.args(["ci", "--include=dev", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"]);
    run(npm, "npm", "It needs npm's registry, or a cache that has the packages.")?;
    fs::copy(web.join(LOCK_FILE), web.join(STAMP)).map_err(PageError::file(web.join(STAMP)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_count_as_installed_only_for_the_very_lock_file() {
        let web = tempfile::tempdir().unwrap();
        fs::write(web.path().join(LOCK_FILE), "one").unwrap();
        assert!(!is_installed(web.path()).unwrap());
        fs::create_dir(web.path().join("node_modules")).unwrap();
        fs::copy(web.path().join(LOCK_FILE), web.path().join(STAMP)).unwrap();
        assert!(is_installed(web.path()).unwrap());
        fs::write(web.path().join(LOCK_FILE), "two").unwrap();
        assert!(!is_installed(web.path()).unwrap());
    }

    #[test]
    fn a_second_build_waits_for_the_first() {
        let web = tempfile::tempdir().unwrap();
        let lock = web.path().join(LOCK_FILE);
        fs::write(&lock, "{}").unwrap();
        let held = File::open(&lock).unwrap();
        held.lock().unwrap();
        assert!(File::open(&lock).unwrap().try_lock().is_err());
        drop(held);
        assert!(File::open(&lock).unwrap().try_lock().is_ok());
    }
}
