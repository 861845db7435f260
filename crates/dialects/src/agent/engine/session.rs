//! What is kept of one session of an engine. Plain state; what happens to it is decided around it.

use switchboard_types::agent::Past;
use switchboard_types::source::Setup;
use switchboard_types::{AgentSession, SessionId, Time};

use super::input::{Input, Stage};
use super::meaning::Meaning;
use super::orders::EngineRequest;
use super::taken::Taken;
use super::way::{Way, Work};

/// One session of the engine.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    /// What the engine calls it; none before it is made.
    pub(super) there: Option<AgentSession>,
    pub(super) setup: Setup,
    pub(super) past: Past,
    pub(super) making: Making,
    pub(super) way: Way,
    pub(super) taken: Taken,
    pub(super) meaning: Meaning,
    pub(super) input: Option<Input>,
    pub(super) tellings: Vec<Telling>,
    /// When its alarm rings, if one is set.
    pub(super) alarm: Option<Time>,
}

/// How far a session is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Making {
    /// It waits until the engine has said what it is.
    Waiting,
    /// It is being made.
    Asked(EngineRequest),
    /// The engine makes none without something to do: it is made with the first prompt.
    WithPrompt,
    /// It is open.
    Open,
}

/// A command that must arrive, and may arrive twice.
#[derive(Debug)]
pub(super) struct Telling {
    pub(super) what: Tell,
    pub(super) body: Vec<u8>,
    pub(super) tries: u32,
    pub(super) state: TellingState,
}

/// What a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tell {
    Stop,
    Decision,
    Setting,
}

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TellingState {
    Sent(EngineRequest),
    Waits(Time),
    /// A prompt is on its way: whoever overtakes it stops nothing.
    AfterInput,
}

impl Session {
    pub(super) fn work(&self) -> Work {
        let input = self.input.as_ref().is_some_and(|input| input.stage != Stage::Waiting);
        if input || self.meaning.is_under_way() { Work::UnderWay } else { Work::None }
    }

    /// Whether a prompt is on its way and nobody knows yet whether it has arrived.
    pub(super) fn is_sending(&self) -> bool {
        self.input.as_ref().is_some_and(|input| match input.stage {
            Stage::Posting(_) | Stage::Again { .. } | Stage::Resumed { .. } => true,
            Stage::Waiting | Stage::Uploading(_) | Stage::Unknown { .. } | Stage::Accepted | Stage::Taken => false,
        })
    }

    /// When something is due.
    pub(super) fn due(&self) -> Option<Time> {
        let telling = self.tellings.iter().filter_map(|telling| match telling.state {
            TellingState::Waits(at) => Some(at),
            TellingState::Sent(_) | TellingState::AfterInput => None,
        });
        let input = self.input.as_ref().and_then(Input::due);
        [self.way.due(self.work()), input].into_iter().flatten().chain(telling).min()
    }
}
