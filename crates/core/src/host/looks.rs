//! What the edges may see of the host, to say what became of what they handed in. Changes nothing, and shows nobody
//! anything that is not on the disk: it is for a record beside the log, not for views.

use switchboard_types::{AgentName, Epoch, LifeId, LinkId, Page, Reject, Seq, SessionId, TabId, Told, WorkspaceRoot};

use super::Host;
use crate::input::Output;

/// Where a session's log ended at some time; the default is before its first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogMark {
    head: Seq,
    bytes: usize,
}

impl Host {
    /// Where a session's log ends now.
    #[must_use]
    pub fn mark(&self, session: SessionId) -> LogMark {
        let found = self.sessions.get(&session);
        found.map_or_else(LogMark::default, |found| LogMark { head: found.head, bytes: found.open_bytes() })
    }

    /// The events that a session got since the mark was set. Only of use until [`Host::poll_output`] is called again, which
    /// may hand them to the store.
    #[must_use]
    pub fn since(&self, session: SessionId, mark: LogMark) -> Option<Page> {
        self.sessions.get(&session)?.since(mark.head, mark.bytes)
    }

    /// How many things there are to do.
    #[must_use]
    pub fn outputs_waiting(&self) -> usize {
        self.outputs.len()
    }

    /// The refusal that a view gets, among all that there is to do after the first so many.
    #[must_use]
    pub fn refusal_after(&self, outputs: usize, link: LinkId) -> Option<&Reject> {
        self.outputs.iter().skip(outputs).find_map(|output| match output {
            Output::Tell { link: told, told: Told::Refused(reject) } if *told == link => Some(reject),
            _ => None,
        })
    }

    /// Who works in a session, and where; none if it is not in memory.
    #[must_use]
    pub fn agent_of(&self, session: SessionId) -> Option<(&AgentName, &WorkspaceRoot)> {
        self.sessions.get(&session).map(|session| (&session.agent, &session.workspace))
    }

    /// The life of a session's log; none if it is not in memory.
    #[must_use]
    pub fn epoch_of(&self, session: SessionId) -> Option<Epoch> {
        self.sessions.get(&session).map(|session| session.epoch)
    }

    /// Which process serves a session.
    #[must_use]
    pub fn life_of(&self, session: SessionId) -> Option<LifeId> {
        self.sessions.get(&session).and_then(crate::session::Session::life)
    }

    /// The sessions that a process serves, and those that it is there for.
    #[must_use]
    pub fn meant_for(&self, life: LifeId) -> Vec<SessionId> {
        let of_key = self.lives.key(life).map(|key| self.sessions_of(key)).unwrap_or_default();
        let mut all: Vec<SessionId> = self.served_by(life).chain(of_key).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The sessions at which a view is seated, each under its tab.
    pub fn seats_of(&self, link: LinkId) -> impl Iterator<Item = (&TabId, SessionId)> + '_ {
        let seats = self.links.get(&link).into_iter().flat_map(|link| link.seats.iter());
        seats.map(|(tab, seat)| (tab, seat.session))
    }
}
