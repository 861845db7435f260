//! How the page is built: finds Node, installs the packages of `web/`, bundles, and lists what came out as a table for the
//! program. Shared by the host's build script and the chores; never part of the program, and never writes into the
//! sources but to `web/node_modules`.

mod bundle;
mod error;
mod install;
mod table;
mod tools;

pub use bundle::{bundle, sources};
pub use error::PageError;
pub use install::{Workshop, install};
pub use table::table;
pub use tools::Tools;
