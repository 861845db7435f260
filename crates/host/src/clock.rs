//! The host's one source of time. Nothing else of the host reads a clock to stamp what happens.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use switchboard_types::Time;

/// Wall time at the start, carried on by the monotonic clock: it never goes backwards, whatever is done to the wall's.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    wall: Time,
    began: Instant,
}

impl Clock {
    /// Reads the wall clock, once.
    #[must_use]
    pub fn start() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { wall: Time(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)), began: Instant::now() }
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Time {
        self.wall.after_ms(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
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
