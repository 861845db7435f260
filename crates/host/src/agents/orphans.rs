//! Orphans that the host has adopted and that end by themselves: noticed and reaped, so that they do not pile up while what
//! they came from lives on. Takes no end away from whoever waits for a child.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::WeakSender;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::tree;

/// Ends come in swarms; one look serves all of them.
const SWARM: Duration = Duration::from_millis(250);

/// Goes on until nobody holds the other end.
pub(super) async fn reap_until<T>(held: WeakSender<T>) {
    let Ok(mut bell) = signal(SignalKind::child()) else { return };
    while bell.recv().await.is_some() && held.upgrade().is_some() {
        sleep(SWARM).await;
        // An error means that the runtime ends.
        let _ = spawn_blocking(tree::reap_orphans).await;
    }
}
