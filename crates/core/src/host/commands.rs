//! What views ask. Each command is accepted, refused with a reason, or changes nothing; the link lives on in any case.

use switchboard_types::limits::{
    MAX_QUEUED_BYTES, MAX_QUEUED_PROMPTS, MAX_SEATS_PER_LINK, MAX_TABS, MAX_WAITING_COMMANDS,
};
use switchboard_types::{
    AgentName, Ask, Body, Command, Epoch, ErrandCode, ErrandFailure, LinkId, Prompt, Reject, RejectCode, Seen, Seq,
    SessionId, TabId, TabSummary, Time, Told, ToolCode, ToolFailure, TurnId, TurnName, TurnPhase, Upstream, Wish,
    WorkspaceRoot,
};

use super::Host;
use super::approvals::Reply;
use super::history::Asker;
use super::rules::RuleAsker;
use crate::fold::digest;
use crate::input::Output;
use crate::seat::Link;
use crate::session::{AgentPlace, Session, Writes};

const UNTITLED: &str = "New session";
const NOBODY: &str = "no agent works at the bench; call tools there, or open another tab";

impl Host {
    pub(super) fn command(&mut self, now: Time, link: LinkId, command: Command) {
        if self.stopping {
            return self.refuse_stopping(link, &command);
        }
        match command {
            Command::Ready { seen } => self.ready(now, link, seen),
            Command::Watch { seen } => self.watch(now, link, seen),
            Command::OpenTab { tab, agent, workspace, seen } => self.open_tab(now, link, tab, agent, workspace, seen),
            Command::OpenSession { tab, session, seen } => self.open_session(now, link, tab, session, seen),
            Command::LeaveTab { tab } => self.leave_tab(link, &tab),
            Command::Visibility(visibility) => self.visibility(link, visibility),
            Command::Trust { root, trust } => self.outputs.push_back(Output::SetTrust { link, root, trust }),
            Command::History { before, limit } => self.list_history(link, before, limit),
            Command::DeleteSession { session } => self.delete_session(now, Asker::Link(link), session),
            Command::AddAgent { name } => self.outputs.push_back(Output::AddAgent { link, name }),
            Command::Ping { number } => self.tell(link, Told::Pong { number }),
            Command::ListTools { request } => self.list_tools(link, request),
            Command::CallTools { request, calls, mode } => self.call_tools(now, link, request, calls, mode),
            Command::CancelCall { request, call } => self.cancel_call(now, link, request, &call),
            Command::ListCalls { request, tool, before, limit } => {
                self.list_calls(link, request, (tool, before), limit)
            }
            Command::LendTools { request, tools } => self.lend_tools(link, request, tools),
            Command::LentResult { call, result } => self.lent_result(now, link, call, result),
            Command::WatchApprovals { request } => self.watch_approvals(link, request),
            Command::Answer { request, session, approval, decision, command } => {
                let reply = Reply { decision, command, option: None };
                self.answer(now, (link, request), session, &approval, reply);
            }
            Command::WatchRules {} => self.watch_rules(link),
            Command::RemoveRule { rule } => self.remove_rule(RuleAsker::Link(link), rule),
            Command::Session { request, what } => self.session_asked(now, (link, request), what),
            Command::Chore { request, what } => self.chore_asked(link, request, what),
            Command::WatchSettings {} => self.watch_settings(link),
            other => self.tab_command(now, link, other),
        }
    }

    /// Nothing is taken any more; whoever waits for an answer gets one.
    fn refuse_stopping(&mut self, link: LinkId, command: &Command) {
        let message = "the host is stopping; try again when it is back";
        let failure = || ToolFailure::new(ToolCode::ExecutionError, message);
        let told = match command {
            Command::ListTools { request } => Told::Tools { request: *request, tools: Err(failure()) },
            Command::CallTools { request, .. } => Told::ToolsCalled { request: *request, outcomes: Err(failure()) },
            Command::CancelCall { request, .. } => Told::CallCancelled { request: *request, cancelled: false },
            Command::ListCalls { request, .. } => Told::Calls { request: *request, calls: Err(failure()), next: None },
            Command::LendTools { request, .. } => Told::Lent { request: *request, result: Err(failure()) },
            Command::Answer { request, .. } => Told::Answered { request: *request, result: Err(failure()) },
            Command::Session { request, .. } => {
                Told::Answer { request: *request, result: Err(Reject::new(RejectCode::Internal, message)) }
            }
            Command::Chore { request, .. } => {
                Told::ChoreDone { request: *request, result: Err(Reject::new(RejectCode::Internal, message)) }
            }
            _ => Told::Refused(about(command, RejectCode::Internal, message)),
        };
        self.tell(link, told);
    }

    /// A command about a tab that must exist.
    fn tab_command(&mut self, now: Time, link: LinkId, command: Command) {
        let Some(id) = command.tab().and_then(|tab| self.tabs.get(tab)).copied() else {
            let message = "there is no such tab; open it with new-tab first";
            return self.refuse(link, about(&command, RejectCode::UnknownTab, message));
        };
        let elsewhere = |link: &Link| {
            let seat = command.tab().and_then(|tab| link.seats.get(tab));
            seat.is_some_and(|seat| seat.session != id)
        };
        if self.links.get(&link).is_some_and(elsewhere) {
            let message = "this tab was closed, and another one has its name; open it with new-tab to see that one";
            return self.refuse(link, about(&command, RejectCode::UnknownTab, message));
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        match &mut session.writes {
            // Advisory, so not worth reading the session anew.
            Writes::Sealed | Writes::Reloading(_) if matches!(command, Command::Ack { .. }) => {}
            Writes::Open => self.session_command(now, link, id, command),
            Writes::Sealed => {
                session.writes = Writes::Reloading(vec![(link, command)]);
                self.outputs.push_back(Output::Reload(id));
            }
            Writes::Reloading(waiting) if waiting.len() < MAX_WAITING_COMMANDS => waiting.push((link, command)),
            Writes::Reloading(_) => {
                let message = "the tab is being read from the disk again; try again in a moment";
                self.refuse(link, about(&command, RejectCode::TooLarge, message));
            }
        }
    }

    pub(super) fn session_command(&mut self, now: Time, link: LinkId, id: SessionId, command: Command) {
        match command {
            Command::Prompt { tab, name, prompt } => self.prompt(now, link, id, tab, name, prompt),
            Command::Cancel { tab, name } => self.cancel(now, link, id, tab, &name),
            Command::CloseTab { .. } => self.close_tab(now, id),
            Command::Ack { tab, seq } => self.ack(link, id, tab, seq),
            Command::Decide { tab, approval, decision, command, option } => {
                self.decide(now, link, (id, tab), &approval, Reply { decision, command, option });
            }
            Command::SetOption { tab, option, value } => self.set_option(link, id, tab, option, value),
            Command::SignIn { tab, method } => self.sign_in(now, link, id, tab, method),
            Command::RestartAgent { tab } => self.restart_agent(now, link, id, tab),
            Command::SetPolicy { tab, change } => self.set_policy(now, link, id, tab, change),
            Command::Ready { .. }
            | Command::Watch { .. }
            | Command::OpenTab { .. }
            | Command::OpenSession { .. }
            | Command::LeaveTab { .. }
            | Command::Visibility(_)
            | Command::Trust { .. }
            | Command::History { .. }
            | Command::DeleteSession { .. }
            | Command::AddAgent { .. }
            | Command::ListTools { .. }
            | Command::CallTools { .. }
            | Command::CancelCall { .. }
            | Command::ListCalls { .. }
            | Command::LendTools { .. }
            | Command::LentResult { .. }
            | Command::WatchApprovals { .. }
            | Command::Answer { .. }
            | Command::WatchRules {}
            | Command::RemoveRule { .. }
            | Command::Chore { .. }
            | Command::WatchSettings {}
            | Command::Ping { .. } => {}
            Command::Session { request, what } => self.at_desk(now, (link, request), id, what),
        }
    }

    fn ready(&mut self, now: Time, link: LinkId, seen: Vec<(TabId, Seen)>) {
        // The bench is no conversation; who wants it watches everything.
        let is_shown = |session: &&Session| session.durable > Seq::START && !session.agent.is_bench();
        let shown = self.sessions_with_tab().filter(is_shown).map(|session| TabSummary {
            tab: session.tab.clone(),
            title: if session.shown_title().is_empty() { UNTITLED } else { session.shown_title() }.to_owned(),
            head: session.durable,
        });
        let tabs = shown.collect();
        self.tell(link, Told::Tabs { tabs });
        self.attach_all(now, link, seen);
    }

    /// The sessions that have a tab, in the order in which they were opened.
    pub(super) fn sessions_with_tab(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values().filter(|session| self.tabs.get(&session.tab) == Some(&session.id))
    }

    /// Seats a link at the tabs that it knows.
    pub(super) fn attach_all(&mut self, now: Time, link: LinkId, seen: Vec<(TabId, Seen)>) {
        for (tab, seen) in seen {
            match self.tabs.get(&tab).copied().or_else(|| self.closing(&tab)) {
                Some(id) => self.attach(now, link, &tab, id, seen),
                None => {
                    let message = "there is no such tab any more; it was closed, or belongs to another host";
                    self.refuse(link, Reject::new(RejectCode::UnknownTab, message).in_tab(tab));
                }
            }
        }
    }

    /// The session whose tab is closed, but not on the disk yet: whoever looks for it still finds it and sees its end.
    fn closing(&self, tab: &TabId) -> Option<SessionId> {
        let closing =
            |session: &&Session| session.tab == *tab && session.state.closed && session.durable < session.head;
        self.sessions.values().find(closing).map(|session| session.id)
    }

    /// Seats a link at an open tab; prompts that waited for somebody to look go on.
    pub(super) fn attach(&mut self, now: Time, link: LinkId, tab: &TabId, id: SessionId, seen: Seen) {
        let Some(seats) = self.links.get(&link).map(|link| &link.seats) else { return };
        if seats.len() >= MAX_SEATS_PER_LINK && !seats.contains_key(tab) {
            let message = format!("one link follows at most {MAX_SEATS_PER_LINK} tabs; use a second one");
            return self.refuse(link, Reject::new(RejectCode::TooLarge, message).in_tab(tab.clone()));
        }
        self.seat(link, tab, id, seen);
        self.pump(now, id);
    }

    fn open_tab(
        &mut self,
        now: Time,
        link: LinkId,
        tab: TabId,
        agent: Option<AgentName>,
        workspace: Option<WorkspaceRoot>,
        seen: Seen,
    ) {
        if let Some(id) = self.tabs.get(&tab).copied() {
            return self.attach(now, link, &tab, id, seen);
        }
        if self.tabs.len() >= MAX_TABS {
            let message = format!("{MAX_TABS} tabs are open; close some first");
            return self.refuse(link, Reject::new(RejectCode::TooLarge, message).in_tab(tab));
        }
        match self.choose(agent, workspace) {
            Ok((agent, root)) => self.create_session(now, link, tab, agent, root, seen),
            Err(reject) => self.refuse(link, reject.in_tab(tab)),
        }
    }

    /// The agent and workspace of a new tab.
    pub(super) fn choose(
        &self,
        agent: Option<AgentName>,
        workspace: Option<WorkspaceRoot>,
    ) -> Result<(AgentName, WorkspaceRoot), Reject> {
        let root = workspace.or_else(|| self.home.clone());
        let Some(known) = root.and_then(|root| self.workspaces.get(&root)) else {
            return Err(Reject::new(RejectCode::BadMessage, "this host does not know the workspace"));
        };
        let agent = agent.unwrap_or_else(|| known.default_agent.clone());
        if agent.is_bench() || !agent.is_demo() && !known.agents.iter().any(|info| info.name == agent) {
            let mut names: Vec<&str> =
                known.agents.iter().map(|info| info.name.as_str()).chain([AgentName::DEMO]).collect();
            names.sort_unstable();
            names.dedup();
            let message = format!("no agent `{agent}` is configured here; there are: {}", names.join(", "));
            return Err(Reject::new(RejectCode::AgentUnavailable, message));
        }
        Ok((agent, known.root.clone()))
    }

    fn create_session(
        &mut self,
        now: Time,
        link: LinkId,
        tab: TabId,
        agent: AgentName,
        root: WorkspaceRoot,
        seen: Seen,
    ) {
        let id = self.new_session(now, tab.clone(), agent, root);
        self.attach(now, link, &tab, id, seen);
    }

    /// A session that nobody has seen yet, under a free tab.
    pub(super) fn new_session(&mut self, now: Time, tab: TabId, agent: AgentName, root: WorkspaceRoot) -> SessionId {
        let id = self.next_session;
        self.next_session = SessionId(id.0 + 1);
        let epoch = Epoch(self.next_random());
        let elsewhere = self.is_configured_elsewhere(&root, &agent);
        let mut session = Session::new(id, epoch, tab.clone(), agent.clone(), root.clone(), now);
        session.keeps.upstream = elsewhere.then(Upstream::default);
        session.eager = true;
        self.sessions.insert(id, session);
        self.tabs.insert(tab, id);
        self.append(now, id, None, &Body::SessionOpened { agent, workspace: root });
        id
    }

    fn prompt(&mut self, now: Time, link: LinkId, id: SessionId, tab: TabId, name: TurnName, prompt: Prompt) {
        let Err(mut reject) = self.take_prompt(now, id, name.clone(), prompt) else { return };
        if reject.code == RejectCode::Conflict {
            reject.code = RejectCode::BadMessage;
        }
        self.refuse(link, reject.in_tab(tab).of_turn(name));
    }

    /// Queues a prompt; gives its turn and how many are ahead of it. A name that was seen before is not run again.
    pub(super) fn take_prompt(
        &mut self,
        now: Time,
        id: SessionId,
        name: TurnName,
        prompt: Prompt,
    ) -> Result<(TurnId, u32), Reject> {
        let Some(session) = self.sessions.get(&id) else { return Err(super::desk::no_such(id)) };
        if let Some(turn) = session.state.turn_named(&name) {
            let known = session.state.turn(turn).map_or(0, |known| known.digest);
            // A turn that was rebuilt from a damaged file has no digest; its name alone must do.
            if known != 0 && known != digest(&prompt) {
                let message = "this messageId was used for another prompt; nothing was sent. Choose a new one";
                return Err(Reject::new(RejectCode::Conflict, message));
            }
            return Ok((turn, session.position_of(turn)));
        }
        if session.agent.is_bench() {
            return Err(Reject::new(RejectCode::AgentUnavailable, NOBODY));
        }
        if !self.is_permitted(&session.workspace, &session.agent) {
            return Err(Reject::new(RejectCode::WorkspaceUntrusted, untrusted_message(&session.workspace)));
        }
        let waiting = session.state.queue().len();
        if waiting >= MAX_QUEUED_PROMPTS || session.state.queued_bytes() + prompt.size() > MAX_QUEUED_BYTES {
            let message = format!("{waiting} prompts wait in this tab already; wait for some to end, or cancel them");
            return Err(Reject::new(RejectCode::TooLarge, message));
        }
        Ok(self.queue_prompt(now, id, name, prompt))
    }

    fn cancel(&mut self, now: Time, link: LinkId, id: SessionId, tab: TabId, name: &TurnName) {
        let Some(session) = self.sessions.get(&id) else { return };
        let found = session.state.turn_named(name);
        let Some((turn, phase)) = found.and_then(|turn| Some((turn, session.state.turn(turn)?.phase))) else {
            let reject = Reject::new(RejectCode::BadMessage, "no prompt of this tab has that messageId");
            return self.refuse(link, reject.in_tab(tab).of_turn(name.clone()));
        };
        match phase {
            TurnPhase::Queued if session.has_taken(turn) => {
                let message = "the agent has this prompt already; stop it when it runs";
                let reject = Reject::new(RejectCode::BadMessage, message).in_tab(tab).of_turn(name.clone());
                self.refuse(link, reject);
            }
            TurnPhase::Queued => self.end_waiting(now, id, turn),
            TurnPhase::Running => self.cancel_running(now, id, turn),
            // It ended while the cancel was on its way: that is what was asked for.
            TurnPhase::Ended => {}
        }
    }

    pub(super) fn close_tab(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let (tab, place) = (session.tab.clone(), session.place);
        let session_goes = session.is_elsewhere() && self.deleting.contains_key(&id);
        self.end_all_turns(now, id);
        let closed = ErrandFailure::new(ErrandCode::Cancelled, "its session was closed");
        self.stop_calls(now, &closed, |call| call.row.session == id);
        self.append(now, id, None, &Body::SessionClosed {});
        if self.tabs.get(&tab) == Some(&id) {
            self.tabs.remove(&tab);
        }
        self.fail_wishes("its session was closed", |wish| wish.session == id);
        if let AgentPlace::Open { life } | AgentPlace::Opening { life, .. } = place {
            if session_goes {
                // Nobody waits for the answer: what is deleted here is gone, whatever the agent says.
                let _ = self.wish(id, None, Wish::Delete {});
            }
            self.ask(id, life, Ask::CloseSession { session: id });
        }
        self.drop_errands(now, id);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.place = AgentPlace::None;
        }
        self.end_own_process(id);
        if let AgentPlace::Open { life } | AgentPlace::Opening { life, .. } = place {
            self.watch_idle(now, life);
        }
    }

    /// Acks are advisory: the cursor is what was sent. An impossible one is still worth a word.
    fn ack(&mut self, link: LinkId, id: SessionId, tab: TabId, seq: Seq) {
        if self.sessions.get(&id).is_some_and(|session| seq > session.durable) {
            let message = format!("index {seq} was never sent in this tab");
            self.refuse(link, Reject::new(RejectCode::BadMessage, message).in_tab(tab));
        }
    }

    fn restart_agent(&mut self, now: Time, link: LinkId, id: SessionId, tab: TabId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let (workspace, agent) = (session.workspace.clone(), session.agent.clone());
        if agent.is_bench() {
            return self.refuse(link, Reject::new(RejectCode::AgentUnavailable, NOBODY).in_tab(tab));
        }
        if !self.is_permitted(&workspace, &agent) {
            let reject = Reject::new(RejectCode::WorkspaceUntrusted, untrusted_message(&workspace));
            return self.refuse(link, reject.in_tab(tab));
        }
        self.restart_by_hand(now, id);
    }
}

pub(super) fn untrusted_message(workspace: &WorkspaceRoot) -> String {
    format!("{workspace} is not trusted, so only the demo agent runs there; run `switchboard trust {workspace}`")
}

impl Host {
    /// A command that waited cannot be taken.
    pub(super) fn refuse_command(&mut self, link: LinkId, command: &Command, code: RejectCode, message: &str) {
        match command {
            Command::Session { request, .. } => {
                let code = if code == RejectCode::UnknownTab { RejectCode::NotFound } else { code };
                self.answer_desk((link, *request), Err(Reject::new(code, message)));
            }
            _ => self.refuse(link, about(command, code, message)),
        }
    }
}

pub(super) fn about(command: &Command, code: RejectCode, message: &str) -> Reject {
    let mut reject = Reject::new(code, message);
    reject.tab = command.tab().cloned();
    if let Command::Prompt { name, .. } | Command::Cancel { name, .. } = command {
        reject.turn = Some(name.clone());
    }
    reject
}
