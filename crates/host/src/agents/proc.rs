//! What the system says of processes, read from /proc. Signals nobody.

use std::fs;

/// What identifies a process beyond its number, which may be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// Whether it still runs; a zombie does not.
    pub(super) state: State,
    /// Its process group.
    pub(super) group: i32,
    /// The session that its group belongs to.
    pub(super) session: i32,
    /// When it started, in ticks since the boot.
    pub(super) start: u64,
}

/// Whether a process still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It does.
    Runs,
    /// It has ended and waits for its parent to notice.
    Zombie,
}

/// What is known of a process; none if there is none of this number.
pub(super) fn stat(pid: i32) -> Option<Stat> {
    parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Names this boot of the machine.
pub(super) fn boot_id() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

/// The numbers of all processes.
pub(super) fn all() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Reads the line of /proc/PID/stat. The second field is the program's name in parentheses and may hold anything, more
/// parentheses included, so fields are counted from the last one.
fn parse(line: &[u8]) -> Option<Stat> {
    let close = line.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = match fields.next()? {
        "Z" | "X" | "x" => State::Zombie,
        _ => State::Runs,
    };
    // Fields are numbered from 1; the state is the third.
    let group = fields.nth(1)?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let start = fields.nth(15)?.parse().ok()?;
    Some(Stat { state, group, session, start })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_name_cannot_shift_the_fields() {
        let line = b"42 (evil) Z 1 (x)) S 1 7 8 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 10 11 12";
        assert_eq!(parse(line), Some(Stat { state: State::Runs, group: 7, session: 8, start: 98765 }));
    }

    #[test]
    fn we_are_among_the_processes() {
        let us = i32::try_from(std::process::id()).unwrap();
        assert!(all().contains(&us));
        assert_eq!(stat(us).unwrap().state, State::Runs);
        assert!(stat(us).unwrap().start > 0);
    }
}
