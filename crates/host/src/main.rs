//! The program `switchboard`: parses the command line, runs the command, and ends with its number.

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use switchboard_host::agents::keep_inherited;
use switchboard_host::agents::shown::shown;
use switchboard_host::cli::{
    self,
    args::{Cli, Command},
};
use switchboard_host::demo;
use switchboard_host::runner::contain::inner;

/// A line of an error.
const MAX_ERROR_CHARS: usize = 4096;

fn main() -> ExitCode {
    // The first process behind walls is this program too; it takes no options.
    if let Some(code) = inner::asked() {
        return code;
    }
    keep_inherited();
    let cli = Cli::parse();
    let done = match cli.command {
        // The demo agent is a child of the host and wants no runtime.
        Some(Command::DemoAgent) => demo::run().context("standard input cannot be read").map(|()| ExitCode::SUCCESS),
        _ => run(cli),
    };
    done.unwrap_or_else(|error| {
        complain(&format!("{error:#}"));
        ExitCode::FAILURE
    })
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime")?;
    let done = runtime.block_on(cli::run(cli));
    // A thread that still reads standard input must not keep us.
    runtime.shutdown_background();
    Ok(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(&failure.to_string());
            failure.exit.into()
        }
    })
}

/// Names in an error may be foreign, so they are shown as they are and do nothing to the terminal.
fn complain(error: &str) {
    let lines: Vec<String> = error.lines().map(|line| shown(line, MAX_ERROR_CHARS)).collect();
    eprintln!("switchboard: {}", lines.join("\n"));
}
