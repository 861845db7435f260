//! `trust` and `untrust`: by the running host, or in the store if none runs.

use std::path::Path;

use serde_json::json;

use super::args::{Cli, Format};
use super::control::Control;
use super::exit::Failure;
use super::print;
use crate::driver;
use crate::folder::{Lease, running_host};
use crate::link::Trust;

/// Trusts a workspace, or no longer.
pub(super) async fn set(cli: &Cli, dir: Option<&Path>, trust: Trust) -> Result<(), Failure> {
    let folder = cli.folder()?;
    let root = match trust {
        Trust::Trusted => cli.workspace(dir)?,
        Trust::Untrusted => cli.former_workspace(dir)?,
    };
    match running_host(&folder) {
        Some(running) => Control::of(&running, folder.token()?)?.trust(&root, trust).await?,
        None => {
            let lease = Lease::take(&folder)?;
            driver::set_trust_in_store(&folder, &lease, &root, trust)?;
        }
    }
    let word = match trust {
        Trust::Trusted => "trusted",
        Trust::Untrusted => "untrusted",
    };
    match cli.format() {
        Format::Json => print::line(&json!({ "root": root.as_str(), "trust": word }).to_string()),
        Format::Words => print::words(&format!("{root} is {word} now.")),
    }
    Ok(())
}
