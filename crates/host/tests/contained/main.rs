//! Commands behind walls, with the real bubblewrap: what they can reach, what they cannot, that nothing of them stays, and that
//! nothing runs without walls that was to have some. Without bubblewrap and strace these tests fail.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is to stop")]

mod ends;
mod judged;
mod oracle;
mod places;
mod protected;
mod refused;
mod stage;
