//! `cargo xtask peers`: builds the program and the peers, and becomes the peers. Knows no agent.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::cargo::cargo;
use crate::storm::target_folder;

/// Builds what is needed and runs the peers with the arguments.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode> {
    let mut build = cargo(root);
    build.args(["build", "--bins", "--package", "switchboard-peers"]);
    // The model alone, the list and the help need no program.
    let flags = ["--model-server", "--list", "--help", "-h"];
    if !arguments.iter().any(|argument| flags.contains(&argument.as_str())) {
        build.args(["--package", "switchboard-host"]);
    }
    if !build.status().context("cargo could not be started")?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let programs = target_folder(root, std::env::var_os("CARGO_TARGET_DIR")).join("debug");
    let mut peers = Command::new(programs.join("peers"));
    peers.arg("--program").arg(programs.join("switchboard")).args(arguments);
    // In our place, so that Ctrl-C reaches it and its exit code is ours.
    Err(peers.exec()).context("the peers could not be started")
}
