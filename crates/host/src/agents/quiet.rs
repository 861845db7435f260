//! A bound on how many lines a chatty peer gets in our log, with a count of what was left out. Logs nothing itself.

use std::time::Duration;

use tokio::time::Instant;

/// How much is let pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    /// Lines that may come at once.
    pub(super) burst: u32,
    /// Time after which one more may come.
    pub(super) refill: Duration,
}

/// What the host's log takes of one agent.
pub(super) const LOG: Allowance = Allowance { burst: 50, refill: Duration::from_millis(100) };

/// Lets so many lines pass and counts the others.
#[derive(Debug)]
pub(super) struct Quiet {
    allowance: Allowance,
    left: u32,
    refilled: Instant,
    left_out: u64,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// It may be logged; so many before it were not.
    Yes {
        /// Lines left out since the last that passed.
        left_out: u64,
    },
    /// It is counted only.
    No,
}

impl Quiet {
    /// A full allowance.
    pub(super) fn new(allowance: Allowance, now: Instant) -> Self {
        Self { allowance, left: allowance.burst, refilled: now, left_out: 0 }
    }

    /// Asks for one line.
    pub(super) fn ask(&mut self, now: Instant) -> Pass {
        let Allowance { burst, refill } = self.allowance;
        let earned = now.saturating_duration_since(self.refilled).as_millis() / refill.as_millis().max(1);
        if earned > 0 {
            self.left = burst.min(self.left.saturating_add(u32::try_from(earned).unwrap_or(burst)));
            self.refilled = now;
        }
        if self.left == 0 {
            self.left_out += 1;
            return Pass::No;
        }
        self.left -= 1;
        Pass::Yes { left_out: std::mem::take(&mut self.left_out) }
    }

    /// Lines left out that nobody was told of yet; they count as told then.
    pub(super) fn take_left_out(&mut self) -> u64 {
        std::mem::take(&mut self.left_out)
    }

    /// Lines left out that nobody was told of yet.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_the_next_line_says_how_many() {
        let start = Instant::now();
        let mut quiet = Quiet::new(LOG, start);
        let passed = (0..1000).filter(|_| quiet.ask(start) != Pass::No).count();
        assert_eq!(passed, 50);
        assert_eq!(quiet.left_out(), 950);
        assert_eq!(quiet.ask(start + LOG.refill), Pass::Yes { left_out: 950 });
        assert_eq!(quiet.ask(start + LOG.refill), Pass::No);
    }
}
