//! Foreign messages to our types and back. Pure: no I/O, no clock, no lock, no async; time is an argument.

pub mod agent;
pub mod framing;
mod json;
pub mod jsonrpc;
pub mod view;
pub mod vocabulary;
