//! What the system says of processes, read from /proc. Signals nobody.

use std::fs;
use std::io::Read;

/// Bytes of a foreign environment that are looked at.
const MAX_ENVIRONMENT_BYTES: u64 = 4 * 1024 * 1024;

/// What identifies a process beyond its number, which may be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// Whether it still runs; a zombie does not.
    pub(super) state: State,
    /// The process that made it, or that it was given to.
    pub(super) parent: i32,
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

/// How many processes the system has ended for want of memory since its boot.
pub(super) fn out_of_memory_kills() -> Option<u64> {
    let counters = fs::read_to_string("/proc/vmstat").ok()?;
    counters.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// The numbers of all processes.
pub(super) fn all() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// The hard limit of message queues that a process has, also one that has ended and was not reaped; none if it is unlimited or
/// cannot be known.
pub(super) fn queue_limit(pid: i32) -> Option<u64> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max msgqueue size"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// A variable of a process as it was started with it; none if it has none of this name, or is another user's.
pub(super) fn variable(pid: i32, name: &str) -> Option<Vec<u8>> {
    let mut environment = Vec::new();
    let file = fs::File::open(format!("/proc/{pid}/environ")).ok()?;
    file.take(MAX_ENVIRONMENT_BYTES).read_to_end(&mut environment).ok()?;
    let mut variables = environment.split(|&byte| byte == 0);
    variables.find_map(|variable| Some(variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?.to_owned()))
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
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let start = fields.nth(15)?.parse().ok()?;
    Some(Stat { state, parent, group, session, start })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_name_cannot_shift_the_fields() {
        let line = b"42 (evil) Z 1 (x)) S 1 7 8 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 10 11 12";
        assert_eq!(parse(line), Some(Stat { state: State::Runs, parent: 1, group: 7, session: 8, start: 98765 }));
    }

    #[test]
    fn we_are_among_the_processes() {
        let us = i32::try_from(std::process::id()).unwrap();
        assert!(all().contains(&us));
        assert_eq!(stat(us).unwrap().state, State::Runs);
        assert!(stat(us).unwrap().start > 0);
    }
}
