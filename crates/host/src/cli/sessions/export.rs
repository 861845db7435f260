//! `sessions export`: the log as it is, one event a line, page by page. Whatever its length, it costs one page of memory.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use switchboard_types::SessionId;

use super::{Log, lines, parse};
use crate::cli::exit::Failure;
use crate::cli::reach::Reach;

pub(super) async fn run(reach: &Reach, session: SessionId, output: Option<&Path>) -> Result<(), Failure> {
    // Before the file is made: an id that names nothing must not leave an empty one.
    reach.session(session).await?;
    match output {
        None => write(reach, session, &mut io::stdout().lock()).await.map(drop),
        Some(path) => {
            let failed = |error: io::Error| Failure::failed(format!("cannot write {}: {error}", path.display()));
            // What was said is private.
            let mut open = OpenOptions::new();
            let mut file = open.write(true).create(true).truncate(true).mode(0o600).open(path).map_err(failed)?;
            let events = write(reach, session, &mut file).await?;
            file.sync_all().map_err(failed)?;
            tracing::info!(events, file = %path.display(), "exported");
            Ok(())
        }
    }
}

async fn write(reach: &Reach, session: SessionId, out: &mut impl Write) -> Result<u64, Failure> {
    let (mut log, mut events) = (Log::new(reach, session), 0);
    while let Some(page) = log.next().await? {
        for line in lines(&page) {
            let gap = if line.starts_with(b"{\"gap\"") { parse(line)?.gap } else { None };
            let written = match gap {
                Some(gap) => {
                    tracing::warn!("events {} to {} are lost; the log goes on after them", gap.from, gap.to);
                    Ok(())
                }
                None => {
                    events += 1;
                    out.write_all(line).and_then(|()| out.write_all(b"\n"))
                }
            };
            match written {
                // Whoever closed our output has seen enough.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(events),
                Err(error) => return Err(Failure::failed(format!("cannot write: {error}"))),
                Ok(()) => {}
            }
        }
    }
    out.flush().map_err(|error| Failure::failed(format!("cannot write: {error}")))?;
    Ok(events)
}
