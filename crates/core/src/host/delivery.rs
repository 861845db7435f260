//! Seats: each is reading or following, and nothing slips between. Never keeps an event for a view; a view that does not
//! read costs its cursor.

use std::sync::Arc;

use switchboard_types::limits::READ_PAGE_BYTES;
use switchboard_types::{
    AgentHome, Epoch, LinkId, Page, ReadId, Reject, RejectCode, Seen, Seq, SessionId, TabId, Time, Told, TurnNames,
    Visibility,
};

use super::Host;
use crate::input::{Output, Slice};
use crate::seat::{Link, Mode, Reading, Seat, UseOf};

/// What a seat is told of a page that was just committed: the page, if it follows and its link takes events.
pub(super) fn live(
    link: &mut Link,
    (session, tab): (SessionId, &TabId),
    page: &Arc<Page>,
    names: &TurnNames,
    (epoch, home): (Epoch, AgentHome),
) -> Option<Told> {
    let room = link.takes_events();
    let seat = link.seats.get_mut(tab).filter(|seat| seat.session == session && seat.mode == Mode::Following)?;
    if !room {
        seat.mode = Mode::Behind;
        return None;
    }
    // The store may have shown the seat this page already, before it answered for the commit.
    let rest = rest_after(page, seat.cursor)?;
    seat.cursor = rest.last();
    link.in_flight += rest.cost();
    Some(Told::Events { tab: tab.clone(), page: rest, names: names.clone(), epoch, home })
}

fn rest_after(page: &Arc<Page>, cursor: Seq) -> Option<Arc<Page>> {
    if cursor < page.first() { Some(Arc::clone(page)) } else { page.after(cursor).map(Arc::new) }
}

impl Host {
    pub(super) fn link_opened(&mut self, link: LinkId) {
        self.links.insert(link, Link::new());
    }

    pub(super) fn link_closed(&mut self, now: Time, link: LinkId) {
        let Some(gone) = self.links.remove(&link) else { return };
        if let Some(reading) = gone.reading {
            self.reads.remove(&reading.read);
        }
        for (tab, seat) in gone.seats {
            if let Some(session) = self.sessions.get_mut(&seat.session) {
                session.watchers.remove(&(link, tab));
            }
            self.forget_if_over(seat.session);
        }
        self.leave_desk(link);
        self.drop_batches(now, link);
        self.take_tools_back(now, link);
    }

    /// Puts a link at a tab, after the last event that it has seen.
    pub(super) fn seat(&mut self, link_id: LinkId, tab: &TabId, session_id: SessionId, seen: Seen) {
        let Some(link) = self.links.get_mut(&link_id) else { return };
        let Some(session) = self.sessions.get_mut(&session_id) else { return };
        session.held = false;
        session.watchers.insert((link_id, tab.clone()));
        let durable = session.durable;
        let moved = link.seats.get(tab).map(|old| old.session).filter(|old| *old != session_id);
        // A page that is on its way for the old place of this seat must not be taken for the new one.
        if let Some(reading) = link.reading.as_mut().filter(|reading| reading.tab == *tab) {
            reading.use_of = UseOf::Nothing;
        }
        let of_another_life = seen.seq > Seq::START && seen.epoch.is_some_and(|epoch| epoch != session.epoch);
        let reset = moved.is_some() || of_another_life || seen.seq > durable;
        let cursor = if reset { Seq::START } else { seen.seq };
        let mode = if cursor == durable { Mode::Following } else { Mode::Behind };
        link.seats.insert(tab.clone(), Seat { session: session_id, cursor, mode });
        if let Some(old) = moved {
            self.leave(link_id, tab, old);
        }
        if reset {
            self.tell(link_id, Told::Reset { tab: tab.clone() });
        }
        self.catch_up(link_id);
    }

    /// A view follows a tab no longer.
    pub(super) fn leave_tab(&mut self, link_id: LinkId, tab: &TabId) {
        let Some(link) = self.links.get_mut(&link_id) else { return };
        let Some(seat) = link.seats.remove(tab) else { return };
        if let Some(reading) = link.reading.as_mut().filter(|reading| reading.tab == *tab) {
            reading.use_of = UseOf::Nothing;
        }
        self.leave(link_id, tab, seat.session);
    }

    /// The link's seat of this name is at another session now, or nowhere.
    fn leave(&mut self, link: LinkId, tab: &TabId, session: SessionId) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.watchers.remove(&(link, tab.clone()));
        }
        self.forget_if_over(session);
    }

    pub(super) fn drained(&mut self, link_id: LinkId, bytes: usize) {
        if let Some(link) = self.links.get_mut(&link_id) {
            link.in_flight = link.in_flight.saturating_sub(bytes);
            self.tell_stale(link_id);
            self.catch_up(link_id);
        }
    }

    pub(super) fn visibility(&mut self, link_id: LinkId, visibility: Visibility) {
        if let Some(link) = self.links.get_mut(&link_id) {
            link.visibility = visibility;
            self.catch_up(link_id);
        }
    }

    /// A session was read anew: a commit that seemed to fail may be on the disk after all, so its seats look again.
    pub(super) fn look_again(&mut self, session: SessionId) {
        let Some(watchers) = self.sessions.get(&session).map(|session| session.watchers.clone()) else { return };
        for (link_id, tab) in watchers {
            let seat = self.links.get_mut(&link_id).and_then(|link| link.seats.get_mut(&tab));
            if let Some(seat) = seat.filter(|seat| seat.mode == Mode::Following) {
                seat.mode = Mode::Behind;
            }
            self.catch_up(link_id);
        }
    }

    /// Reads the next page for the next seat that is behind, if the link takes one.
    fn catch_up(&mut self, link_id: LinkId) {
        let Some(link) = self.links.get_mut(&link_id) else { return };
        while link.takes_pages() {
            let Some(tab) = link.next_behind() else { return };
            let Some(seat) = link.seats.get_mut(&tab) else { return };
            let durable = self.sessions.get(&seat.session).map_or(seat.cursor, |session| session.durable);
            if seat.cursor >= durable {
                seat.mode = Mode::Following;
                continue;
            }
            self.last_read = ReadId(self.last_read.0 + 1);
            let (read, session, after) = (self.last_read, seat.session, seat.cursor);
            link.reading = Some(Reading { read, tab: tab.clone(), use_of: UseOf::Next });
            link.served = Some(tab);
            self.reads.insert(read, link_id);
            self.outputs.push_back(Output::Read { read, session, after, max_bytes: READ_PAGE_BYTES });
        }
    }

    /// A page came from the store; the one that ends at the durable head makes its seat following in the same step.
    pub(super) fn page_read(&mut self, read: ReadId, slice: Result<Slice, String>) {
        let Some(link_id) = self.reads.remove(&read) else { return };
        let Some(link) = self.links.get_mut(&link_id) else { return };
        let Some(Reading { tab, use_of, .. }) = link.reading.take() else { return };
        let Some(seat) = link.seats.get(&tab).filter(|_| use_of == UseOf::Next) else { return self.catch_up(link_id) };
        let session = seat.session;
        // While hidden nothing indexed goes out; the page is read again when the view is shown.
        if link.visibility == Visibility::Visible {
            match slice {
                Ok(slice) if slice.page.is_some() || slice.gap.is_some() => self.tell_slice(link_id, &tab, slice),
                Ok(_) => self.stuck(link_id, &tab, "the store has nothing where events should be"),
                Err(reason) => self.stuck(link_id, &tab, &reason),
            }
        }
        self.catch_up(link_id);
        self.forget_if_over(session);
    }

    fn tell_slice(&mut self, link_id: LinkId, tab: &TabId, slice: Slice) {
        let Some(link) = self.links.get_mut(&link_id) else { return };
        let Some(seat) = link.seats.get_mut(tab) else { return };
        let Some(session) = self.sessions.get(&seat.session) else { return };
        if let Some((from, to)) = slice.gap {
            seat.cursor = to;
            self.outputs.push_back(Output::Tell { link: link_id, told: Told::Gap { tab: tab.clone(), from, to } });
        }
        if let Some(page) = slice.page {
            let names = session.names_in(&page);
            seat.cursor = page.last();
            link.in_flight += page.cost();
            let (epoch, home) = (session.epoch, session.home());
            let told = Told::Events { tab: tab.clone(), page: Arc::new(page), names, epoch, home };
            self.outputs.push_back(Output::Tell { link: link_id, told });
        }
        if seat.cursor >= session.durable {
            seat.mode = Mode::Following;
        }
    }

    fn stuck(&mut self, link_id: LinkId, tab: &TabId, reason: &str) {
        if let Some(seat) = self.links.get_mut(&link_id).and_then(|link| link.seats.get_mut(tab)) {
            seat.mode = Mode::Stuck;
        }
        let message = format!("this tab's history cannot be read now: {reason}. Open the tab again to try once more");
        self.refuse(link_id, Reject::new(RejectCode::Internal, message).in_tab(tab.clone()));
    }
}
