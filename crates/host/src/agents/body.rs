//! A child process and all that comes of it, from its birth to its burial. Says nothing and hears nothing.

use std::process::ExitStatus;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use tokio::process::Child;
use tokio::signal::unix::{self, SignalKind};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::children::Written;
use super::group::Group;
use super::spawner::Born;
use super::tree::{Found, Tree};

/// After this long in vain, what cannot be ended is left alone: it is another user's, or the system's own.
const IN_VAIN: Duration = Duration::from_secs(2);
/// Between two looks whether all are gone, at first and at most.
const BETWEEN_LOOKS: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(80)];

/// What the process is that leads the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leader {
    /// What all this is about.
    Command,
    /// Something around it, which ends when it does, and must not before.
    Around,
}

/// The process itself. Dropped before its time, it takes all that came of it with it.
#[derive(Debug)]
pub(super) struct Body {
    child: Child,
    pid: Pid,
    group: Group,
    leader: Leader,
    /// None once all of it is gone.
    tree: Option<Tree>,
    /// Rings when any child of the host has ended.
    bell: Option<unix::Signal>,
    /// It has not been looked at since the bell rang; asking the system every time would cost more than a word does.
    rang: bool,
    written: Option<Written>,
}

impl Body {
    pub(super) fn new(born: Born, leader: Leader) -> Self {
        let bell = unix::signal(SignalKind::child()).ok();
        Self {
            child: born.child,
            pid: born.pid,
            group: Group::led_by(born.pid),
            leader,
            tree: Some(Tree::of(born.pid, born.mark)),
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

    /// Sends a signal to the process and to all that came of it.
    pub(super) fn signal(&mut self, signal: Signal) {
        // Once reaped, its number could be anybody's.
        if self.child.id().is_none() {
            return;
        }
        // Looked for first: whoever loses its parent is harder to find.
        if let Some(tree) = self.tree.as_mut() {
            tree.look();
        }
        if self.leader == Leader::Command || signal == Signal::KILL {
            self.group.signal(signal);
        }
        if let Some(tree) = self.tree.as_mut() {
            tree.signal(signal);
        }
    }

    /// Ends what is left, then lets the process go. If the process itself is gone already, what is left has this long
    /// between SIGTERM and SIGKILL.
    pub(super) async fn bury(&mut self, grace: Duration) -> Option<ExitStatus> {
        let grace = if self.has_ended() {
            grace
        } else {
            self.signal(Signal::KILL);
            Duration::ZERO
        };
        self.end_tree(grace).await;
        if self.child.id().is_some() {
            self.group.signal(Signal::KILL);
        }
        let status = self.child.wait().await.ok();
        if let Some(written) = self.written.take() {
            written.remove();
        }
        status
    }

    /// Until nobody is left of all that came of the process.
    async fn end_tree(&mut self, grace: Duration) {
        let [mut between, at_most] = BETWEEN_LOOKS;
        let began = Instant::now();
        while let Some(mut tree) = self.tree.take() {
            let signal = if began.elapsed() < grace { Signal::TERM } else { Signal::KILL };
            // A look reads what the system says of every process, which is no work for a task.
            let looked = spawn_blocking(move || {
                let found = tree.look();
                tree.signal(signal);
                (found, tree)
            });
            match looked.await {
                Ok((Found::Nobody, tree)) => tree.retire(),
                Ok((Found::Running(left), _)) if began.elapsed() > grace + IN_VAIN => {
                    tracing::warn!(
                        leader = self.pid.as_raw_nonzero().get(),
                        left,
                        "not all that it started can be ended"
                    );
                }
                Ok((Found::Running(_), tree)) => {
                    self.tree = Some(tree);
                    sleep(between).await;
                    between = at_most.min(between * 2);
                }
                Err(error) => tracing::error!(%error, "nobody could look for what a process has left"),
            }
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
