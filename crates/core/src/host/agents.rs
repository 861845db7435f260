//! Agents that start, stall, end and start again, and what that means for their sessions. Never spawns by itself; the
//! edges do what it says.

use switchboard_types::limits::MAX_STDERR_LINES;
use switchboard_types::{
    AgentName, Ask, Body, Detail, LifeId, LinkId, LogLevel, OptionId, Outcome, Reject, RejectCode, SessionId, TabId,
    Time, WorkspaceRoot,
};

use super::Host;
use crate::input::{EndHow, Output};
use crate::lives::{AgentKey, Manner};
use crate::open::ApprovalAsker;
use crate::session::{AgentPlace, Recap};
use crate::timers::Alarm;

impl Host {
    pub(super) fn life_started(&mut self, now: Time, life: LifeId) {
        let Some(key) = self.lives.started(life) else { return };
        for id in self.sessions_of(&key) {
            if self.sessions.get(&id).is_some_and(|session| session.state.agent_exit.is_some()) {
                self.append(now, id, None, &Body::AgentRestarted {});
            }
        }
        self.pump_agent(now, &key);
    }

    pub(super) fn life_ended(&mut self, now: Time, life: LifeId, message: String) {
        let Some(over) = self.lives.ended(now, &self.settings, life, message) else { return };
        self.counters.agent_exits += 1;
        self.fail_wishes(&over.message, |wish| wish.life == life);
        if self.stopping {
            return;
        }
        for id in self.sessions_of(&over.key) {
            match over.manner {
                Manner::Told => self.lost_agent(now, id, life, &over.message, over.never_served),
                Manner::Unloaded => self.touch(id),
            }
        }
        self.pump_agent(now, &over.key);
    }

    /// Every tab of the agent is told; the running turn fails; what waits goes on with the next life, unless this one
    /// could not serve anybody.
    fn lost_agent(&mut self, now: Time, id: SessionId, life: LifeId, message: &str, never_served: bool) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let was_here = session.life() == Some(life);
        session.waits_since = None;
        session.slow = false;
        session.recap = Recap::None;
        if was_here {
            session.place = AgentPlace::None;
        }
        session.gated.retain(|(_, output)| !matches!(output, Output::Ask { life: gated, .. } if *gated == life));
        if was_here {
            self.drop_errands(now, id);
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.is_elsewhere() {
            // Its agent goes on without us; only the way to it is lost.
            self.way_lost(id, message);
            if never_served {
                self.fail_front(now, id, message);
            }
            return;
        }
        session.askers.retain(|_, asker| matches!(asker, ApprovalAsker::Errand(_)));
        let running = session.state.running().filter(|_| was_here);
        self.append(now, id, None, &Body::AgentExited { message: message.to_owned() });
        if let Some(turn) = running {
            let detail = Detail::new("agent_exited", message);
            let cancelling = self.sessions.get(&id).is_some_and(|session| session.state.is_cancelling());
            let outcome = if cancelling { Outcome::Cancelled } else { Outcome::Failed };
            self.end_turn(now, id, turn, outcome, Some(detail));
        } else if never_served {
            self.fail_front(now, id, message);
        }
    }

    /// Moves on every session of an agent.
    pub(super) fn pump_agent(&mut self, now: Time, key: &AgentKey) {
        for id in self.sessions_of(key) {
            self.pump(now, id);
        }
    }

    pub(super) fn sessions_of(&self, key: &AgentKey) -> Vec<SessionId> {
        let ours = self.sessions.values().filter(|session| {
            session.agent == key.agent
                && session.workspace == key.workspace
                && !session.state.closed
                && key.session.is_none_or(|only| only == session.id)
        });
        ours.map(|session| session.id).collect()
    }

    pub(super) fn restart_by_hand(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.eager = true;
        let Some(key) = self.key_of(id) else { return };
        self.lives.forgive(&key);
        self.end_life(&key, EndHow::Gracefully, "restarted by hand");
        self.pump(now, id);
    }

    pub(super) fn end_life(&mut self, key: &AgentKey, how: EndHow, reason: &str) {
        if let Some(life) = self.lives.end(key, reason, Manner::Told) {
            self.outputs.push_back(Output::End { life, how });
        }
    }

    /// A session that has a process of its own is closed: its process goes once it has heard so.
    pub(super) fn end_own_process(&mut self, id: SessionId) {
        let Some(key) = self.key_of(id).filter(|key| key.session.is_some()) else { return };
        if let Some(life) = self.lives.end(&key, "its session was closed", Manner::Unloaded) {
            self.when_durable(id, Output::End { life, how: EndHow::Gracefully });
        }
    }

    /// Looks again later whether anybody still needs a process.
    pub(super) fn watch_idle(&mut self, now: Time, life: LifeId) {
        if self.settings.idle_ms > 0 {
            self.timers.set(now.after_ms(self.settings.idle_ms), Alarm::Idle(life));
        }
    }

    /// Ends a process that nobody has needed for long, if its sessions can be taken up again.
    pub(super) fn unload_if_idle(&mut self, now: Time, life: LifeId) {
        let Some(key) = self.lives.key(life).cloned() else { return };
        let mine = || self.sessions.values().filter(|session| session.life() == Some(life));
        let last = mine().map(|session| session.last_word).max().unwrap_or_default();
        if mine().any(|session| !session.can_sleep()) {
            // Whatever keeps it awake looks again when it ends.
            return;
        }
        let due = last.after_ms(self.settings.idle_ms);
        if due > now {
            return self.timers.set(due, Alarm::Idle(life));
        }
        let ids: Vec<SessionId> = mine().map(|session| session.id).collect();
        let reason = "nobody needed it for long; the next prompt wakes it";
        let Some(life) = self.lives.end(&key, reason, Manner::Unloaded) else { return };
        for id in ids {
            self.drop_errands(now, id);
            if let Some(session) = self.sessions.get_mut(&id) {
                session.place = AgentPlace::None;
                session.asleep = true;
            }
            self.touch(id);
        }
        self.outputs.push_back(Output::End { life, how: EndHow::Gracefully });
    }

    /// The agent has said something, or the host has done something for it: it is not stalled.
    pub(super) fn heard_from(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.last_word = now;
        if std::mem::take(&mut session.stalled) {
            self.timers.set(now.after_ms(self.settings.stall_ms), Alarm::Session(id));
            self.touched.insert(id);
        }
    }

    /// Tells the person once when a turn that runs says nothing for long.
    fn watch_stall(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(turn) = session.heard_turn().filter(|_| !session.stalled && !session.state.is_cancelling()) else {
            return;
        };
        let silent = now.since(session.last_word);
        let due = if session.is_host_at_work() { now } else { session.last_word }.after_ms(self.settings.stall_ms);
        if due > now {
            return self.timers.set(due, Alarm::Session(id));
        }
        session.stalled = true;
        let message =
            format!("no word from agent `{}` for {} s; it may be waiting for its model", session.agent, silent / 1000);
        self.append(now, id, Some(turn), &Body::Status { message, progress: None });
        self.touch(id);
    }

    /// Lines of error output belong to a session if the process serves only that one.
    pub(super) fn stderr(&mut self, now: Time, life: LifeId, lines: Vec<String>) {
        let mut served = self.sessions.values_mut().filter(|session| session.life() == Some(life));
        let (Some(session), None) = (served.next(), served.next()) else { return };
        let id = session.id;
        let room = MAX_STDERR_LINES.saturating_sub(session.stderr_lines);
        let cut = lines.len() > room && room > 0;
        session.stderr_lines = session.stderr_lines.saturating_add(lines.len());
        let turn = session.heard_turn();
        let rest = cut.then(|| format!("more than {MAX_STDERR_LINES} lines in one turn; the rest is not kept"));
        for message in lines.into_iter().take(room).chain(rest) {
            self.append(now, id, turn, &Body::Log { level: LogLevel::Stderr, message });
        }
    }

    /// Tells every process of an agent that its configuration has changed.
    pub(super) fn configure(&mut self, agent: &AgentName, workspace: &WorkspaceRoot, config: &serde_json::Value) {
        for life in self.lives.serving(agent, workspace) {
            let ask = Ask::Configure { config: config.clone() };
            self.outputs.push_back(Output::Ask { life, ask });
        }
    }

    /// Sets something of the agent that works in a session.
    pub(super) fn set_option(&mut self, link: LinkId, id: SessionId, tab: TabId, option: OptionId, value: String) {
        let place = self.sessions.get(&id).map(|session| session.place);
        let Some(AgentPlace::Open { life }) = place else {
            let message = "the agent is not there yet; send a prompt, then choose";
            return self.refuse(link, Reject::new(RejectCode::AgentUnavailable, message).in_tab(tab));
        };
        self.ask(id, life, Ask::SetOption { session: id, option, value });
    }

    /// Lets the agent sign a person in, then open its session.
    pub(super) fn sign_in(&mut self, now: Time, link: LinkId, id: SessionId, tab: TabId, method: String) {
        let life = self.key_of(id).and_then(|key| self.lives.up(&key));
        let idle = self.sessions.get(&id).is_some_and(|session| session.place == AgentPlace::None);
        let (Some(life), true) = (life, idle) else {
            let message = "the agent does not wait for a sign-in; restart it first";
            return self.refuse(link, Reject::new(RejectCode::AgentUnavailable, message).in_tab(tab));
        };
        // A person may have to do something in a browser, so the start-up watch begins later.
        let since = now.after_ms(self.settings.sign_in_ms);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.place = AgentPlace::Opening { life, since };
        }
        self.timers.set(since.after_ms(self.settings.startup_timeout_ms), Alarm::Session(id));
        self.touch(id);
        self.ask(id, life, Ask::SignIn { session: id, method });
    }

    /// A deadline of a session may have passed: an agent session that does not come, a turn that does not stop.
    pub(super) fn session_alarm(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        if session.cancel_by.is_some_and(|by| by <= now) {
            self.force_cancel(now, id);
        }
        self.try_again(now, id);
        let Some(session) = self.sessions.get(&id) else { return };
        match (session.place, session.waits_since) {
            (AgentPlace::Opening { since, .. }, _) | (AgentPlace::None, Some(since)) => {
                self.watch_start(now, id, since)
            }
            (AgentPlace::Open { .. }, _) => self.watch_stall(now, id),
            (AgentPlace::None, None) => {}
        }
    }

    /// An agent elsewhere that has refused a session is asked again.
    fn try_again(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.far.retry_at.take_if(|at| *at <= now).is_some() {
            self.pump(now, id);
        }
    }

    /// Looks at a start that takes its time: of a process, or of an agent session in it.
    fn watch_start(&mut self, now: Time, id: SessionId, since: Time) {
        let waited = now.since(since);
        if waited >= self.settings.startup_timeout_ms {
            return self.startup_failed(now, id);
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if waited < self.settings.startup_slow_ms || std::mem::replace(&mut session.slow, true) {
            return;
        }
        let message = format!("agent `{}` is slow to start; still waiting for it", session.agent);
        self.timers.set(since.after_ms(self.settings.startup_timeout_ms), Alarm::Session(id));
        self.append(now, id, None, &Body::Status { message, progress: None });
        self.touch(id);
    }

    /// The cancelled turn did not stop: its agent session is closed, so a late word can reach nobody.
    fn force_cancel(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.cancel_by = None;
        if session.is_elsewhere() {
            return self.give_up_on(now, id);
        }
        let life = session.life();
        session.place = AgentPlace::None;
        session.askers.retain(|_, asker| matches!(asker, ApprovalAsker::Errand(_)));
        let Some(turn) = session.state.running() else { return };
        let own = self.key_of(id).filter(|key| key.session.is_some());
        let seconds = self.settings.cancel_ms / 1000;
        let what =
            if own.is_some() { "was ended and is started again" } else { "session was closed and is opened again" };
        let message = match own {
            Some(_) => format!("the agent did not stop within {seconds} s; it {what}"),
            None => format!("the agent did not stop within {seconds} s; its {what}"),
        };
        self.end_turn(now, id, turn, Outcome::Cancelled, Some(Detail::new("agent_unresponsive", message.as_str())));
        self.drop_errands(now, id);
        match (own, life) {
            (Some(key), _) => self.end_life(&key, EndHow::AtOnce, &message),
            (None, Some(life)) => self.ask(id, life, Ask::CloseSession { session: id }),
            (None, None) => {}
        }
        self.pump(now, id);
    }

    /// The same for an agent elsewhere: its session is its own, and whatever it still says is taken.
    fn give_up_on(&mut self, now: Time, id: SessionId) {
        let Some(turn) = self.sessions.get(&id).and_then(|session| session.state.running()) else { return };
        let seconds = self.settings.cancel_ms / 1000;
        let message = format!("the agent did not stop within {seconds} s; it may still be at work");
        self.end_turn(now, id, turn, Outcome::Cancelled, Some(Detail::new("agent_unresponsive", message)));
        self.pump(now, id);
    }

    /// What waits fails, all of it: an answer that is still on its way must not be taken for that to a second try.
    fn startup_failed(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let life = session.life();
        session.place = AgentPlace::None;
        session.waits_since = None;
        session.slow = false;
        let patience = match self.settings.startup_timeout_ms {
            whole if whole % 1000 == 0 => format!("{} s", whole / 1000),
            parts => format!("{parts} ms"),
        };
        let message = format!("agent `{}` opened no session within {patience}", session.agent);
        let waiting = session.state.queue().len().max(1);
        if session.is_elsewhere() {
            // Somebody is still at it, and a turn that was sent may run there all the while.
            session.place = life.map_or(AgentPlace::None, |life| AgentPlace::Opening { life, since: now });
            session.waits_since = life.is_none().then_some(now);
            session.slow = true;
            for _ in 0..waiting {
                self.fail_front(now, id, &message);
            }
            return self.touch(id);
        }
        let Some(key) = self.key_of(id) else { return };
        for _ in 0..waiting {
            self.fail_front(now, id, &message);
        }
        match life.filter(|_| self.lives.is_serving(&key)) {
            Some(life) => self.ask(id, life, Ask::CloseSession { session: id }),
            None => self.end_life(&key, EndHow::AtOnce, &message),
        }
        self.touch(id);
        self.pump(now, id);
    }
}
