//! Which sessions have changed since somebody looked. Noting never waits for whoever looks, and costs a place in a set
//! however often a session changes.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use switchboard_types::SessionId;

/// Sessions that are noted by name; with more, everything counts as changed.
const MAX_NOTED: usize = 4096;

/// What was noted since the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// Sessions with new events, and those that were deleted.
    pub changed: BTreeSet<SessionId>,
    /// There were too many to name.
    pub everything: bool,
    /// Somebody wants attention for another reason.
    pub called: bool,
    /// Nobody will look any more.
    pub ended: bool,
}

impl Noted {
    fn is_nothing(&self) -> bool {
        self.changed.is_empty() && !self.everything && !self.is_urgent()
    }

    fn is_urgent(&self) -> bool {
        self.called || self.ended
    }
}

#[derive(Debug, Default)]
struct Inner {
    noted: Mutex<Noted>,
    wake: Condvar,
}

/// A set of notes, shared by whoever notes and whoever looks.
#[derive(Clone, Debug, Default)]
pub struct Notes(Arc<Inner>);

impl Notes {
    /// These sessions have changed.
    pub fn changed(&self, sessions: impl Iterator<Item = SessionId>) {
        let mut noted = self.noted();
        if noted.everything {
            return;
        }
        noted.changed.extend(sessions);
        if noted.changed.len() > MAX_NOTED {
            noted.changed.clear();
            noted.everything = true;
        }
        drop(noted);
        self.0.wake.notify_all();
    }

    /// Whoever looks shall look now.
    pub fn call(&self) {
        self.noted().called = true;
        self.0.wake.notify_all();
    }

    /// Whoever looks shall stop.
    pub fn end(&self) {
        self.noted().ended = true;
        self.0.wake.notify_all();
    }

    /// How many sessions are noted.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.noted().changed.len()
    }

    /// Whether nobody is to look any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.noted().ended
    }

    /// Takes what was noted; waits so long for something.
    #[must_use]
    pub fn take(&self, patience: Option<Duration>) -> Noted {
        self.wait(patience, Noted::is_nothing)
    }

    /// Rests, unless somebody calls; takes nothing.
    pub fn rest(&self, time: Duration) {
        let deadline = Instant::now() + time;
        let mut noted = self.noted();
        while !noted.is_urgent() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            noted = self.0.wake.wait_timeout(noted, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wait(&self, patience: Option<Duration>, idle: impl Fn(&Noted) -> bool) -> Noted {
        let deadline = patience.map(|patience| Instant::now() + patience);
        let mut noted = self.noted();
        while idle(&noted) {
            noted = match deadline {
                None => self.0.wake.wait(noted).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    self.0.wake.wait_timeout(noted, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        let ended = noted.ended;
        let taken = std::mem::take(&mut *noted);
        noted.ended = ended;
        taken
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_noted_once_and_taken_once() {
        let notes = Notes::default();
        notes.changed([SessionId(1), SessionId(2), SessionId(1)].into_iter());
        assert_eq!(notes.waiting(), 2);
        let taken = notes.take(None);
        assert_eq!(taken.changed.into_iter().collect::<Vec<_>>(), [SessionId(1), SessionId(2)]);
        assert_eq!(notes.take(Some(Duration::ZERO)), Noted::default());
    }

    #[test]
    fn too_many_are_everything_and_cost_no_room() {
        let notes = Notes::default();
        notes.changed((0..=MAX_NOTED as u64).map(SessionId));
        notes.changed([SessionId(7)].into_iter());
        let taken = notes.take(None);
        assert!(taken.everything && taken.changed.is_empty());
    }

    #[test]
    fn an_end_stays_an_end() {
        let notes = Notes::default();
        notes.end();
        assert!(notes.take(None).ended && notes.take(None).ended && notes.has_ended());
    }
}
