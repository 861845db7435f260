//! `sessions delete`: for good, each session by itself, after a question where somebody can answer it.

use std::io::{self, BufRead, IsTerminal, Write};

use serde_json::json;
use switchboard_types::SessionId;

use super::list::UNTITLED;
use crate::cli::args::{Cli, Format};
use crate::cli::exit::{Exit, Failure};
use crate::cli::print;
use crate::cli::reach::Reach;

pub(super) async fn run(cli: &Cli, reach: &Reach, ids: &[SessionId], yes: bool) -> Result<(), Failure> {
    let (mut failures, mut done) = (Vec::new(), Vec::new());
    for id in ids {
        // Named twice is deleted once.
        if done.contains(id) {
            continue;
        }
        done.push(*id);
        match one(cli, reach, *id, yes).await {
            Ok(()) => {}
            Err(failure) if failure.exit == Exit::NotFound => failures.push(failure),
            Err(failure) => return Err(failure),
        }
    }
    let Some(first) = failures.first() else { return Ok(()) };
    let messages: Vec<&str> = failures.iter().map(|failure| failure.message.as_str()).collect();
    Err(Failure::new(first.exit, messages.join("\n")))
}

async fn one(cli: &Cli, reach: &Reach, id: SessionId, yes: bool) -> Result<(), Failure> {
    let session = reach.session(id).await?;
    let title = if session.title.is_empty() { UNTITLED } else { &session.title };
    if !yes && io::stdin().is_terminal() && !confirm(&format!("Delete session {id} ({title}) for good?"))? {
        return match cli.format() {
            Format::Json => Ok(()),
            Format::Words => {
                print::words(&format!("Session {id} is kept."));
                Ok(())
            }
        };
    }
    reach.delete(id).await?;
    match cli.format() {
        Format::Json => print::json(&json!({ "id": id, "deleted": true })),
        Format::Words => print::words(&format!("Session {id} ({title}) is deleted.")),
    }
    Ok(())
}

fn confirm(question: &str) -> Result<bool, Failure> {
    let failed = |error: io::Error| Failure::failed(format!("the terminal cannot be used: {error}"));
    let mut stderr = io::stderr().lock();
    write!(stderr, "{} [y/N] ", print::safe(question)).and_then(|()| stderr.flush()).map_err(failed)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
