//! Being asked to stop, by a person, by the system or by our own command. Stops nothing itself, unless it is asked twice.

use std::io;
use std::pin::Pin;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::exit::Exit;

/// Who asks the host to stop.
#[derive(Clone, Debug)]
pub enum StopBy {
    /// A person or the system, by a signal.
    Signals,
    /// The command that the host runs for, when this turns true.
    Command(watch::Receiver<bool>),
}

impl StopBy {
    /// Waits to be asked, and says by what. To be called once at the start and awaited later: from the call on, signals do
    /// not kill the host.
    pub fn asked(&self) -> io::Result<Pin<Box<dyn Future<Output = &'static str> + Send>>> {
        match self {
            Self::Signals => {
                let mut signals = Signals::listen()?;
                Ok(Box::pin(async move {
                    let name = signals.next().await;
                    tokio::spawn(leave_if_asked_again(signals));
                    name
                }))
            }
            Self::Command(told) => {
                let mut told = told.clone();
                Ok(Box::pin(async move {
                    // An error says that the command is gone.
                    let _ = told.wait_for(|stop| *stop).await;
                    "the command is done"
                }))
            }
        }
    }
}

/// Whoever asks a second time on the terminal does not want to wait. What was acknowledged is on the disk; children end
/// with the host.
async fn leave_if_asked_again(mut signals: Signals) {
    while signals.next().await != INTERRUPT {}
    std::process::exit(Exit::Interrupted as i32);
}

/// What a person sends by Ctrl-C.
pub(super) const INTERRUPT: &str = "SIGINT";

/// SIGTERM, SIGINT and SIGHUP. From its making on they do not kill the program.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Option<Signal>,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        // Under nohup the person has said that a closed terminal is no reason.
        let hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())?, hang_up })
    }

    /// The next one's name.
    pub(super) async fn next(&mut self) -> &'static str {
        let hung_up = async {
            match &mut self.hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => INTERRUPT,
            _ = hung_up => "SIGHUP",
        }
    }
}

fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
