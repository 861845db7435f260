//! What a list shows of a session: as much of its state as is durable. Never more than that.

use switchboard_types::{Outcome, SessionKeeps, SessionPolicy, Status, Time};

use crate::fold::State;

/// What a list shows of a session's state.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) title: String,
    pub(crate) status: Status,
    pub(crate) queued: usize,
    pub(crate) approvals: usize,
    pub(crate) exited: bool,
    pub(crate) closed: bool,
    pub(crate) ended: Option<Outcome>,
    pub(crate) policy: SessionPolicy,
    pub(crate) updated: Time,
}

impl Shown {
    pub(crate) fn of(state: &State, keeps: &SessionKeeps, updated: Time) -> Self {
        Self {
            title: state.title.clone(),
            status: state.status(),
            queued: state.queue().len(),
            approvals: state.approvals().count(),
            exited: state.agent_exit.is_some(),
            closed: state.closed,
            ended: keeps.ended,
            policy: keeps.policy.clone(),
            updated,
        }
    }
}
