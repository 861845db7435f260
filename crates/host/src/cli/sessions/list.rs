//! `sessions list`: the last used first. Prints each part as it comes.

use switchboard_types::{Time, WorkspaceRoot};

use crate::cli::args::{Cli, Format};
use crate::cli::exit::Failure;
use crate::cli::print::{self, Table, ago};
use crate::cli::reach::Reach;
use crate::clock::Clock;
use crate::history::SessionEntry;

/// What a session without a title is called.
pub(super) const UNTITLED: &str = "New session";

pub(super) async fn run(cli: &Cli, reach: &Reach, workspace: Option<&WorkspaceRoot>) -> Result<(), Failure> {
    let (now, mut count, mut before) = (Clock::start().now(), 0, None);
    loop {
        let mut part = reach.sessions(before).await?;
        if cli.format() == Format::Json {
            reach.add_usage(&mut part)?;
        }
        let wanted = |one: &&SessionEntry| workspace.is_none_or(|root| root.as_str() == one.workspace);
        let sessions: Vec<&SessionEntry> = part.sessions.iter().filter(wanted).collect();
        match cli.format() {
            Format::Json => sessions.iter().for_each(print::json),
            Format::Words if !sessions.is_empty() => print(&sessions, now),
            Format::Words => {}
        }
        count += sessions.len();
        before = part.next();
        if before.is_none() {
            break;
        }
    }
    if count == 0 && cli.format() == Format::Words {
        print::words("There are no sessions yet. Start one with `switchboard run PROMPT`, or on the page.");
    }
    Ok(())
}

fn print(sessions: &[&SessionEntry], now: Time) {
    let mut table = Table::new(["ID", "LAST USED", "TAB", "AGENT", "TITLE", "WORKSPACE"]);
    for one in sessions {
        let title = if one.title.is_empty() { UNTITLED } else { &one.title };
        let tab = if one.open { "open" } else { "closed" };
        table.row([&one.id.to_string(), &ago(one.updated_ms, now), tab, &one.agent, title, &one.workspace]);
    }
    table.print();
}
