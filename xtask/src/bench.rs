//! `cargo xtask bench`: builds what is measured for release and hands over to the bench itself. Measures nothing.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::cargo::cargo;

pub(crate) fn run(root: &Path, wanted: &[String]) -> Result<ExitCode> {
    let packages = ["--package", "switchboard-host", "--package", "switchboard-bench"];
    let built = cargo(root).args(["build", "--release", "--bins"]).args(packages).status();
    if !built.context("cargo could not be started")?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    // Names alone say what to measure.
    let only = wanted.first().filter(|word| !word.starts_with('-')).map(|_| "--only");
    let ended = Command::new(target.join("release/switchboard-bench"))
        .arg("--out")
        .arg(target.join("bench"))
        .arg("--node")
        .arg(root.join("crates/bench/node"))
        .arg("--python")
        .arg(root.join("crates/bench/python"))
        .args(only)
        .args(wanted)
        .status()
        .context("the bench could not be started")?;
    Ok(if ended.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
