//! A view and its journal. Checks what it is shown at the moment it is shown.

use std::collections::BTreeMap;

use switchboard_types::{Event, LinkId, Reject, Seq, TabId, Told};

use super::disk::Disk;

/// A view and its journal.
pub(crate) struct View {
    pub(crate) link: Option<LinkId>,
    pub(crate) visible: bool,
    /// What it has applied, per tab.
    pub(crate) journal: BTreeMap<TabId, Vec<Event>>,
    pub(crate) gaps: Vec<(TabId, Seq, Seq)>,
    pub(crate) resets: Vec<TabId>,
    pub(crate) refused: Vec<Reject>,
    pub(crate) tabs: Vec<switchboard_types::TabSummary>,
    pub(crate) undrained: usize,
    /// Whether it reads what it is sent.
    pub(crate) reads: bool,
}

impl View {
    pub(crate) fn new() -> Self {
        Self {
            link: None,
            visible: true,
            journal: BTreeMap::new(),
            gaps: Vec::new(),
            resets: Vec::new(),
            refused: Vec::new(),
            tabs: Vec::new(),
            undrained: 0,
            reads: true,
        }
    }

    /// Invariants 2 (continuous), 3 (durable before visible) and 8 (apart), at the moment of showing.
    pub(crate) fn take(&mut self, disk: &Disk, told: Told) {
        match told {
            Told::Events { tab, page, names } => {
                assert!(self.visible, "a hidden view is shown nothing");
                self.undrained += page.cost();
                let journal = self.journal.entry(tab.clone()).or_default();
                let gap_to = self.gaps.iter().filter(|(t, _, _)| *t == tab).map(|(_, _, to)| *to).max();
                for event in page.events() {
                    let event = event.to_event().expect("readable");
                    let before = last(journal).max(gap_to.unwrap_or_default());
                    assert_eq!(event.seq, before.next(), "{tab} goes on where it was");
                    let at = event.seq.0 as usize - 1;
                    let durable = disk.sessions.values().any(|stored| stored.log.get(at) == Some(&event));
                    assert!(durable, "shown before it was durable: {event:?}");
                    assert_eq!(event.turn.is_some(), event.turn.and_then(|turn| names.get(turn)).is_some());
                    journal.push(event);
                }
            }
            Told::Gap { tab, from, to } => {
                let journal = self.journal.entry(tab.clone()).or_default();
                assert_eq!(from, last(journal).next(), "the gap begins where the view was");
                self.gaps.push((tab, from, to));
            }
            Told::Reset { tab } => {
                self.journal.remove(&tab);
                self.resets.push(tab);
            }
            Told::Refused(reject) => self.refused.push(reject),
            Told::Tabs { tabs } => self.tabs = tabs,
        }
    }

    pub(crate) fn seen(&self, tab: &str) -> &[Event] {
        self.journal.get(&TabId::from(tab)).map_or(&[], Vec::as_slice)
    }
}

pub(crate) fn last(log: &[Event]) -> Seq {
    log.last().map_or(Seq::START, |event| event.seq)
}
