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

pub(super) mod own;
mod prompt;
pub(super) mod question;
mod screen;
mod talk;
mod turn;

use std::time::Duration;

use super::args::{Cli, RunArgs};
use super::exit::{Exit, Failure};
use super::stop::Signals;
use turn::Greeted;

/// How often a host that was just leaving is followed by another one.
const TRIES: u32 = 20;
/// From try to try.
const BETWEEN: Duration = Duration::from_millis(100);

/// Does what was asked.
pub(super) async fn run(cli: &Cli, args: &RunArgs) -> Result<(), Failure> {
    let prompt = prompt::read(&args.prompt)?;
    let workspace = cli.workspace(None)?;
    let mut signals = Signals::listen().map_err(|error| Failure::failed(format!("no signals: {error}")))?;
    let (folder, config) = (cli.folder()?, (cli.config()?, cli.source()));
    let wanted = turn::Wanted { prompt, workspace, agent: args.agent.clone(), session: args.session };
    for attempt in 1.. {
        let host = tokio::select! {
            host = own::Host::join_or_be(folder.clone(), config.clone(), &wanted.workspace) => host?,
            _ = signals.next() => return Err(Failure::new(Exit::Interrupted, "interrupted")),
        };
        let (ended, greeted) = turn::run(cli, host.control(), &wanted, &mut signals).await;
        let exit = ended.as_ref().err().map(|failure| failure.exit);
        // Nothing was asked of it yet, so another one may be asked.
        if exit == Some(Exit::Unreachable) && greeted == Greeted::No && attempt < TRIES {
            tokio::time::sleep(BETWEEN).await;
            continue;
        }
        host.leave(&mut signals, exit == Some(Exit::Interrupted)).await?;
        return ended;
    }
    Ok(())
}
