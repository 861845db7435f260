//! The host that runs, asked how it is; or, if none runs, the store itself and the way for a host to start.

use std::net::TcpListener;
use std::path::Path;

use super::Report;
use crate::cli::args::DEFAULT_LISTEN;
use crate::cli::control::Control;
use crate::folder::{Folder, Lease, LeaseError, Running, running_host};
use crate::history::WorkspaceEntry;
use crate::store;

/// What counts commits that failed in the host's numbers.
const FAILED: &str = "switchboard_failed_entries_total ";

/// Looks at the host and the store; gives the workspaces that they know.
pub(super) async fn look(place: &Path, report: &mut Report) -> Option<Vec<WorkspaceEntry>> {
    // Its rights were looked at already, and opening it would mend them.
    let folder = Folder::as_it_is(place);
    if let Some(running) = running_host(&folder) {
        return ask(&folder, &running, report).await;
    }
    let lease = match Lease::look(&folder) {
        Err(LeaseError::Held(held)) => {
            let mend = "wait a moment and try again; if it stays so, end that process";
            report.doubtful("host", format!("the data folder is held by {held}"), mend);
            return None;
        }
        other => other,
    };
    match lease {
        Ok(()) => report.good("host", "none runs"),
        Err(error) => report.wrong("host", error.to_string(), "check the permissions of the data folder"),
    }
    port(report);
    stored(place, report)
}

async fn ask(folder: &Folder, running: &Running, report: &mut Report) -> Option<Vec<WorkspaceEntry>> {
    let ours = env!("CARGO_PKG_VERSION");
    let message = format!("process {} at {}, version {}", running.pid, running.url, running.version);
    if running.version == ours {
        report.good("host", message);
    } else {
        report.doubtful("host", message, format!("this program is version {ours}; restart the host"));
    }
    let control = match folder
        .token()
        .map_err(|error| error.to_string())
        .and_then(|token| Control::of(running, token).map_err(|failure| failure.message))
    {
        Ok(control) => control,
        Err(why) => {
            report.wrong("token", why, "delete it and restart the host");
            return None;
        }
    };
    let mend = "restart it: end that process and start `switchboard`";
    match control.metrics().await {
        Err(failure) => {
            report.wrong("host", failure.message, mend);
            return None;
        }
        Ok(numbers) => {
            let failed = numbers.lines().find_map(|line| line.strip_prefix(FAILED)).unwrap_or("0").trim();
            if failed == "0" {
                report.good("store", "the host writes without failures");
            } else {
                report.doubtful(
                    "store",
                    format!("{failed} writes have failed since the host began"),
                    "see the host's log",
                );
            }
        }
    }
    match control.configuration_errors().await {
        Ok(errors) => {
            for error in errors {
                let mend = "mend it; until then the host works with the configuration from before";
                report.wrong("running configuration", error, mend);
            }
        }
        // An older host has no such answer; what is wrong is found below all the same.
        Err(failure) => tracing::debug!(%failure, "the host does not say what it makes of the configuration"),
    }
    match control.workspaces().await {
        Ok(workspaces) => Some(workspaces),
        Err(failure) => {
            report.wrong("store", failure.message, mend);
            None
        }
    }
}

fn port(report: &mut Report) {
    match TcpListener::bind(DEFAULT_LISTEN) {
        Ok(_) => report.good("port", format!("{DEFAULT_LISTEN} is free")),
        Err(error) => {
            let mend = "`switchboard` takes another port by itself; `switchboard serve` wants `--listen :0`";
            report.doubtful("port", format!("{DEFAULT_LISTEN}: {error}"), mend);
        }
    }
}

fn stored(place: &Path, report: &mut Report) -> Option<Vec<WorkspaceEntry>> {
    match store::check_up(place) {
        Ok(None) => {
            report.good("store", "is not there yet; the first start makes it");
            Some(Vec::new())
        }
        Ok(Some(found)) => {
            let message = format!("{} sessions, {} KiB", found.sessions, found.bytes / 1024);
            if let Some(damage) = found.damage {
                let mend = "start `switchboard`: it sets the file aside and saves all that is readable";
                report.wrong("store", format!("damaged: {damage}"), mend);
            } else if found.set_aside > 0 {
                let mend = "delete the files `switchboard.db.damaged-…` in the data folder once you miss nothing";
                report.doubtful("store", format!("{message}; a damaged file was set aside before"), mend);
            } else {
                report.good("store", message);
            }
            let entry = |row: switchboard_types::WorkspaceRow| WorkspaceEntry {
                root: row.root.to_string(),
                trusted_ms: row.trusted,
            };
            Some(found.workspaces.into_iter().map(entry).collect())
        }
        Err(error) => {
            report.wrong("store", error.to_string(), "");
            None
        }
    }
}
