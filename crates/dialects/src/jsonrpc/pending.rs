//! The requests that we have sent and that the peer has not answered. Never gives what waits for an answer out twice.

use std::collections::BTreeMap;

use thiserror::Error;

use super::id::{IdRef, OurId};

/// Our open requests, each with what waits for its answer.
#[derive(Debug)]
pub struct Pending<T> {
    open: BTreeMap<OurId, T>,
    last: u64,
    max: usize,
}

/// Too many requests are open; what was to wait comes back.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{max} requests wait for their answers already")]
pub struct Full<T> {
    /// What was to wait for the answer.
    pub refused: T,
    /// How many may be open.
    pub max: usize,
}

/// An answer that nobody waits for. It changes nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Stray {
    /// We never asked under this id.
    #[error("an answer to {id}, which was never asked")]
    Unknown {
        /// The id, cut.
        id: String,
    },
    /// The request has its answer already, or nobody waits for it any more.
    #[error("one more answer to {id}, for which nobody waits any more")]
    Again {
        /// The request.
        id: OurId,
    },
}

impl<T> Pending<T> {
    /// None open, and at most `max` at a time.
    #[must_use]
    pub fn with_max(max: usize) -> Self {
        Self { open: BTreeMap::new(), last: 0, max }
    }

    /// Names a new request; its answer will be handed to whoever waits.
    pub fn open(&mut self, waiting: T) -> Result<OurId, Full<T>> {
        if self.open.len() >= self.max {
            return Err(Full { refused: waiting, max: self.max });
        }
        self.last += 1;
        let id = OurId(self.last);
        self.open.insert(id, waiting);
        Ok(id)
    }

    /// Takes what waits for an answer, since one has come.
    pub fn take(&mut self, id: IdRef<'_>) -> Result<T, Stray> {
        let asked = id.ours().filter(|id| (1..=self.last).contains(&id.0));
        let Some(asked) = asked else { return Err(Stray::Unknown { id: id.as_json().chars().take(64).collect() }) };
        self.open.remove(&asked).ok_or(Stray::Again { id: asked })
    }

    /// Takes what waits for an answer, since none is wanted any more; one that still comes is a stray.
    pub fn abandon(&mut self, id: OurId) -> Option<T> {
        self.open.remove(&id)
    }

    /// Takes everything that waits, oldest first, since no answer can come any more.
    #[must_use]
    pub fn take_all(&mut self) -> Vec<(OurId, T)> {
        std::mem::take(&mut self.open).into_iter().collect()
    }

    /// What waits for the answer to a request.
    #[must_use]
    pub fn get(&self, id: OurId) -> Option<&T> {
        self.open.get(&id)
    }

    /// What waits for the answer to a request, to be changed.
    pub fn get_mut(&mut self, id: OurId) -> Option<&mut T> {
        self.open.get_mut(&id)
    }

    /// Everything that waits, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (OurId, &T)> {
        self.open.iter().map(|(id, waiting)| (*id, waiting))
    }

    /// How many requests are open.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(json: &str) -> IdRef<'_> {
        IdRef::from_json(json).unwrap()
    }

    #[test]
    fn an_answer_is_taken_once_and_a_stray_one_changes_nothing() {
        let mut pending = Pending::with_max(2);
        assert_eq!(pending.open("a"), Ok(OurId(1)));
        assert_eq!(pending.open("b"), Ok(OurId(2)));
        assert_eq!(pending.open("c"), Err(Full { refused: "c", max: 2 }));
        assert_eq!(pending.take(id("1")), Ok("a"));
        assert_eq!(pending.take(id("1")), Err(Stray::Again { id: OurId(1) }));
        for never in ["0", "3", "\"2\"", "2.0", "null", "-2"] {
            assert_eq!(pending.take(id(never)), Err(Stray::Unknown { id: never.to_owned() }));
        }
        assert_eq!(pending.open("d"), Ok(OurId(3)));
        assert_eq!(pending.take_all(), [(OurId(2), "b"), (OurId(3), "d")]);
        assert_eq!(pending.take(id("2")), Err(Stray::Again { id: OurId(2) }));
    }
}
