//! `agents`: who is configured and who could be, added, taken out, tried.
//!
//! | module | owns |
//! | --- | --- |
//! | `configured` | who is configured for a workspace, and whether each may start there |
//! | `list` | `agents list` |
//! | `change` | `agents add` and `agents remove` |
//! | `model` | the built-in agent over a model's server, to be added or listed |
//! | `check` | `agents check` |

mod change;
mod check;
mod configured;
mod list;
mod model;

pub(super) use configured::{Configured, Listed};

use super::args::{AgentsCommand, Cli};
use super::exit::Failure;

/// Does what was asked.
pub(super) async fn run(cli: &Cli, command: &AgentsCommand) -> Result<(), Failure> {
    match command {
        AgentsCommand::List => list::run(cli).await,
        AgentsCommand::Add(wanted) => change::add(cli, wanted).await,
        AgentsCommand::Check(wanted) => check::run(cli, wanted).await,
        AgentsCommand::Remove { name } => change::remove(cli, name).await,
    }
}
