//! The doors over real sockets, with a stand-in for the host's task on the other side of the seam.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod census;
mod closing;
mod control;
mod dialect;
mod fetched;
mod history;
mod http;
mod links;
mod login;
mod world;
