//! A refused message or command: the link lives on. Never stands for a broken link.

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;
use ts_rs::TS;

use crate::ids::{Seq, TabId, TurnName};

/// What sort of refusal it is; each dialect has its own word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum RejectCode {
    /// Not JSON, not an object, or nested too deep.
    BadJson,
    /// An object, but not one that the dialect allows.
    BadMessage,
    /// A type that the dialect does not have.
    UnknownType,
    /// No such tab.
    UnknownTab,
    /// No such session, file or artifact.
    NotFound,
    /// It cannot be done as things are now.
    Conflict,
    /// Over one of the limits.
    TooLarge,
    /// The workspace must be trusted first.
    WorkspaceUntrusted,
    /// The agent is not there or cannot be started.
    AgentUnavailable,
    /// The host could not do what it should.
    Internal,
}

/// A refused message, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Reject {
    /// For programs.
    pub code: RejectCode,
    /// For people.
    pub message: String,
    /// The tab, as far as it could be read.
    pub tab: Option<TabId>,
    /// The turn, as far as it could be read.
    pub turn: Option<TurnName>,
    /// For a cursor that a log cannot honour: its first and its last event.
    pub window: Option<(Seq, Seq)>,
}

impl Reject {
    /// A refusal that is about no tab.
    pub fn new(code: RejectCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), tab: None, turn: None, window: None }
    }

    /// The same, about a tab.
    #[must_use]
    pub fn in_tab(self, tab: TabId) -> Self {
        Self { tab: Some(tab), ..self }
    }

    /// The same, about a turn.
    #[must_use]
    pub fn of_turn(self, turn: TurnName) -> Self {
        Self { turn: Some(turn), ..self }
    }

    /// The same, with the events that there are.
    #[must_use]
    pub fn within(self, first: Seq, last: Seq) -> Self {
        Self { window: Some((first, last)), ..self }
    }
}
