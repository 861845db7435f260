//! Seats: each is reading or following, and nothing slips between. Never keeps an event for a view; a view that does not
//! read costs its cursor.

use std::collections::VecDeque;
use std::sync::Arc;

use switchboard_types::limits::READ_PAGE_BYTES;
use switchboard_types::{LinkId, Page, ReadId, Reject, RejectCode, Seq, SessionId, TabId, Told, TurnNames, Visibility};

use super::Host;
use crate::input::{Output, Slice};
use crate::seat::{Link, Mode, Seat};

/// Gives a page that was just committed to the seats of one link that follow its session.
pub(super) fn deliver_live(
    link_id: LinkId,
    link: &mut Link,
    session: SessionId,
    page: &Arc<Page>,
    names: &TurnNames,
    outputs: &mut VecDeque<Output>,
) {
    let mut room = link.takes_events();
    for (tab, seat) in &mut link.seats {
        if seat.session != session || seat.mode != Mode::Following {
            continue;
        }
        if !room {
            seat.mode = Mode::Behind;
            continue;
        }
        // A seat that was seated at a head not yet durable has its first events here.
        let Some(rest) = rest_after(page, seat.cursor) else { continue };
        seat.cursor = rest.last();
        link.in_flight += rest.cost();
        room = link.in_flight < switchboard_types::limits::LINK_WINDOW_BYTES;
        let told = Told::Events { tab: tab.clone(), page: rest, names: names.clone() };
        outputs.push_back(Output::Tell { link: link_id, told });
    }
}

fn rest_after(page: &Arc<Page>, cursor: Seq) -> Option<Arc<Page>> {
    if cursor < page.first() { Some(Arc::clone(page)) } else { page.after(cursor).map(Arc::new) }
}

impl Host {
    pub(super) fn link_opened(&mut self, link: LinkId) {
        self.links.insert(link, Link::new());
    }

    pub(super) fn link_closed(&mut self, link: LinkId) {
        let Some(gone) = self.links.remove(&link) else { return };
        if let Some((read, _)) = gone.reading {
            self.reads.remove(&read);
        }
        for seat in gone.seats.into_values() {
            self.forget_if_over(seat.session);
        }
    }

    /// Puts a link at a tab, after the last event that it has seen.
    pub(super) fn seat(&mut self, link_id: LinkId, tab: &TabId, session_id: SessionId, seen: Seq) {
        let Some(session) = self.sessions.get_mut(&session_id) else { return };
        session.held = false;
        let durable = session.durable;
        let Some(link) = self.links.get_mut(&link_id) else { return };
        let moved = link.seats.get(tab).is_some_and(|old| old.session != session_id);
        // A page that is on its way for the old place of this seat must not be taken for the new one.
        if let Some((read, _)) = link.reading.take_if(|(_, reading)| reading == tab) {
            self.reads.remove(&read);
        }
        let reset = moved || seen > durable;
        let cursor = if reset { Seq::START } else { seen };
        let mode = if cursor == durable { Mode::Following } else { Mode::Behind };
        link.seats.insert(tab.clone(), Seat { session: session_id, cursor, mode });
        if reset {
            self.tell(link_id, Told::Reset { tab: tab.clone() });
        }
        self.catch_up(link_id);
    }

    pub(super) fn drained(&mut self, link_id: LinkId, bytes: usize) {
        if let Some(link) = self.links.get_mut(&link_id) {
            link.in_flight = link.in_flight.saturating_sub(bytes);
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
        let links: Vec<LinkId> = self.links.keys().copied().collect();
        for link_id in links {
            let Some(link) = self.links.get_mut(&link_id) else { continue };
            for seat in link.seats.values_mut().filter(|seat| seat.session == session && seat.mode == Mode::Following) {
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
            link.reading = Some((read, tab.clone()));
            link.served = Some(tab.clone());
            self.reads.insert(read, (link_id, tab));
            self.outputs.push_back(Output::Read { read, session, after, max_bytes: READ_PAGE_BYTES });
        }
    }

    /// A page came from the store; the one that ends at the durable head makes its seat following in the same step.
    pub(super) fn page_read(&mut self, read: ReadId, slice: Result<Slice, String>) {
        let Some((link_id, tab)) = self.reads.remove(&read) else { return };
        let Some(link) = self.links.get_mut(&link_id) else { return };
        link.reading = None;
        let Some(seat) = link.seats.get(&tab) else { return self.catch_up(link_id) };
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
            let told = Told::Events { tab: tab.clone(), page: Arc::new(page), names };
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
