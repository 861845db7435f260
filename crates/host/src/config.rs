//! The configuration: the user's file, then the workspace's once it is trusted. Reads files; starts nothing.
//!
//! | module | owns |
//! | --- | --- |
//! | `file` | the TOML as people write it |
//! | `place` | where in a file something stands, and the error that says so |
//! | `agent` | an agent's table, checked by its kind |
//! | `policy` | what is said of tools, and that a workspace only makes it stricter |
//! | [`values`] | what people set at a view: its limits, in words |
//! | `settings` | what holds after all files are read |
//! | `paths` | where the user's file is |
//! | [`watch`] | files that are read again when they change |
//! | [`edit`] | the user's file, changed by program |
//! | [`save`] | what people set at a view, written into a file |
//! | [`local`] | an agent that works with a model, written into the user's file |

pub mod edit;
pub mod local;
pub mod save;
pub mod values;
pub mod watch;

mod agent;
mod file;
mod paths;
mod place;
mod policy;
mod settings;

pub use paths::{Asked, user_file};
pub use place::ConfigError;
pub use policy::{Holding, HoldingMode, ToolPolicy};
pub use settings::{AgentUnavailable, Config, Durability, Server, Startup, Stillness, WORKSPACE_FILE};
