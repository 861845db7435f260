//! Errands that are over, remembered for a while, so that a late order for one is told what became of it. Holds no plan.

use std::collections::VecDeque;

use switchboard_types::{ErrandId, ExecutionId};

/// Errands that are remembered.
const REMEMBERED: usize = 4096;

/// The last errands that are over.
#[derive(Debug, Default)]
pub(super) struct Past(VecDeque<(ErrandId, Option<ExecutionId>)>);

impl Past {
    /// It was performed under this name, or is just being performed.
    pub(super) fn performed(&mut self, errand: ErrandId, execution: ExecutionId) {
        self.push(errand, Some(execution));
    }

    /// It was given up.
    pub(super) fn dropped(&mut self, errand: ErrandId) {
        self.push(errand, None);
    }

    /// Under which name it was performed, if it is remembered.
    pub(super) fn of(&self, errand: ErrandId) -> Option<Option<&ExecutionId>> {
        let found = self.0.iter().rev().find(|(known, ..)| *known == errand);
        found.map(|(_, execution)| execution.as_ref())
    }

    fn push(&mut self, errand: ErrandId, execution: Option<ExecutionId>) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((errand, execution));
    }
}
