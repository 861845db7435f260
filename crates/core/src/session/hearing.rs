//! What a session hears from its agent: which turn a word is for, how far a foreign log was taken, whether the agent may
//! sleep. Never decides what happens next.

use switchboard_types::{Ask, Body, LifeId, Seq, Source, SourceCursor, Time, TurnId, TurnName, TurnPhase};

use super::{AgentPlace, Numbers, Recap, Session};
use crate::far::Skipped;
use crate::fold::{TurnState, Whose};
use crate::input::Output;

impl Session {
    /// The same for an event that comes from a foreign log: how far that was taken is stored with it.
    pub(crate) fn append_sourced(&mut self, now: Time, turn: Option<TurnId>, body: &Body, source: Source) -> Seq {
        self.head = self.open.push_from(now, turn, body, Some(&source));
        self.state.apply_from(self.head, turn, body, Whose::Theirs);
        let upstream = self.keeps.upstream.get_or_insert_default();
        upstream.taken = upstream.taken.max(source.seq);
        upstream.last = Some(SourceCursor { id: source.id, seq: source.seq });
        self.far.skipped = Skipped::Nothing;
        self.dirty_row = true;
        self.note(now, turn, body)
    }

    /// Forgets how far a foreign log was taken: there is a gap in it, or it begins anew, and then so do its numbers.
    pub(crate) fn forget_cursor(&mut self, numbers: Numbers) {
        let upstream = self.keeps.upstream.get_or_insert_default();
        upstream.last = None;
        if numbers == Numbers::BeginAnew {
            upstream.taken = None;
        }
        self.dirty_row = true;
    }

    /// The running turn, as far as the agent can know of it: its prompt has left.
    pub(crate) fn heard_turn(&self) -> Option<TurnId> {
        if self.is_elsewhere() {
            let number = self.far.sourcing.as_ref().and_then(|sourcing| sourcing.source.turn);
            return self.far_turn_numbered(number);
        }
        let withheld =
            self.gated.iter().any(|(_, output)| matches!(output, Output::Ask { ask: Ask::Prompt { .. }, .. }));
        self.state.running().filter(|_| !withheld)
    }

    /// The turn that a word is for: the running one, or the one that the agent names.
    pub(crate) fn turn_for(&self, name: Option<&TurnName>) -> Option<TurnId> {
        let running = self.heard_turn();
        let Some(name) = name else { return running };
        match running.and_then(|turn| self.state.turn(turn)) {
            Some(turn) if turn.name == *name => running,
            _ => self.state.turn_named(name).filter(|turn| self.state.turn(*turn).is_some_and(has_started)),
        }
    }

    /// How many turns are ahead of one that waits; 0 for any other.
    pub(crate) fn position_of(&self, turn: TurnId) -> u32 {
        let Some(ahead) = self.state.queue().position(|waiting| waiting == turn) else { return 0 };
        u32::try_from(ahead + usize::from(self.state.running().is_some())).unwrap_or(u32::MAX)
    }

    /// A turn that is over before its prompt could leave: the agent must not begin with it now.
    pub(crate) fn withhold(&mut self, turn: TurnId) {
        let Some(over) = self.state.turn(turn).map(|state| state.name.clone()) else { return };
        self.gated.retain(|(_, output)| match output {
            Output::Ask { ask: Ask::Prompt { name, .. } | Ask::Cancel { name, .. }, .. } => *name != over,
            _ => true,
        });
    }

    /// Whether its process may go: nothing runs or waits, and the agent can take the session up again.
    pub(crate) fn can_sleep(&self) -> bool {
        !self.is_elsewhere()
            && matches!(self.place, AgentPlace::Open { .. })
            && self.state.running().is_none()
            && (self.held || self.state.queue().len() == 0)
            && self.agent_session.is_some()
            && self.recap == Recap::None
    }

    /// The life that serves this session, if there is one.
    pub(crate) fn life(&self) -> Option<LifeId> {
        match self.place {
            AgentPlace::None => None,
            AgentPlace::Opening { life, .. } | AgentPlace::Open { life } => Some(life),
        }
    }
}

fn has_started(turn: &TurnState) -> bool {
    turn.phase != TurnPhase::Queued
}
