//! How commands are held in: tried as the host does at its start, with what the configuration wants.

use std::env;

use switchboard_types::Containment;

use super::Report;
use crate::config::Config;
use crate::config::watch::UserConfig;
use crate::driver::wanted_walls;
use crate::runner::contain;

/// Tries it.
pub(super) fn look(config: &Config, source: &UserConfig, report: &mut Report) {
    let fence = contain::probe(wanted_walls(config, source), env::var_os("PATH").as_deref());
    match fence.told() {
        Containment::Works { by } => report.good("containment", format!("commands are held in by {by}")),
        Containment::None { reason } => {
            report.doubtful("containment", "commands are not held in: they run with all your rights", reason);
        }
        Containment::Missing { reason } => {
            let message = "the configuration requires commands to be held in, and they cannot be, so none runs";
            report.wrong("containment", message, reason);
        }
    }
}
