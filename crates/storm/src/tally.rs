//! What was done and how long restarts took. Counts; judges nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::plan::{Care, Mode};

/// Counts of one world or of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rounds by what they were about.
    pub rounds: BTreeMap<Mode, u64>,
    /// SIGKILLs of hosts that were ready.
    pub kills: u64,
    /// SIGKILLs of hosts that were starting.
    pub startup_kills: u64,
    /// SIGKILLs of hosts that were ending after a SIGTERM.
    pub ending_kills: u64,
    /// Ends in good order after a SIGTERM.
    pub good_ends: u64,
    /// SIGKILLs of agents.
    pub agent_kills: u64,
    /// SIGSTOPs of hosts.
    pub host_stops: u64,
    /// SIGSTOPs of agents.
    pub agent_stops: u64,
    /// Write locks that held up commits.
    pub locks: u64,
    /// Lives of hosts that starved.
    pub starved: u64,
    /// Links whose journals were held against the log.
    pub journals: u64,
    /// Messages in them.
    pub events: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Prompts that were sent, each once counted.
    pub prompts: u64,
    /// Commands that were run.
    pub runs: u64,
    /// Looks at the file.
    pub looks: u64,
    /// Looks at files of which a part was packed.
    pub packed: u64,
    /// Starts after a SIGKILL.
    pub restarts: Vec<Restart>,
}

/// A start after a SIGKILL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart {
    /// In which round.
    pub round: u64,
    /// From the signal to the ready line, without the checker's look at the file between.
    pub ready: Duration,
    /// From the signal to the first event at a view; none if the host was killed again before.
    pub first_event: Option<Duration>,
    /// Whether the host starved.
    pub(crate) care: Care,
}

impl Restart {
    /// Whether the host was starved on purpose, so that its time says nothing of usual ones.
    #[must_use]
    pub fn is_starved(&self) -> bool {
        self.care == Care::Starved
    }
}

impl Tally {
    /// Adds another tally to this one.
    pub(crate) fn add(&mut self, other: Self) {
        for (mode, rounds) in other.rounds {
            *self.rounds.entry(mode).or_default() += rounds;
        }
        self.kills += other.kills;
        self.startup_kills += other.startup_kills;
        self.ending_kills += other.ending_kills;
        self.good_ends += other.good_ends;
        self.agent_kills += other.agent_kills;
        self.host_stops += other.host_stops;
        self.agent_stops += other.agent_stops;
        self.locks += other.locks;
        self.starved += other.starved;
        self.journals += other.journals;
        self.events += other.events;
        self.bytes += other.bytes;
        self.prompts += other.prompts;
        self.runs += other.runs;
        self.looks += other.looks;
        self.packed += other.packed;
        self.restarts.extend(other.restarts);
    }

    /// All rounds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.rounds.values().sum()
    }
}
