//! `run`: one turn in the terminal. A view like any other: by the running host, or by one of its own that ends with the
//! turn. Holds no rule of the conversation.
//!
//! | module | owns |
//! | --- | --- |
//! | `own` | a host in this process, for as long as the turn takes |
//! | `prompt` | what is asked |
//! | `talk` | the link: what is said and heard |
//! | `turn` | the turn from the first message to its end |
//! | `screen` | text on standard output, the rest on standard error |
//! | `question` | approvals, asked on the terminal |

mod own;
mod prompt;
mod question;
mod screen;
mod talk;
mod turn;

use super::args::{Cli, RunArgs};
use super::exit::{Exit, Failure};
use super::stop::Signals;

/// Does what was asked.
pub(super) async fn run(cli: &Cli, args: &RunArgs) -> Result<(), Failure> {
    let prompt = prompt::read(&args.prompt)?;
    let workspace = cli.workspace(None)?;
    let mut signals = Signals::listen().map_err(|error| Failure::failed(format!("no signals: {error}")))?;
    let (folder, config) = (cli.folder()?, cli.config()?);
    let host = tokio::select! {
        host = own::Host::join_or_be(folder, config, &workspace) => host?,
        _ = signals.next() => return Err(Failure::new(Exit::Interrupted, "interrupted")),
    };
    let wanted = turn::Wanted { prompt, workspace, agent: args.agent.clone(), session: args.session };
    let (ended, signals) = turn::run(cli, host.control(), wanted, signals).await;
    let interrupted = ended.as_ref().is_err_and(|failure| failure.exit == Exit::Interrupted);
    host.leave(signals, interrupted).await?;
    ended
}
