//! The lives of agents' processes: which one serves, when the next may start, when it is enough. Never spawns; it says
//! when to.

use std::collections::{BTreeMap, HashMap, VecDeque};

use switchboard_types::{AgentName, LifeId, SessionId, Time, WorkspaceRoot};

use crate::settings::Settings;

/// An agent in a workspace: one process serves all its sessions, or each session has its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AgentKey {
    pub(crate) agent: AgentName,
    pub(crate) workspace: WorkspaceRoot,
    /// The only session that the process serves; none if it serves all.
    pub(crate) session: Option<SessionId>,
}

/// All agents that were ever wanted, and their processes.
#[derive(Debug, Default)]
pub(crate) struct Lives {
    agents: BTreeMap<AgentKey, Agent>,
    by_life: HashMap<LifeId, AgentKey>,
    last: u64,
}

/// One agent's process.
#[derive(Debug)]
pub(crate) struct Agent {
    phase: Phase,
    /// When it ended without having been asked to, within the crash window.
    exits: VecDeque<Time>,
    /// Whether the present life has opened any agent session.
    has_served: bool,
}

/// Where an agent's process is in its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// There is none.
    Absent,
    /// There will be one.
    Waiting { until: Time },
    /// Asked for.
    Starting { life: LifeId },
    /// Runs.
    Up { life: LifeId },
    /// Was told to end, for this reason.
    Ending { life: LifeId, reason: String, manner: Manner },
    /// Ended too often; waits for a person.
    Stopped { reason: String },
}

/// Whether views are told that a life was ended on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// They are.
    Told,
    /// It was only unloaded; the next prompt finds it again.
    Unloaded,
}

/// Whether an agent can serve now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It can.
    Ready(LifeId),
    /// It will; this life must be spawned for it now.
    Spawn(LifeId),
    /// It will, at the latest when this alarm rings.
    WaitUntil(Time),
    /// It will; somebody is at it.
    Coming,
    /// It cannot, for this reason.
    Refused(String),
}

/// What the end of a life means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LifeOver {
    pub(crate) key: AgentKey,
    /// For a person.
    pub(crate) message: String,
    /// Whether it ended before it could serve anybody, so trying again at once is pointless.
    pub(crate) never_served: bool,
    pub(crate) manner: Manner,
}

impl Lives {
    /// Whether the agent can serve; starts it if it may start.
    pub(crate) fn want(&mut self, now: Time, settings: &Settings, key: &AgentKey) -> Readiness {
        let fresh = || Agent { phase: Phase::Absent, exits: VecDeque::new(), has_served: false };
        let agent = self.agents.entry(key.clone()).or_insert_with(fresh);
        match &agent.phase {
            Phase::Up { life } => Readiness::Ready(*life),
            Phase::Starting { .. } | Phase::Ending { .. } => Readiness::Coming,
            Phase::Stopped { reason } if !agent.has_calmed(now, settings) => Readiness::Refused(reason.clone()),
            Phase::Absent | Phase::Waiting { .. } | Phase::Stopped { .. } => {
                let until = agent.may_start(settings);
                if until > now {
                    agent.phase = Phase::Waiting { until };
                    return Readiness::WaitUntil(until);
                }
                self.last += 1;
                let life = LifeId(self.last);
                agent.phase = Phase::Starting { life };
                agent.has_served = false;
                self.by_life.insert(life, key.clone());
                Readiness::Spawn(life)
            }
        }
    }

    /// The process runs; none if it was told to end meanwhile.
    pub(crate) fn started(&mut self, life: LifeId) -> Option<AgentKey> {
        let key = self.by_life.get(&life)?.clone();
        let agent = self.agents.get_mut(&key)?;
        if agent.phase != (Phase::Starting { life }) {
            return None;
        }
        agent.phase = Phase::Up { life };
        Some(key)
    }

    /// The process has ended.
    pub(crate) fn ended(&mut self, now: Time, settings: &Settings, life: LifeId, message: String) -> Option<LifeOver> {
        let key = self.by_life.remove(&life)?;
        let agent = self.agents.get_mut(&key)?;
        let never_served = !agent.has_served;
        let (message, expected, manner) = match &agent.phase {
            Phase::Ending { reason, manner, .. } => (reason.clone(), true, *manner),
            _ => (message, false, Manner::Told),
        };
        agent.phase = Phase::Absent;
        let message = if expected { message } else { agent.count_exit(now, settings, &key, message) };
        if agent.phase == Phase::Absent && agent.exits.is_empty() {
            self.agents.remove(&key);
        }
        Some(LifeOver { key, message, never_served: never_served && !expected, manner })
    }

    /// Which agent a life is of; none if it is over.
    pub(crate) fn key(&self, life: LifeId) -> Option<&AgentKey> {
        self.by_life.get(&life)
    }

    /// Forgets an agent that no session can ever want again.
    pub(crate) fn forget(&mut self, key: &AgentKey) {
        let over = |agent: &Agent| matches!(agent.phase, Phase::Absent | Phase::Waiting { .. } | Phase::Stopped { .. });
        if self.agents.get(key).is_some_and(over) {
            self.agents.remove(key);
        }
    }

    /// Marks a life as ending; none if it is not alive or is ending already.
    pub(crate) fn end(&mut self, key: &AgentKey, reason: impl Into<String>, manner: Manner) -> Option<LifeId> {
        let agent = self.agents.get_mut(key)?;
        let (Phase::Starting { life } | Phase::Up { life }) = agent.phase else { return None };
        agent.phase = Phase::Ending { life, reason: reason.into(), manner };
        Some(life)
    }

    /// A person wants it to start again: past exits are forgiven.
    pub(crate) fn forgive(&mut self, key: &AgentKey) {
        if let Some(agent) = self.agents.get_mut(key) {
            agent.exits.clear();
            if matches!(agent.phase, Phase::Stopped { .. } | Phase::Waiting { .. }) {
                agent.phase = Phase::Absent;
            }
        }
    }

    /// The life has opened an agent session.
    pub(crate) fn has_served(&mut self, life: LifeId) {
        if let Some(agent) = self.by_life.get(&life).and_then(|key| self.agents.get_mut(key)) {
            agent.has_served = true;
        }
    }

    /// Whether the life was told to end; nothing new is asked of it.
    pub(crate) fn is_ending(&self, life: LifeId) -> bool {
        let agent = self.by_life.get(&life).and_then(|key| self.agents.get(key));
        agent.is_some_and(|agent| matches!(agent.phase, Phase::Ending { .. }))
    }

    /// Whether the agent's present life has opened any agent session.
    pub(crate) fn is_serving(&self, key: &AgentKey) -> bool {
        self.agents.get(key).is_some_and(|agent| agent.has_served)
    }

    /// The agent's process, if it runs.
    pub(crate) fn up(&self, key: &AgentKey) -> Option<LifeId> {
        match self.agents.get(key)?.phase {
            Phase::Up { life } => Some(life),
            _ => None,
        }
    }

    /// Whether the agent has a process, however far it is.
    pub(crate) fn has_process(&self, key: &AgentKey) -> bool {
        let phase = self.agents.get(key).map(|agent| &agent.phase);
        matches!(phase, Some(Phase::Starting { .. } | Phase::Up { .. } | Phase::Ending { .. }))
    }

    /// All processes of an agent in a workspace that run.
    pub(crate) fn serving(&self, agent: &AgentName, workspace: &WorkspaceRoot) -> Vec<LifeId> {
        let ours = self.agents.keys().filter(|key| key.agent == *agent && key.workspace == *workspace);
        ours.filter_map(|key| self.up(key)).collect()
    }

    /// Those whose process is alive or being started.
    pub(crate) fn alive(&self) -> Vec<AgentKey> {
        let alive = |agent: &Agent| matches!(agent.phase, Phase::Starting { .. } | Phase::Up { .. });
        self.agents.iter().filter(|(_, agent)| alive(agent)).map(|(key, _)| key.clone()).collect()
    }
}

impl Agent {
    /// When the next life may begin: later with every exit within the window.
    fn may_start(&self, settings: &Settings) -> Time {
        let Some(last) = self.exits.back() else { return Time(0) };
        let doublings = u32::try_from(self.exits.len() - 1).unwrap_or(u32::MAX).min(16);
        let wait = settings.backoff_min_ms.saturating_mul(1 << doublings).min(settings.backoff_max_ms);
        last.after_ms(wait)
    }

    /// Whether the last exit is so long ago that it is no loop any more.
    fn has_calmed(&self, now: Time, settings: &Settings) -> bool {
        self.exits.back().is_none_or(|last| now.since(*last) > settings.crash_window_ms)
    }

    fn count_exit(&mut self, now: Time, settings: &Settings, key: &AgentKey, message: String) -> String {
        self.exits.push_back(now);
        while self.exits.front().is_some_and(|exit| now.since(*exit) > settings.crash_window_ms) {
            self.exits.pop_front();
        }
        if self.exits.len() < settings.crash_cap {
            return message;
        }
        let reason = format!(
            "agent `{}` ended {} times within {} s and is not started again for as long; the last time: {message}. \
             Mend it, then restart it by hand",
            key.agent,
            self.exits.len(),
            settings.crash_window_ms / 1000,
        );
        self.phase = Phase::Stopped { reason: reason.clone() };
        reason
    }
}
