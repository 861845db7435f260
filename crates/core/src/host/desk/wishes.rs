//! What only an agent elsewhere can answer: asked of it once, and answered once, whatever becomes of it meanwhile.

use switchboard_types::limits::MAX_OPEN_REQUESTS;
use switchboard_types::{AgentRequest, Ask, LifeId, Reject, RejectCode, SessionAnswer, SessionId, Wish};

use super::super::Host;
use super::DeskAsker;
use crate::session::AgentPlace;

/// Something that an agent elsewhere was asked.
#[derive(Debug)]
pub(in super::super) struct Wished {
    /// Who waits for the answer, if anybody does.
    pub(super) asker: Option<DeskAsker>,
    pub(in super::super) session: SessionId,
    pub(in super::super) life: LifeId,
}

impl Host {
    /// Asks the agent; whoever waits is answered by [`Host::replied`] or [`Host::fail_wishes`].
    pub(in super::super) fn wish(&mut self, id: SessionId, asker: Option<DeskAsker>, wish: Wish) -> Result<(), Reject> {
        let place = self.sessions.get(&id).map(|session| session.place);
        let Some(AgentPlace::Open { life }) = place else {
            let message = "the agent cannot be reached now; try again when it is back";
            return Err(Reject::new(RejectCode::AgentUnavailable, message));
        };
        if self.desk.wishes.values().filter(|wish| wish.session == id).count() >= MAX_OPEN_REQUESTS {
            let message =
                format!("{MAX_OPEN_REQUESTS} requests to this agent have no answer yet; wait for some of them");
            return Err(Reject::new(RejectCode::TooLarge, message));
        }
        self.desk.last_wish += 1;
        let request = AgentRequest(self.desk.last_wish);
        self.desk.wishes.insert(request, Wished { asker, session: id, life });
        self.ask(id, life, Ask::Wish { session: id, request, wish });
        Ok(())
    }

    /// The agent has answered.
    pub(in super::super) fn replied(
        &mut self,
        id: SessionId,
        request: AgentRequest,
        result: Result<Box<SessionAnswer>, Reject>,
    ) {
        if self.desk.wishes.get(&request).is_none_or(|wish| wish.session != id) {
            self.counters.late_words += 1;
            return;
        }
        let asker = self.desk.wishes.remove(&request).and_then(|wish| wish.asker);
        if let Some(asker) = asker {
            self.answer_desk(asker, result.map(|answer| *answer));
        }
    }

    /// Nobody will answer these any more.
    pub(in super::super) fn fail_wishes(&mut self, reason: &str, picks: impl Fn(&Wished) -> bool) {
        let lost: Vec<AgentRequest> =
            self.desk.wishes.iter().filter(|(_, wish)| picks(wish)).map(|(request, _)| *request).collect();
        for request in lost {
            let Some(asker) = self.desk.wishes.remove(&request).and_then(|wish| wish.asker) else { continue };
            let message = format!("the agent was lost before it answered: {reason}");
            self.answer_desk(asker, Err(Reject::new(RejectCode::AgentUnavailable, message)));
        }
    }
}
