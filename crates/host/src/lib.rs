//! The edges of Switchboard: links, store, agents, server and command line around the pure host. Holds no rule of the
//! conversation; those are the core's.

pub mod agent;
pub mod agents;
pub mod attachments;
mod calling;
pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
pub mod driver;
pub mod files;
pub mod folder;
pub mod history;
pub mod library;
pub mod link;
pub mod runner;
pub mod secrets;
pub mod server;
pub mod settings;
pub mod store;
pub mod wire;
