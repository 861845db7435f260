//! Sessions that are created, followed and left by their ids. Never seats a link at a place that the log does not have.

use switchboard_types::limits::{MAX_QUEUED_BYTES, MAX_SEATS_PER_LINK, MAX_TABS};
use switchboard_types::{
    AgentName, Body, FollowFrom, PermissionMode, Prompt, Reject, RejectCode, Seen, Seq, SessionAnswer, SessionId,
    Setup, TabId, Time, TurnName, WorkspaceRoot,
};

use super::super::Host;
use super::super::commands::untrusted_message;
use super::{DeskAsker, no_such};
use crate::input::Output;

impl Host {
    /// Opens a new session under a tab of its own.
    pub(super) fn create_asked(
        &mut self,
        now: Time,
        agent: Option<AgentName>,
        workspace: Option<WorkspaceRoot>,
        setup: Setup,
        task: Option<String>,
    ) -> Result<SessionId, Reject> {
        let (agent, root) = self.choose(agent, workspace)?;
        if !self.is_permitted(&root, &agent) {
            return Err(Reject::new(RejectCode::WorkspaceUntrusted, untrusted_message(&root)));
        }
        if self.tabs.len() >= MAX_TABS {
            return Err(Reject::new(RejectCode::TooLarge, format!("{MAX_TABS} tabs are open; close some first")));
        }
        if task.as_ref().is_some_and(|task| task.len() > MAX_QUEUED_BYTES) {
            return Err(Reject::new(RejectCode::TooLarge, format!("a task has at most {MAX_QUEUED_BYTES} bytes")));
        }
        let elsewhere = self.is_configured_elsewhere(&root, &agent);
        if setup.config.is_some() && !elsewhere {
            let message = format!("configPath is for engines, and `{agent}` is none; leave it out");
            return Err(Reject::new(RejectCode::BadMessage, message));
        }
        let tab = self.desk_tab(self.next_session);
        let id = self.new_session(now, tab, agent, root);
        self.set_up(now, id, setup);
        self.pump(now, id);
        if let Some(text) = task {
            let name = TurnName::new(format!("task-{:016x}", self.next_random()));
            self.queue_prompt(now, id, name, Prompt { text, context: Vec::new() });
        }
        Ok(id)
    }

    /// How the session is to be set up: an agent elsewhere sees to it by itself.
    fn set_up(&mut self, now: Time, id: SessionId, setup: Setup) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.keeps.setup = setup.clone();
        if session.is_elsewhere() {
            return;
        }
        session.choices.model_due = setup.model;
        if setup.permission == Some(PermissionMode::Auto) {
            session.keeps.policy.auto_commands = true;
            session.keeps.policy.auto_edits = true;
            let policy = session.keeps.policy.clone();
            self.append(now, id, None, &Body::PolicyChanged { policy });
        }
    }

    pub(super) fn answer_created(&mut self, asker: DeskAsker, result: Result<SessionId, Reject>) {
        match result {
            Ok(session) => self.answer_durable(asker, session, SessionAnswer::Created { session }),
            Err(reject) => self.answer_desk(asker, Err(reject)),
        }
    }

    /// The tab of a session that nobody named one for.
    pub(super) fn desk_tab(&self, id: SessionId) -> TabId {
        let plain = TabId::new(format!("s-{id}"));
        let free = |tab: &TabId| self.tabs.get(tab).is_none_or(|other| *other == id);
        let others = (2..).map(|n: u64| TabId::new(format!("s-{id}-{n}")));
        std::iter::once(plain.clone()).chain(others.take(MAX_TABS + 1)).find(free).unwrap_or(plain)
    }

    /// Seats a link at a session, or has the place looked up first.
    pub(super) fn follow_asked(&mut self, now: Time, asker: DeskAsker, id: SessionId, from: FollowFrom) {
        let Some(session) = self.sessions.get(&id) else { return self.answer_desk(asker, Err(no_such(id))) };
        let cursor = match from {
            FollowFrom::Start => Seq::START,
            FollowFrom::Live => session.durable,
            FollowFrom::After(Seen { seq, epoch }) => {
                let of_another_life = seq > Seq::START && epoch.is_some_and(|epoch| epoch != session.epoch);
                if of_another_life || seq > session.durable {
                    return self.cannot_follow(asker, id);
                }
                seq
            }
            FollowFrom::AfterSource(source) => {
                let (link, request) = asker;
                self.outputs.push_back(Output::FindSource { link, request, session: id, source });
                return;
            }
        };
        self.take_seat(now, asker, id, cursor);
    }

    /// The store has looked for an event by its source.
    pub(in super::super) fn source_found(
        &mut self,
        now: Time,
        asker: DeskAsker,
        id: SessionId,
        found: Result<Option<Seq>, String>,
    ) {
        if !self.is_open(asker) {
            return;
        }
        match found {
            Ok(Some(seq)) => self.take_seat(now, asker, id, seq),
            Ok(None) => self.cannot_follow(asker, id),
            Err(reason) => {
                let message = format!("the log cannot be read: {reason}");
                self.answer_desk(asker, Err(Reject::new(RejectCode::Internal, message)));
            }
        }
    }

    /// The answer comes before the first event.
    fn take_seat(&mut self, now: Time, asker: DeskAsker, id: SessionId, cursor: Seq) {
        let (link, _) = asker;
        let session = self.sessions.get(&id).filter(|session| !session.state.closed);
        let Some(session) = session else { return self.answer_desk(asker, Err(no_such(id))) };
        let (tab, epoch, head) = (session.tab.clone(), session.epoch, session.durable);
        let seats = self.links.get(&link).map(|link| &link.seats);
        if seats.is_some_and(|seats| seats.len() >= MAX_SEATS_PER_LINK && !seats.contains_key(&tab)) {
            let message = format!("one link follows at most {MAX_SEATS_PER_LINK} sessions; use a second one");
            return self.answer_desk(asker, Err(Reject::new(RejectCode::TooLarge, message)));
        }
        let seen = Seen { seq: cursor.min(head), epoch: Some(epoch) };
        self.answer_desk(asker, Ok(SessionAnswer::Following { session: id, tab: tab.clone(), epoch, head }));
        self.attach(now, link, &tab, id, seen);
    }

    fn cannot_follow(&mut self, asker: DeskAsker, id: SessionId) {
        let last = self.sessions.get(&id).map_or(Seq::START, |session| session.durable);
        let first = Seq::START.next();
        let message =
            format!("the log of session {id} has no such place; it goes from {first} to {last}: begin from the start");
        self.answer_desk(asker, Err(Reject::new(RejectCode::Conflict, message).within(first, last)));
    }

    pub(super) fn leave_asked(&mut self, asker: DeskAsker, id: SessionId) {
        let (link, _) = asker;
        let seats = self.links.get(&link).into_iter().flat_map(|link| &link.seats);
        let tab = seats.into_iter().find(|(_, seat)| seat.session == id).map(|(tab, _)| tab.clone());
        if let Some(tab) = tab {
            self.leave_tab(link, &tab);
        }
        self.answer_desk(asker, Ok(SessionAnswer::Done {}));
    }
}
