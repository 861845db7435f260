//! The list of sessions in pages of 50, the last used first. The host knows places and the view offsets; here is which is which.

use std::collections::BTreeMap;

use switchboard_types::limits::MAX_HISTORY_ROWS;
use switchboard_types::{Command, HistoryPlace, Reject, SessionRequest, SessionSummary, Time};

use super::Chat;
use super::known::session_shape;
use super::open::Kind;
use super::said::ToView;
use super::sessions::Choice;
use super::shape::{FoundSessionShape, ResultShape, SessionShape};

/// Sessions of one page.
pub(super) const PAGE: usize = 50;
/// Places that are remembered; the others are found by counting.
const MAX_PLACES: usize = 4096;
/// How long a change of the list waits for others.
const REFRESH_MS: u64 = 300;

/// What the list is wanted for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// The answer to `ready`.
    Greet,
    /// To find a session in which nothing was said.
    Fresh(Choice),
    /// Something in the list has changed.
    Refresh,
    /// The next page.
    More,
    /// All sessions, since nothing is looked for.
    Search(String),
}

/// A page that is being read.
#[derive(Debug)]
pub(super) struct Listing {
    purpose: Purpose,
    /// Sessions before the page that are still to be passed.
    skip: u64,
    /// Sessions before the page and in it, so far.
    at: u64,
    got: Vec<SessionSummary>,
}

/// Where pages begin, and whether the first is out of date.
#[derive(Debug, Default)]
pub(super) struct Lists {
    places: BTreeMap<u64, HistoryPlace>,
    refresh: Option<Time>,
}

impl Chat {
    /// When the list is told anew; never before it was told at all.
    pub(super) fn refreshes_at(&self) -> Option<Time> {
        self.lists.refresh.filter(|_| self.is_greeted)
    }

    /// The first page.
    pub(super) fn first_page(&mut self, purpose: Purpose) -> Command {
        self.list(Listing { purpose, skip: 0, at: 0, got: Vec::new() }, None)
    }

    /// The page at an offset: its place is known, or found by counting from one before it.
    pub(super) fn load_more(&mut self, offset: u64) -> Command {
        let before = self.lists.places.range(..=offset).next_back().map(|(at, place)| (*at, *place));
        let (at, place) = before.map_or((0, None), |(at, place)| (at, Some(place)));
        self.list(Listing { purpose: Purpose::More, skip: offset - at, at, got: Vec::new() }, place)
    }

    fn list(&mut self, listing: Listing, before: Option<HistoryPlace>) -> Command {
        let skip = usize::try_from(listing.skip).unwrap_or(usize::MAX);
        let limit = if skip > 0 { skip.min(MAX_HISTORY_ROWS) } else { PAGE - listing.got.len().min(PAGE - 1) };
        self.ask(Kind::List(listing), |request| Command::Session {
            request,
            what: SessionRequest::List { before, limit },
        })
    }

    /// Sessions are there: perhaps all of the page.
    pub(super) fn listed(&mut self, mut listing: Listing, sessions: &[SessionSummary], next: Option<HistoryPlace>) {
        sessions.iter().for_each(|session| self.known.note(session));
        listing.at += sessions.len() as u64;
        let complete = if listing.skip > 0 {
            listing.skip = listing.skip.saturating_sub(sessions.len() as u64);
            next.is_none()
        } else {
            listing.got.extend_from_slice(sessions);
            listing.got.len() >= PAGE || next.is_none()
        };
        if !complete {
            let command = self.list(listing, next);
            return self.asks.push_back(command);
        }
        if !matches!(listing.purpose, Purpose::More) {
            self.lists.places.clear();
        }
        if let Some(next) = next.filter(|_| self.lists.places.len() < MAX_PLACES) {
            self.lists.places.insert(listing.at, next);
        }
        let next_offset = next.map(|_| listing.at);
        let shapes: Vec<SessionShape> = listing.got.iter().map(session_shape).collect();
        match listing.purpose {
            Purpose::Greet => self.greeting_listed(listing.got, next_offset),
            Purpose::Fresh(choice) => self.fresh_listed(choice, &listing.got),
            Purpose::Refresh => self.say_sessions(shapes, next_offset),
            Purpose::More => {
                self.say(&ToView::AppendSessions { sessions: shapes, has_more: next_offset.is_some(), next_offset })
            }
            Purpose::Search(query) => {
                let result = |shape: &SessionShape| ResultShape {
                    session: FoundSessionShape {
                        id: shape.id.clone(),
                        title: shape.title.clone(),
                        timestamp: shape.timestamp,
                    },
                    messages: Vec::new(),
                };
                let results = shapes.iter().map(result).collect();
                self.say(&ToView::SearchSessionsResult { results, query, error: None });
                self.say_sessions(shapes, next_offset);
            }
        }
    }

    /// The list cannot be read.
    pub(super) fn not_listed(&mut self, listing: Listing, reject: &Reject) {
        match listing.purpose {
            Purpose::Greet => {
                self.say(&ToView::ConnectionError { error: reject.message.clone() });
                self.greeting_listed(Vec::new(), None);
            }
            Purpose::Fresh(choice) => self.not_chosen(choice, reject),
            Purpose::Refresh => {}
            Purpose::More => self.say(&ToView::ConnectionError { error: reject.message.clone() }),
            Purpose::Search(query) => {
                let error = Some(reject.message.clone());
                self.say(&ToView::SearchSessionsResult { results: Vec::new(), query, error });
            }
        }
    }

    pub(super) fn say_sessions(&mut self, sessions: Vec<SessionShape>, next_offset: Option<u64>) {
        self.say(&ToView::LoadSessions { sessions, has_more: next_offset.is_some(), next_offset });
    }

    /// Something in the list has changed: it is told anew, together with what else changes now.
    pub(super) fn list_changed(&mut self, now: Time) {
        if self.is_greeted || self.greeting.is_some() {
            self.lists.refresh.get_or_insert(now.after_ms(REFRESH_MS));
        }
    }

    pub(super) fn refresh_due(&mut self, now: Time) {
        if self.refreshes_at().is_some_and(|due| due <= now) {
            self.lists.refresh = None;
            let command = self.first_page(Purpose::Refresh);
            self.asks.push_back(command);
        }
    }

    /// The clock stands at an earlier time than it did; nothing waits longer for it.
    pub(super) fn rewind_list(&mut self, now: Time) {
        self.lists.refresh = self.lists.refresh.map(|due| due.min(now.after_ms(REFRESH_MS)));
    }
}
