//! The metadata that is stored beside the log, and the unit of commit. The log is the truth; rows only make it quick to
//! find, and can be made anew from it.

use std::sync::Arc;

use crate::command::HistoryPlace;
use crate::ids::{
    AgentName, AgentSession, Epoch, RuleId, Seq, SessionId, TabId, Ticket, Time, TurnId, TurnName, WorkspaceRoot,
};
use crate::policy::{Rule, SessionKeeps};
use crate::record::Page;
use crate::tool::CallRow;

/// One session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub session: SessionId,
    /// The life of its log.
    pub epoch: Epoch,
    /// Where it works.
    pub workspace: WorkspaceRoot,
    /// Who works.
    pub agent: AgentName,
    /// Its title; empty until there is one.
    pub title: String,
    /// The tab that shows it, until the tab is closed.
    pub tab: Option<TabId>,
    /// What the agent calls its own session, if it can be taken up again. Lost with the row, not in the log.
    pub agent_session: Option<AgentSession>,
    /// What a person has set and allowed for it. Lost with the row, not in the log.
    pub keeps: SessionKeeps,
    /// When it was opened.
    pub created: Time,
    /// When a turn last began or ended.
    pub updated: Time,
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// Its session.
    pub session: SessionId,
    /// Its number.
    pub turn: TurnId,
    /// The view's name for it; unique in its session.
    pub name: TurnName,
    /// A digest of the prompt, to tell a repeated prompt from a reused name.
    pub digest: u64,
    /// The event that queued it.
    pub queued: Seq,
    /// How far it is.
    pub phase: TurnPhase,
}

/// How far a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnPhase {
    /// Waits.
    Queued,
    /// Was sent to the agent.
    Running,
    /// Is over.
    Ended,
}

/// One workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceRow {
    /// Its folder.
    pub root: WorkspaceRoot,
    /// Since when a person trusts it; none if nobody does.
    pub trusted: Option<Time>,
}

/// A part of the list of all sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The last used first.
    pub rows: Vec<SessionRow>,
    /// Where the next ones are; none at the end.
    pub next: Option<HistoryPlace>,
}

impl History {
    /// Cuts a list to what was asked for; whatever is beyond says that there is more.
    #[must_use]
    pub fn cut(mut rows: Vec<SessionRow>, limit: usize) -> Self {
        let more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().filter(|_| more);
        let next = last.map(|row| HistoryPlace { updated: row.updated, session: row.session });
        Self { rows, next }
    }
}

/// A change of the metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Insert or replace a session.
    Session(SessionRow),
    /// Insert or replace a turn.
    Turn(TurnRow),
    /// Insert or replace a workspace.
    Workspace(WorkspaceRow),
    /// Insert or replace a call of a tool.
    Call(CallRow),
    /// Insert or replace a rule.
    Rule(Rule),
    /// Take a rule out.
    DropRule(RuleId),
    /// Take a session out, log and all. Its id stays used up: whatever comes for it later is refused.
    DeleteSession(SessionId),
}

/// What one session adds to a commit: its next events and what changes with them, together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The session.
    pub session: SessionId,
    /// Its next events; `first` must follow what the store has.
    pub page: Arc<Page>,
    /// Changes of its rows.
    pub changes: Vec<Change>,
}

/// What goes to the disk together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its name in the answer.
    pub ticket: Ticket,
    /// At most one entry a session.
    pub entries: Vec<Entry>,
    /// Changes that belong to no session.
    pub changes: Vec<Change>,
}

/// The answer to a commit: it is on the disk, but for what failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitDone {
    /// Which commit.
    pub ticket: Ticket,
    /// The sessions whose entries are not on the disk, and why.
    pub failed: Vec<(SessionId, String)>,
    /// Why the changes that belong to no session are not on the disk, if they are not.
    pub changes_failed: Option<String>,
}
