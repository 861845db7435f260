//! The checks of the tools that were called last, so that a schema is compiled once and not with every call. Compiles
//! nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use switchboard_types::Tool;

use super::Check;

/// Checks that are kept.
const KEPT: usize = 128;

/// The checks, the last used first.
#[derive(Debug, Default)]
pub(crate) struct Known(VecDeque<(Arc<Tool>, Arc<Check>)>);

impl Known {
    /// The check of a tool, if it is known.
    pub(crate) fn of(&mut self, tool: &Arc<Tool>) -> Option<Arc<Check>> {
        let at = self.0.iter().position(|(known, _)| is_same(known, tool))?;
        let found = self.0.remove(at)?;
        let check = found.1.clone();
        self.0.push_front(found);
        Some(check)
    }

    /// Keeps one; the one that was not used for longest makes room.
    pub(crate) fn keep(&mut self, tool: Arc<Tool>, check: Arc<Check>) {
        self.0.retain(|(known, _)| !is_same(known, &tool));
        self.0.truncate(KEPT - 1);
        self.0.push_front((tool, check));
    }
}

/// Tools of one name may differ, so that all of the definition counts; mostly it is the very same one.
fn is_same(known: &Arc<Tool>, tool: &Arc<Tool>) -> bool {
    Arc::ptr_eq(known, tool) || known.definition == tool.definition
}
