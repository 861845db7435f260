//! Plays the transcripts in `testdata/` through the real dialects and compares whole values. Never writes a transcript.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "all of this is test code")]

mod apex;
mod bb;
mod chat;
mod chat_told;
mod file;
mod plain;
mod switchboard;
mod tabs;
mod tools;
