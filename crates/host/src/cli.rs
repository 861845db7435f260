//! The command line: what was asked, who does it, and how it ended. Holds no rule of the conversation.
//!
//! | module | owns |
//! | --- | --- |
//! | [`args`] | the commands and flags |
//! | [`exit`] | how a command ends, as a number and in words |
//! | [`serve`] | the host alone, and what it says when it is ready |
//! | [`join`] | commands that talk to the running host |
//! | [`control`] | the small HTTP client for the host's control routes |
//! | `browser` | opening the page |
//! | `trust` | `trust` and `untrust` |
//! | `logs`, `print` | the log on standard error, data on standard output |
//! | [`stop`] | being asked to stop |

pub mod args;
pub mod control;
pub mod exit;
pub mod join;
pub mod serve;
pub mod stop;

mod browser;
mod logs;
mod print;
mod trust;

use args::{Cli, Command};
use exit::Failure;

/// Does what was asked; everything but the demo agent, which wants no runtime.
pub async fn run(cli: Cli) -> Result<(), Failure> {
    logs::start();
    match &cli.command {
        None => join::here(&cli).await,
        Some(Command::Serve(serve)) => serve::run(&cli, serve).await,
        Some(Command::Open) => join::open(&cli).await,
        Some(Command::Trust { dir }) => trust::set(&cli, dir.as_deref(), crate::link::Trust::Trusted).await,
        Some(Command::Untrust { dir }) => trust::set(&cli, dir.as_deref(), crate::link::Trust::Untrusted).await,
        Some(Command::DemoAgent) => crate::demo::run().map_err(|error| Failure::failed(error.to_string())),
    }
}
