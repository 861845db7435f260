//! Which sessions' wires are recorded, and whose record a message belongs to. A message goes to no record but that of a
//! session that it is about; where it may be about another one too, the record says that there was one and not what.

use std::collections::{BTreeMap, HashMap, HashSet};

use switchboard_core::{Input, LogMark};
use switchboard_types::{
    Change, Command, Commit, CommitDone, Epoch, LifeId, LinkId, Reject, SessionId, Ticket, Time, Told,
};

use super::Driver;
use crate::agents::{AgentSpec, EnvValue};
use crate::link::{AgentOrder, AgentTape, Outgoing, Taping, ViewTape};
use crate::wire::entry::Events;
use crate::wire::recorder::Draft;
use crate::wire::{Direction, Recorder, Side, Switch, Verdict, secrets, switch};

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

/// Whom a message is about.
enum About {
    /// These sessions.
    Sessions(Vec<SessionId>),
    /// No session: whoever is at that link, or that process, may see it.
    Nobody(Vec<SessionId>),
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

    /// The store has answered; what is deleted takes its record along.
    pub(super) fn committed(&mut self, done: &CommitDone) {
        if self.deleting.is_empty() {
            return;
        }
        let sessions = self.deleting.remove(&done.ticket).unwrap_or_default();
        if done.changes_failed.is_none() {
            sessions.into_iter().for_each(|session| self.forget(session));
        }
    }

    /// A process has ended.
    pub(super) fn life_over(&mut self, life: LifeId) {
        self.lives.remove(&life);
    }
}

impl Driver {
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
        let Some((agent, root)) = self.host.agent_of(session) else { return false };
        let kept = match self.wire.switches.get(&session) {
            Some(Switch::On) => Kept::Yes,
            Some(Switch::Off) => Kept::No,
            None if self.workspaces.is_recorded(root, agent) => Kept::Yes,
            None => Kept::No,
        };
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

    fn kept_of(&mut self, sessions: impl IntoIterator<Item = SessionId>) -> Vec<SessionId> {
        let mut kept: Vec<SessionId> = sessions.into_iter().filter(|session| self.keeps(*session)).collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    /// Turns a session's record on or off, or only says whether it is on.
    pub(super) fn record(&mut self, session: SessionId, wanted: Option<Switch>) -> Result<bool, String> {
        let Some(wanted) = wanted else {
            let switched = self.wire.switches.get(&session).copied();
            return Ok(self.keeps(session) || (switched == Some(Switch::On) && self.host.agent_of(session).is_none()));
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

    /// A process is about to start: what it may know is hidden, and whether its pipes are recorded is settled.
    pub(super) fn meet_life(&mut self, life: LifeId, spec: &AgentSpec) -> Taping {
        self.wire.recorder.hide(values_of(spec));
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

    /// Takes what went over a process's pipes: hands in the words of one message at a time, so that each is known by its
    /// events. Their order is the one in which they would be handed in together.
    pub(super) fn agent_tape(&mut self, life: LifeId, items: Vec<AgentTape>) {
        for item in items {
            match item {
                AgentTape::Heard { at, raw, bytes, words, noise } => {
                    let named: Vec<SessionId> = words.iter().filter_map(switchboard_types::Word::session).collect();
                    let served = |session: &SessionId| self.host.life_of(*session) == Some(life);
                    let late = noise.is_none() && !named.is_empty() && !named.iter().any(served);
                    let verdict = match (&noise, late) {
                        (Some(_), _) => Verdict::Noise,
                        (None, true) => Verdict::Late,
                        (None, false) => Verdict::Ok,
                    };
                    let about = if named.is_empty() { self.about_life(life) } else { About::Sessions(named) };
                    let marks = self.marks(&about);
                    if !words.is_empty() {
                        self.host.handle(self.clock.now(), Input::Words { life, words });
                    }
                    let draft = self.of_life(life, at, Direction::In, bytes, raw);
                    self.keep(about, marks, Draft { verdict, why: noise, ..draft });
                }
                AgentTape::Told { at, raw, bytes, session } => {
                    let about = match session {
                        Some(session) => About::Sessions(vec![session]),
                        None => self.about_life(life),
                    };
                    let draft = self.of_life(life, at, Direction::Out, bytes, raw);
                    self.keep(about, Vec::new(), draft);
                }
                AgentTape::LeftOut(count) => {
                    let served: Vec<SessionId> = self.host.served_by(life).collect();
                    for session in self.kept_of(served) {
                        self.wire.recorder.leave_out(session, count);
                    }
                }
            }
        }
    }

    /// Hands something about a process to the host, and notes it in the records of its sessions.
    pub(super) fn agent_note(&mut self, life: LifeId, name: &'static str, why: Option<String>, input: Input) {
        if !self.is_recording() {
            return self.host.handle(self.clock.now(), input);
        }
        let about = About::Nobody(self.host.meant_for(life));
        let marks = self.marks(&about);
        let now = self.clock.now();
        self.host.handle(now, input);
        let draft = self.of_life(life, now, Direction::Note, 0, bytes::Bytes::new());
        self.keep(about, marks, Draft { name, why, raw: None, ..draft });
    }

    fn about_life(&self, life: LifeId) -> About {
        let served: Vec<SessionId> = self.host.served_by(life).collect();
        About::Nobody(if served.is_empty() { self.host.meant_for(life) } else { served })
    }

    fn of_life(&self, life: LifeId, at: Time, dir: Direction, bytes: usize, raw: bytes::Bytes) -> Draft {
        let known = self.wire.lives.get(&life);
        let peer = known.map_or_else(|| format!("life {life}"), |known| known.peer.clone());
        let dialect = known.map_or("", |known| known.dialect);
        draft(at, Side::Agent, peer, dir, dialect, bytes, raw)
    }

    /// Takes a message of a view as it came.
    pub(super) fn view_tape(&mut self, link: LinkId, tape: ViewTape) {
        let ViewTape { at, kind, raw, bytes, read } = tape;
        let of_link = |dir, bytes, raw| draft(at, Side::View, format!("link {link}"), dir, kind.name(), bytes, raw);
        match read {
            Ok(command) => {
                let (before, outputs) = (self.about_command(link, &command), self.host.outputs_waiting());
                let marks = self.marks(&before);
                let again = command.clone();
                self.command(link, command);
                let refusal = self.host.refusal_after(outputs, link).map(|reject| reject.message.clone());
                let about = before.or(self.about_command(link, &again));
                let verdict = if refusal.is_some() { Verdict::Refused } else { Verdict::Ok };
                self.keep(about, marks, Draft { verdict, why: refusal, ..of_link(Direction::In, bytes, raw) });
            }
            Err((reject, answers)) => {
                let about = |driver: &Self| driver.about_refusal(link, &reject);
                let refused = Draft {
                    verdict: Verdict::Refused,
                    why: Some(reject.message.clone()),
                    ..of_link(Direction::In, bytes, raw)
                };
                self.keep(about(self), Vec::new(), refused);
                for answer in answers {
                    let draft = of_link(Direction::Out, answer.len(), answer);
                    self.keep(about(self), Vec::new(), draft);
                }
            }
        }
    }

    fn about_command(&self, link: LinkId, command: &Command) -> About {
        match command {
            Command::Ready { seen } | Command::Watch { seen } => {
                let sessions: Vec<SessionId> = seen.iter().filter_map(|(tab, _)| self.host.session_of(tab)).collect();
                if seen.is_empty() { self.about_link(link) } else { About::Sessions(sessions) }
            }
            Command::OpenSession { session, .. } | Command::DeleteSession { session } => {
                About::Sessions(vec![*session])
            }
            Command::Visibility(_) | Command::Ping { .. } => self.about_link(link),
            other => About::Sessions(other.tab().and_then(|tab| self.host.session_of(tab)).into_iter().collect()),
        }
    }

    /// A refusal that names no tab may be about any session of the link.
    fn about_refusal(&self, link: LinkId, reject: &Reject) -> About {
        match &reject.tab {
            Some(tab) => About::Sessions(self.host.session_of(tab).into_iter().collect()),
            None => About::Sessions(self.host.seats_of(link).map(|(_, session)| session).collect()),
        }
    }

    fn about_link(&self, link: LinkId) -> About {
        About::Nobody(self.host.seats_of(link).map(|(_, session)| session).collect())
    }

    /// The records that something told goes into; none for what lists several sessions.
    fn about_told(&self, link: LinkId, told: &Told) -> Vec<SessionId> {
        let about = match told {
            Told::Events { epoch, tab, .. } => {
                let by_tab = self.host.session_of(tab).filter(|session| self.host.epoch_of(*session) == Some(*epoch));
                return self.wire.epochs.get(epoch).copied().or(by_tab).into_iter().collect();
            }
            Told::Gap { tab, .. } | Told::Reset { tab } => {
                return self.host.session_of(tab).into_iter().collect();
            }
            Told::Session(summary) => {
                let seated = self.host.seats_of(link).any(|(_, session)| session == summary.session);
                return if seated { vec![summary.session] } else { Vec::new() };
            }
            Told::Refused(reject) => self.about_refusal(link, reject),
            Told::Pong { .. } => self.about_link(link),
            _ => return Vec::new(),
        };
        match about {
            // What may be about one of several is kept for none: a view is told what went wrong in any case.
            About::Sessions(sessions) if sessions.iter().any(|one| Some(one) != sessions.first()) => Vec::new(),
            About::Sessions(sessions) | About::Nobody(sessions) => sessions,
        }
    }

    /// What is told to a view, marked with the records that it goes into.
    pub(super) fn taped(&mut self, link: LinkId, told: &Told) -> Option<std::sync::Arc<[SessionId]>> {
        let about = self.about_told(link, told);
        let kept = self.kept_of(about);
        (!kept.is_empty()).then(|| kept.into())
    }

    fn marks(&self, about: &About) -> Vec<(SessionId, LogMark)> {
        let (About::Sessions(sessions) | About::Nobody(sessions)) = about;
        sessions.iter().map(|session| (*session, self.host.mark(*session))).collect()
    }

    /// Keeps a message in the records that it belongs to, with the events that each session got since its mark.
    fn keep(&mut self, about: About, marks: Vec<(SessionId, LogMark)>, draft: Draft) {
        let withhold = match &about {
            About::Sessions(sessions) => sessions.iter().any(|one| Some(one) != sessions.first()),
            // One that names a session in its own way, and is about none that we know, may be about another.
            About::Nobody(sessions) => sessions.len() > 1 && names_a_session(&draft),
        };
        let (About::Sessions(sessions) | About::Nobody(sessions)) = about;
        for session in self.kept_of(sessions) {
            let mark = marks.iter().find(|(marked, _)| *marked == session).map(|(_, mark)| *mark);
            let events = match (draft.dir, mark) {
                (Direction::Out, _) => None,
                // One that was not there before has all its events from this.
                (_, mark) => self.host.since(session, mark.unwrap_or_default()).as_ref().map(Events::from),
            };
            let mut kept = Draft { events, ..draft.clone() };
            if withhold && kept.raw.take().is_some() && kept.why.is_none() {
                kept.why = Some("it may be about another session as well, so what it says is not kept".to_owned());
            }
            self.wire.recorder.keep(session, kept);
        }
    }
}

impl About {
    /// The same, with what became known meanwhile.
    fn or(self, later: Self) -> Self {
        match (self, later) {
            (Self::Nobody(sessions), _) => Self::Nobody(sessions),
            (Self::Sessions(mut sessions), Self::Sessions(more)) => {
                sessions.extend(more);
                sessions.sort_unstable();
                sessions.dedup();
                Self::Sessions(sessions)
            }
            (Self::Sessions(sessions), Self::Nobody(_)) => Self::Sessions(sessions),
        }
    }
}

fn draft(
    at: Time,
    side: Side,
    peer: String,
    dir: Direction,
    dialect: &'static str,
    bytes: usize,
    raw: bytes::Bytes,
) -> Draft {
    Draft {
        at,
        side,
        peer,
        dir,
        dialect,
        name: "",
        bytes,
        verdict: Verdict::Ok,
        why: None,
        events: None,
        raw: Some(raw),
    }
}

/// Whether a message carries an id of a session, in whatever way.
fn names_a_session(draft: &Draft) -> bool {
    let Some(raw) = &draft.raw else { return false };
    let text = String::from_utf8_lossy(raw);
    ["\"sessionId\"", "\"session_id\"", "\"session\""].iter().any(|key| text.contains(key))
}

/// What an agent's environment holds that nobody else should read.
fn values_of(spec: &AgentSpec) -> Vec<String> {
    let Some(process) = spec.kind.process() else { return Vec::new() };
    let set = process.env.iter().filter_map(|(name, value)| match value {
        EnvValue::Plain(value) => Some((name.clone(), value.clone())),
        EnvValue::Secret(_) => None,
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
