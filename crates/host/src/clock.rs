//! The host's one source of time. Nothing else of the host reads a clock to stamp what happens.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use switchboard_types::Time;

/// Wall time at the start, carried on by a clock that never goes backwards, whatever is done to the wall's, and that goes on
/// while the machine sleeps.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    wall: Time,
    began: u64,
}

impl Clock {
    /// Reads the wall clock, once.
    #[must_use]
    pub fn start() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { wall: Time(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)), began: since_boot_ms() }
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Time {
        self.wall.after_ms(since_boot_ms().saturating_sub(self.began))
    }
}

fn since_boot_ms() -> u64 {
    let since = clock_gettime(ClockId::Boottime);
    u64::try_from(since.tv_sec).unwrap_or_default() * 1_000
        + u64::try_from(since.tv_nsec).unwrap_or_default() / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_goes_backwards() {
        let clock = Clock::start();
        let mut last = clock.now();
        for _ in 0..1000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }
}
