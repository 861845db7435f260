//! Files, changes and artifacts of a session, asked for as the doors ask for them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on is to stop")]

mod artifacts;
mod changes;
mod listing;
mod revisions;
mod snippets;
mod stage;
