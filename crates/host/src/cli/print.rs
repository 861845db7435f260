//! Data on standard output. A reader that went away is no reason to die, and foreign text does nothing to a terminal.

use std::io::{self, Write};

use serde::Serialize;
use switchboard_types::{ExecutionEnd, Memory, Time};

use crate::agents::shown::shown;

/// Longer than any line of ours; a path has at most 4096 bytes.
const MAX_CHARS: usize = 8192;

/// Prints one line for people. A folder's name may hold anything, so what could deceive is written out.
pub(super) fn words(text: &str) {
    line(&safe(text));
}

/// Prints one value as one line of JSON.
pub(super) fn json(value: &impl Serialize) {
    // Maps with string keys always have a JSON text.
    line(&serde_json::to_string(value).unwrap_or_default());
}

/// Prints one line as it is, at once.
pub(super) fn line(text: &str) {
    let mut stdout = io::stdout().lock();
    // Whoever closed our output does not want to know.
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}

/// A line of foreign text as it may be shown.
pub(super) fn safe(text: &str) -> String {
    shown(text, MAX_CHARS)
}

/// Foreign text of any length as it may be shown: lines stay lines.
pub(super) fn safe_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            safe.push('\n');
        }
        // A line that a program ended for another system; anything else that returns is written out.
        safe.push_str(&shown(line.strip_suffix('\r').unwrap_or(line), usize::MAX));
    }
    safe
}

/// Columns for people, as wide as what stands in them.
pub(super) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(head: [&str; N]) -> Self {
        Self { rows: vec![head.map(str::to_owned)] }
    }

    pub(super) fn row(&mut self, cells: [&str; N]) {
        self.rows.push(cells.map(safe));
    }

    pub(super) fn print(&self) {
        for row in &self.rows {
            let mut text = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
                let width = if column + 1 == N { 0 } else { width.unwrap_or(0) };
                text.push_str(&format!("{cell:width$}"));
                if column + 1 < N {
                    text.push_str("  ");
                }
            }
            line(text.trim_end());
        }
    }
}

/// How long ago something was, in the largest unit that fits.
pub(super) fn ago(then: Time, now: Time) -> String {
    let seconds = now.since(then) / 1000;
    match seconds {
        0..=59 => "just now".to_owned(),
        60..=3_599 => format!("{} min ago", seconds / 60),
        3_600..=86_399 => format!("{} h ago", seconds / 3_600),
        86_400..=172_799 => "yesterday".to_owned(),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// A time in the calendar, in UTC.
pub(crate) fn date(time: Time) -> String {
    let (days, seconds) = (time.0 / 86_400_000, time.0 / 1000 % 86_400);
    let (year, month, day) = civil(days);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60)
}

/// The calendar's date so many days after 1970 began.
pub(crate) fn civil(days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut rest) = (1970, days);
    // Four hundred years have the same number of days wherever they begin.
    year += rest / 146_097 * 400;
    rest %= 146_097;
    loop {
        let length = if leap(year) { 366 } else { 365 };
        if rest < length {
            break;
        }
        rest -= length;
        year += 1;
    }
    let february = if leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if rest < length {
            break;
        }
        rest -= length;
        month += 1;
    }
    (year, month, rest + 1)
}

/// What an agent still knows of a session, in words.
pub(super) fn memory(memory: Memory) -> &'static str {
    match memory {
        Memory::Resumed => "the agent goes on where it was",
        Memory::Loaded => "the agent has read the conversation again",
        Memory::Summarized => "the agent has lost the conversation and gets a summary of it",
    }
}

/// How something ended that the host did, in words.
pub(crate) fn execution_end(end: &ExecutionEnd) -> String {
    match end {
        ExecutionEnd::Exited { code } => format!("exited with {code}"),
        ExecutionEnd::Signalled { signal } => format!("ended by {signal}"),
        ExecutionEnd::Returned {} => "done".to_owned(),
        ExecutionEnd::Written { bytes } => format!("{bytes} bytes written"),
        ExecutionEnd::Failed { message } => message.clone(),
        ExecutionEnd::Unknown {} => "the host ended meanwhile, so nobody knows".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399_999, "2000-02-28 23:59 UTC"),
            (951_782_400_000, "2000-02-29 00:00 UTC"),
            (1_709_164_800_000, "2024-02-29 00:00 UTC"),
            (1_794_700_800_000, "2026-11-15 00:00 UTC"),
            (4_107_542_400_000, "2100-03-01 00:00 UTC"),
        ];
        for (time, wanted) in cases {
            assert_eq!(date(Time(time)), wanted);
        }
    }

    #[test]
    fn what_was_long_ago_is_said_in_the_largest_unit() {
        let cases = [(0, "just now"), (59, "just now"), (60, "1 min ago"), (7_300, "2 h ago"), (90_000, "yesterday")];
        for (seconds, wanted) in cases {
            assert_eq!(ago(Time(5), Time(5 + seconds * 1000)), wanted);
        }
        assert_eq!(ago(Time(9), Time(5)), "just now");
    }

    #[test]
    fn lines_stay_lines_and_nothing_else_moves_the_cursor() {
        assert_eq!(safe_text("a\r\nb\tc\n\u{1b}[2Jd\re"), "a\nb\tc\n\\u{1b}[2Jd\\u{d}e");
    }
}
