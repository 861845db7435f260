//! `tools`: the registry on the terminal. A view like any other, in the dialect `tools`: by the running host, or by one of
//! its own that ends with the command.
//!
//! | module | owns |
//! | --- | --- |
//! | `talk` | the link: what is said and heard |
//! | `list` | the list |
//! | `call` | one call from its question to its end |

mod call;
mod list;
mod talk;

use std::time::Duration;

use switchboard_types::SessionId;

use super::args::{Cli, ToolsCommand};
use super::control::Control;
use super::exit::{Exit, Failure};
use super::reach::no_session;
use super::run::own::Host;
use super::stop::Signals;

/// How often a host that was just leaving is followed by another one.
const TRIES: u32 = 20;
/// From try to try.
const BETWEEN: Duration = Duration::from_millis(100);

/// Does what was asked.
pub(super) async fn run(cli: &Cli, command: &ToolsCommand) -> Result<(), Failure> {
    let wanted = match command {
        ToolsCommand::List => None,
        ToolsCommand::Run(args) => Some(call::Wanted::of(cli, args)?),
    };
    let workspace = cli.workspace(None)?;
    let mut signals = Signals::listen().map_err(|error| Failure::failed(format!("no signals: {error}")))?;
    let (folder, config) = (cli.folder()?, (cli.config()?, cli.source()));
    for attempt in 1.. {
        let host = tokio::select! {
            host = Host::join_or_be(folder.clone(), config.clone(), &workspace) => host?,
            _ = signals.next() => return Err(Failure::new(Exit::Interrupted, "interrupted")),
        };
        let talk = match talk::Talk::open(host.control()).await {
            // Nothing was asked of it yet, so another one may be asked.
            Err(failure) if failure.exit == Exit::Unreachable && attempt < TRIES => {
                host.leave(&mut signals, false).await?;
                tokio::time::sleep(BETWEEN).await;
                continue;
            }
            talk => talk,
        };
        let there = session_is_there(host.control(), wanted.as_ref().and_then(|wanted| wanted.session)).await;
        let ended = match (talk.and_then(|talk| there.map(|()| talk)), &wanted) {
            (Err(failure), _) => Err(failure),
            (Ok(talk), None) => list::run(cli, talk, &mut signals).await,
            (Ok(talk), Some(wanted)) => call::run(cli, talk, wanted, &mut signals).await,
        };
        let interrupted = ended.as_ref().is_err_and(|failure| failure.exit == Exit::Interrupted);
        host.leave(&mut signals, interrupted).await?;
        return ended;
    }
    Ok(())
}

/// An id that names nothing is said to, before anything is called.
async fn session_is_there(control: &Control, session: Option<SessionId>) -> Result<(), Failure> {
    let Some(session) = session else { return Ok(()) };
    match control.session(session).await {
        Err(failure) if failure.exit == Exit::NotFound => Err(no_session(session)),
        found => found.map(drop),
    }
}
