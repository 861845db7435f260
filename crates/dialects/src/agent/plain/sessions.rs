//! Which agent session stands for which session: open, opening, or closed not long ago. Knows ids only, no messages.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use switchboard_types::{SessionId, TurnName};

use super::Noise;
use crate::json::shown;

/// Closed agent sessions that are remembered, so that their late words are told from early ones.
const MAX_CLOSED_IDS: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: HashMap<Arc<str>, Open>,
    ids: HashMap<SessionId, Arc<str>>,
    opening: VecDeque<Opening>,
    closed: HashSet<Arc<str>>,
    closed_order: VecDeque<Arc<str>>,
    requests: u64,
}

/// An open agent session.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) session: SessionId,
    /// The turn that was named last; its words come by the thousand.
    last: Option<TurnName>,
}

/// A request that the agent has not answered yet.
#[derive(Debug)]
struct Opening {
    request: Box<str>,
    /// None if the host no longer wants it.
    session: Option<SessionId>,
}

/// What an agent's answer to a request means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Created {
    Opened(SessionId),
    /// The host has closed the session meanwhile.
    Unwanted,
}

impl Open {
    /// The turn of this name; allocates only when the name changes.
    pub(super) fn turn(&mut self, name: &str) -> TurnName {
        match &self.last {
            Some(last) if last.as_str() == name => last.clone(),
            _ => self.last.insert(TurnName::from(name)).clone(),
        }
    }
}

impl Sessions {
    pub(super) fn open(&mut self, id: &str) -> Option<&mut Open> {
        self.open.get_mut(id)
    }

    pub(super) fn id_of(&self, session: SessionId) -> Option<&str> {
        self.ids.get(&session).map(|id| &**id)
    }

    pub(super) fn was_closed(&self, id: &str) -> bool {
        self.closed.contains(id)
    }

    pub(super) fn any_opening(&self) -> bool {
        !self.opening.is_empty()
    }

    /// Notes that a session is to be opened, and names the request.
    pub(super) fn begin(&mut self, session: SessionId) -> String {
        self.requests += 1;
        let request = format!("r{}", self.requests);
        self.opening.push_back(Opening { request: request.as_str().into(), session: Some(session) });
        request
    }

    /// The next words are likely those of this turn.
    pub(super) fn expect(&mut self, session: SessionId, name: &TurnName) {
        if let Some(open) = self.ids.get(&session).and_then(|id| self.open.get_mut(id)) {
            open.last = Some(name.clone());
        }
    }

    /// Takes an agent's answer; without a request it is the answer to the oldest one.
    pub(super) fn created(&mut self, request: Option<&str>, id: &str) -> Result<Created, Noise> {
        if self.open.contains_key(id) {
            return Err(Noise::new(format!("session {} was created twice", shown(id))));
        }
        let at = match request {
            Some(request) => self.opening.iter().position(|opening| *opening.request == *request),
            None => (!self.opening.is_empty()).then_some(0),
        };
        let Some(opening) = at.and_then(|at| self.opening.remove(at)) else {
            return Err(Noise::new(format!("nobody asked for the session {}", shown(id))));
        };
        let id: Arc<str> = id.into();
        let Some(session) = opening.session else {
            self.note_closed(id);
            return Ok(Created::Unwanted);
        };
        if self.closed.remove(&id) {
            self.closed_order.retain(|closed| *closed != id);
        }
        self.ids.insert(session, Arc::clone(&id));
        self.open.insert(id, Open { session, last: None });
        Ok(Created::Opened(session))
    }

    /// Takes a request away that failed: none if it is unknown, else the session that waited for it, if one still does.
    pub(super) fn failed(&mut self, request: &str) -> Option<Option<SessionId>> {
        let at = self.opening.iter().position(|opening| *opening.request == *request)?;
        self.opening.remove(at).map(|opening| opening.session)
    }

    /// Forgets a session; gives the agent session that must be closed now. One that is opening is unwanted from now on.
    pub(super) fn forget(&mut self, session: SessionId) -> Option<Arc<str>> {
        for opening in &mut self.opening {
            if opening.session == Some(session) {
                opening.session = None;
            }
        }
        let id = self.ids.remove(&session)?;
        self.open.remove(&id);
        self.note_closed(Arc::clone(&id));
        Some(id)
    }

    /// The agent has ended its session.
    pub(super) fn ended(&mut self, id: &str) {
        if let Some((id, open)) = self.open.remove_entry(id) {
            self.ids.remove(&open.session);
            self.note_closed(id);
        }
    }

    fn note_closed(&mut self, id: Arc<str>) {
        if self.closed.insert(Arc::clone(&id)) {
            self.closed_order.push_back(id);
        }
        if self.closed_order.len() > MAX_CLOSED_IDS
            && let Some(oldest) = self.closed_order.pop_front()
        {
            self.closed.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_ids_are_remembered_within_a_bound() {
        let mut sessions = Sessions::default();
        for number in 0..MAX_CLOSED_IDS as u64 + 1 {
            sessions.begin(SessionId(number));
            let created = sessions.created(None, &format!("s{number}"));
            assert_eq!(created, Ok(Created::Opened(SessionId(number))));
            assert_eq!(sessions.forget(SessionId(number)).as_deref(), Some(format!("s{number}").as_str()));
        }
        assert_eq!((sessions.closed.len(), sessions.closed_order.len()), (MAX_CLOSED_IDS, MAX_CLOSED_IDS));
        assert!(!sessions.was_closed("s0") && sessions.was_closed("s1"));
    }

    #[test]
    fn a_turn_that_is_named_again_is_not_allocated_again() {
        let mut open = Open { session: SessionId(1), last: Some(TurnName::from("m")) };
        let before = open.last.clone().unwrap();
        assert_eq!(open.turn("m").as_str().as_ptr(), before.as_str().as_ptr());
        assert_eq!(open.turn("n"), TurnName::from("n"));
    }
}
