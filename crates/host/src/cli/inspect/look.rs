//! How an entry looks to a person: one line on what it is, then what it says. Foreign text does nothing to the terminal.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use switchboard_types::Time;

use crate::cli::print;
use crate::wire::entry::Events;
use crate::wire::{Direction, Entry, Side, Verdict};

/// Characters of a message that are shown unless all of it is wanted.
const SHORT_CHARS: usize = 160;

/// How much of a message is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Body {
    /// Its beginning.
    Short,
    /// All of it, as it was.
    Raw,
    /// All of it, laid out, if it is JSON.
    Pretty,
}

/// Where entries are shown.
pub(super) struct Look {
    out: anstream::AutoStream<io::Stdout>,
    body: Body,
    last: Option<Time>,
}

impl Look {
    pub(super) fn new(body: Body) -> Self {
        Self { out: anstream::stdout(), body, last: None }
    }

    /// A line for programs.
    pub(super) fn as_it_is(&mut self, line: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(line)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// A few lines for people.
    pub(super) fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        let dim = Style::new().dimmed();
        let since = self.last.replace(entry.at_ms).map_or(0, |last| entry.at_ms.since(last));
        let side = match entry.side {
            Side::Agent => AnsiColor::Cyan,
            Side::View => AnsiColor::Magenta,
            Side::Host => AnsiColor::White,
        };
        let side = side.on_default();
        let head = format!("{:>5} {} {:>8}", entry.n, clock(entry.at_ms), gap(since));
        write!(self.out, "{dim}{head}{dim:#}  {side}{}{side:#}", route(entry))?;
        write!(self.out, "  {}", print::safe(&what(entry)))?;
        let color = match entry.verdict {
            Verdict::Ok => Style::new(),
            Verdict::Late => AnsiColor::Yellow.on_default(),
            Verdict::Noise | Verdict::Refused => AnsiColor::Red.on_default(),
        };
        if let Some(word) = verdict(entry) {
            write!(self.out, "  {color}{}{color:#}", print::safe(&word))?;
        }
        if let Some(events) = &entry.events {
            let green = AnsiColor::Green.on_default();
            write!(self.out, "  {green}{}{green:#}", print::safe(&numbers(events)))?;
        }
        writeln!(self.out)?;
        for line in self.lines(entry) {
            writeln!(self.out, "      {dim}{line}{dim:#}")?;
        }
        self.out.flush()
    }

    fn lines(&self, entry: &Entry) -> Vec<String> {
        let Some(raw) = entry.raw.as_deref().filter(|raw| !raw.is_empty()) else { return Vec::new() };
        let cut = |text: String| if entry.cut { format!("{text} … (cut)") } else { text };
        match self.body {
            Body::Short => vec![crate::agents::shown::shown(raw, SHORT_CHARS)],
            Body::Raw => vec![cut(print::safe_text(raw))],
            Body::Pretty => {
                let value = serde_json::from_str::<serde_json::Value>(raw);
                let text = value.ok().and_then(|value| serde_json::to_string_pretty(&value).ok());
                let text = cut(print::safe_text(text.as_deref().unwrap_or(raw)));
                text.lines().map(str::to_owned).collect()
            }
        }
    }
}

fn route(entry: &Entry) -> String {
    let side = match entry.side {
        Side::Agent => "agent",
        Side::View => "view ",
        Side::Host => "host ",
    };
    let arrow = match entry.dir {
        Direction::In => "──▶",
        Direction::Out => "◀──",
        Direction::Note => " · ",
    };
    format!("{side} {arrow}")
}

fn what(entry: &Entry) -> String {
    let name = if entry.name.is_empty() { "(no name)" } else { &entry.name };
    match entry.dir {
        Direction::Note => {
            let who = if entry.peer.is_empty() { String::new() } else { format!("{}: ", entry.peer) };
            format!("{who}{name}")
        }
        Direction::In | Direction::Out => {
            format!("{:<28} {:>9}  {} {}", name, size(entry.bytes), entry.dialect, entry.peer)
        }
    }
}

fn verdict(entry: &Entry) -> Option<String> {
    let word = match entry.verdict {
        Verdict::Ok => None,
        Verdict::Noise => Some("noise"),
        Verdict::Refused => Some("refused"),
        Verdict::Late => Some("late"),
    };
    match (word, &entry.why) {
        (Some(word), Some(why)) => Some(format!("{word}: {why}")),
        (Some(word), None) => Some(word.to_owned()),
        (None, why) => why.clone(),
    }
}

fn numbers(events: &Events) -> String {
    let kinds = events.kinds.join(" ");
    if events.from == events.to {
        format!("#{} {kinds}", events.from)
    } else {
        format!("#{}–{} {kinds}", events.from, events.to)
    }
}

fn size(bytes: usize) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} B"),
        10_000..=9_999_999 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

fn clock(time: Time) -> String {
    let (seconds, millis) = (time.0 / 1000 % 86_400, time.0 % 1000);
    format!("{:02}:{:02}:{:02}.{millis:03}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn gap(millis: u64) -> String {
    match millis {
        0..=9_999 => format!("+{millis} ms"),
        10_000..=599_999 => format!("+{} s", millis / 1000),
        _ => format!("+{} min", millis / 60_000),
    }
}

#[cfg(test)]
mod tests {
    use switchboard_types::Seq;

    use super::*;

    #[test]
    fn times_sizes_and_events_are_short() {
        assert_eq!(clock(Time(86_400_000 + 3_723_004)), "01:02:03.004");
        assert_eq!([gap(0), gap(12_345), gap(3_600_000)], ["+0 ms", "+12 s", "+60 min"]);
        assert_eq!([size(1), size(65_536), size(16_777_216)], ["1 B", "65 kB", "16 MB"]);
        let events = |from, to| Events { from: Seq(from), to: Seq(to), kinds: vec!["text".to_owned()] };
        assert_eq!([numbers(&events(4, 4)), numbers(&events(4, 6))], ["#4 text", "#4–6 text"]);
    }
}
