//! What the host says to a view, in our own words. Every dialect for views translates from these.

use std::sync::Arc;

use crate::ids::{Seq, TabId, TurnId, TurnName};
use crate::record::Page;
use crate::reject::Reject;

/// The names of the turns that a page speaks of, in ascending order of turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnNames(Arc<[(TurnId, TurnName)]>);

impl TurnNames {
    /// Takes names in ascending order of turns.
    pub fn new(names: impl Into<Arc<[(TurnId, TurnName)]>>) -> Self {
        Self(names.into())
    }

    /// A turn's name, if the page speaks of the turn.
    #[must_use]
    pub fn get(&self, turn: TurnId) -> Option<&TurnName> {
        let at = self.0.binary_search_by_key(&turn, |(id, _)| *id).ok()?;
        self.0.get(at).map(|(_, name)| name)
    }
}

/// What the host says to a view.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// The tabs that exist, in answer to [`crate::Command::Ready`].
    Tabs {
        /// In the order in which they were opened.
        tabs: Vec<TabSummary>,
    },
    /// Events of a tab, the next ones after its cursor.
    Events {
        /// The tab.
        tab: TabId,
        /// The events.
        page: Arc<Page>,
        /// The names of the turns in it.
        names: TurnNames,
    },
    /// Events that the log no longer holds; what remains comes after it.
    Gap {
        /// The tab.
        tab: TabId,
        /// The first lost event.
        from: Seq,
        /// The last lost event.
        to: Seq,
    },
    /// What the view has seen of the tab is not this log's; everything comes from the start.
    Reset {
        /// The tab.
        tab: TabId,
    },
    /// A command was refused, or something went wrong that the log cannot tell.
    Refused(Reject),
}

/// A tab in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabSummary {
    /// Its name.
    pub tab: TabId,
    /// Its session's title.
    pub title: String,
    /// Its last durable event.
    pub head: Seq,
}
