//! The command line: what was asked, who does it, and how it ended. Holds no rule of the conversation.
//!
//! | module | owns |
//! | --- | --- |
//! | [`args`] | the commands and flags |
//! | [`exit`] | how a command ends, as a number and in words |
//! | [`serve`] | the host alone, and what it says when it is ready |
//! | [`join`] | commands that talk to the running host |
//! | `connect` | standard input and output joined to a host |
//! | `run` | one turn in the terminal |
//! | `agents`, `sessions`, `tools`, `rules`, `trust`, `secrets` | the commands of these names |
//! | `agent` | the built-in agent on standard input and output |
//! | `inspect` | the recorded wire of a session |
//! | `doctor` | what is wrong, and how to mend it |
//! | `schema`, `completions` | what programs and shells want to know |
//! | `reach` | the running host, or the store if none runs |
//! | [`control`], `wire` | the small HTTP client for the host's control routes, and a link to it |
//! | `browser` | opening the page |
//! | `logs`, `print` | the log on standard error, data on standard output |
//! | [`stop`] | being asked to stop |

pub mod args;
pub mod control;
pub mod exit;
pub mod join;
pub mod serve;
pub mod stop;

mod agent;
mod agents;
mod browser;
mod completions;
mod connect;
mod doctor;
mod inspect;
mod logs;
pub(crate) mod print;
mod reach;
mod rules;
mod run;
mod schema;
mod secrets;
mod sessions;
mod tools;
mod trust;
mod wire;

use args::{Cli, Command};
use exit::Failure;
use logs::Chatter;

/// Does what was asked; everything but the demo agent, which wants no runtime.
pub async fn run(cli: Cli) -> Result<(), Failure> {
    logs::start(match &cli.command {
        None | Some(Command::Serve(_)) => Chatter::Info,
        Some(_) => Chatter::Warnings,
    });
    match &cli.command {
        None => join::here(&cli).await,
        Some(Command::Serve(serve)) => serve::run(&cli, serve).await,
        Some(Command::Open) => join::open(&cli).await,
        Some(Command::Connect(connect)) => connect::run(&cli, connect).await,
        Some(Command::Run(run)) => run::run(&cli, run).await,
        Some(Command::Agents(command)) => agents::run(&cli, command).await,
        Some(Command::Sessions(command)) => sessions::run(&cli, command).await,
        Some(Command::Tools(command)) => tools::run(&cli, command).await,
        Some(Command::Rules(command)) => rules::run(&cli, command).await,
        Some(Command::Inspect(inspect)) => inspect::run(&cli, inspect).await,
        Some(Command::Trust { dir }) => trust::set(&cli, dir.as_deref(), crate::link::Trust::Trusted).await,
        Some(Command::Untrust { dir }) => trust::set(&cli, dir.as_deref(), crate::link::Trust::Untrusted).await,
        Some(Command::Secrets(command)) => secrets::run(&cli, command),
        Some(Command::Agent(args)) => agent::run(&cli, args).await,
        Some(Command::Doctor) => doctor::run(&cli).await,
        Some(Command::Schema { dialect }) => schema::run(&cli, dialect.as_deref()),
        Some(Command::Completions { shell }) => {
            completions::run(*shell);
            Ok(())
        }
        Some(Command::DemoAgent) => crate::demo::run().map_err(|error| Failure::failed(error.to_string())),
    }
}
