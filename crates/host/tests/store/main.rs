//! The store as its callers see it: the conformance suite, the seam between tail and segments, damage, full disks, power
//! loss. Never looks inside the library but through its public interface and the files that it leaves.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod conformance;
mod damage;
mod deletion;
mod disk;
mod formats;
mod kept;
mod kit;
mod power;
mod seam;
mod sourced;
mod vfs;

use switchboard_host::store::Which;
use switchboard_types::SessionId;

fn one(session: u64) -> Which {
    Which::One(SessionId(session))
}
