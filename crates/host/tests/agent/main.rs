//! The built-in agent as other programs use it: the real `switchboard agent` on its pipes, with a client that speaks ACP and a
//! server of models whose answers are written down. Nothing sleeps: every wait is for a message.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]

mod cancelling;
mod client;
mod consent;
mod protocol;
mod scripted;
mod sessions;
mod task;
mod troubles;
