//! Views' links and their seats: one cursor per link and tab. Holds no event; the log is the buffer.

use std::collections::{BTreeMap, BTreeSet};

use switchboard_types::limits::LINK_WINDOW_BYTES;
use switchboard_types::{ApprovalId, ReadId, RequestNo, Seq, SessionId, TabId, Visibility};

/// A view's link.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) visibility: Visibility,
    /// Event bytes on their way.
    pub(crate) in_flight: usize,
    pub(crate) seats: BTreeMap<TabId, Seat>,
    /// The one read that is under way for this link, so that a link with many seats costs one page.
    pub(crate) reading: Option<Reading>,
    /// The seat that was read for last; the next one after it is served first.
    pub(crate) served: Option<TabId>,
    /// For a view that watches everything: the sessions whose last change it has not been told. None for all others.
    pub(crate) stale: Option<BTreeSet<SessionId>>,
    /// For a view that is told of questions: those that it was told of and that are open. None for all others.
    pub(crate) questions: Option<BTreeSet<(SessionId, ApprovalId)>>,
    /// The sessions that it has called tools for.
    pub(crate) called: BTreeSet<SessionId>,
    /// Whether it is told of every change of the rules.
    pub(crate) rules: bool,
    /// Whether it is told of every change of the settings.
    pub(crate) settings: bool,
    /// What is being done for it.
    pub(crate) chores: BTreeSet<RequestNo>,
}

/// A page that is on its way from the store.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) read: ReadId,
    pub(crate) tab: TabId,
    pub(crate) use_of: UseOf,
}

/// What a page on its way is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseOf {
    /// It is what the seat gets next.
    Next,
    /// The seat has moved meanwhile; it is dropped.
    Nothing,
}

/// A view's place at a session.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) session: SessionId,
    /// The last event that was sent.
    pub(crate) cursor: Seq,
    pub(crate) mode: Mode,
}

/// How a seat gets its next events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// At the durable head: live events come as they are committed.
    Following,
    /// Behind the durable head: reads from the store and gets no live event.
    Behind,
    /// The store cannot give what comes next; the view was told and may attach again.
    Stuck,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self {
            visibility: Visibility::Visible,
            in_flight: 0,
            seats: BTreeMap::new(),
            reading: None,
            served: None,
            stale: None,
            questions: None,
            called: BTreeSet::new(),
            rules: false,
            settings: false,
            chores: BTreeSet::new(),
        }
    }

    /// Whether events may go out now.
    pub(crate) fn takes_events(&self) -> bool {
        self.visibility == Visibility::Visible && self.has_room()
    }

    /// Whether more may be on its way.
    pub(crate) fn has_room(&self) -> bool {
        self.in_flight < LINK_WINDOW_BYTES
    }

    /// Whether it is worth reading on: half of the window is free, so pages are not cut small.
    pub(crate) fn takes_pages(&self) -> bool {
        self.visibility == Visibility::Visible && self.in_flight <= LINK_WINDOW_BYTES / 2 && self.reading.is_none()
    }

    /// The next seat that is behind, in turn.
    pub(crate) fn next_behind(&self) -> Option<TabId> {
        let behind = |(tab, seat): (&TabId, &Seat)| (seat.mode == Mode::Behind).then(|| tab.clone());
        if let Some(served) = &self.served {
            use std::ops::Bound::{Excluded, Unbounded};
            let later = self.seats.range::<TabId, _>((Excluded(served), Unbounded));
            if let Some(tab) = later.into_iter().find_map(behind) {
                return Some(tab);
            }
        }
        self.seats.iter().find_map(behind)
    }
}
