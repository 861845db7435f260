//! When something must be looked at again. Never reads a clock; entries may be stale and whoever is woken checks.

use std::collections::BTreeSet;

use switchboard_types::{ApprovalId, LifeId, SessionId, Time};

use crate::lives::AgentKey;
use crate::open::{BatchNo, CallNo};

/// What to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    /// A session that opens an agent session, waits for a cancelled turn, or has heard nothing for long.
    Session(SessionId),
    /// An agent that waits to be started again.
    Agent(AgentKey),
    /// A call of a tool that may take too long.
    Call(CallNo),
    /// A question that may wait too long.
    Approval(SessionId, ApprovalId),
    /// A change of a file that an editor may take too long to show.
    Showing(BatchNo),
    /// A process that nobody may need any more.
    Idle(LifeId),
}

/// All alarms, soonest first.
#[derive(Debug, Default)]
pub(crate) struct Timers(BTreeSet<(Time, Alarm)>);

impl Timers {
    pub(crate) fn set(&mut self, at: Time, alarm: Alarm) {
        self.0.insert((at, alarm));
    }

    pub(crate) fn soonest(&self) -> Option<Time> {
        self.0.first().map(|(at, _)| *at)
    }

    /// The next alarm that is due, once.
    pub(crate) fn due(&mut self, now: Time) -> Option<Alarm> {
        if self.soonest()? > now {
            return None;
        }
        self.0.pop_first().map(|(_, alarm)| alarm)
    }
}
