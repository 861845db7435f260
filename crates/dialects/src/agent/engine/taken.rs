//! How far an engine's log was taken, and whether what comes next is what should. Never waits and never asks.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use switchboard_types::{SourceCursor, SourceId, Upstream};

/// Ids that are remembered.
const MAX_SEEN: usize = 4096;

/// What an event of the engine is, seen from what was taken before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The next one.
    Next,
    /// One that was taken.
    Known,
    /// Some are missing before it.
    Hole {
        /// The first that is.
        from: u64,
        /// The last that is.
        to: u64,
    },
    /// It bears the number of one that was taken and is another: the engine's log is no longer the one it was.
    Other,
}

/// How far a log was taken.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// What it can be read on from; none before the first event and after a gap.
    cursor: Option<SourceId>,
    /// The last event that was taken, if it had a number; kept over a gap.
    last: Option<(SourceId, u64)>,
    /// The largest number that was taken or given up.
    upto: Option<u64>,
    /// Whatever comes first is right: a person has been told that something is missing.
    any: bool,
    seen: Seen,
    /// What the last numbers stood for, by digest.
    numbered: BTreeMap<u64, u64>,
}

impl Taken {
    /// As far as it was stored.
    pub(super) fn of(upstream: Option<Upstream>) -> Self {
        let Some(Upstream { last, taken }) = upstream else { return Self::default() };
        let numbered = last.as_ref().and_then(|last| Some((last.id.clone(), last.seq?)));
        let upto = numbered.as_ref().map(|(_, seq)| *seq).or(taken);
        let mut seen = Seen::default();
        if let Some(SourceCursor { id, .. }) = &last {
            seen.add(id);
        }
        Self { cursor: last.map(|last| last.id), last: numbered, upto, any: false, seen, numbered: BTreeMap::new() }
    }

    /// What the log is read on from.
    pub(super) fn cursor(&self) -> Option<&SourceId> {
        self.cursor.as_ref()
    }

    /// The largest number that was taken.
    pub(super) fn upto(&self) -> Option<u64> {
        self.upto
    }

    /// Where an event stands.
    pub(super) fn place(&self, id: &SourceId, seq: Option<u64>) -> Place {
        let Some(seq) = seq else { return if self.seen.has(id) { Place::Known } else { Place::Next } };
        if self.last.as_ref().is_some_and(|(last, number)| *number == seq && last != id) {
            return Place::Other;
        }
        if self.numbered.get(&seq).is_some_and(|known| *known != Seen::digest(id)) {
            return Place::Other;
        }
        // Some count from 0 and some from 1.
        let next = match self.upto {
            Some(upto) if seq <= upto => return Place::Known,
            _ if self.seen.has(id) => return Place::Known,
            Some(upto) => upto.saturating_add(1),
            None if self.any => seq,
            None => 1,
        };
        if seq > next { Place::Hole { from: next, to: seq - 1 } } else { Place::Next }
    }

    /// It is taken.
    pub(super) fn take(&mut self, id: &SourceId, seq: Option<u64>) {
        self.cursor = Some(id.clone());
        self.seen.add(id);
        if let Some(seq) = seq {
            (self.last, self.upto) = (Some((id.clone(), seq)), Some(seq));
            self.numbered.insert(seq, Seen::digest(id));
            if self.numbered.len() > MAX_SEEN {
                self.numbered.pop_first();
            }
        }
    }

    /// What is missing up to here is given up.
    pub(super) fn give_up(&mut self, upto: Option<u64>) {
        self.cursor = None;
        match upto {
            Some(upto) => self.upto = Some(self.upto.map_or(upto, |known| known.max(upto))),
            None => self.any = true,
        }
    }

    /// The engine's log is another one: what was taken counts no more.
    pub(super) fn begin_anew(&mut self) {
        *self = Self { any: true, ..Self::default() };
    }
}

/// The last ids, by their digest: two that collide cost an event of an engine that numbers none.
#[derive(Debug, Default)]
struct Seen {
    order: VecDeque<u64>,
    all: HashSet<u64>,
}

impl Seen {
    fn digest(id: &SourceId) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one(id.as_str())
    }

    fn has(&self, id: &SourceId) -> bool {
        self.all.contains(&Self::digest(id))
    }

    fn add(&mut self, id: &SourceId) {
        let digest = Self::digest(id);
        if self.all.insert(digest) {
            self.order.push_back(digest);
        }
        if self.order.len() > MAX_SEEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SourceId {
        SourceId::from(text)
    }

    #[test]
    fn numbers_tell_what_is_next_known_or_missing() {
        let mut taken = Taken::default();
        assert_eq!(taken.place(&id("a"), Some(0)), Place::Next);
        assert_eq!(taken.place(&id("a"), Some(1)), Place::Next);
        assert_eq!(taken.place(&id("c"), Some(3)), Place::Hole { from: 1, to: 2 });
        taken.take(&id("a"), Some(1));
        assert_eq!(taken.place(&id("a"), Some(1)), Place::Known);
        assert_eq!(taken.place(&id("b"), Some(2)), Place::Next);
        assert_eq!(taken.place(&id("x"), Some(1)), Place::Other);
        assert_eq!(taken.place(&id("c"), Some(3)), Place::Hole { from: 2, to: 2 });
        taken.give_up(Some(2));
        assert_eq!((taken.place(&id("c"), Some(3)), taken.cursor()), (Place::Next, None));
    }

    #[test]
    fn without_numbers_ids_are_remembered_but_not_for_ever() {
        let mut taken = Taken::default();
        taken.take(&id("a"), None);
        assert_eq!(taken.place(&id("a"), None), Place::Known);
        assert_eq!(taken.place(&id("b"), None), Place::Next);
        (0..MAX_SEEN).for_each(|n| taken.take(&id(&n.to_string()), None));
        assert_eq!(taken.place(&id("a"), None), Place::Next);
        assert!(taken.seen.order.len() <= MAX_SEEN && taken.seen.all.len() <= MAX_SEEN);
    }

    #[test]
    fn what_was_stored_is_gone_on_from() {
        let last = Some(SourceCursor { id: id("e"), seq: Some(5) });
        let taken = Taken::of(Some(Upstream { last, taken: Some(9) }));
        assert_eq!((taken.cursor(), taken.upto()), (Some(&id("e")), Some(5)));
        let taken = Taken::of(Some(Upstream { last: None, taken: Some(9) }));
        assert_eq!((taken.cursor(), taken.upto()), (None, Some(9)));
        assert_eq!(taken.place(&id("x"), Some(9)), Place::Known);
    }

    #[test]
    fn a_log_that_begins_anew_may_begin_anywhere() {
        let mut taken = Taken::default();
        taken.take(&id("a"), Some(50));
        taken.begin_anew();
        assert_eq!(taken.place(&id("z"), Some(7)), Place::Next);
        taken.take(&id("z"), Some(7));
        assert_eq!(taken.place(&id("y"), Some(9)), Place::Hole { from: 8, to: 8 });
    }

    #[test]
    fn a_number_that_stood_for_another_event_gives_a_new_log_away_at_once() {
        let mut taken = Taken::default();
        (1..=3).for_each(|seq| taken.take(&id(&seq.to_string()), Some(seq)));
        assert_eq!(taken.place(&id("1"), Some(1)), Place::Known);
        assert_eq!(taken.place(&id("x"), Some(1)), Place::Other);
        (4..).take(MAX_SEEN).for_each(|seq| taken.take(&id(&seq.to_string()), Some(seq)));
        assert_eq!((taken.place(&id("x"), Some(1)), taken.numbered.len()), (Place::Known, MAX_SEEN));
    }
}
