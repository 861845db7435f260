//! Which session a link has selected, and what is told of it: its events and its connection, of no other. The host keeps the
//! seat; here is only its name.

use switchboard_types::{
    AgentHome, Command, Epoch, FollowFrom, Page, Reject, Seen, Seq, SessionId, SessionRequest, SessionSummary, TabId,
    Time, TurnNames,
};

use super::Bb;
use super::events::{Full, Place};
use super::open::{From, Kind, Selecting};
use super::said::{ConnectionShape, SessionResult};
use super::schema::Topic;

/// The selected session.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) session: SessionId,
    /// The name under which its events come.
    tab: TabId,
    epoch: Epoch,
    /// The last event that came.
    last: Seq,
    listening: Listening,
    /// What was told of its connection last.
    told: Option<ConnectionShape>,
}

/// Whether events are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listening {
    /// They are.
    Yes,
    /// The same session is being selected again from another place; what is on its way belongs to the seat before.
    NotNow,
    /// The session has no tab any more, so nothing comes until it has one again.
    SeatGone,
}

/// The names that come with a page.
pub(super) struct Told<'a> {
    pub(super) tab: &'a TabId,
    pub(super) names: &'a TurnNames,
    pub(super) epoch: Epoch,
    pub(super) home: AgentHome,
}

impl Bb {
    /// A request that may change the selection is about to be asked.
    pub(super) fn choosing(&mut self, kind: &Kind) {
        match kind {
            Kind::Create { choice } => self.choice = *choice,
            Kind::Select(selecting) => {
                self.choice = selecting.choice;
                if let Some(seat) = self.seat.as_mut().filter(|seat| seat.session == selecting.session) {
                    seat.listening = Listening::NotNow;
                    self.batch.clear();
                }
            }
            _ => {}
        }
    }

    /// The host has given a seat.
    pub(super) fn seated(
        &mut self,
        id: Option<String>,
        selecting: &Selecting,
        (tab, epoch): (&TabId, Epoch),
        message: &mut dyn FnMut(&[u8]),
    ) {
        let session = selecting.session;
        let is_last = selecting.choice == self.choice;
        let before = self.seat.as_ref().map(|seat| seat.session);
        if is_last {
            // What still waits is of the seat before.
            self.batch.clear();
            let (tab, listening) = (tab.clone(), Listening::Yes);
            self.seat = Some(Seat { session, tab, epoch, last: Seq::START, listening, told: None });
            self.state.is_stale = true;
        }
        if let Some(id) = id {
            self.result(&id, selecting.method, &SessionResult { session_id: session.to_string() }, message);
        }
        if is_last {
            self.tell_connection(selecting.from == From::Lost, message);
        }
        // Something else was selected meanwhile, or before.
        let leave = if is_last { before } else { Some(session) };
        if let Some(leave) = leave.filter(|leave| self.seat.as_ref().is_none_or(|seat| seat.session != *leave)) {
            self.leave(leave);
        }
    }

    fn leave(&mut self, session: SessionId) {
        let request = self.requests.open(None, Kind::Leave);
        self.asks.push_back(Command::Session { request, what: SessionRequest::Leave { session } });
    }

    /// The host cannot honour the place from which a session should be followed; tries the next one. Hands the reject
    /// back if there is none.
    pub(super) fn elsewhere(&mut self, id: Option<String>, mut selecting: Selecting) {
        let from = selecting.ways.pop_front().unwrap_or_else(|| {
            selecting.from = From::Lost;
            FollowFrom::Start
        });
        let session = selecting.session;
        let request = self.requests.open(id, Kind::Select(selecting));
        self.asks.push_back(Command::Session { request, what: SessionRequest::Follow { session, from } });
    }

    /// A session was not given a seat, so what was selected stays selected.
    pub(super) fn not_seated(&mut self, session: SessionId) {
        let Some(seat) = self.seat.as_mut().filter(|seat| seat.session == session) else { return };
        if seat.listening == Listening::NotNow {
            seat.listening = Listening::SeatGone;
            self.sit_again();
        }
    }

    /// Asks for the seat that was lost, after the last event that came.
    fn sit_again(&mut self) {
        let Some(seat) = self.seat.as_ref().filter(|seat| seat.listening == Listening::SeatGone) else { return };
        let session = seat.session;
        let from = FollowFrom::After(Seen { seq: seat.last, epoch: Some(seat.epoch) });
        let request = self.requests.open(None, Kind::Again { session });
        self.asks.push_back(Command::Session { request, what: SessionRequest::Follow { session, from } });
    }

    /// The lost seat is there again, or not.
    pub(super) fn again(&mut self, session: SessionId, given: Result<(&TabId, Epoch), &Reject>) {
        // If it is not given, it is asked for again with the next change of the session.
        let Ok((tab, epoch)) = given else { return };
        match self.seat.as_mut().filter(|seat| seat.session == session) {
            Some(seat) if seat.listening == Listening::SeatGone => {
                (seat.tab, seat.epoch, seat.listening) = (tab.clone(), epoch, Listening::Yes);
            }
            Some(_) => {}
            None => self.leave(session),
        }
    }

    /// A session has changed.
    pub(super) fn session_changed(&mut self, summary: &SessionSummary, message: &mut dyn FnMut(&[u8])) {
        self.known.session(summary);
        self.state.is_stale = true;
        let Some(seat) = self.seat.as_mut().filter(|seat| seat.session == summary.session) else { return };
        match (&summary.tab, seat.listening) {
            (None, Listening::Yes) => seat.listening = Listening::SeatGone,
            (Some(_), Listening::SeatGone) => self.sit_again(),
            _ => {}
        }
        self.tell_connection(false, message);
    }

    /// A session is gone.
    pub(super) fn session_gone(&mut self, session: SessionId) {
        self.known.forget(session);
        self.state.is_stale = true;
        if self.seat.as_ref().is_some_and(|seat| seat.session == session) {
            self.seat = None;
            self.batch.clear();
        }
    }

    /// Tells how the way to the selected session's agent is, if that is news; a gap always is.
    fn tell_connection(&mut self, has_gap: bool, message: &mut dyn FnMut(&[u8])) {
        let Some(session) = self.seat.as_ref().map(|seat| seat.session) else { return };
        let connection = self.known.connection(session);
        let is_news = self.seat.as_ref().is_some_and(|seat| seat.told.as_ref() != Some(&connection));
        if !is_news && !has_gap {
            return;
        }
        // What came before it is told before it.
        self.flush(message);
        let told = if has_gap {
            ConnectionShape { gap_detected: Some(true), ..connection.clone() }
        } else {
            connection.clone()
        };
        self.out(message).connection(&told);
        if let Some(seat) = &mut self.seat {
            seat.told = Some(connection);
        }
    }

    /// Events of the selected session are lost.
    pub(super) fn gap(&mut self, tab: &TabId, message: &mut dyn FnMut(&[u8])) {
        if self.listens_to(tab) {
            self.tell_connection(true, message);
        }
    }

    fn listens_to(&self, tab: &TabId) -> bool {
        self.seat.as_ref().is_some_and(|seat| seat.tab == *tab && seat.listening != Listening::NotNow)
    }

    /// Events have come.
    pub(super) fn events(&mut self, now: Time, told: &Told<'_>, page: &Page, message: &mut dyn FnMut(&[u8])) {
        // Those of a seat that was left may still be on their way.
        if !self.listens_to(told.tab) {
            return;
        }
        let place = Place { epoch: told.epoch, names: told.names, home: told.home };
        for event in page.events() {
            let Some(mut looked) = self.batch.look(&event, &place) else { continue };
            if looked.is_gap() {
                self.tell_connection(true, message);
                // What was told in between has taken nothing but the batch.
                let Some(again) = self.batch.look(&event, &place) else { continue };
                looked = again;
            }
            if self.batch.add(now, &event, &looked, &place) == Full::Yes {
                self.flush(message);
            }
        }
        if let Some(seat) = &mut self.seat {
            (seat.last, seat.epoch) = (page.last(), told.epoch);
        }
    }

    /// Tells the events that wait.
    pub(super) fn flush(&mut self, message: &mut dyn FnMut(&[u8])) {
        let Some(seat) = &self.seat else { return self.batch.clear() };
        let mut payload = Vec::new();
        if self.batch.take(seat.session, &mut payload) == Full::Yes {
            self.out(message).topic(Topic::Events, |out| out.extend_from_slice(&payload));
        }
    }
}
