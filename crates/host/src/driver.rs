//! The one task that owns the host: feeds it with what links, agents and the store say, and carries out what it wants
//! done. Holds no rule of the conversation.
//!
//! | file | owns |
//! | --- | --- |
//! | `driver/chores.rs` | what the edges do for a view: search, usage, upkeep |
//! | `driver/deeds.rs` | carrying out what the host wants done |
//! | `driver/files.rs` | files of sessions, looked at off the host's task |
//! | `driver/start.rs` | joining the parts, and taking them apart again |
//! | `driver/orders.rs` | what the core orders for errands, held to what the workspace asks for |
//! | `driver/readiness.rs` | what is found out about the tools while the host runs already |
//! | `driver/recap.rs` | what was said in a session, in short |
//! | `driver/recovery.rs` | sessions as they are found on the disk |
//! | `driver/sources.rs` | events by their names in a foreign log, and sessions that an agent elsewhere has |
//! | `driver/configuration.rs` | configuration that changes while the host runs |
//! | `driver/chores.rs` | chores of views |
//! | `driver/settings.rs` | settings: told to the host, changed for a view |
//! | `driver/wire.rs` | which sessions' wires are recorded, and whose record a message belongs to |
//! | `driver/workspaces.rs` | workspaces, their trust and their configuration |

mod chores;
mod configuration;
mod deeds;
mod files;
mod orders;
mod readiness;
mod recap;
mod recovery;
mod settings;
mod sources;
mod start;
mod wire;
mod workspaces;

pub use chores::Effort;
pub use readiness::Readiness;
pub(crate) use start::wanted_walls;
pub use start::{run, set_trust_in_store};

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_core::{Host, Input, Recovered, RequestId, Settings, Slice};
use switchboard_types::limits::MAX_UNCOMMITTED_BYTES;
use switchboard_types::{
    Command, CommitDone, Containment, ErrandNews, LifeId, LinkId, ReadId, SessionId, WorkspaceRoot,
};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::agents::Agents;
use crate::attachments::Attachments;
use crate::clock::Clock;
use crate::config::Config;
use crate::config::watch::{Seen, UserConfig, Wanted};
use crate::library::Library;
use crate::link::{AgentInput, AgentOrder, CloseReason, Outgoing, SharedPage, ViewInput};
use crate::runner::Runner;
use crate::secrets::{MODEL_SERVER, Tokens};
use crate::server::{Artifacts, Metrics};
use crate::store::{Store, StoreError, Which};
use crate::wire::Recorder;

/// Inputs taken at once; what they cause shares one commit.
const MAX_BATCH: usize = 128;
/// Commits on their way to the disk before the driver waits; the store's own queues hold more.
const MAX_COMMITS_IN_FLIGHT: usize = 256;
/// Reads under way at once; the others wait, one a link at most.
const MAX_READS_IN_FLIGHT: usize = 2;
/// Listings under way at once; the others wait, and a view that asks for more than [`MAX_LISTINGS`] is refused.
const MAX_LISTINGS_IN_FLIGHT: usize = 1;
/// Listings that wait.
const MAX_LISTINGS: usize = 256;
/// Answers of the store that wait for the driver; never more than the two bounds above allow.
pub const STORE_ANSWERS: usize = 1024;
/// How long a stopping host waits for the disk.
const STOP_PATIENCE: Duration = Duration::from_secs(20);

/// What the store says.
#[derive(Debug)]
pub enum StoreAnswer {
    /// A commit is answered.
    Done(CommitDone),
    /// A page was read.
    Page(ReadId, Result<Slice, String>),
    /// A session was read anew.
    Reloaded(SessionId, Result<Box<Recovered>, String>),
    /// A conversation was summed up.
    Recap(SessionId, Result<String, String>),
    /// What a view wanted was listed or looked up.
    Listed(Box<Input>),
    /// What nobody waits in line for was looked up.
    Found(Box<Input>),
    /// Files were looked at.
    Files(Box<Input>),
    /// A chore is done, of this sort.
    Chore(chores::Effort, Box<Input>),
}

/// What the driver is given.
pub struct Parts {
    /// The log.
    pub store: Arc<dyn Store>,
    /// What is found again; or why nothing can be.
    pub library: Result<Arc<Library>, String>,
    /// What the store says.
    pub answers: (mpsc::Sender<StoreAnswer>, mpsc::Receiver<StoreAnswer>),
    /// What views say.
    pub views: mpsc::Receiver<ViewInput>,
    /// What agents say.
    pub words: mpsc::Receiver<AgentInput>,
    /// The agents' processes.
    pub agents: Agents,
    /// Who does things for agents.
    pub runner: Runner,
    /// What becomes of that.
    pub errands: mpsc::Receiver<ErrandNews>,
    /// What is found out about the tools once the host runs.
    pub readiness: mpsc::Receiver<Readiness>,
    /// The user's configuration.
    pub config: Config,
    /// Where it comes from.
    pub source: UserConfig,
    /// What was read of it since, and by whom it is to be looked at.
    pub watching: (watch::Sender<Wanted>, mpsc::Receiver<Seen>),
    /// The folder of tabs that name none.
    pub home: WorkspaceRoot,
    /// The host's own data folder, canonical.
    pub data: PathBuf,
    /// Where links to what sessions have are kept.
    pub artifacts: Arc<Artifacts>,
    /// The one clock.
    pub clock: Clock,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Where what is recorded goes.
    pub recorder: Recorder,
    /// Randomness for epochs.
    pub seed: u64,
}

/// The task that owns the host.
pub struct Driver {
    host: Host,
    store: Arc<dyn Store>,
    answers: mpsc::Receiver<StoreAnswer>,
    answer_to: mpsc::Sender<StoreAnswer>,
    views: mpsc::Receiver<ViewInput>,
    words: mpsc::Receiver<AgentInput>,
    agents: Agents,
    /// None once the host stops.
    runner: Option<Runner>,
    errands: mpsc::Receiver<ErrandNews>,
    readiness: mpsc::Receiver<Readiness>,
    /// How commands are held in.
    containment: Containment,
    workspaces: workspaces::Workspaces,
    wire: wire::Wire,
    attachments: Attachments,
    clock: Clock,
    metrics: Arc<Metrics>,
    outboxes: HashMap<LinkId, mpsc::Sender<Outgoing>>,
    lives: HashMap<LifeId, mpsc::Sender<AgentOrder>>,
    reads: VecDeque<deeds::Read>,
    reads_in_flight: usize,
    listings: VecDeque<deeds::Listing>,
    listings_in_flight: usize,
    files: files::Looks,
    chores: chores::Chores,
    trusting: HashMap<RequestId, workspaces::Trusting>,
    deleting: HashMap<RequestId, oneshot::Sender<Result<(), String>>>,
    removing: HashMap<RequestId, oneshot::Sender<Result<bool, String>>>,
    last_request: u64,
    watching: watch::Sender<Wanted>,
    seen: mpsc::Receiver<Seen>,
    /// What is wrong in the configuration's files now.
    config_errors: Vec<String>,
    adding: usize,
    added: mpsc::Receiver<configuration::Added>,
    added_to: mpsc::Sender<configuration::Added>,
    /// What is known of tokens.
    tokens: Tokens,
    /// How many chores of settings are carried out at once.
    settling: Arc<Semaphore>,
    /// The page that was told last; the next link that gets it shares its frames.
    shared: Option<Arc<SharedPage>>,
}

impl Driver {
    /// Takes back what the disk holds.
    pub fn new(parts: Parts) -> Result<Self, StoreError> {
        let settings = Settings {
            startup_slow_ms: parts.config.startup.slow_ms,
            startup_timeout_ms: parts.config.startup.timeout_ms,
            stall_ms: parts.config.stillness.stall_ms,
            // To the core, 0 is never.
            idle_ms: parts.config.stillness.idle_ms.unwrap_or(0),
            approval_ms: parts.config.tools.approval_ms,
            network: parts.config.tools.holding.network,
            ..Settings::default()
        };
        let mut host = Host::new(settings, parts.seed);
        let now = parts.clock.now();
        host.set_next_session(parts.store.next_session()?);
        host.set_home(parts.home.clone());
        host.know_rules(parts.store.rules()?);
        let mut workspaces = workspaces::Workspaces::new(parts.source, parts.config, parts.store.workspaces()?);
        host.handle(now, Input::Workspace(workspaces.know(&parts.home)));
        for stored in parts.store.sessions(Which::WithTab)? {
            host.handle(now, Input::Workspace(workspaces.know(&stored.row.workspace)));
            host.restore(now, recovery::recover(parts.store.as_ref(), stored)?);
        }
        let (answer_to, answers) = parts.answers;
        let (watching, seen) = parts.watching;
        let (added_to, added) = mpsc::channel(configuration::MAX_ADDING);
        let mut wire = wire::Wire::new(parts.recorder);
        let kept = wire.sessions();
        let is_stored = |session| parts.store.sessions(Which::One(session)).map_or(true, |found| !found.is_empty());
        if !kept.is_empty() {
            wire::orphans(kept, is_stored).into_iter().for_each(|session| wire.forget(session));
        }
        // How the keyring is takes a moment to find out; the first look at the files tells it.
        let model_server = parts.agents.secrets().find(MODEL_SERVER).ok().flatten();
        let tokens = Tokens { model_server, kept_in: String::new() };
        let attachments = Attachments::within(&parts.data);
        attachments.sweep(is_stored);
        let mut driver = Self {
            host,
            store: parts.store,
            answers,
            answer_to,
            views: parts.views,
            words: parts.words,
            agents: parts.agents,
            runner: Some(parts.runner),
            errands: parts.errands,
            readiness: parts.readiness,
            containment: Containment::None { reason: "nobody has looked yet".to_owned() },
            workspaces,
            wire,
            clock: parts.clock,
            metrics: parts.metrics,
            outboxes: HashMap::new(),
            lives: HashMap::new(),
            reads: VecDeque::new(),
            reads_in_flight: 0,
            listings: VecDeque::new(),
            listings_in_flight: 0,
            attachments,
            files: files::Looks::new(parts.data, parts.artifacts),
            chores: chores::Chores::new(parts.library),
            trusting: HashMap::new(),
            deleting: HashMap::new(),
            removing: HashMap::new(),
            last_request: 0,
            watching,
            seen,
            config_errors: Vec::new(),
            adding: 0,
            added,
            added_to,
            tokens,
            settling: Arc::new(Semaphore::new(settings::MAX_AT_ONCE)),
            shared: None,
        };
        driver.tell_settings();
        driver.watch_trusted();
        driver.settle_wire();
        Ok(driver)
    }

    /// Runs until it is told to stop; then nothing is left running and everything is on the disk.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        self.carry_out();
        while !*stop.borrow_and_update() {
            let takes = self.takes_inputs();
            tokio::select! {
                biased;
                changed = stop.changed() => {
                    if changed.is_err() {
                        break;
                    }
                }
                Some(answer) = self.answers.recv() => self.answer(answer),
                Some(seen) = self.seen.recv() => self.configuration(seen),
                Some(added) = self.added.recv() => self.added(added),
                Some(ready) = self.readiness.recv() => self.ready(ready),
                Some(input) = self.views.recv(), if takes => self.view_input(input),
                Some(input) = self.words.recv(), if takes => self.agent_input(input),
                Some(news) = self.errands.recv(), if takes => self.errand_news(news),
                () = until(self.host.poll_timeout(), &self.clock) => self.host.handle(self.clock.now(), Input::Tick),
            }
            self.take_what_waits();
            self.tick_if_due();
            self.carry_out();
            self.count();
        }
        self.stop().await;
    }

    /// Whether there is room for what inputs may cause; the store's answers are always taken.
    fn takes_inputs(&self) -> bool {
        self.host.uncommitted_bytes() < MAX_UNCOMMITTED_BYTES && self.host.commits_in_flight() < MAX_COMMITS_IN_FLIGHT
    }

    /// Takes what has arrived meanwhile, so that it shares the commit.
    fn take_what_waits(&mut self) {
        for _ in 0..MAX_BATCH {
            let Ok(answer) = self.answers.try_recv() else { break };
            self.answer(answer);
        }
        for _ in 0..MAX_BATCH {
            if !self.takes_inputs() {
                return;
            }
            let view = self.views.try_recv().map(|input| self.view_input(input));
            let word = self.words.try_recv().map(|input| self.agent_input(input));
            let news = self.errands.try_recv().map(|news| self.errand_news(news));
            if view.is_err() && word.is_err() && news.is_err() {
                return;
            }
        }
    }

    /// However much comes in, what is due is done: a flood must not outlast the patience with whoever sends it.
    fn tick_if_due(&mut self) {
        let now = self.clock.now();
        if self.host.poll_timeout().is_some_and(|at| at <= now) {
            self.host.handle(now, Input::Tick);
        }
    }

    fn answer(&mut self, answer: StoreAnswer) {
        let input = match answer {
            StoreAnswer::Done(done) => {
                for session in self.wire.committed(&done) {
                    self.forget_attachments(session);
                }
                Input::Committed(done)
            }
            StoreAnswer::Page(read, slice) => {
                self.reads_in_flight -= 1;
                Input::PageRead { read, slice }
            }
            StoreAnswer::Reloaded(session, recovered) => {
                if let Ok(recovered) = &recovered {
                    let workspace = self.workspaces.know(&recovered.row.workspace);
                    self.host.handle(self.clock.now(), Input::Workspace(workspace));
                }
                Input::Reloaded { session, recovered }
            }
            StoreAnswer::Recap(session, recap) => Input::Recap { session, recap },
            StoreAnswer::Listed(input) => {
                self.listings_in_flight -= 1;
                *input
            }
            StoreAnswer::Found(input) => *input,
            StoreAnswer::Files(input) => {
                self.files.one_done();
                *input
            }
            StoreAnswer::Chore(effort, input) => {
                self.chores.one_done(effort);
                *input
            }
        };
        self.host.handle(self.clock.now(), input);
    }

    fn view_input(&mut self, input: ViewInput) {
        let now = self.clock.now();
        match input {
            ViewInput::Opened { link, outbox } => {
                self.outboxes.insert(link, outbox);
                self.host.handle(now, Input::LinkOpened(link));
            }
            ViewInput::Command { link, command } => self.command(link, command),
            ViewInput::Taped { link, tape } => self.view_tape(link, *tape),
            ViewInput::Record { session, switch, answer } => {
                // Whoever asked may be gone; the switch stands.
                let _ = answer.send(self.record(session, switch));
            }
            ViewInput::Drained { link, bytes } => self.host.handle(now, Input::Drained { link, bytes }),
            ViewInput::Closed { link } => {
                self.outboxes.remove(&link);
                self.host.handle(now, Input::LinkClosed(link));
            }
            ViewInput::Trust { root, trust, answer } => self.trust(&root, trust, workspaces::Asker::Edge(answer)),
            ViewInput::Delete { session, answer } => {
                let request = self.next_request();
                self.deleting.insert(request, answer);
                self.host.handle(now, Input::Delete { session, request });
            }
            ViewInput::RemoveRule { rule, answer } => {
                let request = self.next_request();
                self.removing.insert(request, answer);
                self.host.handle(now, Input::RemoveRule { rule, request });
            }
            ViewInput::Configuration { answer } => {
                // Whoever asked may be gone.
                let _ = answer.send(self.config_errors.clone());
            }
            ViewInput::AddWorkspace { root, answer } => {
                let workspace = self.workspaces.know(&root);
                self.host.handle(now, Input::Workspace(workspace));
                // Whoever asked may be gone; the workspace is known all the same.
                let _ = answer.send(());
            }
        }
    }

    fn command(&mut self, link: LinkId, command: Command) {
        self.know_workspace_of(&command);
        self.hide_token_of(&command);
        self.host.handle(self.clock.now(), Input::Command { link, command });
    }

    fn errand_news(&mut self, news: ErrandNews) {
        self.host.handle(self.clock.now(), Input::Errand(news));
    }

    fn next_request(&mut self) -> RequestId {
        self.last_request += 1;
        RequestId(self.last_request)
    }

    fn count(&self) {
        let counters = self.host.counters();
        self.metrics.events.show(counters.events);
        self.metrics.commits.show(counters.commits);
        self.metrics.failed_entries.show(counters.failed_entries);
        self.metrics.late_words.show(counters.late_words);
        self.metrics.agent_exits.show(counters.agent_exits);
    }

    /// Marks what runs, waits for the disk, says goodbye to views and ends every agent.
    async fn stop(mut self) {
        self.host.handle(self.clock.now(), Input::Stop);
        self.carry_out();
        let deadline = Instant::now() + STOP_PATIENCE;
        // What runs for agents is ended first, so that its end is in the log.
        if let Some(runner) = self.runner.take() {
            let over = runner.shutdown();
            tokio::pin!(over);
            loop {
                tokio::select! {
                    Some(answer) = self.answers.recv() => self.answer(answer),
                    Some(news) = self.errands.recv() => self.errand_news(news),
                    () = &mut over => break,
                    () = tokio::time::sleep_until(deadline) => break,
                }
                self.carry_out();
            }
        }
        while let Ok(news) = self.errands.try_recv() {
            self.errand_news(news);
        }
        self.carry_out();
        while !self.host.is_settled() {
            match tokio::time::timeout_at(deadline, self.answers.recv()).await {
                Ok(Some(answer)) => self.answer(answer),
                Ok(None) | Err(_) => {
                    tracing::error!("the disk did not answer in time; what was not shown yet may be lost");
                    break;
                }
            }
            self.carry_out();
        }
        for outbox in self.outboxes.values() {
            // A full outbox closes all the same when its sender goes.
            let _ = outbox.try_send(Outgoing::Close(CloseReason::GoingAway));
        }
        self.outboxes.clear();
        self.lives.clear();
        // The agents' last words find nobody, but must not block their end.
        self.words.close();
        self.agents.shutdown().await;
    }
}

async fn until(at: Option<switchboard_types::Time>, clock: &Clock) {
    match at {
        Some(at) => tokio::time::sleep(Duration::from_millis(at.since(clock.now()))).await,
        None => std::future::pending().await,
    }
}
