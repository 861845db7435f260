//! `cargo xtask storm`: builds the program and the storm, and becomes the storm. Knows nothing of what a storm does.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::cargo::cargo;
use crate::steps::memory_folder;

/// Builds without optimisation, with debug assertions: slower, and finds more.
const DEV: &str = "--dev";
/// Where the storm draws the restart times.
const PLOT: &str = "--plot";

/// Builds what is needed and runs the storm with the other arguments.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode> {
    let (dev, passed_on): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|argument| *argument == DEV);
    let profile = if dev.is_empty() { "release" } else { "dev" };
    let mut build = cargo(root);
    build.args(["build", "--package", "switchboard-host", "--package", "switchboard-storm"]);
    let built = build.args(["--profile", profile]).status().context("cargo could not be started")?;
    if !built.success() {
        return Ok(ExitCode::FAILURE);
    }
    let target = target_folder(root, std::env::var_os("CARGO_TARGET_DIR"));
    let programs = target.join(if dev.is_empty() { "release" } else { "debug" });
    let mut storm = Command::new(programs.join("storm"));
    storm.arg("--program").arg(programs.join("switchboard")).args(&passed_on);
    if !passed_on.iter().any(|argument| argument.starts_with(PLOT)) {
        storm.arg(PLOT).arg(target.join("storm").join("restart-times.svg"));
    }
    // A process that is killed loses nothing that it has given to the system, so a slow disk would only take time.
    if let Some(folder) = memory_folder(&std::fs::read_to_string("/proc/mounts").unwrap_or_default()) {
        storm.env("TMPDIR", folder);
    }
    // In our place, so that Ctrl-C reaches it and its exit code is ours.
    Err(storm.exec()).context("the storm could not be started")
}

/// Where cargo puts what it builds.
pub(crate) fn target_folder(root: &Path, chosen: Option<OsString>) -> PathBuf {
    chosen.map_or_else(|| root.join("target"), |folder| root.join(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_where_cargo_puts_them() {
        let root = Path::new("/src");
        assert_eq!(target_folder(root, None), Path::new("/src/target"));
        assert_eq!(target_folder(root, Some("/cache".into())), Path::new("/cache"));
        assert_eq!(target_folder(root, Some("out".into())), Path::new("/src/out"));
    }
}
