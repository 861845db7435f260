//! The edges of the host in virtual time: a disk that can be slow, fail and survive, views that keep journals, agents that
//! answer when they are told to. Checks every event that a view is shown at the moment it is shown.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use switchboard_core::{Host, Input, Output, RequestId, Settings, State, Trust};
use switchboard_types::{
    Ask, Body, CallId, Chore, Command, Commit, CommitDone, ErrandName, Event, FileRequest, LifeId, LinkId, Prompt,
    ReadId, RequestNo, Seq, SessionId, SettingsState, Text, Time, Told, TurnName, Visibility, Word, WorkspaceRoot,
};

use super::disk::Disk;
use super::life::Life;
use super::making::request_of;
pub(crate) use super::making::{open_own, open_tab, workspace};
use super::runner::Runner;
use super::view::{View, last};

pub(crate) const ROOT: &str = "/w";

/// The host and everything around it.
pub(crate) struct World {
    pub(crate) host: Host,
    pub(crate) now: Time,
    pub(crate) disk: Disk,
    pub(crate) commits: VecDeque<Commit>,
    pub(crate) reads: VecDeque<(ReadId, SessionId, Seq, usize)>,
    reloads: VecDeque<SessionId>,
    pub(crate) views: Vec<View>,
    pub(crate) lives: BTreeMap<LifeId, Life>,
    pub(crate) trust_answers: Vec<Result<(), String>>,
    pub(crate) trust_wanted: Vec<(WorkspaceRoot, Trust)>,
    pub(crate) delete_answers: Vec<Result<(), String>>,
    /// Who does things for agents.
    pub(crate) runner: Runner,
    /// Errands that their agents wait for.
    pub(crate) owed: HashMap<(LifeId, SessionId, ErrandName), ()>,
    /// Calls of tools that their agents wait for.
    pub(crate) owed_calls: HashMap<(LifeId, SessionId, CallId), ()>,
    /// Calls of lent tools that reached their lenders.
    lent: usize,
    /// Rules that were taken out for somebody who is no view.
    pub(crate) removed: Vec<Result<bool, String>>,
    /// Summaries that the host wants.
    pub(crate) recaps: Vec<SessionId>,
    /// Every prompt that ever reached an agent, over all restarts.
    pub(crate) prompted: Vec<(SessionId, TurnName)>,
    /// Looks at files that the host wants.
    pub(crate) files: Vec<(LinkId, RequestNo, FileRequest)>,
    /// What the edges are to do for views.
    pub(crate) chores: Vec<(LinkId, RequestNo, Chore)>,
    last_link: u64,
    starts: u64,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut world = Self {
            host: Host::new(Settings::default(), 1),
            now: Time(1_000_000),
            disk: Disk::default(),
            commits: VecDeque::new(),
            reads: VecDeque::new(),
            reloads: VecDeque::new(),
            views: Vec::new(),
            lives: BTreeMap::new(),
            trust_answers: Vec::new(),
            trust_wanted: Vec::new(),
            delete_answers: Vec::new(),
            runner: Runner::default(),
            owed: HashMap::new(),
            owed_calls: HashMap::new(),
            lent: 0,
            removed: Vec::new(),
            recaps: Vec::new(),
            prompted: Vec::new(),
            files: Vec::new(),
            chores: Vec::new(),
            last_link: 0,
            starts: 1,
        };
        world.know_workspace();
        world
    }

    pub(crate) fn know_workspace(&mut self) {
        let root = WorkspaceRoot::from(ROOT);
        let trusted = self.disk.workspaces.get(&root).is_some_and(|row| row.trusted.is_some());
        let trust = if trusted { Trust::Trusted } else { Trust::Untrusted };
        self.host.set_home(root);
        self.handle(Input::Workspace(workspace(trust)));
    }

    /// The same in a trusted workspace, with an agent that has a process for each session and can take it up again.
    pub(crate) fn with_own() -> (Self, usize, SessionId) {
        let mut world = Self::new();
        world.trust();
        let view = world.view();
        world.command(view, open_own("tab"));
        world.settle();
        let session = world.session_of("tab");
        (world, view, session)
    }

    pub(crate) fn trust(&mut self) {
        let workspace = workspace(Trust::Trusted);
        self.handle(Input::Trust { workspace, request: RequestId(1) });
        self.settle();
    }

    /// A world with one view and one open tab whose agent session is open.
    pub(crate) fn with_tab() -> (Self, usize, SessionId) {
        let mut world = Self::new();
        let view = world.view();
        let session = world.open(view, "tab");
        (world, view, session)
    }

    pub(crate) fn open(&mut self, view: usize, tab: &str) -> SessionId {
        self.command(view, open_tab(tab, 0));
        self.settle();
        self.session_of(tab)
    }

    pub(crate) fn session_of(&self, tab: &str) -> SessionId {
        self.host.open_tabs().find(|(open, _)| open.as_str() == tab).map(|(_, id)| id).expect("the tab is open")
    }

    /// People have set that so many sessions' turns run at once.
    pub(crate) fn limit(&mut self, most: Option<u32>) {
        let user = switchboard_types::Settings { max_active_sessions: most, ..Default::default() };
        self.handle(Input::Settings(Box::new(SettingsState { user, ..SettingsState::default() })));
    }

    /// The sessions here in which a turn runs.
    pub(crate) fn running(&self) -> BTreeSet<SessionId> {
        let runs = |id: &SessionId| self.host.state(*id).is_some_and(|state| state.running().is_some());
        self.host.open_tabs().map(|(_, id)| id).filter(runs).collect()
    }

    pub(crate) fn handle(&mut self, input: Input) {
        self.host.handle(self.now, input);
        self.route();
    }

    pub(crate) fn view(&mut self) -> usize {
        self.views.push(View::new());
        let view = self.views.len() - 1;
        self.connect(view);
        view
    }

    pub(crate) fn connect(&mut self, view: usize) {
        self.disconnect(view);
        self.last_link += 1;
        let link = LinkId(self.last_link);
        self.views[view].link = Some(link);
        self.views[view].visible = true;
        self.views[view].undrained = 0;
        self.views[view].watching = false;
        self.views[view].questions.clear();
        self.views[view].lent_calls.clear();
        self.views[view].owed.clear();
        self.handle(Input::LinkOpened(link));
    }

    pub(crate) fn disconnect(&mut self, view: usize) {
        if let Some(link) = self.views[view].link.take() {
            self.handle(Input::LinkClosed(link));
        }
    }

    /// Connects again and goes on after what the view has seen, as a reloaded page does.
    pub(crate) fn reconnect(&mut self, view: usize) {
        self.connect(view);
        let seen = self.views[view].journal.iter().map(|(tab, log)| (tab.clone(), last(log).into()));
        let seen = seen.collect();
        self.command(view, Command::Ready { seen });
    }

    pub(crate) fn command(&mut self, view: usize, command: Command) {
        let Some(link) = self.views[view].link else { return };
        if let Command::Visibility(visibility) = command {
            self.views[view].visible = visibility == Visibility::Visible;
        }
        if let Some(request) = request_of(&command) {
            assert!(self.views[view].owed.insert(request), "a request has a number of its own");
        }
        self.handle(Input::Command { link, command });
    }

    pub(crate) fn prompt(&mut self, view: usize, tab: &str, name: &str) {
        let prompt = Prompt { text: format!("prompt {name}"), context: Vec::new() };
        self.command(view, Command::Prompt { tab: tab.into(), name: name.into(), prompt });
    }

    pub(crate) fn words(&mut self, life: LifeId, words: Vec<Word>) {
        for word in &words {
            if let Word::ToolCall { session, call, .. } = word
                && self.host.served_by(life).any(|served| served == *session)
            {
                self.owed_calls.insert((life, *session, call.clone()), ());
            }
            if let Word::Errand { session, errand, .. } = word {
                let wanted = self.lives.get(&life).is_some_and(|life| life.opened.contains(session));
                if wanted && self.host.served_by(life).any(|served| served == *session) {
                    self.owed.insert((life, *session, errand.clone()), ());
                }
            }
        }
        self.handle(Input::Words { life, words });
    }

    /// The only life that runs.
    pub(crate) fn life(&self) -> LifeId {
        let alive: Vec<_> = self.lives.keys().copied().collect();
        assert_eq!(alive.len(), 1, "one life runs");
        alive[0]
    }

    pub(crate) fn chunk(&mut self, session: SessionId, text: &str) {
        let life = self.life();
        self.words(life, vec![Word::Text { session, name: None, text: Text::from(text) }]);
    }

    pub(crate) fn complete(&mut self, session: SessionId) {
        let life = self.life();
        self.lives.get_mut(&life).expect("alive").running.remove(&session);
        self.words(life, vec![Word::turn_done(session, None)]);
    }

    pub(crate) fn exit(&mut self, life: LifeId) {
        self.lives.remove(&life);
        self.owed.retain(|(owed, _, _), _| *owed != life);
        self.owed_calls.retain(|(owed, _, _), _| *owed != life);
        self.handle(Input::LifeEnded { life, message: "exited with code 1".to_owned() });
    }

    pub(crate) fn advance(&mut self, ms: u64) {
        self.now = self.now.after_ms(ms);
        self.handle(Input::Tick);
    }

    /// Kills the host and starts another on the same disk. What was not committed is gone.
    pub(crate) fn restart(&mut self) {
        self.starts += 1;
        self.commits.clear();
        self.reads.clear();
        self.reloads.clear();
        self.lives.clear();
        self.owed.clear();
        self.owed_calls.clear();
        self.recaps.clear();
        self.runner.die();
        self.host = Host::new(Settings::default(), self.starts);
        self.know_workspace();
        for view in &mut self.views {
            view.link = None;
        }
        self.host.know_rules(self.disk.rules.clone());
        let next = self.disk.sessions.keys().last().map_or(1, |id| id.0 + 1);
        self.host.set_next_session(SessionId(next));
        let ids: Vec<SessionId> = self.disk.sessions.keys().copied().collect();
        for id in ids {
            let recovered = self.disk.recover(id);
            self.host.restore(self.now, recovered);
        }
        self.route();
    }

    /// Does what the host wants done, but for what a test wants to hold back: commits, reads, agents.
    fn route(&mut self) {
        while let Some(output) = self.host.poll_output() {
            match output {
                Output::Commit(commit) => self.commits.push_back(commit),
                Output::Tell { link, told } => self.tell(link, told),
                Output::Read { read, session, after, max_bytes } => {
                    self.reads.push_back((read, session, after, max_bytes));
                }
                Output::Reload(session) => self.reloads.push_back(session),
                Output::Spawn { life, agent, .. } => {
                    self.lives.insert(life, Life { agent: agent.as_str().to_owned(), ..Life::default() });
                }
                Output::Ask { life, ask } => self.asked(life, ask),
                Output::End { life, how } => {
                    if let Some(life) = self.lives.get_mut(&life) {
                        life.ending = Some(how);
                    }
                }
                Output::Errand(order) => self.runner.ordered(&self.disk, order),
                Output::Recap(session) => self.recaps.push(session),
                Output::AddAgent { .. } => {}
                Output::Chore { link, request, what } => self.chores.push((link, request, what)),
                Output::Files { link, request, what, .. } => self.files.push((link, request, what)),
                Output::FindSource { link, request, session, source } => {
                    let found = Ok(self.disk.find_source(session, &source));
                    self.host.handle(self.now, Input::SourceFound { link, request, session, found });
                }
                Output::LookUp { link, request, session } => {
                    let found = Ok(self.disk.sessions.get(&session).and_then(|stored| stored.row.clone()));
                    self.host.handle(self.now, Input::LookedUp { link, request, found });
                }
                Output::FindUnknown { agent, workspace, sessions } => {
                    let sessions = self.disk.unknown(&agent, sessions);
                    self.host.handle(self.now, Input::UnknownFound { agent, workspace, sessions });
                }
                Output::RuleRemoved { result, .. } => self.removed.push(result),
                Output::ReadCalls { link, request, tool, before, limit } => {
                    let calls = Ok(self.disk.calls(tool.as_ref(), before, limit));
                    self.host.handle(self.now, Input::CallsRead { link, request, calls });
                }
                Output::TrustSettled { result, .. } => self.trust_answers.push(result),
                Output::SetTrust { root, trust, .. } => self.trust_wanted.push((root, trust)),
                Output::Deleted { result, .. } => self.delete_answers.push(result),
                Output::ReadHistory { link, request, before, limit } => {
                    let history = Ok(self.disk.history(before, limit));
                    self.host.handle(self.now, Input::HistoryRead { link, request, history });
                }
            }
        }
    }

    fn tell(&mut self, link: LinkId, told: Told) {
        if matches!(told, Told::LentCall { .. }) {
            self.lent += 1;
            assert!(self.lent <= self.disk.lent, "a lent tool is called without a record");
        }
        let Some(view) = self.views.iter_mut().find(|view| view.link == Some(link)) else { return };
        view.take(&self.disk, told);
    }

    fn asked(&mut self, life: LifeId, ask: Ask) {
        if let Ask::Prompt { session, name, .. } = &ask {
            self.disk.assert_started(*session, name);
            let sent = (*session, name.clone());
            assert!(!self.prompted.contains(&sent), "{sent:?} went to an agent twice");
            self.prompted.push(sent);
        }
        let life_id = life;
        let Some(life) = self.lives.get_mut(&life) else { return };
        match &ask {
            Ask::Prompt { session, name, .. } => {
                let before = life.running.insert(*session, name.clone());
                assert_eq!(before, None, "two turns at once in session {session}");
            }
            Ask::CloseSession { session } => {
                life.opened.remove(session);
                life.running.remove(session);
                self.owed.retain(|(owed, of, _), _| *owed != life_id || of != session);
                self.owed_calls.retain(|(owed, of, _), _| *owed != life_id || of != session);
            }
            Ask::ToolResult { session, call, .. } => {
                let owed = self.owed_calls.remove(&(life_id, *session, call.clone()));
                assert_eq!(owed, Some(()), "call {call} of session {session} was answered twice");
            }
            Ask::ErrandDone { session, errand, .. } => {
                let owed = self.owed.remove(&(life_id, *session, errand.clone()));
                assert_eq!(owed, Some(()), "errand {errand} of session {session} was answered twice");
            }
            _ => {}
        }
        life.asks.push(ask);
    }

    /// The disk takes the oldest commit that waits.
    pub(crate) fn commit(&mut self) -> bool {
        let Some(commit) = self.commits.pop_front() else { return false };
        let done = self.disk.write(&commit);
        self.handle(Input::Committed(done));
        true
    }

    /// The disk refuses the oldest commit that waits.
    pub(crate) fn fail_commit(&mut self) -> bool {
        let Some(commit) = self.commits.pop_front() else { return false };
        let failed = commit.entries.iter().map(|entry| (entry.session, "disk full".to_owned())).collect();
        let changes_failed = (!commit.changes.is_empty()).then(|| "disk full".to_owned());
        self.handle(Input::Committed(CommitDone { ticket: commit.ticket, failed, changes_failed }));
        true
    }

    pub(crate) fn read(&mut self) -> bool {
        let Some((read, session, after, max_bytes)) = self.reads.pop_front() else { return false };
        let gone = || "the session was deleted".to_owned();
        let slice = self.disk.sessions.contains_key(&session).then(|| self.disk.read_after(session, after, max_bytes));
        self.handle(Input::PageRead { read, slice: slice.ok_or_else(gone) });
        true
    }

    pub(crate) fn reload(&mut self) -> bool {
        let Some(session) = self.reloads.pop_front() else { return false };
        let known = self.disk.sessions.contains_key(&session);
        let recovered = known.then(|| Box::new(self.disk.recover(session))).ok_or_else(|| "no such session".to_owned());
        self.handle(Input::Reloaded { session, recovered });
        true
    }

    /// Agents that were asked for come up, and open the agent sessions that they were asked for.
    pub(crate) fn agents_open(&mut self) -> bool {
        let mut moved = false;
        let lives: Vec<LifeId> = self.lives.keys().copied().collect();
        for id in lives {
            let Some(life) = self.lives.get_mut(&id) else { continue };
            if life.ending.is_some() {
                self.exit(id);
                moved = true;
                continue;
            }
            if !life.started {
                life.started = true;
                self.handle(Input::LifeStarted(id));
                moved = true;
            }
            for session in self.lives.get(&id).map(Life::wanted).unwrap_or_default() {
                let opened = self.lives.get(&id).map_or_else(|| Word::opened(session), |life| life.opens(session));
                if let Some(life) = self.lives.get_mut(&id) {
                    life.opened.insert(session);
                    life.asks.retain(|ask| !matches!(ask, Ask::OpenSession { session: s, .. } if *s == session));
                }
                self.words(id, vec![opened]);
                moved = true;
            }
        }
        moved
    }

    /// The oldest order of an errand is carried out.
    pub(crate) fn run_errand(&mut self) -> bool {
        let Some(news) = self.runner.work() else { return false };
        news.into_iter().for_each(|news| self.handle(Input::Errand(news)));
        true
    }

    /// Commands that run come to their end.
    pub(crate) fn end_commands(&mut self) {
        for news in self.runner.exit_all() {
            self.handle(Input::Errand(news));
        }
    }

    pub(crate) fn sum_up(&mut self) -> bool {
        let Some(session) = self.recaps.pop() else { return false };
        self.handle(Input::Recap { session, recap: Ok("what was said".to_owned()) });
        true
    }

    pub(crate) fn drain(&mut self) -> bool {
        let mut moved = false;
        for at in 0..self.views.len() {
            let view = &mut self.views[at];
            let (Some(link), true) = (view.link, view.reads && view.undrained > 0) else { continue };
            let bytes = std::mem::take(&mut view.undrained);
            self.handle(Input::Drained { link, bytes });
            moved = true;
        }
        moved
    }

    /// Everything that can happen by itself happens, until nothing does.
    pub(crate) fn settle(&mut self) {
        for _ in 0..100_000 {
            let moved = self.commit()
                || self.read()
                || self.reload()
                || self.drain()
                || self.agents_open()
                || self.run_errand()
                || self.sum_up();
            if !moved {
                return;
            }
        }
        panic!("the world does not come to rest");
    }

    /// The log of a tab's session as the disk has it.
    pub(crate) fn log(&self, session: SessionId) -> &[Event] {
        &self.disk.sessions[&session].log
    }

    pub(crate) fn bodies(&self, session: SessionId) -> Vec<Body> {
        self.log(session).iter().map(|event| event.body.clone()).collect()
    }

    /// Every view that is seated has all of the log, in order, once; the log is dense; its fold is the host's state.
    pub(crate) fn assert_whole(&self) {
        for (id, stored) in &self.disk.sessions {
            for (at, event) in stored.log.iter().enumerate() {
                assert_eq!(event.seq, Seq(at as u64 + 1), "session {id} is dense");
            }
            let mut state = State::default();
            stored.log.iter().for_each(|event| state.apply(event.seq, event.turn, &event.body));
            if let Some(live) = self.host.state(*id) {
                assert_eq!(live.queue().collect::<Vec<_>>(), state.queue().collect::<Vec<_>>());
                assert_eq!(live.running(), state.running());
                assert_eq!((&live.title, live.closed), (&state.title, state.closed));
                assert_eq!(live.approvals().collect::<Vec<_>>(), state.approvals().collect::<Vec<_>>());
                assert_eq!(live.executions().collect::<Vec<_>>(), state.executions().collect::<Vec<_>>());
            }
        }
        for view in self.views.iter().filter(|view| view.link.is_some() && view.watching) {
            self.assert_watched(view);
        }
        for view in self.views.iter().filter(|view| view.link.is_some()) {
            for (tab, journal) in &view.journal {
                let Some(stored) = self.disk.of_tab(tab) else { continue };
                assert_eq!(journal, &stored.log, "the view has all of {tab}");
            }
        }
    }
}
