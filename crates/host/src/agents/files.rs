//! How many files the host may open: as many as the system allows. Children get back what the host was started with,
//! since some programs misbehave above 1024.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static AT_START: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit of open files to the hard limit. Says what it is now.
pub fn raise_limit() -> std::io::Result<Option<u64>> {
    let now = getrlimit(Resource::Nofile);
    let before = AT_START.get_or_init(|| now);
    let raised = Rlimit { current: before.maximum, maximum: before.maximum };
    let limit = raised.current;
    setrlimit(Resource::Nofile, raised)?;
    Ok(limit)
}

/// The limit that children start with; none if it was never raised.
pub(super) fn at_start() -> Option<Rlimit> {
    AT_START.get().copied()
}
