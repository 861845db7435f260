//! The program as people call it: every command, what it prints and how it ends. Drives the real program, its hosts and its
//! demo agent; looks at nothing inside.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod agents;
mod browser;
mod check;
mod connect;
mod docs;
mod doctor;
mod found;
mod looks;
mod rules;
mod run;
mod sessions;
mod stage;
mod tools;
