//! Agents as real child processes: what they say, how they are fed, how they end, and that none is left behind.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is to stop")]

mod daemons;
mod ending;
mod leftovers;
mod speech;
mod stage;
mod starting;
