//! The newcomer's path in full: a fresh clone of what is committed, and the README's first command run in it as it stands there.
//! Takes nothing from this folder's builds.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::steps::Ended;
use crate::web;

/// Where the clone lies, below the target folder.
const FOLDER: &str = "newcomer";

/// Clones, then follows the README.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let clone = web::built_in()?.join(FOLDER).join("clone");
    if clone.exists() {
        std::fs::remove_dir_all(&clone).with_context(|| format!("{} cannot be removed", clone.display()))?;
    }
    let status = Command::new("git").arg("clone").arg("--quiet").arg(root).arg(&clone).status();
    ensure!(status.context("git could not be started")?.success(), "the repository could not be cloned");
    println!("A fresh clone lies in {}; its build from nothing takes a while.", clone.display());
    Ok(match web::in_browser(root, &["newcomer"], &[("SWITCHBOARD_CLONE", &clone)])? {
        Ended::Passed => ExitCode::SUCCESS,
        Ended::Failed { code } => ExitCode::from(code),
    })
}
