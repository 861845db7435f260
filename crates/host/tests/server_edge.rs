//! The doors over real sockets, with a stand-in for the host's task on the other side of the seam.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

#[path = "server_edge/census.rs"]
mod census;
#[path = "server_edge/closing.rs"]
mod closing;
#[path = "server_edge/control.rs"]
mod control;
#[path = "server_edge/dialect.rs"]
mod dialect;
#[path = "server_edge/http.rs"]
mod http;
#[path = "server_edge/links.rs"]
mod links;
#[path = "server_edge/login.rs"]
mod login;
#[path = "server_edge/world.rs"]
mod world;
