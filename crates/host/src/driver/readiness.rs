//! What the edges find out about the tools while the host runs already: which of its own can be called, and how commands
//! are held in. Looks and tells; until it has told, nobody is shown a part of the tools.

use switchboard_types::{Containment, Tool};
use tokio::sync::mpsc;

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

/// Finds out, off the host's task, and tells it.
pub(super) async fn find_out(tell: mpsc::Sender<Readiness>, containment: Containment) {
    let looked = tokio::task::spawn_blocking(tools::definitions);
    // The look itself does not panic; if it does, the tools stay unlisted.
    let Ok(tools) = looked.await else { return };
    for one in [Readiness::Containment(containment), Readiness::Tools(tools)] {
        // The driver is gone only when the host has stopped.
        let _ = tell.send(one).await;
    }
}
