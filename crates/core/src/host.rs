//! The host: owns all sessions, links and agents, and turns what happened into what is to be done. Reads no clock, opens
//! no socket, spawns nothing.
//!
//! | file | owns |
//! | --- | --- |
//! | `host/commands.rs` | what views ask |
//! | `host/turns.rs` | the queue, turns and their ends |
//! | `host/room.rs` | how many sessions' turns run at once |
//! | `host/words.rs` | what agents say |
//! | `host/approvals.rs` | questions to a person and their one answer |
//! | `host/elsewhere.rs` | what agents elsewhere say, and whose turns are theirs |
//! | `host/desk.rs` | what is asked about sessions by their ids |
//! | `host/chores.rs` | what the edges do for a view |
//! | `host/errands.rs` | what the host is asked to do |
//! | `host/judging.rs` | the gate: allow, ask or deny what may do harm |
//! | `host/calls.rs` | calls of tools: who may call what, batches, cancelling |
//! | `host/carrying.rs` | calls on their way: begun, started, stopped, ended |
//! | `host/lending.rs` | tools that views lend |
//! | `host/bench.rs` | where a person calls tools |
//! | `host/rules.rs` | stored decisions, and what a person sets for a session |
//! | `host/agents.rs` | starting, losing and restarting agents |
//! | `host/commits.rs` | durable before visible |
//! | `host/delivery.rs` | seats: reading, following, windows |
//! | `host/restore.rs` | what a restart means; trust |
//! | `host/overview.rs` | lists: sessions and workspaces for the views that watch them |
//! | `host/history.rs` | sessions out of history, and deleting them |
//! | `host/imports.rs` | sessions that an agent elsewhere has, put into history |
//! | `host/looks.rs` | what the edges may see, for a record beside the log |

mod agents;
mod approvals;
mod bench;
mod calls;
mod carrying;
mod chores;
mod commands;
mod commits;
mod delivery;
mod desk;
mod elsewhere;
mod errands;
mod history;
mod imports;
mod judging;
mod lending;
mod looks;
mod overview;
mod restore;
mod room;
mod rules;
mod turns;
mod words;

pub use looks::LogMark;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use switchboard_types::{
    AgentName, AgentSession, Body, Change, Containment, ErrandId, LifeId, LinkId, ProcessPer, ReadId, Reject,
    RejectCode, Rule, RuleId, Seq, SessionId, SettingsState, TabId, Ticket, Time, Told, Trust, TurnId, WorkspaceRoot,
};

use crate::input::{Input, Output, RequestId, Workspace};
use crate::lives::{AgentKey, Lives};
use crate::open::Calls;
use crate::registry::Registry;
use crate::seat::Link;
use crate::session::Session;
use crate::settings::Settings;
use crate::timers::{Alarm, Timers};

/// The host. Feed it with [`Host::handle`], then drain [`Host::poll_output`] until it is empty.
#[derive(Debug)]
pub struct Host {
    settings: Settings,
    sessions: BTreeMap<SessionId, Session>,
    tabs: HashMap<TabId, SessionId>,
    workspaces: BTreeMap<WorkspaceRoot, Workspace>,
    /// The workspace of tabs that name none.
    home: Option<WorkspaceRoot>,
    links: BTreeMap<LinkId, Link>,
    lives: Lives,
    timers: Timers,
    outputs: VecDeque<Output>,
    /// Sessions with events for the next commit.
    dirty: BTreeSet<SessionId>,
    changes: Vec<Change>,
    /// Trust that waits for the next commit.
    trusting: Vec<(RequestId, Workspace)>,
    commits: VecDeque<commits::Pending>,
    /// Event bytes for the next commit, and in those that the store has not answered yet.
    uncommitted: usize,
    reads: HashMap<ReadId, LinkId>,
    /// Sessions of which a list shows something else than before.
    touched: BTreeSet<SessionId>,
    /// Sessions that are being read out of history, and who wants to see them.
    reopening: BTreeMap<SessionId, Vec<history::Reopening>>,
    /// Sessions that are to be deleted, and who asked for it.
    deleting: BTreeMap<SessionId, Vec<history::Asker>>,
    /// Errands that have no answer yet, and whose they are.
    errands: HashMap<ErrandId, SessionId>,
    last_errand: ErrandId,
    /// What was asked by a session's id.
    desk: desk::Desk,
    /// Sessions of agents elsewhere that this run has put into history.
    imported: BTreeSet<(AgentName, AgentSession)>,
    registry: Registry,
    calls: Calls,
    /// How commands are held in, once that is known.
    containment: Option<Containment>,
    /// Stored decisions, the oldest first.
    rules: Vec<Rule>,
    /// Whose turns may run, and whose wait.
    room: room::Room,
    /// The settings as they were told last.
    known_settings: Arc<SettingsState>,
    /// Rules that hold no longer and are not off the disk yet.
    dropping: BTreeSet<RuleId>,
    /// Who wants rules taken out with the next commit.
    unruling: Vec<(rules::RuleAsker, RuleId)>,
    next_session: SessionId,
    last_ticket: Ticket,
    last_read: ReadId,
    random: u64,
    stopping: bool,
    counters: Counters,
}

/// What the host has counted, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events that got a number.
    pub events: u64,
    /// Commits that were handed out.
    pub commits: u64,
    /// Entries that could not be written.
    pub failed_entries: u64,
    /// Words that came too late or for nobody.
    pub late_words: u64,
    /// Processes of agents that ended.
    pub agent_exits: u64,
}

impl Host {
    /// An empty host. The seed makes epochs; it must differ from start to start.
    #[must_use]
    pub fn new(settings: Settings, seed: u64) -> Self {
        Self {
            settings,
            sessions: BTreeMap::new(),
            tabs: HashMap::new(),
            workspaces: BTreeMap::new(),
            home: None,
            links: BTreeMap::new(),
            lives: Lives::default(),
            timers: Timers::default(),
            outputs: VecDeque::new(),
            dirty: BTreeSet::new(),
            changes: Vec::new(),
            trusting: Vec::new(),
            commits: VecDeque::new(),
            uncommitted: 0,
            reads: HashMap::new(),
            touched: BTreeSet::new(),
            reopening: BTreeMap::new(),
            deleting: BTreeMap::new(),
            errands: HashMap::new(),
            last_errand: ErrandId(0),
            desk: desk::Desk::default(),
            imported: BTreeSet::new(),
            registry: Registry::default(),
            calls: Calls::default(),
            containment: None,
            rules: Vec::new(),
            room: room::Room::default(),
            known_settings: Arc::default(),
            dropping: BTreeSet::new(),
            unruling: Vec::new(),
            next_session: SessionId(1),
            last_ticket: Ticket(0),
            last_read: ReadId(0),
            random: seed,
            stopping: false,
            counters: Counters::default(),
        }
    }

    /// Takes note of what happened.
    pub fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::LinkOpened(link) => self.link_opened(link),
            Input::LinkClosed(link) => self.link_closed(now, link),
            Input::Command { link, command } => self.command(now, link, command),
            Input::Drained { link, bytes } => self.drained(link, bytes),
            Input::LifeStarted(life) => self.life_started(now, life),
            Input::Words { life, words } => self.words(now, life, words),
            Input::LifeEnded { life, message } => self.life_ended(now, life, message),
            Input::Stderr { life, lines } => self.stderr(now, life, lines),
            Input::Errand(news) => self.errand_news(now, news),
            Input::Recap { session, recap } => self.recap_made(now, session, recap),
            Input::Configure { agent, workspace, config } => self.configure(&agent, &workspace, &config),
            Input::Committed(done) => self.committed(now, done),
            Input::PageRead { read, slice } => self.page_read(read, slice),
            Input::Reloaded { session, recovered } => self.reloaded(now, session, recovered),
            Input::HistoryRead { link, request: None, history } => self.history_read(link, history),
            Input::HistoryRead { link, request: Some(request), history } => self.list_read((link, request), history),
            Input::LookedUp { link, request, found } => self.looked_up(now, (link, request), found),
            Input::UnknownFound { agent, workspace, sessions } => self.unknown_found(now, (agent, workspace), sessions),
            Input::Delete { session, request } => self.delete_session(now, history::Asker::Request(request), session),
            Input::Workspace(workspace) => self.know_workspace(workspace),
            Input::Trust { workspace, request } => self.trust(now, workspace, request),
            Input::Tools(tools) => self.registry.know(tools),
            Input::Containment(containment) => self.know_containment(containment),
            Input::CallsRead { link, request, calls } => self.calls_read(link, request, calls),
            Input::RemoveRule { rule, request } => self.remove_rule(rules::RuleAsker::Request(request), rule),
            Input::FilesDone { link, request, result } => self.files_done(now, (link, request), result),
            Input::SourceFound { link, request, session, found } => {
                self.source_found(now, (link, request), session, found);
            }
            Input::ChoreNews { link, request, done, total } => self.chore_news(link, request, (done, total)),
            Input::ChoreDone { link, request, result } => self.chore_done(link, request, result),
            Input::Settings(settings) => self.know_settings(*settings),
            Input::Tick => self.tick(now),
            Input::Stop => self.stop(now),
        }
        self.pump_line(now);
        self.pump_calls(now);
    }

    /// The next thing to do. What waits for the disk is handed out last, so that all of it shares one commit.
    pub fn poll_output(&mut self) -> Option<Output> {
        if self.outputs.is_empty() {
            self.tell_touched();
        }
        if let Some(output) = self.outputs.pop_front() {
            return Some(output);
        }
        self.next_commit().map(Output::Commit)
    }

    /// At start-up: the rules that are stored.
    pub fn know_rules(&mut self, rules: Vec<Rule>) {
        self.rules = rules;
    }

    /// When [`Input::Tick`] is wanted.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.timers.soonest()
    }

    /// Event bytes that wait for the disk.
    #[must_use]
    pub fn uncommitted_bytes(&self) -> usize {
        self.uncommitted
    }

    /// Commits that the store has not answered yet.
    #[must_use]
    pub fn commits_in_flight(&self) -> usize {
        self.commits.len()
    }

    /// Whether everything that was handed out for the disk has been answered.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.commits.is_empty() && self.dirty.is_empty() && self.changes.is_empty()
    }

    /// Whether somebody still waits for a page.
    #[must_use]
    pub fn wants_page(&self, read: ReadId) -> bool {
        self.reads.contains_key(&read)
    }

    /// What was counted so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// A session's state; none if it is not in memory, or closed to writes and so unsure of its own.
    #[must_use]
    pub fn state(&self, session: SessionId) -> Option<&crate::fold::State> {
        self.sessions.get(&session).filter(|session| session.is_writable()).map(|session| &session.state)
    }

    /// A session's last event that has a number; none if it is not in memory.
    #[must_use]
    pub fn head(&self, session: SessionId) -> Option<Seq> {
        self.sessions.get(&session).map(|session| session.head)
    }

    /// The session that a tab shows.
    #[must_use]
    pub fn session_of(&self, tab: &TabId) -> Option<SessionId> {
        self.tabs.get(tab).copied()
    }

    /// The sessions that a life serves.
    pub fn served_by(&self, life: LifeId) -> impl Iterator<Item = SessionId> + '_ {
        self.sessions.values().filter(move |session| session.life() == Some(life)).map(|session| session.id)
    }

    fn tick(&mut self, now: Time) {
        while let Some(alarm) = self.timers.due(now) {
            match alarm {
                Alarm::Session(session) => self.session_alarm(now, session),
                Alarm::Agent(key) => self.pump_agent(now, &key),
                Alarm::Idle(life) => self.unload_if_idle(now, life),
                Alarm::Call(call) => self.call_alarm(now, call),
                Alarm::Showing(batch) => self.showing_alarm(now, batch),
                Alarm::Approval(session, approval) => self.approval_alarm(now, session, &approval),
            }
        }
    }

    /// Gives an event its number in a session that takes events; none in one that does not.
    fn append(&mut self, now: Time, session: SessionId, turn: Option<TurnId>, body: &Body) -> Option<Seq> {
        let found = self.sessions.get_mut(&session).filter(|found| found.is_writable())?;
        let before = found.open_bytes();
        if before == 0 {
            self.dirty.insert(session);
        }
        let seq = found.append(now, turn, body);
        self.uncommitted += found.open_bytes() - before;
        self.counters.events += 1;
        Some(seq)
    }

    fn tell(&mut self, link: LinkId, told: Told) {
        self.outputs.push_back(Output::Tell { link, told });
    }

    fn refuse(&mut self, link: LinkId, reject: Reject) {
        self.tell(link, Told::Refused(reject));
    }

    /// Tells every view that is seated at a session something that the log cannot tell.
    fn refuse_seats(&mut self, session: SessionId, code: RejectCode, message: &str) {
        let Some(session) = self.sessions.get(&session) else { return };
        for (link, tab) in session.watchers.clone() {
            self.refuse(link, Reject::new(code, message).in_tab(tab));
        }
    }

    /// Which process serves a session, or would. What serves it now goes on as it is, whatever the configuration says
    /// meanwhile.
    fn key_of(&self, id: SessionId) -> Option<AgentKey> {
        let session = self.sessions.get(&id)?;
        if let Some(key) = session.life().and_then(|life| self.lives.key(life)) {
            return Some(key.clone());
        }
        let (agent, workspace) = (session.agent.clone(), session.workspace.clone());
        let own = AgentKey { agent, workspace, session: Some(id) };
        let known = self.workspaces.get(&session.workspace);
        let info = known.and_then(|known| known.agents.iter().find(|info| info.name == session.agent));
        if self.lives.has_process(&own) || info.is_some_and(|info| info.process == ProcessPer::Session) {
            return Some(own);
        }
        Some(AgentKey { session: None, ..own })
    }

    fn is_permitted(&self, workspace: &WorkspaceRoot, agent: &AgentName) -> bool {
        agent.is_demo() || self.workspaces.get(workspace).is_some_and(|known| known.trust == Trust::Trusted)
    }

    /// SplitMix64: an epoch must only differ from the others, so a seed of real randomness and this are enough.
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
