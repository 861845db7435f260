//! Where the logs of all sessions lie, behind one narrow interface. Never decides what an event means.
//!
//! | module | owns |
//! | --- | --- |
//! | [`error`] | what can go wrong, in words that a person can act on |
//! | [`sqlite`] | opening and closing the SQLite store, and its side of [`Store`] |
//! | `schema` | tables and migrations |
//! | `rows`, `kept` | the metadata's rows as cells, each sealed by a checksum |
//! | `index` | where the tail's rows are, in memory |
//! | `shrink` | giving free room back to the disk, step by step |
//! | `writer`, `batch`, `pack` | the one thread that writes: group commit, and packing the tail into segments |
//! | [`notes`] | which sessions have changed since somebody looked |
//! | `reader` | pages and rows out of one snapshot |
//! | `check`, `wal`, `carve`, `salvage`, `rebuild` | finding damage, and what is done about it |
//! | [`memory`] | a store without a disk, for tests of what stands on it |

mod batch;
mod carve;
mod check;
pub mod error;
mod index;
mod kept;
pub mod memory;
pub mod notes;
mod pack;
mod reader;
mod rebuild;
mod rows;
mod salvage;
mod schema;
mod shrink;
pub mod sqlite;
mod wal;
mod writer;

use switchboard_types::{
    CallPlace, CallRow, Commit, History, HistoryPlace, Page, Rule, Seq, SessionId, SessionRow, ToolName, TurnRow,
    WorkspaceRow,
};

pub(crate) use check::create_private;
pub use check::{CheckUp, check_up};
pub use error::StoreError;
pub(crate) use error::is_damage;
pub use memory::MemoryStore;
pub use notes::Notes;
pub use sqlite::{Bounds, Durability, OpenReport, Options, SqliteStore};

/// The logs and the metadata beside them. All calls but [`Store::commit`] block on the disk: call them where that is fine.
pub trait Store: Send + Sync {
    /// Queues a commit; all that waits shares one transaction and one fsync. The answer goes to the callback that was given
    /// at opening, in the order in which commits were queued. Blocks only while the queue is full.
    fn commit(&self, commit: Commit);

    /// The next events after a cursor: at most `max_bytes` of them, but at least one. All of them are durable, but the answer
    /// to the commit that brought the last ones may still be on its way.
    fn read_after(&self, session: SessionId, after: Seq, max_bytes: usize) -> Result<Slice, StoreError>;

    /// Sessions in the order of their ids.
    fn sessions(&self, which: Which) -> Result<Vec<StoredSession>, StoreError>;

    /// A part of the list of all sessions, the last used first: at most `limit` after this place.
    fn history(&self, before: Option<HistoryPlace>, limit: usize) -> Result<History, StoreError>;

    /// A session's turns in order.
    fn turns(&self, session: SessionId) -> Result<Vec<TurnRow>, StoreError>;

    /// All workspaces, in the order of their folders.
    fn workspaces(&self) -> Result<Vec<WorkspaceRow>, StoreError>;

    /// All rules, the oldest first.
    fn rules(&self) -> Result<Vec<Rule>, StoreError>;

    /// A part of the list of all calls of tools, or of one tool, the newest first: at most `limit` after this place.
    fn calls(&self, tool: Option<&ToolName>, before: Option<CallPlace>, limit: usize) -> Result<Calls, StoreError>;

    /// The calls of a session that have no end, the first first.
    fn open_calls(&self, session: SessionId) -> Result<Vec<CallRow>, StoreError>;

    /// The first id that no session ever had, deleted ones included.
    fn next_session(&self) -> Result<SessionId, StoreError>;

    /// Gives room that nothing uses any more back to the disk, a little at a time, so that commits go on meanwhile. Returns
    /// when it is done.
    fn shrink(&self) -> Result<Shrunk, StoreError>;
}

/// Bytes on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shrunk {
    /// Before.
    pub before: u64,
    /// Now.
    pub after: u64,
}

/// A part of the list of all calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    /// The newest first.
    pub rows: Vec<CallRow>,
    /// Where the next ones are; none at the end.
    pub next: Option<CallPlace>,
}

impl Calls {
    /// Cuts a list to what was asked for; whatever is beyond says that there is more.
    fn cut(mut rows: Vec<CallRow>, limit: usize) -> Self {
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(CallRow::place);
        Self { rows, next }
    }
}

/// Which sessions to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that a tab shows.
    WithTab,
    /// All, history included.
    All,
    /// This one, if it exists.
    One(SessionId),
}

/// What follows a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// The first and the last event that are lost, before the page.
    pub gap: Option<(Seq, Seq)>,
    /// The next events; none if nothing follows.
    pub page: Option<Page>,
}

/// A session as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    /// Its row.
    pub row: SessionRow,
    /// Its last event, lost ones included; the next one follows it.
    pub head: Seq,
    /// The first and the last event of everything that is lost, in order.
    pub lost: Vec<(Seq, Seq)>,
}
