//! A newtype for every id and every number with a meaning. Never parses foreign formats.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS)]
        #[serde(transparent)]
        #[ts(type = "number")]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS)]
        #[serde(transparent)]
        #[ts(type = "string")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps a name as it is; whoever takes it from outside checks its length first.
            pub fn new(name: impl Into<Arc<str>>) -> Self {
                Self(name.into())
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                Self(name.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

number! {
    /// An event's place in its log: 1, 2, 3, … without holes. As a cursor, the last event that was seen; 0 is before the first.
    Seq(u64)
}
number! {
    /// The host's conversation. Never used again, even when the session is deleted.
    SessionId(u64)
}
number! {
    /// One prompt and all that follows from it, counted from 1 within its session.
    TurnId(u32)
}
number! {
    /// Names one life of a log; it changes only if history was lost.
    Epoch(u64)
}
number! {
    /// One live connection of a view.
    LinkId(u64)
}
number! {
    /// One life of an agent's process. Words of an earlier life are never mistaken for those of a later one.
    LifeId(u64)
}
number! {
    /// One commit on its way to the disk.
    Ticket(u64)
}
number! {
    /// One page on its way from the store.
    ReadId(u64)
}
number! {
    /// One errand of an agent on its way to its end; never used again while the host runs.
    ErrandId(u64)
}
number! {
    /// A view's number for something that it wants one answer to; the view chose it, we only carry it.
    RequestNo(u64)
}
number! {
    /// Something that an agent elsewhere was asked for a view; never used again while the host runs.
    AgentRequest(u64)
}
number! {
    /// Milliseconds since 1970. The edges make it; the core only compares and adds.
    Time(u64)
}

name! {
    /// A view's own name for a tab; the view chose it, we only carry it.
    TabId
}
name! {
    /// A view's own name for a turn (its message id).
    TurnName
}
name! {
    /// An agent's name in the configuration.
    AgentName
}
name! {
    /// A workspace's folder, canonical and absolute.
    WorkspaceRoot
}
name! {
    /// An approval's name, unique within its session.
    ApprovalId
}
name! {
    /// A tool call's name; the agent chose it, we only carry it.
    CallId
}
name! {
    /// What an agent calls its own session. It is stored so that the agent can take up its session again, and never shown.
    AgentSession
}
name! {
    /// An event's name in a foreign log; whoever keeps that log chose it, we only carry it.
    SourceId
}
name! {
    /// An agent's name for something that it asks the host to do.
    ErrandName
}
name! {
    /// Something that was allowed to run or write, named by its place in the log. A command's is also its terminal's name.
    ExecutionId
}
name! {
    /// A tool's name.
    ToolName
}
name! {
    /// A stored rule's name; never used again.
    RuleId
}
name! {
    /// A setting of an agent that a person may change while it works: its mode, its model, …
    OptionId
}

impl AgentName {
    /// The agent that is built in and may run in an untrusted workspace.
    pub const DEMO: &'static str = "demo";

    /// Who works where a person calls tools: nobody. No agent of the configuration may be called so.
    pub const BENCH: &'static str = "bench";

    /// Whether this is the bench.
    #[must_use]
    pub fn is_bench(&self) -> bool {
        self.as_str() == Self::BENCH
    }

    /// Whether this is the built-in demo agent.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        self.as_str() == Self::DEMO
    }
}

impl Seq {
    /// The cursor before the first event.
    pub const START: Self = Self(0);

    /// The place after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl TurnId {
    /// The turn after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl Time {
    /// This many milliseconds later.
    #[must_use]
    pub fn after_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this time; none if it is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
