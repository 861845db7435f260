//! What a view asks of the host, in our own words. Every dialect for views translates into these.

use crate::body::{Decision, Prompt};
use crate::ids::{AgentName, ApprovalId, Seq, TabId, TurnName, WorkspaceRoot};

/// What a view asks of the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// The view is there: tell it which tabs exist and seat it at those that it knows.
    Ready {
        /// The tabs that it knows, each with the last event that it has seen.
        seen: Vec<(TabId, Seq)>,
    },
    /// Open a tab, or attach again to one that exists.
    OpenTab {
        /// The view's name for it.
        tab: TabId,
        /// Which agent; the workspace's default if absent.
        agent: Option<AgentName>,
        /// Where; the host's own workspace if absent.
        workspace: Option<WorkspaceRoot>,
        /// The last event that the view has seen.
        seen: Seq,
    },
    /// Queue a prompt.
    Prompt {
        /// Where.
        tab: TabId,
        /// The view's name for the turn; a name seen before is not run again.
        name: TurnName,
        /// What is asked.
        prompt: Prompt,
    },
    /// Stop a turn, or take a waiting prompt out of the queue.
    Cancel {
        /// Where.
        tab: TabId,
        /// Which turn.
        name: TurnName,
    },
    /// Close a tab: its turn, its queue and its agent session end; its log stays.
    CloseTab {
        /// Which one.
        tab: TabId,
    },
    /// The view was hidden or shown.
    Visibility(Visibility),
    /// The view has seen an event. Advisory: the cursor is what was sent.
    Ack {
        /// Where.
        tab: TabId,
        /// Up to where.
        seq: Seq,
    },
    /// Answer an approval.
    Decide {
        /// Where.
        tab: TabId,
        /// Which question.
        approval: ApprovalId,
        /// The answer.
        decision: Decision,
        /// The command as the person edited it.
        command: Option<String>,
    },
    /// Start the tab's agent again.
    RestartAgent {
        /// Whose agent.
        tab: TabId,
    },
}

impl Command {
    /// The tab that the command is about.
    #[must_use]
    pub fn tab(&self) -> Option<&TabId> {
        match self {
            Self::Ready { .. } | Self::Visibility(_) => None,
            Self::OpenTab { tab, .. }
            | Self::Prompt { tab, .. }
            | Self::Cancel { tab, .. }
            | Self::CloseTab { tab }
            | Self::Ack { tab, .. }
            | Self::Decide { tab, .. }
            | Self::RestartAgent { tab } => Some(tab),
        }
    }
}

/// Whether a view can be seen. A hidden view gets no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Events go out.
    Visible,
    /// The cursors stand still.
    Hidden,
}
