//! Joins core, store, agents and server into the running host. Not joined yet.

use switchboard_types::WorkspaceRoot;

use crate::cli::exit::Failure;
use crate::cli::serve::Serve;
use crate::folder::{Folder, Lease};
use crate::link::Trust;

/// Runs the host until it is asked to stop.
pub async fn run(serve: Serve) -> Result<(), Failure> {
    drop(serve);
    Err(Failure::failed("this version cannot serve yet"))
}

/// Writes down that a workspace is trusted, or no longer, while no host runs; the lease shows that none does.
pub fn set_trust_in_store(folder: &Folder, lease: &Lease, root: &WorkspaceRoot, trust: Trust) -> Result<(), Failure> {
    let _ = (folder, lease, root, trust);
    Err(Failure::failed("this version cannot change trust without a running host"))
}
