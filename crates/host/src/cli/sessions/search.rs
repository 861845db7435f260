//! `sessions search`: what was said in any session, with what stands around it.

use std::io::{self, IsTerminal, Write as _};

use serde_json::json;
use switchboard_types::{Found, FoundMessage, FoundSession, Role, SearchOrder, SearchQuery, Time};

use super::list::UNTITLED;
use crate::cli::args::{Cli, Format, RoleArg, SearchArgs};
use crate::cli::exit::{Exit, Failure};
use crate::cli::print::{self, ago};
use crate::cli::reach::Reach;
use crate::clock::Clock;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

pub(super) async fn run(cli: &Cli, reach: &Reach, args: &SearchArgs) -> Result<(), Failure> {
    let now = Clock::start().now();
    let found = reach.search(query(cli, args, now)?).await?;
    match cli.format() {
        Format::Json => found.sessions.iter().for_each(json_lines),
        Format::Words => words(&found, now),
    }
    if found.behind > 0 {
        tracing::warn!("the last words of {} sessions are not in the index yet", found.behind);
    }
    Ok(())
}

fn query(cli: &Cli, args: &SearchArgs, now: Time) -> Result<SearchQuery, Failure> {
    let workspace = if args.here { Some(cli.workspace(None)?) } else { None };
    let moment = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
    Ok(SearchQuery {
        text: args.words.join(" "),
        order: if args.ranked { SearchOrder::Ranked } else { SearchOrder::Newest },
        agent: args.agent.as_deref().map(Into::into),
        workspace,
        session: args.session,
        role: args.role.map(|role| match role {
            RoleArg::User => Role::User,
            RoleArg::Assistant => Role::Assistant,
            RoleArg::Thought => Role::Thought,
            RoleArg::Tool => Role::Tool,
        }),
        path: args.path.clone(),
        since: moment(&args.since)?,
        until: moment(&args.until)?,
        limit: args.limit,
    })
}

/// A day (`2026-11-16`, in UTC), or so long ago (`3d`, `12h`).
fn moment(text: &str, now: Time) -> Result<Time, Failure> {
    let wrong = || {
        let message =
            format!("`{}` is no time; say a day such as 2026-11-16, or how long ago: 3d, 12h", print::safe(text));
        Failure::new(Exit::Usage, message)
    };
    for (unit, length) in [('d', DAY_MS), ('h', HOUR_MS)] {
        if let Some(count) = text.strip_suffix(unit) {
            let count: u64 = count.parse().map_err(|_| wrong())?;
            return Ok(Time(now.0.saturating_sub(count.saturating_mul(length))));
        }
    }
    let parts: Vec<u64> = text.split('-').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    let [year, month, day] = parts[..] else { return Err(wrong()) };
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return Err(wrong());
    }
    Ok(Time(days(year, month, day) * DAY_MS))
}

/// Days from 1970 to a day.
fn days(year: u64, month: u64, day: u64) -> u64 {
    // Counted in years that begin in March, so that the day that is not always there is the last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year / 4 - year / 100 + year / 400;
    365 * year + leaps + (153 * month + 2) / 5 + day - 1 - 719_468
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Thought => "thought",
        Role::Tool => "tool",
    }
}

fn json_lines(session: &FoundSession) {
    for message in &session.messages {
        let snippet: String = message.snippet.iter().map(|piece| piece.text.as_str()).collect();
        let hits: Vec<&str> = message.snippet.iter().filter(|one| one.hit).map(|one| one.text.as_str()).collect();
        print::json(&json!({
            "id": session.session, "title": session.title, "agent": session.agent, "workspace": session.workspace,
            "seq": message.seq, "turn": message.turn, "role": role_word(message.role), "time_ms": message.at,
            "snippet": snippet, "hits": hits,
        }));
    }
}

fn words(found: &Found, now: Time) {
    if found.sessions.is_empty() {
        return print::words("Nothing was found. All words must be there; a last word that is not complete is enough.");
    }
    for session in &found.sessions {
        let title = if session.title.is_empty() { UNTITLED } else { &session.title };
        print::words(&format!("{}  {title}  ({}, {})", session.session, session.agent, ago(session.updated, now)));
        session.messages.iter().for_each(line);
    }
    if found.more {
        print::words("There is more; say how much with --limit.");
    }
}

fn line(message: &FoundMessage) {
    let strong = anstyle::Style::new().bold();
    let terminal = io::stdout().is_terminal();
    let mut text = format!("    {}: ", role_word(message.role));
    for piece in &message.snippet {
        let shown = print::safe(&piece.text);
        match piece.hit && terminal {
            true => text.push_str(&format!("{strong}{shown}{strong:#}")),
            false => text.push_str(&shown),
        }
    }
    // Whoever closed our output has seen enough.
    let _ = writeln!(anstream::stdout(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_days_or_spans() {
        let now = Time(10 * DAY_MS);
        assert_eq!(moment("1970-01-01", now).unwrap(), Time(0));
        assert_eq!(moment("2026-11-16", now).unwrap(), Time(20_773 * DAY_MS));
        assert_eq!(moment("2024-02-29", now).unwrap(), Time(19_782 * DAY_MS));
        assert_eq!(moment("3d", now).unwrap(), Time(7 * DAY_MS));
        assert_eq!(moment("99999999999999999999d", now).unwrap_err().exit, Exit::Usage);
        for wrong in ["", "yesterday", "2026-13-01", "2026-1", "1-2-3-4", "-3d", "é"] {
            assert!(moment(wrong, now).is_err(), "{wrong}");
        }
    }
}
