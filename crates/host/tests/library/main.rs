//! The library on a real store and real files: what is derived from a log, how it is found, and what becomes of it when the
//! host is killed, a log begins a new life, or a session is deleted.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod deriving;
mod keeping;
mod kit;
mod looking;
mod using;
