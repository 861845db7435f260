//! The one thread that starts processes. Children die with the thread that started them, so it lives as long as the
//! host's agents do and never does anything else.

use std::io;
use std::thread;

use rustix::fd::OwnedFd;
use rustix::process::Pid;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::children::{Children, Written};
use super::mark::{self, Mark};
use super::{birth, files, orphans, tree};

/// Processes that may wait to be started.
const WAITING: usize = 64;

/// A child that runs.
#[derive(Debug)]
pub(super) struct Born {
    /// The process.
    pub(super) child: Child,
    /// Its number, and its group's.
    pub(super) pid: Pid,
    /// What all that comes of it bears.
    pub(super) mark: Mark,
    /// Its record, where it could be written.
    pub(super) written: Option<Written>,
}

struct Order {
    command: Command,
    pass: Vec<OwnedFd>,
    agent: String,
    answer: oneshot::Sender<io::Result<Born>>,
}

/// The way to the thread.
#[derive(Clone, Debug)]
pub(super) struct Spawner(mpsc::Sender<Order>);

impl Spawner {
    /// Starts the thread; it ends when nobody can ask it any more.
    pub(super) fn start(runtime: Handle, children: Children) -> io::Result<Self> {
        let (orders, mut waiting) = mpsc::channel::<Order>(WAITING);
        tree::adopt_orphans();
        runtime.spawn(orphans::reap_until(orders.downgrade()));
        thread::Builder::new().name("spawner".into()).spawn(move || {
            while let Some(order) = waiting.blocking_recv() {
                // The child's pipes belong to the runtime.
                let entered = runtime.enter();
                let born = spawn(order.command, order.pass, &order.agent, &children);
                // If nobody waits for it any more, dropping it ends it.
                drop(order.answer.send(born));
                drop(entered);
            }
        })?;
        Ok(Self(orders))
    }

    /// Starts a process. It gets these files too, under their numbers.
    pub(super) async fn spawn(self, command: Command, pass: Vec<OwnedFd>, agent: String) -> io::Result<Born> {
        let (answer, answered) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts processes is gone");
        self.0.send(Order { command, pass, agent, answer }).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

fn spawn(mut command: Command, pass: Vec<OwnedFd>, agent: &str, children: &Children) -> io::Result<Born> {
    let mark = children.mark(agent);
    command.env(mark::VARIABLE, mark.value());
    birth::prepare(&mut command, files::at_start(), mark.limit(), pass);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            mark.retire();
            return Err(error);
        }
    };
    let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let pid = pid.ok_or_else(|| io::Error::other("the process has no number"))?;
    mark.belongs_to(pid.as_raw_nonzero().get());
    let written = children.write(pid, agent);
    if let Err(error) = &written {
        tracing::warn!(agent, %error, "a child could not be written down; a crash of the host could leave it running");
    }
    Ok(Born { child, pid, mark, written: written.ok() })
}
