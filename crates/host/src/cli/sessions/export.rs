//! `sessions export`: the log as it is, one event a line, or the conversation for people; page by page. Whatever its length,
//! it costs one page of memory.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use switchboard_types::{Body, SessionId};

use super::{Log, lines, parse};
use crate::cli::args::ExportFormat;
use crate::cli::exit::Failure;
use crate::cli::reach::Reach;
use crate::history::SessionEntry;
use crate::history::conversation::Conversation;

pub(super) async fn run(
    reach: &Reach,
    session: SessionId,
    output: Option<&Path>,
    format: ExportFormat,
) -> Result<(), Failure> {
    // Before the file is made: an id that names nothing must not leave an empty one.
    let entry = reach.session(session).await?;
    match output {
        None => write(reach, &entry, format, &mut io::stdout().lock()).await.map(drop),
        Some(path) => {
            let failed = |error: io::Error| Failure::failed(format!("cannot write {}: {error}", path.display()));
            // What was said is private.
            let mut open = OpenOptions::new();
            let mut file = open.write(true).create(true).truncate(true).mode(0o600).open(path).map_err(failed)?;
            let events = write(reach, &entry, format, &mut file).await?;
            file.sync_all().map_err(failed)?;
            tracing::info!(events, file = %path.display(), "exported");
            Ok(())
        }
    }
}

async fn write(
    reach: &Reach,
    session: &SessionEntry,
    format: ExportFormat,
    out: &mut impl Write,
) -> Result<u64, Failure> {
    match format {
        ExportFormat::Jsonl => write_log(reach, session.id, out).await,
        ExportFormat::Markdown => write_conversation(reach, session, out).await,
    }
}

/// The conversation, as the log is read.
async fn write_conversation(reach: &Reach, session: &SessionEntry, out: &mut impl Write) -> Result<u64, Failure> {
    let (mut log, mut events, mut text) = (Log::new(reach, session.id), 0, String::new());
    let mut conversation = Conversation::new(session, &mut text);
    loop {
        let page = log.next().await?;
        for line in page.iter().flat_map(|page| lines(page)) {
            let line = parse(line)?;
            events += 1;
            match (line.gap, line.body.and_then(|raw| serde_json::from_str::<Body>(raw.get()).ok())) {
                (Some(gap), _) => conversation.gap(gap.from, gap.to, &mut text),
                (None, Some(body)) => conversation.event(line.time, &body, &mut text),
                // A newer version wrote it.
                (None, None) => {}
            }
        }
        if page.is_none() {
            conversation.end(&mut text);
        }
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // Whoever closed our output has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(events),
            Err(error) => return Err(Failure::failed(format!("cannot write: {error}"))),
            Ok(()) => text.clear(),
        }
        if page.is_none() {
            return Ok(events);
        }
    }
}

async fn write_log(reach: &Reach, session: SessionId, out: &mut impl Write) -> Result<u64, Failure> {
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
