//! The program `switchboard`: parses the command line, runs the command, and ends with its number.

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use switchboard_host::cli::{
    self,
    args::{Cli, Command},
};
use switchboard_host::demo;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        // The demo agent is a child of the host and wants no runtime.
        Some(Command::DemoAgent) => demo::run().context("standard input cannot be read").map(|()| ExitCode::SUCCESS),
        _ => run(cli),
    };
    done.unwrap_or_else(|error| {
        eprintln!("switchboard: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime")?;
    Ok(match runtime.block_on(cli::run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("switchboard: {failure}");
            failure.exit.into()
        }
    })
}
