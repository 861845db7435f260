//! What the edges find out about the tools while the host runs already: which of its own can be called, and how commands
//! are held in. Looks and tells; until it has told, nobody is shown a part of the tools.

use std::sync::Arc;

use switchboard_core::Input;
use switchboard_types::{Containment, Tool};
use tokio::sync::{mpsc, watch};

use super::Driver;
use crate::runner::contain::{self, Fence};
use crate::runner::tools;

/// Things that are found out, each once.
pub(super) const MAX_READINESS: usize = 2;

/// Something was found out.
#[derive(Debug)]
pub enum Readiness {
    /// The host's own tools can be called.
    Tools(Vec<Tool>),
    /// How commands are held in.
    Containment(Containment),
}

/// Finds out, off the host's task, and tells it and whoever runs commands. The tools come first: looking at the walls takes
/// longer, and no command runs before somebody has.
pub(super) async fn find_out(
    tell: mpsc::Sender<Readiness>,
    wanted: contain::Wanted,
    walls: watch::Sender<Option<Arc<Fence>>>,
) {
    let looked = tokio::task::spawn_blocking(tools::definitions);
    // The look itself does not panic; if it does, the tools stay unlisted.
    let Ok(tools) = looked.await else { return };
    // The driver is gone only when the host has stopped.
    let _ = tell.send(Readiness::Tools(tools)).await;
    let probed = tokio::task::spawn_blocking(move || {
        let path = std::env::var_os("PATH");
        contain::probe(wanted, path.as_deref())
    });
    let told = match probed.await {
        Ok(fence) => {
            let told = fence.told().clone();
            walls.send_replace(Some(Arc::new(fence)));
            told
        }
        Err(error) => {
            tracing::error!(%error, "nobody could look how commands are held in");
            Containment::Missing { reason: "nobody could look; the host's log says why".to_owned() }
        }
    };
    let _ = tell.send(Readiness::Containment(told)).await;
}

impl Driver {
    pub(super) fn ready(&mut self, ready: Readiness) {
        let input = match ready {
            Readiness::Tools(tools) => Input::Tools(tools),
            Readiness::Containment(containment) => {
                self.containment.clone_from(&containment);
                Input::Containment(containment)
            }
        };
        self.host.handle(self.clock.now(), input);
    }
}
