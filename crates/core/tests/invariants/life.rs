//! One life of an agent as the world around the host keeps it.

use std::collections::{BTreeSet, HashMap};

use switchboard_core::EndHow;
use switchboard_types::{Ask, Memory, Past, SessionId, TurnName, Word};

/// One life of an agent.
#[derive(Default)]
pub(crate) struct Life {
    pub(crate) agent: String,
    pub(crate) started: bool,
    pub(crate) opened: BTreeSet<SessionId>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) running: HashMap<SessionId, TurnName>,
    pub(crate) ending: Option<EndHow>,
}

impl Life {
    /// How an agent that can take sessions up again says that one is open; the shared ones cannot.
    pub(crate) fn opens(&self, session: SessionId) -> Word {
        let asked = self.asks.iter().rev().find_map(|ask| match ask {
            Ask::OpenSession { session: of, resume, past, .. } if *of == session => Some((resume.is_some(), *past)),
            _ => None,
        });
        if self.agent != "own" && self.agent != "far" {
            return Word::opened(session);
        }
        let memory = match asked {
            Some((true, _)) => Some(Memory::Resumed),
            Some((false, Past::Spoken)) => Some(Memory::Summarized),
            Some((false, Past::Blank)) | None => None,
        };
        Word::SessionOpened { session, agent_session: Some("theirs".into()), memory }
    }

    /// Agent sessions that were asked for and not opened yet.
    pub(crate) fn wanted(&self) -> Vec<SessionId> {
        let asked = self.asks.iter().filter_map(|ask| match ask {
            Ask::OpenSession { session, .. } => Some(*session),
            _ => None,
        });
        asked.collect()
    }
}
