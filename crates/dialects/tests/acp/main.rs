//! The dialect `acp` against agents as they are: recorded talks, one test for each thing that real agents do, and what holds
//! for any order of anything. Drives the real dialect only.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "all of this is test code")]

mod claims;
mod opening;
mod settings;
mod storm;
mod transcripts;
mod wire;
mod words;
