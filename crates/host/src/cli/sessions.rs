//! `sessions`: history without a browser. Asks the running host, or reads the store; changes nothing but by `delete` and
//! `rename`.
//!
//! | module | owns |
//! | --- | --- |
//! | `list` | the list |
//! | `show` | what was said, for people |
//! | `search` | finding what was said |
//! | `export` | the log as it is, or the conversation for people |
//! | `rename` | a title of a person's own |
//! | `delete` | deleting for good |

mod delete;
mod export;
mod list;
mod rename;
mod search;
mod show;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_types::{Seq, SessionId, Time, TurnId};

use super::args::{Cli, SessionsCommand};
use super::exit::Failure;
use super::reach::Reach;

/// Does what was asked.
pub(super) async fn run(cli: &Cli, command: &SessionsCommand) -> Result<(), Failure> {
    let reach = Reach::find(&cli.folder()?).await?;
    match command {
        SessionsCommand::List { here } => {
            let workspace = if *here { Some(cli.workspace(None)?) } else { None };
            list::run(cli, &reach, workspace.as_ref()).await
        }
        SessionsCommand::Show { id } => show::run(cli, &reach, *id).await,
        SessionsCommand::Search(args) => search::run(cli, &reach, args).await,
        SessionsCommand::Export { id, output, format } => export::run(&reach, *id, output.as_deref(), *format).await,
        SessionsCommand::Rename { id, title } => rename::run(cli, &reach, *id, title).await,
        SessionsCommand::Delete { ids, yes } => delete::run(cli, &reach, ids, *yes).await,
    }
}

/// One line of a log: an event, or a gap.
#[derive(Debug, Deserialize)]
struct Line<'a> {
    #[serde(default)]
    gap: Option<Gap>,
    #[serde(default)]
    seq: Seq,
    #[serde(default)]
    time: Time,
    #[serde(default)]
    turn: Option<TurnId>,
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
}

/// Events that the log no longer holds.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Gap {
    from: Seq,
    to: Seq,
}

/// A log, page by page: only one page is ever in memory.
struct Log<'a> {
    reach: &'a Reach,
    session: SessionId,
    cursor: Seq,
}

impl<'a> Log<'a> {
    fn new(reach: &'a Reach, session: SessionId) -> Self {
        Self { reach, session, cursor: Seq::START }
    }

    /// The next lines; none at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        let lines = self.reach.log(self.session, self.cursor).await?;
        let Some(last) = lines.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().filter(|last| !last.is_empty())
        else {
            return Ok(None);
        };
        let before = self.cursor;
        let last = parse(last)?;
        self.cursor = last.gap.map_or(last.seq, |gap| gap.to);
        if self.cursor <= before {
            return Err(Failure::failed("the log does not go on; is the host another version of Switchboard?"));
        }
        Ok(Some(lines))
    }
}

fn parse(line: &[u8]) -> Result<Line<'_>, Failure> {
    serde_json::from_slice(line).map_err(|error| Failure::failed(format!("a line of the log is not readable: {error}")))
}

fn lines(page: &[u8]) -> impl Iterator<Item = &[u8]> {
    page.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}
