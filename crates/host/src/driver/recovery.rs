//! Sessions as they are found on the disk: their rows, and the fold of what is not settled. Reads page by page, so the
//! length of a log costs time and no memory.

use switchboard_core::{Recovered, State};
use switchboard_types::Seq;
use switchboard_types::limits::READ_PAGE_BYTES;

use crate::store::{Store, StoreError, StoredSession};

/// Reads a session as the disk has it.
pub(super) fn recover(store: &dyn Store, stored: StoredSession) -> Result<Recovered, StoreError> {
    let StoredSession { row, head, .. } = stored;
    let turns = store.turns(row.session)?;
    let calls = store.open_calls(row.session)?;
    let (mut state, mut cursor) = State::from_rows(&row, &turns, head);
    // What a call asked for and ran may belong to no turn, or to one that is over. What was folded already may be again.
    if let Some(first) = calls.first() {
        cursor = cursor.min(Seq(first.asked_at.0.saturating_sub(1)));
    }
    while cursor < head {
        let slice = store.read_after(row.session, cursor, READ_PAGE_BYTES)?;
        // What is lost cannot be folded; the view is told of it when it reads.
        let Some(page) = slice.page else { break };
        page.events().for_each(|event| state.apply_record(event));
        cursor = page.last();
    }
    Ok(Recovered { row, head, state, calls })
}
