//! Which agent session stands for which session: open, opening, or closed not long ago. Knows ids and states, no messages.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use switchboard_types::{AgentSession, Past, SessionId, TurnName, Word, WorkspaceRoot};

use super::calls::Calls;
use super::options::Options;

/// Closed agent sessions that are remembered, so that their late words are told from early ones.
const MAX_CLOSED_IDS: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: HashMap<Arc<str>, Open>,
    ids: HashMap<SessionId, Arc<str>>,
    openings: BTreeMap<SessionId, Opening>,
    closed: HashSet<Arc<str>>,
    closed_order: VecDeque<Arc<str>>,
    attempts: u64,
}

/// An open agent session, or one that is read again.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) session: SessionId,
    pub(super) cwd: WorkspaceRoot,
    pub(super) turn: Option<Turn>,
    /// The turn that was asked for last: what comes after its end is still its own.
    pub(super) last: Option<TurnName>,
    pub(super) calls: Calls,
    pub(super) options: Options,
    pub(super) replay: Replay,
}

/// Whether what an agent says is new.
#[derive(Debug)]
pub(super) enum Replay {
    Over,
    /// It repeats the conversation, which the log has; what holds now is kept until the session is open.
    Running {
        held: Vec<Word>,
    },
}

/// The prompt that an agent works on.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) name: TurnName,
    pub(super) said: Said,
    pub(super) cancel: CancelSent,
}

/// Whether the agent has said anything in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    Something,
}

/// Whether a turn was called back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CancelSent {
    No,
    Yes,
}

/// What is to be opened.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) cwd: WorkspaceRoot,
    pub(super) resume: Option<AgentSession>,
    pub(super) past: Past,
}

/// A session that is to be opened.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) wanted: Wanted,
    pub(super) attempt: Attempt,
    pub(super) stage: Stage,
}

/// One try to open a session; an answer to an earlier one opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attempt(u64);

/// How far an opening is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The agent has not said what it can do.
    Greeting,
    /// The agent was asked in this way.
    Asked(Way),
    /// It failed for want of a sign-in, which is under way.
    SigningIn,
    /// It failed for want of a sign-in; kept so that it can go on after one.
    Stalled,
}

/// The ways to come to an agent session, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Resume,
    Load,
    New,
}

impl Open {
    pub(super) fn new(session: SessionId, cwd: WorkspaceRoot, replay: Replay) -> Self {
        let (calls, options) = (Calls::default(), Options::default());
        Self { session, cwd, turn: None, last: None, calls, options, replay }
    }

    /// The turn that a word belongs to.
    pub(super) fn turn_name(&self) -> Option<TurnName> {
        self.turn.as_ref().map(|turn| &turn.name).or(self.last.as_ref()).cloned()
    }

    pub(super) fn has_spoken(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.said = Said::Something;
        }
    }

    pub(super) fn replays(&self) -> bool {
        matches!(self.replay, Replay::Running { .. })
    }
}

impl Opening {
    fn resumes(&self, id: &str) -> bool {
        self.wanted.resume.as_ref().is_some_and(|resume| resume.as_str() == id)
    }
}

impl Sessions {
    pub(super) fn get(&mut self, id: &str) -> Option<&mut Open> {
        self.open.get_mut(id)
    }

    pub(super) fn id_of(&self, session: SessionId) -> Option<Arc<str>> {
        self.ids.get(&session).cloned()
    }

    /// The open agent session of a session, with its id.
    pub(super) fn of(&mut self, session: SessionId) -> Option<(Arc<str>, &mut Open)> {
        let id = self.ids.get(&session)?;
        Some((Arc::clone(id), self.open.get_mut(id)?))
    }

    pub(super) fn was_closed(&self, id: &str) -> bool {
        self.closed.contains(id)
    }

    /// Whether an agent session could come up whose id nobody knows yet.
    pub(super) fn any_opening(&self) -> bool {
        self.openings.values().any(|opening| matches!(opening.stage, Stage::Asked(_)))
    }

    /// The session for which an agent asks something. Before a new session has its id only one can be meant.
    pub(super) fn asking(&self, id: &str) -> Option<SessionId> {
        if let Some(open) = self.open.get(id) {
            return Some(open.session);
        }
        if self.was_closed(id) {
            return None;
        }
        let mut asked = self.openings.iter().filter(|(_, opening)| match opening.stage {
            Stage::Asked(Way::New) => true,
            Stage::Asked(Way::Resume | Way::Load) => opening.resumes(id),
            Stage::Greeting | Stage::SigningIn | Stage::Stalled => false,
        });
        let only = asked.next().map(|(session, _)| *session);
        only.filter(|_| asked.next().is_none())
    }

    /// Notes that a session is to be opened.
    pub(super) fn begin(&mut self, session: SessionId, wanted: Wanted, stage: Stage) {
        self.attempts += 1;
        let attempt = Attempt(self.attempts);
        self.openings.insert(session, Opening { wanted, attempt, stage });
    }

    pub(super) fn opening(&mut self, session: SessionId) -> Option<&mut Opening> {
        self.openings.get_mut(&session)
    }

    /// Every session that waits for the agent to say what it can do.
    pub(super) fn greeting(&self) -> Vec<SessionId> {
        let waits = |opening: &Opening| opening.stage == Stage::Greeting;
        self.openings.iter().filter(|(_, opening)| waits(opening)).map(|(session, _)| *session).collect()
    }

    /// Takes an opening away that has come to its end.
    pub(super) fn end_opening(&mut self, session: SessionId) -> Option<Opening> {
        self.openings.remove(&session)
    }

    /// Begins to read a session again. Says whether the id is free for that.
    pub(super) fn begin_replay(&mut self, id: &str, session: SessionId, cwd: WorkspaceRoot) -> bool {
        if self.open.contains_key(id) {
            return false;
        }
        self.open_again(id);
        self.open.insert(id.into(), Open::new(session, cwd, Replay::Running { held: Vec::new() }));
        true
    }

    /// The session could not be read again.
    pub(super) fn end_replay(&mut self, id: &str) {
        if self.open.get(id).is_some_and(Open::replays) {
            self.open.remove(id);
        }
    }

    /// An agent session is open. Gives what was held while it was read again; none if its id is taken.
    pub(super) fn opened(&mut self, id: &str, session: SessionId, cwd: WorkspaceRoot) -> Option<Vec<Word>> {
        let held = match self.open.get_mut(id) {
            Some(open) if open.replays() && open.session == session => {
                open.calls = Calls::default();
                match std::mem::replace(&mut open.replay, Replay::Over) {
                    Replay::Running { held } => held,
                    Replay::Over => Vec::new(),
                }
            }
            Some(_) => return None,
            None => {
                self.open.insert(id.into(), Open::new(session, cwd, Replay::Over));
                Vec::new()
            }
        };
        self.open_again(id);
        self.ids.insert(session, id.into());
        Some(held)
    }

    /// Forgets a session and gives the agent session that must be closed now. One that is opening is unwanted from now on.
    pub(super) fn forget(&mut self, session: SessionId) -> Option<(Arc<str>, Open)> {
        if let Some(resume) = self.openings.remove(&session).and_then(|opening| opening.wanted.resume) {
            self.end_replay(resume.as_str());
        }
        let id = self.ids.remove(&session)?;
        let open = self.open.remove(&id)?;
        self.note_closed(&id);
        Some((id, open))
    }

    /// Remembers an id whose late words nobody wants.
    pub(super) fn note_closed(&mut self, id: &str) {
        let id: Arc<str> = id.into();
        if self.closed.insert(Arc::clone(&id)) {
            self.closed_order.push_back(id);
        }
        if self.closed_order.len() > MAX_CLOSED_IDS
            && let Some(oldest) = self.closed_order.pop_front()
        {
            self.closed.remove(&oldest);
        }
    }

    fn open_again(&mut self, id: &str) {
        if self.closed.remove(id) {
            self.closed_order.retain(|closed| **closed != *id);
        }
    }
}
