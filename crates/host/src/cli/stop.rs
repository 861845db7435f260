//! Being asked to stop, by a person or the system. Stops nothing itself.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Waits for SIGTERM, SIGINT or SIGHUP and gives its name. To be called once at the start and awaited later: from the
/// call on, the signals do not kill the host.
pub fn asked() -> io::Result<impl Future<Output = &'static str>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
            _ = hang_up.recv() => "SIGHUP",
        }
    })
}
