//! Which sessions' wires are recorded: by a switch, or by their agent's configuration. Whose record a message belongs to is
//! in `driver/wire/whose.rs`.

mod whose;

use std::collections::{BTreeMap, HashMap, HashSet};

use switchboard_core::Input;
use switchboard_types::{Change, Commit, CommitDone, Epoch, LifeId, SessionId, Ticket};

use super::Driver;
use crate::agents::{AgentSpec, EnvValue};
use crate::link::{AgentInput, AgentOrder, Outgoing, Taping};
use crate::wire::{Recorder, Switch, secrets, switch};

/// Sessions whose setting is remembered; when there are more, it is looked up again.
const MAX_KNOWN: usize = 16 * 1024;

/// What is recorded.
pub(super) struct Wire {
    recorder: Recorder,
    switches: BTreeMap<SessionId, Switch>,
    known: HashMap<SessionId, Kept>,
    /// The recorded sessions by the life of their log, since pages of events name no session.
    epochs: HashMap<Epoch, SessionId>,
    lives: HashMap<LifeId, Life>,
    /// Records that go once their session's deletion is on the disk.
    deleting: HashMap<Ticket, Vec<SessionId>>,
}

/// Whether a session's wire is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

/// An agent's process, as a record names it.
struct Life {
    peer: String,
    dialect: &'static str,
    taping: Taping,
}

impl Wire {
    pub(super) fn new(recorder: Recorder) -> Self {
        let switches = switch::all(recorder.folder());
        Self {
            recorder,
            switches,
            known: HashMap::new(),
            epochs: HashMap::new(),
            lives: HashMap::new(),
            deleting: HashMap::new(),
        }
    }

    /// The sessions of which anything is kept.
    pub(super) fn sessions(&self) -> Vec<SessionId> {
        self.recorder.folder().sessions()
    }

    /// What a session that is gone left.
    pub(super) fn forget(&mut self, session: SessionId) {
        self.switches.remove(&session);
        self.known.remove(&session);
        self.epochs.retain(|_, known| *known != session);
        self.recorder.forget(session);
    }

    /// Notes deletions that are on their way to the disk.
    pub(super) fn watch_deletions(&mut self, commit: &Commit) {
        let deleted = |change: &Change| match change {
            Change::DeleteSession(session) => Some(*session),
            _ => None,
        };
        let sessions: Vec<SessionId> = commit.changes.iter().filter_map(deleted).collect();
        if !sessions.is_empty() {
            self.deleting.insert(commit.ticket, sessions);
        }
    }

    /// The store has answered; what is deleted takes its record along. The sessions that are gone.
    pub(super) fn committed(&mut self, done: &CommitDone) -> Vec<SessionId> {
        if self.deleting.is_empty() {
            return Vec::new();
        }
        let sessions = self.deleting.remove(&done.ticket).unwrap_or_default();
        if done.changes_failed.is_some() {
            return Vec::new();
        }
        sessions.iter().for_each(|session| self.forget(*session));
        sessions
    }

    /// A process has ended.
    pub(super) fn life_over(&mut self, life: LifeId) {
        self.lives.remove(&life);
    }
}

impl Driver {
    /// What an agent's link says.
    pub(super) fn agent_input(&mut self, input: AgentInput) {
        match input {
            AgentInput::Started { life } => self.agent_note(life, "started", None, Input::LifeStarted(life)),
            AgentInput::Words { life, words } => self.host.handle(self.clock.now(), Input::Words { life, words }),
            AgentInput::Taped { life, items } => self.agent_tape(life, items),
            AgentInput::Stderr { life, lines } => {
                let why = self.is_recording().then(|| self.error_output(life, &lines));
                self.agent_note(life, "stderr", why, Input::Stderr { life, lines });
            }
            AgentInput::Ended { life, message } => {
                self.lives.remove(&life);
                let why = Some(message.clone());
                self.agent_note(life, "ended", why, Input::LifeEnded { life, message });
                self.wire.life_over(life);
            }
        }
    }

    /// What is recorded may have changed with the configuration.
    pub(super) fn settle_wire(&mut self) {
        self.wire.known.clear();
        let switched = self.wire.switches.values().any(|switch| *switch == Switch::On);
        self.wire.recorder.set_on(switched || self.workspaces.any_recorded());
    }

    /// Whether a session's wire is kept.
    fn keeps(&mut self, session: SessionId) -> bool {
        if !self.wire.recorder.is_on() {
            return false;
        }
        if let Some(kept) = self.wire.known.get(&session) {
            return *kept == Kept::Yes;
        }
        let Some(kept) = self.setting(session) else { return false };
        if self.wire.known.len() >= MAX_KNOWN {
            self.wire.known.clear();
            self.wire.epochs.clear();
        }
        self.wire.known.insert(session, kept);
        if kept == Kept::Yes {
            self.wire.epochs.extend(self.host.epoch_of(session).map(|epoch| (epoch, session)));
            self.wire.recorder.begin(session, self.clock.now());
        }
        kept == Kept::Yes
    }

    /// What holds for a session; none for one out of history that nobody switched, since it has no agent yet.
    fn setting(&self, session: SessionId) -> Option<Kept> {
        match (self.wire.switches.get(&session), self.host.agent_of(session)) {
            (Some(Switch::On), _) => Some(Kept::Yes),
            (Some(Switch::Off), _) => Some(Kept::No),
            (None, Some((agent, root))) if self.workspaces.is_recorded(root, agent) => Some(Kept::Yes),
            (None, Some(_)) => Some(Kept::No),
            (None, None) => None,
        }
    }

    fn kept_of(&mut self, sessions: impl IntoIterator<Item = SessionId>) -> Vec<SessionId> {
        let mut kept: Vec<SessionId> = sessions.into_iter().filter(|session| self.keeps(*session)).collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    /// Turns a session's record on or off, or only says whether it is on.
    pub(super) fn record(&mut self, session: SessionId, wanted: Option<Switch>) -> Result<bool, String> {
        let Some(wanted) = wanted else {
            return Ok(self.setting(session) == Some(Kept::Yes));
        };
        let folder = self.wire.recorder.folder().clone();
        let configured =
            self.host.agent_of(session).is_some_and(|(agent, root)| self.workspaces.is_recorded(root, agent));
        let stored = match wanted {
            // What nobody configured is off by itself.
            Switch::Off if !configured => switch::clear(&folder, session),
            Switch::On | Switch::Off => switch::set(&folder, session, wanted),
        };
        stored.map_err(|error| format!("the switch cannot be kept: {error}"))?;
        if self.keeps(session) && wanted == Switch::Off {
            self.wire.recorder.end(session, self.clock.now());
        }
        match wanted {
            Switch::Off if !configured => self.wire.switches.remove(&session),
            Switch::On | Switch::Off => self.wire.switches.insert(session, wanted),
        };
        self.settle_wire();
        self.wire.epochs.retain(|_, known| *known != session);
        let on = self.keeps(session);
        if let Some(life) = self.host.life_of(session) {
            self.tape_if_wanted(life);
        }
        Ok(on || wanted == Switch::On)
    }

    /// What must never be in a record from now on.
    pub(super) fn hide(&self, values: Vec<String>) {
        self.wire.recorder.hide(values);
    }

    /// A process is about to start: what it may know is hidden, and whether its pipes are recorded is settled.
    pub(super) fn meet_life(&mut self, life: LifeId, spec: &AgentSpec) -> Taping {
        self.wire.recorder.hide(values_of(spec));
        self.wire.recorder.hide(self.agents.secrets().values());
        let taping = self.taping_of(life);
        let peer = format!("{} life {life}", spec.name);
        self.wire.lives.insert(life, Life { peer, dialect: spec.kind.word(), taping });
        taping
    }

    fn taping_of(&mut self, life: LifeId) -> Taping {
        if !self.wire.recorder.is_on() {
            return Taping::Off;
        }
        let meant = self.host.meant_for(life);
        if self.kept_of(meant).is_empty() { Taping::Off } else { Taping::On }
    }

    /// Before something is asked of a process: whoever it is for may be recorded, and not all before were.
    pub(super) fn tape_if_wanted(&mut self, life: LifeId) {
        let (taping, before) = (self.taping_of(life), self.wire.lives.get(&life).map(|life| life.taping));
        let Some(known) = self.wire.lives.get_mut(&life).filter(|_| before != Some(taping)) else { return };
        if let Some(orders) = self.lives.get(&life)
            && orders.try_send(AgentOrder::Tape(taping)).is_ok()
        {
            known.taping = taping;
        }
    }

    /// A recorder is on only where somebody asked for it, so most of the time this is all that it costs.
    pub(super) fn is_recording(&self) -> bool {
        self.wire.recorder.is_on()
    }
}

/// What an agent's environment holds that nobody else should read.
fn values_of(spec: &AgentSpec) -> Vec<String> {
    let Some(process) = spec.kind.process() else { return Vec::new() };
    let set = process.env.iter().filter_map(|(name, value)| match value {
        EnvValue::Plain(value) => Some((name.clone(), value.clone())),
        EnvValue::Secret(_) | EnvValue::Token(_) => None,
    });
    let passed_on = process.inherit.iter().filter_map(|name| Some((name.clone(), std::env::var(name).ok()?)));
    let all: Vec<(String, String)> = set.chain(passed_on).collect();
    secrets::of_environment(all.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// What goes to a link, with the records that it goes into as well.
pub(super) fn marked(outgoing: Outgoing, sessions: Option<std::sync::Arc<[SessionId]>>) -> Outgoing {
    match sessions {
        Some(sessions) => Outgoing::Taped(Box::new(outgoing), sessions),
        None => outgoing,
    }
}

/// Sessions whose record lies on the disk and that are not in the store: a host was killed between the two.
pub(super) fn orphans(kept: Vec<SessionId>, stored: impl Fn(SessionId) -> bool) -> HashSet<SessionId> {
    kept.into_iter().filter(|session| !stored(*session)).collect()
}
