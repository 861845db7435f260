//! Agents as real child processes: what they say, how they are fed, how they end, and that none is left behind.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is to stop")]

#[path = "agents_processes/ending.rs"]
mod ending;
#[path = "agents_processes/leftovers.rs"]
mod leftovers;
#[path = "agents_processes/speech.rs"]
mod speech;
#[path = "agents_processes/stage.rs"]
mod stage;
#[path = "agents_processes/starting.rs"]
mod starting;
