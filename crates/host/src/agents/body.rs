//! A child process and its group, from its birth to its burial. Says nothing and hears nothing.

use std::process::ExitStatus;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use tokio::process::Child;
use tokio::signal::unix::{self, SignalKind};

use super::children::Written;
use super::group::Group;
use super::spawner::Born;

/// The process itself. Dropped before its time, it takes its whole group with it.
#[derive(Debug)]
pub(super) struct Body {
    child: Child,
    pid: Pid,
    group: Group,
    /// Rings when any child of the host has ended.
    bell: Option<unix::Signal>,
    /// It has not been looked at since the bell rang; asking the system every time would cost more than a word does.
    rang: bool,
    written: Option<Written>,
}

impl Body {
    pub(super) fn new(born: Born) -> Self {
        let bell = unix::signal(SignalKind::child()).ok();
        Self {
            child: born.child,
            pid: born.pid,
            group: Group::led_by(born.pid),
            bell,
            rang: true,
            written: born.written,
        }
    }

    /// Waits until the process is gone, without reaping it: its number is still its own while the group is ended.
    pub(super) async fn gone(&mut self) {
        loop {
            if std::mem::take(&mut self.rang) && self.has_ended() {
                // Whoever asks again is told the same.
                self.rang = true;
                return;
            }
            self.rang = match self.bell.as_mut() {
                Some(bell) => bell.recv().await.is_some(),
                None => false,
            };
            if !self.rang {
                // Without a bell there is only the reaping wait; an error means that there is no such child.
                let _ = self.child.wait().await;
                return;
            }
        }
    }

    fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // No such child means that it was reaped.
        matches!(waitid(WaitId::Pid(self.pid), look), Ok(Some(_)) | Err(Errno::CHILD))
    }

    pub(super) fn signal(&self, signal: Signal) {
        // Once reaped, its number could be anybody's.
        if self.child.id().is_some() {
            self.group.signal(signal);
        }
    }

    /// Ends what is left of the group, then lets the process go.
    pub(super) async fn bury(&mut self, _left_behind: std::time::Duration) -> Option<ExitStatus> {
        self.signal(Signal::KILL);
        let status = self.child.wait().await.ok();
        if let Some(written) = self.written.take() {
            written.remove();
        }
        status
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
