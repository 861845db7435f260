//! Errands carried out on real files and with real processes: what is shown, what is done, and that nothing leads out of the
//! workspace, runs twice or stays behind.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is to stop")]

mod changes;
mod commands;
mod ending;
mod orders;
mod output;
mod reading;
mod shell;
mod stage;
mod terminals;
mod tools;
mod writing;
