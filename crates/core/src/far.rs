//! What a session has only because its agent works elsewhere: the way there, the event that is being taken, the turns by the
//! agent's own numbers. Nothing of it is stored, and nothing here decides.

use std::collections::VecDeque;

use switchboard_types::{AgentHome, AgentOption, Body, Connection, Elsewhere, Source, Time, TurnId, Upstream};

use crate::session::Session;

/// Numbers of turns that are remembered; more are never open at once.
const REMEMBERED_NUMBERS: usize = 64;

/// What is only there for an agent elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Far {
    /// How the way to the agent is.
    pub(crate) connection: Connection,
    /// Where the event comes from that is being taken; the first event of ours that it fits names it.
    pub(crate) sourcing: Option<Sourcing>,
    /// The turns by the numbers that the agent gives them, the newest last.
    numbers: VecDeque<(u32, TurnId)>,
    /// The turn that was begun because the agent said something outside any.
    pub(crate) unasked: Option<TurnId>,
    /// Before this time the agent is not asked again for a session that it refused.
    pub(crate) retry_at: Option<Time>,
    /// What comes next of the agent's log, beside what follows on what was taken.
    pub(crate) skipped: Skipped,
}

/// What was told to be missing since the agent's session was opened and nothing was taken after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Skipped {
    /// Nothing.
    #[default]
    Nothing,
    /// All up to this number.
    To(u64),
    /// Nobody knows how much.
    Unknown,
}

/// Where an event comes from that is being taken, and which of the events that it leads to stands for it.
#[derive(Debug)]
pub(crate) struct Sourcing {
    pub(crate) source: Source,
    pub(crate) on: SourcedOn,
}

/// Which event stands for one of a foreign log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourcedOn {
    /// The first.
    First,
    /// The one that queues a prompt.
    Queued,
    /// The one that ends a turn.
    Ended,
    /// The one that answers a question.
    Resolved,
}

impl SourcedOn {
    pub(crate) fn fits(self, body: &Body) -> bool {
        match self {
            Self::First => true,
            Self::Queued => matches!(body, Body::PromptQueued { .. }),
            Self::Ended => matches!(body, Body::TurnEnded { .. }),
            Self::Resolved => matches!(body, Body::ApprovalResolved { .. }),
        }
    }
}

/// What can be set of a session's agent, as it was told last, and what is still to be set.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    /// What the agent last said can be set.
    pub(crate) options: Vec<AgentOption>,
    /// The model that the session was opened with, until it is set.
    pub(crate) model_due: Option<String>,
}

impl Session {
    /// Whether its agent works elsewhere.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.home() == AgentHome::Elsewhere
    }

    /// The first prompt that waits to be sent, if nothing runs; those that an agent elsewhere has already are none.
    pub(crate) fn waiting(&self) -> Option<TurnId> {
        if self.held || self.state.running().is_some() {
            return None;
        }
        self.state.queue().find(|turn| !self.has_taken(*turn))
    }

    /// Whether an agent elsewhere has the turn's prompt.
    pub(crate) fn has_taken(&self, turn: TurnId) -> bool {
        self.state.taken().any(|taken| taken == turn)
    }

    /// The turn that an agent elsewhere works on: the first that it has taken, else the one that was sent to it.
    pub(crate) fn far_turn(&self) -> Option<TurnId> {
        self.state.taken().next().or(self.state.running())
    }

    /// The same for an event that may say its turn by the agent's own number; only where several are open does that matter.
    pub(crate) fn far_turn_numbered(&self, number: Option<u32>) -> Option<TurnId> {
        let first = self.far_turn()?;
        if self.state.taken().len() < 2 {
            return Some(first);
        }
        let known = number.and_then(|number| self.far.numbers.iter().rev().find(|(known, _)| *known == number));
        Some(known.map(|(_, turn)| *turn).filter(|turn| self.has_taken(*turn)).unwrap_or(first))
    }

    /// The turn of this number that was the agent's last; what comes late still belongs to it.
    pub(crate) fn far_turn_over(&self, number: Option<u32>) -> Option<TurnId> {
        let (known, turn) = self.far.numbers.back()?;
        (Some(*known) == number && self.state.turn(*turn).is_some()).then_some(*turn)
    }

    /// Takes note of the number that an agent elsewhere gives a turn.
    pub(crate) fn far_number(&mut self, number: Option<u32>, turn: TurnId) {
        let Some(number) = number else { return };
        if self.far.numbers.len() == REMEMBERED_NUMBERS {
            self.far.numbers.pop_front();
        }
        self.far.numbers.push_back((number, turn));
    }

    /// The largest number of the foreign log that was taken or told to be missing.
    pub(crate) fn far_upto(&self) -> Option<u64> {
        let taken = self.keeps.upstream.as_ref().and_then(|upstream| upstream.taken);
        match self.far.skipped {
            Skipped::To(to) => taken.max(Some(to)),
            Skipped::Nothing | Skipped::Unknown => taken,
        }
    }

    /// Whether an event of the foreign log is the one that comes next. Any other was said before the agent's session was
    /// opened anew: what it stands for is said again.
    pub(crate) fn is_next(&self, source: &Source) -> bool {
        let Some(seq) = source.seq else { return true };
        match (self.far_upto(), self.far.skipped) {
            (None, Skipped::Unknown) => true,
            // Some count from 0 and some from 1.
            (None, Skipped::Nothing | Skipped::To(_)) => seq <= 1,
            (Some(upto), Skipped::Unknown) => seq > upto,
            (Some(upto), Skipped::Nothing | Skipped::To(_)) => seq == upto.saturating_add(1),
        }
    }

    /// What is missing of the foreign log, as far as that is not known yet; none if nothing is, or if it was said before the
    /// agent's session was opened anew.
    pub(crate) fn missing(&self, from: Option<u64>, to: Option<u64>) -> Option<(Option<u64>, Option<u64>)> {
        let (Some(first), Some(last)) = (from, to) else { return Some((from, to)) };
        let next = self.far_upto().map_or(first, |upto| upto.saturating_add(1));
        (first <= next && next <= last).then_some((Some(next), to))
    }

    /// What an agent elsewhere must know to go on where it was; none for any other.
    pub(crate) fn elsewhere(&self) -> Option<Box<Elsewhere>> {
        let upstream = self.keeps.upstream.as_ref()?;
        let running = self.state.running();
        let taken = running.is_some_and(|turn| self.has_taken(turn));
        let running =
            running.and_then(|turn| Some((self.state.turn(turn)?.name.clone(), self.state.running_prompt()?.clone())));
        let upstream = Some(upstream).filter(|upstream| **upstream != Upstream::default()).cloned();
        Some(Box::new(Elsewhere { setup: self.keeps.setup.clone(), upstream, running, taken }))
    }
}
