//! Being asked to stop, by a person or the system. Stops nothing itself.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Waits for SIGTERM, SIGINT or SIGHUP and gives its name. To be called once at the start and awaited later: from the
/// call on, the signals do not kill the host.
pub fn asked() -> io::Result<impl Future<Output = &'static str>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // Under nohup the person has said that a closed terminal is no reason.
    let mut hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
    Ok(async move {
        let hung_up = async {
            match &mut hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
            _ = hung_up => "SIGHUP",
        }
    })
}

fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
