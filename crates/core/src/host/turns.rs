//! The queue and its turns: one at a time per session, in order, each with exactly one end. Never sends a prompt twice.

use switchboard_types::limits::MAX_TITLE_CHARS;
use switchboard_types::{
    Ask, Body, Detail, LifeId, Outcome, Past, Prompt, RejectCode, Resolution, SessionId, Time, TitleBy, TurnId,
    TurnName,
};

use super::Host;
use super::commands::untrusted_message;
use crate::far::Skipped;
use crate::input::Output;
use crate::lives::{AgentKey, Readiness};
use crate::session::{AgentPlace, Recap, Session};
use crate::timers::Alarm;

impl Host {
    pub(super) fn queue_prompt(&mut self, now: Time, id: SessionId, name: TurnName, prompt: Prompt) -> (TurnId, u32) {
        self.end_unasked(now, id);
        let Some(session) = self.sessions.get_mut(&id) else { return (TurnId(0), 0) };
        session.held = false;
        if let (true, AgentPlace::Opening { life, .. }) = (session.is_elsewhere(), session.place) {
            // An agent elsewhere may be out of reach for long; this prompt has only just begun to wait.
            session.place = AgentPlace::Opening { life, since: now };
            self.timers.set(now.after_ms(self.settings.startup_timeout_ms), Alarm::Session(id));
        }
        let turn = session.state.next_turn();
        let ahead = session.state.queue().len() + usize::from(session.state.running().is_some());
        let position = u32::try_from(ahead).unwrap_or(u32::MAX);
        let title = session.state.title.is_empty().then(|| title_from(&prompt.text)).filter(|title| !title.is_empty());
        self.append(now, id, Some(turn), &Body::PromptQueued { name, prompt, position });
        if let Some(title) = title {
            self.append(now, id, None, &Body::TitleChanged { title, by: TitleBy::Host });
        }
        self.pump(now, id);
        (turn, position)
    }

    /// Moves a session on: opens its agent session, or starts its next turn, as far as that is possible now.
    pub(super) fn pump(&mut self, now: Time, id: SessionId) {
        while self.pump_once(now, id) == Progress::Again {}
    }

    fn pump_once(&mut self, now: Time, id: SessionId) -> Progress {
        let Some(session) = self.sessions.get(&id) else { return Progress::Done };
        if self.stopping || !session.is_writable() || session.state.closed {
            return Progress::Done;
        }
        let (place, mut waiting) = (session.place, session.waiting());
        let theirs = session.state.taken().next().filter(|_| session.state.running().is_none());
        if let Some(turn) = theirs {
            self.start_taken(now, id, turn);
            return Progress::Again;
        }
        let Some(session) = self.sessions.get(&id) else { return Progress::Done };
        // An agent elsewhere is listened to for as long as there is a tab, whether anything runs or not.
        let listens = session.is_elsewhere() && place == AgentPlace::None;
        let refused = session.far.retry_at.is_some_and(|at| at > now);
        let wanted = match session.state.running() {
            Some(_) => listens && !refused,
            None => waiting.is_some() || session.eager || (listens && !refused),
        };
        if !wanted {
            return Progress::Done;
        }
        let Some(key) = self.key_of(id) else { return Progress::Done };
        if !self.is_permitted(&key.workspace, &key.agent) {
            let message = untrusted_message(&key.workspace);
            return self.cannot_serve(now, id, waiting, RejectCode::WorkspaceUntrusted, &message);
        }
        if waiting.is_some() && !self.may_start(id) {
            // Its agent may come all the same, if somebody wants to see it.
            if self.sessions.get(&id).is_none_or(|session| !session.eager) {
                return Progress::Done;
            }
            waiting = None;
        }
        match place {
            AgentPlace::Open { life } if self.lives.is_ending(life) || self.lacks_recap(id) => Progress::Done,
            AgentPlace::Open { life } => match waiting {
                Some(turn) => self.start_turn(now, id, turn, life),
                None => self.is_served(id),
            },
            AgentPlace::Opening { .. } => Progress::Done,
            AgentPlace::None => self.want_agent(now, id, &key, waiting),
        }
    }

    fn is_served(&mut self, id: SessionId) -> Progress {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.eager = false;
        }
        Progress::Done
    }

    fn want_agent(&mut self, now: Time, id: SessionId, key: &AgentKey, waiting: Option<TurnId>) -> Progress {
        let readiness = self.lives.want(now, &self.settings, key);
        if let (Readiness::Spawn(_) | Readiness::Coming, Some(session)) = (&readiness, self.sessions.get_mut(&id)) {
            let since = *session.waits_since.get_or_insert(now);
            self.touched.insert(id);
            self.timers.set(since.after_ms(self.settings.startup_slow_ms), Alarm::Session(id));
            self.timers.set(since.after_ms(self.settings.startup_timeout_ms), Alarm::Session(id));
        }
        match readiness {
            Readiness::Ready(life) => self.open_agent_session(now, id, life),
            Readiness::Spawn(life) => {
                let (agent, workspace) = (key.agent.clone(), key.workspace.clone());
                self.outputs.push_back(Output::Spawn { life, agent, workspace });
            }
            Readiness::WaitUntil(at) => self.timers.set(at, Alarm::Agent(key.clone())),
            Readiness::Coming => {}
            Readiness::Refused(reason) => {
                if self.sessions.get(&id).is_some_and(Session::is_elsewhere) {
                    self.way_lost(id, &reason);
                    let again = now.after_ms(self.settings.crash_window_ms + 1);
                    self.timers.set(again, Alarm::Agent(key.clone()));
                }
                return self.cannot_serve(now, id, waiting, RejectCode::AgentUnavailable, &reason);
            }
        }
        Progress::Done
    }

    fn open_agent_session(&mut self, now: Time, id: SessionId, life: LifeId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let elsewhere = self.is_configured_elsewhere(&session.workspace, &session.agent);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if elsewhere {
            session.keeps.upstream.get_or_insert_default();
        }
        let since = session.waits_since.take().unwrap_or(now);
        session.place = AgentPlace::Opening { life, since };
        session.far.skipped = Skipped::Nothing;
        session.asleep = false;
        let (cwd, resume) = (session.workspace.clone(), session.agent_session.clone());
        let elsewhere = session.elsewhere();
        let past = if session.state.has_spoken() { Past::Spoken } else { Past::Blank };
        self.touch(id);
        self.timers.set(since.after_ms(self.settings.startup_slow_ms), Alarm::Session(id));
        self.ask(id, life, Ask::OpenSession { session: id, cwd, resume, past, elsewhere });
    }

    /// Nobody can work on what waits: it fails with the reason, or, if nothing waits, the views are told.
    fn cannot_serve(
        &mut self,
        now: Time,
        id: SessionId,
        waiting: Option<TurnId>,
        code: RejectCode,
        reason: &str,
    ) -> Progress {
        let Some(session) = self.sessions.get_mut(&id) else { return Progress::Done };
        let told_already = !std::mem::take(&mut session.eager);
        match waiting {
            Some(turn) => {
                let word =
                    if code == RejectCode::WorkspaceUntrusted { "workspace_untrusted" } else { "agent_unavailable" };
                self.end_turn(now, id, turn, Outcome::Failed, Some(Detail::new(word, reason)));
                Progress::Again
            }
            None => {
                if !told_already {
                    self.refuse_seats(id, code, reason);
                }
                Progress::Done
            }
        }
    }

    fn start_turn(&mut self, now: Time, id: SessionId, turn: TurnId, life: LifeId) -> Progress {
        let Some(session) = self.sessions.get_mut(&id) else { return Progress::Done };
        session.eager = false;
        let Some(prompt) = session.state.waiting_prompt(turn).cloned() else { return Progress::Done };
        let Some(name) = session.state.turn(turn).map(|state| state.name.clone()) else { return Progress::Done };
        let recap = match std::mem::take(&mut session.recap) {
            Recap::Ready(recap) => Some(recap),
            Recap::None | Recap::Wanted => None,
        };
        session.stderr_lines = 0;
        self.append(now, id, Some(turn), &Body::TurnStarted {});
        self.ask(id, life, Ask::Prompt { session: id, name, prompt, recap });
        self.heard_from(now, id);
        self.timers.set(now.after_ms(self.settings.stall_ms), Alarm::Session(id));
        Progress::Done
    }

    /// Takes a prompt that has not started out of the queue.
    pub(super) fn end_waiting(&mut self, now: Time, id: SessionId, turn: TurnId) {
        self.end_turn(now, id, turn, Outcome::Cancelled, None);
        self.pump(now, id);
    }

    pub(super) fn cancel_running(&mut self, now: Time, id: SessionId, turn: TurnId) {
        let Some(session) = self.sessions.get(&id) else { return };
        if session.state.is_cancelling() {
            return;
        }
        let Some(name) = session.state.turn(turn).map(|state| state.name.clone()) else { return };
        let life = session.life();
        self.append(now, id, Some(turn), &Body::CancelAsked {});
        // The agent hears of the cancel before it hears that nobody will answer its questions.
        if let Some(life) = life {
            self.ask(id, life, Ask::Cancel { session: id, name });
        }
        self.resolve_turn(now, id, turn, Resolution::Deny);
        self.end_errands(now, id, turn);
        if life.is_none() {
            return;
        }
        let by = now.after_ms(self.settings.cancel_ms);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.cancel_by = Some(by);
        }
        self.timers.set(by, Alarm::Session(id));
    }

    /// The agent is done with the running turn, well or badly.
    pub(super) fn finish_running(&mut self, now: Time, id: SessionId, said: Outcome, detail: Option<Detail>) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Some(turn) = session.state.running() else { return };
        let (outcome, detail) = if session.state.is_cancelling() { (Outcome::Cancelled, None) } else { (said, detail) };
        let life = session.life();
        self.end_turn(now, id, turn, outcome, detail);
        self.pump(now, id);
        if let Some(life) = life {
            self.watch_idle(now, life);
        }
    }

    /// The one end of a turn.
    pub(super) fn end_turn(
        &mut self,
        now: Time,
        id: SessionId,
        turn: TurnId,
        outcome: Outcome,
        detail: Option<Detail>,
    ) {
        let running = self.sessions.get(&id).and_then(|session| session.state.running());
        if running == Some(turn) {
            self.resolve_turn(now, id, turn, Resolution::Expired);
            self.end_errands(now, id, turn);
            if let Some(session) = self.sessions.get_mut(&id) {
                session.cancel_by = None;
                session.withhold(turn);
                if std::mem::take(&mut session.stalled) {
                    self.touched.insert(id);
                }
            }
        }
        self.append(now, id, Some(turn), &Body::TurnEnded { outcome, detail });
        self.leave_room(id);
    }

    /// Ends the running turn and everything that waits, as cancelled: the tab closes.
    pub(super) fn end_all_turns(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        if session.is_elsewhere() {
            // What the agent has goes on there; only what was never sent ends.
            let waiting: Vec<TurnId> = session.state.queue().filter(|turn| !session.has_taken(*turn)).collect();
            for turn in waiting {
                self.end_turn(now, id, turn, Outcome::Cancelled, None);
            }
            return;
        }
        self.resolve_all(now, id, Resolution::Deny);
        let Some(session) = self.sessions.get(&id) else { return };
        let turns: Vec<TurnId> = session.state.running().into_iter().chain(session.state.queue()).collect();
        for turn in turns {
            self.end_turn(now, id, turn, Outcome::Cancelled, None);
        }
    }

    /// The front prompt, if one waits, fails because no agent session can be had.
    pub(super) fn fail_front(&mut self, now: Time, id: SessionId, message: &str) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let waiting = session.waiting();
        self.cannot_serve(now, id, waiting, RejectCode::AgentUnavailable, message);
    }
}

/// Whether pumping again could move the session further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Again,
    Done,
}

pub(super) fn title_from(text: &str) -> String {
    let mut title = String::new();
    // No word begins later than the cut, whatever the size of the prompt.
    for word in text.split_whitespace().take(MAX_TITLE_CHARS) {
        if !title.is_empty() {
            title.push(' ');
        }
        title.extend(word.chars().take(MAX_TITLE_CHARS));
    }
    title.chars().take(MAX_TITLE_CHARS).collect()
}
