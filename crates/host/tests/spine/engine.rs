//! Engines over HTTP and SSE: the real program, a real engine in another language, and every fault that a wire can have.

mod faults;
mod files;
mod losses;
mod restarts;
mod stand;
mod tls;
mod tokens;

pub(crate) use stand::Engine;
