//! The door for the host's task: start an agent's process, end them all. Holds no process itself.

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_types::{LifeId, WorkspaceRoot};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use super::children::Children;
use super::ending::Graces;
use super::engine;
use super::life::{self, Around};
use super::spawner::Spawner;
use super::spec::{AgentKind, AgentSpec};
use crate::clock::Clock;
use crate::link::{AgentInput, AgentOrder, Taping};
use crate::secrets::Secrets;
use crate::server::Artifacts;

/// Orders that wait for one agent's task, which takes them even while the agent does not read.
pub const ORDERS: usize = 16 * 1024;

/// All agents' processes of one host.
#[derive(Debug)]
pub struct Agents {
    runtime: Handle,
    spawner: Spawner,
    inbox: mpsc::Sender<AgentInput>,
    clock: Clock,
    graces: Graces,
    secrets: Secrets,
    data: PathBuf,
    shelf: Arc<Artifacts>,
    stop: watch::Sender<bool>,
    /// Every life holds one of these; when all are gone, so are the processes.
    alive: mpsc::Sender<Infallible>,
    ended: mpsc::Receiver<Infallible>,
}

impl Agents {
    /// Must be called within a runtime. `data` is the data folder; what agents say goes to `inbox`.
    pub fn start(data: &Path, inbox: mpsc::Sender<AgentInput>, clock: Clock, graces: Graces) -> io::Result<Self> {
        let runtime = Handle::current();
        let spawner = Spawner::start(runtime.clone(), Children::within(data)?)?;
        let (alive, ended) = mpsc::channel(1);
        let (secrets, stop) = (Secrets::within(data), watch::Sender::new(false));
        let shelf = Arc::new(Artifacts::default());
        let data = data.to_owned();
        Ok(Self { runtime, spawner, inbox, clock, graces, secrets, data, shelf, stop, alive, ended })
    }

    /// Starts a process. `Started` is the first input of its life and `Ended` the last; if it cannot be started, `Ended`
    /// is the only one.
    pub fn spawn(&self, life: LifeId, spec: &AgentSpec, root: &WorkspaceRoot) -> mpsc::Sender<AgentOrder> {
        self.spawn_taped(life, spec, root, Taping::Off)
    }

    /// The same; what goes over its pipes is handed in as it is from the first message on, if that is wanted.
    pub fn spawn_taped(
        &self,
        life: LifeId,
        spec: &AgentSpec,
        root: &WorkspaceRoot,
        taping: Taping,
    ) -> mpsc::Sender<AgentOrder> {
        let (send, orders) = mpsc::channel(ORDERS);
        let around = Around {
            inbox: self.inbox.clone(),
            orders,
            stop: self.stop.subscribe(),
            clock: self.clock,
            graces: self.graces,
            taping,
            secrets: self.secrets.clone(),
            data: self.data.clone(),
            shelf: Arc::clone(&self.shelf),
        };
        let (inbox, alive, agent) = (self.inbox.clone(), self.alive.clone(), spec.name.clone());
        let lived = match spec.kind {
            AgentKind::Engine { .. } => self.runtime.spawn(engine::live(life, spec.clone(), around)),
            AgentKind::Plain(_) | AgentKind::Acp(_) | AgentKind::Apex { .. } | AgentKind::Model { .. } => {
                self.runtime.spawn(life::live(life, spec.clone(), root.clone(), self.spawner.clone(), around))
            }
        };
        self.runtime.spawn(async move {
            if let Err(error) = lived.await {
                tracing::error!(%agent, %error, "the task of an agent failed");
                let message = format!("agent `{agent}` was ended by a fault of the host; the log says more");
                // An error here means that the host's task is gone.
                let _ = inbox.send(AgentInput::Ended { life, message }).await;
            }
            drop(alive);
        });
        send
    }

    /// The same with the secrets of another folder.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// The same with a shelf that others serve from.
    #[must_use]
    pub fn with_shelf(self, shelf: Arc<Artifacts>) -> Self {
        Self { shelf, ..self }
    }

    /// The secrets that agents may be given.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Ends all processes, each gracefully and all at once, and waits until none is left. What they still say reaches
    /// the inbox only as far as it has room.
    pub async fn shutdown(self) {
        let Self { stop, alive, mut ended, .. } = self;
        drop(alive);
        stop.send_replace(true);
        // Nothing is ever sent: this ends when the last life does.
        while ended.recv().await.is_some() {}
    }
}
