//! Seeded chance: the same seed gives the same numbers on every machine. Not for secrets.

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Dice of their own for one part of a run, so that parts do not disturb each other.
    pub(crate) fn new(seed: u64, part: u64) -> Self {
        let mut dice = Self(seed);
        dice.0 = dice.next() ^ part.wrapping_mul(0xA076_1D64_78BD_642F);
        dice.next();
        dice
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// A number from `low` to `high` whose size is spread evenly: as often between 10 and 100 as between 100 and 1,000.
    pub(crate) fn spread(&mut self, low: u64, high: u64) -> u64 {
        let share = self.next() as f64 / u64::MAX as f64;
        let (from, to) = ((low.max(1) as f64).ln(), (high.max(1) as f64).ln());
        ((from + share * (to - from)).exp() as u64).clamp(low, high)
    }

    /// Yes, once in so many times.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.next().is_multiple_of(times)
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.between(0, last as u64) as usize;
            items.swap(last, other);
        }
    }
}
