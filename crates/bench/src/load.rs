//! What an agent of the bench is told to stream, and doing so. Knows no vocabulary.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::mold::Mold;

/// How messages are streamed. Its text is what stands in a prompt or on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// So many, each with a write of its own, as fast as the pipe takes them.
    Flat {
        /// How many.
        count: u64,
    },
    /// So many, one after the other at this rate, each with its time in it.
    Paced {
        /// Messages a second.
        rate: u64,
        /// How many.
        count: u64,
    },
}

impl Load {
    /// How many messages it is.
    #[must_use]
    pub fn count(self) -> u64 {
        match self {
            Self::Flat { count } | Self::Paced { count, .. } => count,
        }
    }

    /// Streams it.
    pub fn stream(self, mold: &mut Mold, out: &mut impl Write) -> io::Result<()> {
        match self {
            // One write a message: an agent is to flush every line, and most do.
            Self::Flat { count } => (0..count).try_for_each(|_| out.write_all(mold.unstamped())),
            Self::Paced { rate, count } => {
                let step = Duration::from_secs(1) / u32::try_from(rate.max(1)).unwrap_or(u32::MAX);
                let start = Instant::now();
                for at in 0..count {
                    let due = start + step * u32::try_from(at).unwrap_or(u32::MAX);
                    // Whoever is late does not hurry, or the messages would come in lumps.
                    sleep(due.saturating_duration_since(Instant::now()));
                    out.write_all(mold.stamped())?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat { count } => write!(out, "flat {count}"),
            Self::Paced { rate, count } => write!(out, "paced {rate} {count}"),
        }
    }
}

impl FromStr for Load {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no load; write `flat COUNT` or `paced RATE COUNT`");
        let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
        match text.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["flat", count] => Ok(Self::Flat { count: number(count)? }),
            ["paced", rate, count] => Ok(Self::Paced { rate: number(rate)?, count: number(count)? }),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mold::{BYTES, stamp_of};

    #[test]
    fn a_load_is_read_as_it_was_written_and_nothing_else_is_one() {
        for load in [Load::Flat { count: 7 }, Load::Paced { rate: 1000, count: 3 }] {
            assert_eq!(load.to_string().parse(), Ok(load));
        }
        for wrong in ["", "flat", "flat -1", "paced 3", "flat 1 2 3", "round 1"] {
            assert!(wrong.parse::<Load>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn paced_messages_carry_their_times_in_order() {
        let mut out = Vec::new();
        Load::Paced { rate: 100_000, count: 5 }.stream(&mut Mold::plain("s", "m"), &mut out).unwrap();
        let stamps: Vec<u64> = out.chunks(BYTES).filter_map(stamp_of).collect();
        assert_eq!(stamps.len(), 5);
        assert!(stamps.is_sorted());
    }
}
