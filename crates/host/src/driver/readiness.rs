//! What the edges find out about the tools while the host runs already: which of its own can be called, and how commands
//! are held in. Looks and tells; until it has told, nobody is shown a part of the tools.

use switchboard_types::{Containment, Tool};
use tokio::sync::mpsc;

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
pub(super) async fn find_out(tell: mpsc::Sender<Readiness>) {
    let looked = tokio::task::spawn_blocking(|| {
        [
            Readiness::Containment(Containment::None {
                reason: "nothing that holds commands in was looked for".to_owned(),
            }),
            Readiness::Tools(Vec::new()),
        ]
    });
    // The look itself does not panic; if it does, commands stay as uncontained as nobody knows, and the tools unlisted.
    let Ok(found) = looked.await else { return };
    for one in found {
        // The driver is gone only when the host has stopped.
        let _ = tell.send(one).await;
    }
}
