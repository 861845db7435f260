//! The host's counters and their Prometheus text. Counts only; never holds a name, a path or a secret.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use switchboard_types::RejectCode;

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one.
    pub fn one(&self) {
        self.add(1);
    }

    /// Counts several.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Shows a total that another part keeps.
    pub fn show(&self, total: u64) {
        self.0.store(total, Ordering::Relaxed);
    }

    /// How many there were.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that grows and shrinks.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// One more.
    pub fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// One less.
    pub fn down(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many there are.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a request was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No `Host`, or several.
    NoHost,
    /// A `Host` that is not ours.
    ForeignHost,
    /// An `Origin` that is neither ours nor allowed.
    ForeignOrigin,
    /// No credential.
    NoCredential,
    /// A credential that is not good.
    WrongCredential,
    /// The cookie alone, where our own page's `Origin` is needed.
    CookieElsewhere,
    /// A login code that is used, too old or made up.
    WrongCode,
}

impl Refusal {
    const ALL: [Self; 7] = [
        Self::NoHost,
        Self::ForeignHost,
        Self::ForeignOrigin,
        Self::NoCredential,
        Self::WrongCredential,
        Self::CookieElsewhere,
        Self::WrongCode,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::NoHost => "no_host",
            Self::ForeignHost => "foreign_host",
            Self::ForeignOrigin => "foreign_origin",
            Self::NoCredential => "no_credential",
            Self::WrongCredential => "wrong_credential",
            Self::CookieElsewhere => "cookie_elsewhere",
            Self::WrongCode => "wrong_code",
        }
    }
}

const REJECT_CODES: [RejectCode; 10] = [
    RejectCode::BadJson,
    RejectCode::BadMessage,
    RejectCode::UnknownType,
    RejectCode::UnknownTab,
    RejectCode::NotFound,
    RejectCode::Conflict,
    RejectCode::TooLarge,
    RejectCode::WorkspaceUntrusted,
    RejectCode::AgentUnavailable,
    RejectCode::Internal,
];

fn reject_label(code: RejectCode) -> &'static str {
    match code {
        RejectCode::BadJson => "bad_json",
        RejectCode::BadMessage => "bad_message",
        RejectCode::UnknownType => "unknown_type",
        RejectCode::UnknownTab => "unknown_tab",
        RejectCode::NotFound => "not_found",
        RejectCode::Conflict => "conflict",
        RejectCode::TooLarge => "too_large",
        RejectCode::WorkspaceUntrusted => "workspace_untrusted",
        RejectCode::AgentUnavailable => "agent_unavailable",
        RejectCode::Internal => "internal",
    }
}

/// All counters of the program. Every part counts its own; `/metrics` shows them.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Connections that were taken.
    pub connections: Counter,
    /// Connections that are open.
    pub connections_open: Gauge,
    /// Connections that were dropped since there were too many.
    pub connections_dropped: Counter,
    /// Links of views that are open.
    pub links_open: Gauge,
    /// Messages from views.
    pub frames_in: Counter,
    /// Messages to views that are no events.
    pub frames_out: Counter,
    /// Events sent to views.
    pub events_out: Counter,
    /// Bytes sent to views.
    pub bytes_out: Counter,
    /// Commits that went to the disk.
    pub commits: Counter,
    /// Events that got their number.
    pub events: Counter,
    /// Entries of sessions that could not be written.
    pub failed_entries: Counter,
    /// Agents' processes that ended.
    pub agent_exits: Counter,
    /// Words that came after their turn was over.
    pub late_words: Counter,
    rejects: [Counter; REJECT_CODES.len()],
    refusals: [Counter; Refusal::ALL.len()],
}

impl Metrics {
    /// Counts a refused message.
    pub fn reject(&self, code: RejectCode) {
        self.rejects[code as usize].one();
    }

    /// Counts a request that was not let in.
    pub(crate) fn refuse(&self, refusal: Refusal) {
        self.refusals[refusal as usize].one();
    }

    /// The Prometheus text format, version 0.0.4.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let counters = [
            ("connections", "Connections that were taken.", &self.connections),
            ("connections_dropped", "Connections dropped since there were too many.", &self.connections_dropped),
            ("view_frames_in", "Messages from views.", &self.frames_in),
            ("view_frames_out", "Messages to views that are no events.", &self.frames_out),
            ("view_events_out", "Events sent to views.", &self.events_out),
            ("view_bytes_out", "Bytes sent to views.", &self.bytes_out),
            ("commits", "Commits that went to the disk.", &self.commits),
            ("events", "Events that got their number.", &self.events),
            ("failed_entries", "Entries of sessions that could not be written.", &self.failed_entries),
            ("agent_exits", "Agents' processes that ended.", &self.agent_exits),
            ("late_words", "Words that came after their turn was over.", &self.late_words),
        ];
        for (name, help, counter) in counters {
            head(&mut text, &format!("{name}_total"), "counter", help);
            line(&mut text, &format!("{name}_total"), "", counter.get());
        }
        let gauges = [
            ("connections_open", "Connections that are open.", &self.connections_open),
            ("view_links_open", "Links of views that are open.", &self.links_open),
        ];
        for (name, help, gauge) in gauges {
            head(&mut text, name, "gauge", help);
            line(&mut text, name, "", gauge.get());
        }
        head(&mut text, "rejects_total", "counter", "Refused messages of views.");
        for (code, counter) in REJECT_CODES.into_iter().zip(&self.rejects) {
            line(&mut text, "rejects_total", &format!("{{code=\"{}\"}}", reject_label(code)), counter.get());
        }
        head(&mut text, "refusals_total", "counter", "Requests that were not let in.");
        for (refusal, counter) in Refusal::ALL.into_iter().zip(&self.refusals) {
            line(&mut text, "refusals_total", &format!("{{kind=\"{}\"}}", refusal.label()), counter.get());
        }
        text
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "# HELP switchboard_{name} {help}\n# TYPE switchboard_{name} {kind}");
}

fn line(text: &mut String, name: &str, labels: &str, value: u64) {
    let _ = writeln!(text, "switchboard_{name}{labels} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_and_every_refusal_counts_under_its_own_name() {
        let metrics = Metrics::default();
        for (at, code) in REJECT_CODES.into_iter().enumerate() {
            (0..=at).for_each(|_| metrics.reject(code));
        }
        for (at, refusal) in Refusal::ALL.into_iter().enumerate() {
            (0..=at).for_each(|_| metrics.refuse(refusal));
        }
        let text = metrics.to_text();
        for (at, code) in REJECT_CODES.into_iter().enumerate() {
            let wanted = format!("switchboard_rejects_total{{code=\"{}\"}} {}\n", reject_label(code), at + 1);
            assert!(text.contains(&wanted), "{wanted}");
        }
        for (at, refusal) in Refusal::ALL.into_iter().enumerate() {
            let wanted = format!("switchboard_refusals_total{{kind=\"{}\"}} {}\n", refusal.label(), at + 1);
            assert!(text.contains(&wanted), "{wanted}");
        }
    }

    #[test]
    fn the_text_is_one_help_and_one_type_line_a_name() {
        let metrics = Metrics::default();
        metrics.commits.add(7);
        metrics.links_open.up();
        let text = metrics.to_text();
        assert!(text.contains("# TYPE switchboard_commits_total counter\nswitchboard_commits_total 7\n"));
        assert!(text.contains("# TYPE switchboard_view_links_open gauge\nswitchboard_view_links_open 1\n"));
        let mut types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
        let all = types.len();
        types.dedup();
        assert_eq!(types.len(), all);
    }
}
