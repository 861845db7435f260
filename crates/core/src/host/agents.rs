//! Agents that start, stall, end and start again, and what that means for their sessions. Never spawns by itself; the
//! edges do what it says.

use switchboard_types::{Ask, Body, Detail, LifeId, Outcome, SessionId, Time};

use super::Host;
use crate::input::{EndHow, Output};
use crate::lives::AgentKey;
use crate::session::AgentPlace;
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
        if self.stopping {
            return;
        }
        for id in self.sessions_of(&over.key) {
            self.lost_agent(now, id, life, &over.message, over.never_served);
        }
        self.pump_agent(now, &over.key);
    }

    /// Every tab of the agent is told; the running turn fails; what waits goes on with the next life, unless this one
    /// could not serve anybody.
    fn lost_agent(&mut self, now: Time, id: SessionId, life: LifeId, message: &str, never_served: bool) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let was_here = session.life() == Some(life);
        session.asked_by_agent.clear();
        session.waits_since = None;
        session.slow = false;
        if was_here {
            session.place = AgentPlace::None;
        }
        session.gated.retain(|(_, gated, _)| *gated != life);
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

    fn sessions_of(&self, key: &AgentKey) -> Vec<SessionId> {
        let ours = self.sessions.values().filter(|session| {
            session.agent == key.agent && session.workspace == key.workspace && !session.state.closed
        });
        ours.map(|session| session.id).collect()
    }

    pub(super) fn restart_by_hand(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.eager = true;
        let key = AgentKey { agent: session.agent.clone(), workspace: session.workspace.clone() };
        self.lives.forgive(&key);
        self.end_life(&key, EndHow::Gracefully, "restarted by hand");
        self.pump(now, id);
    }

    pub(super) fn end_life(&mut self, key: &AgentKey, how: EndHow, reason: &str) {
        if let Some(life) = self.lives.end(key, reason) {
            self.outputs.push_back(Output::End { life, how });
        }
    }

    /// A deadline of a session may have passed: an agent session that does not come, a turn that does not stop.
    pub(super) fn session_alarm(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        if session.cancel_by.is_some_and(|by| by <= now) {
            self.force_cancel(now, id);
        }
        let Some(session) = self.sessions.get(&id) else { return };
        match (session.place, session.waits_since) {
            (AgentPlace::Opening { since, .. }, _) | (AgentPlace::None, Some(since)) => {
                self.watch_start(now, id, since)
            }
            (AgentPlace::None, None) | (AgentPlace::Open { .. }, _) => {}
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
        let life = session.life();
        session.place = AgentPlace::None;
        session.asked_by_agent.clear();
        let Some(turn) = session.state.running() else { return };
        let seconds = self.settings.cancel_ms / 1000;
        let message = format!("the agent did not stop within {seconds} s; its session was closed and is opened again");
        self.end_turn(now, id, turn, Outcome::Cancelled, Some(Detail::new("agent_unresponsive", message)));
        if let Some(life) = life {
            self.ask(id, life, Ask::CloseSession { session: id });
        }
        self.pump(now, id);
    }

    /// What waits fails, all of it: an answer that is still on its way must not be taken for that to a second try.
    fn startup_failed(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let life = session.life();
        session.place = AgentPlace::None;
        session.waits_since = None;
        session.slow = false;
        let seconds = self.settings.startup_timeout_ms / 1000;
        let message = format!("agent `{}` opened no session within {seconds} s", session.agent);
        let key = AgentKey { agent: session.agent.clone(), workspace: session.workspace.clone() };
        let waiting = session.state.queue().len().max(1);
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
