//! `completions`: what a shell needs to complete our commands.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;

/// Prints the completions for a shell.
pub(super) fn run(shell: Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "switchboard", &mut script);
    // Whoever closed our output does not want to know.
    let _ = io::stdout().write_all(&script);
}
