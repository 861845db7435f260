//! The times and caps by which the host supervises. Numbers only; who sets them is the edge's business.

/// How patient the host is. All times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// After this long without an agent session the person is told that the agent is slow.
    pub startup_slow_ms: u64,
    /// After this long without an agent session the start counts as failed.
    pub startup_timeout_ms: u64,
    /// How long a cancelled turn may take to stop before its agent session is closed and opened again.
    pub cancel_ms: u64,
    /// After this long without a word of a turn that runs the person is told that nothing moves.
    pub stall_ms: u64,
    /// After this long without use a process is ended, if its sessions can be taken up again. 0 is never.
    pub idle_ms: u64,
    /// How long a question waits for an answer. 0 is for ever.
    pub approval_ms: u64,
    /// Which commands may use the network, where they can be held in.
    pub network: NetworkFor,
    /// How long a sign-in may take that the agent carries out itself.
    pub sign_in_ms: u64,
    /// The wait before the second start after an exit; it doubles with every further one.
    pub backoff_min_ms: u64,
    /// The longest wait before a start.
    pub backoff_max_ms: u64,
    /// Exits are counted within this long.
    pub crash_window_ms: u64,
    /// This many exits within the window stop the agent until a person restarts it.
    pub crash_cap: usize,
}

/// Which commands may use the network, where they can be held in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkFor {
    /// All.
    All,
    /// Those that a person has looked at and allowed.
    Approved,
    /// None.
    None,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            startup_slow_ms: 10_000,
            startup_timeout_ms: 30_000,
            cancel_ms: 10_000,
            stall_ms: 40_000,
            idle_ms: 30 * 60_000,
            approval_ms: 0,
            network: NetworkFor::Approved,
            sign_in_ms: 10 * 60_000,
            backoff_min_ms: 250,
            backoff_max_ms: 5_000,
            crash_window_ms: 60_000,
            crash_cap: 5,
        }
    }
}
