//! What a view asks of the host, in our own words. Every dialect for views translates into these.

use crate::body::{Decision, Prompt};
use crate::desk::SessionRequest;
use crate::ids::{
    AgentName, ApprovalId, CallId, Epoch, OptionId, RequestNo, RuleId, Seq, SessionId, TabId, Time, ToolName, TurnName,
    WorkspaceRoot,
};
use crate::library::LibraryRequest;
use crate::policy::PolicyChange;
use crate::settings::SettingsRequest;
use crate::tool::{BatchMode, CallPlace, Effect, ToolDefinition, ToolFailure, ToolRequest};

/// What a view asks of the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// The view is there: tell it which tabs exist and seat it at those that it knows.
    Ready {
        /// The tabs that it knows, each with the last event that it has seen.
        seen: Vec<(TabId, Seen)>,
    },
    /// The view is there and wants to watch everything: sessions and workspaces as they are, and every change of them.
    Watch {
        /// The tabs that it shows, each with the last event that it has seen.
        seen: Vec<(TabId, Seen)>,
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
        seen: Seen,
    },
    /// Take a session out of history, under this tab; one that has a tab is shown under that.
    OpenSession {
        /// The view's name for it, if it has none.
        tab: TabId,
        /// Which session.
        session: SessionId,
        /// The last event that the view has seen.
        seen: Seen,
    },
    /// Follow a tab no longer. The tab stays as it is.
    LeaveTab {
        /// Which one.
        tab: TabId,
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
        /// Which of the agent's own answers, where it offers several of one sort.
        option: Option<String>,
    },
    /// Set an option of the tab's agent.
    SetOption {
        /// Whose agent.
        tab: TabId,
        /// Which option.
        option: OptionId,
        /// The choice.
        value: String,
    },
    /// Sign in at the tab's agent.
    SignIn {
        /// Whose agent.
        tab: TabId,
        /// By which method.
        method: String,
    },
    /// Configure a well-known agent.
    AddAgent {
        /// Its name.
        name: AgentName,
    },
    /// Start the tab's agent again.
    RestartAgent {
        /// Whose agent.
        tab: TabId,
    },
    /// Trust a workspace, or no longer.
    Trust {
        /// Its folder.
        root: WorkspaceRoot,
        /// Which of the two.
        trust: Trust,
    },
    /// List sessions, closed ones included, the last used first.
    History {
        /// After this one; from the start if absent.
        before: Option<HistoryPlace>,
        /// At most so many.
        limit: usize,
    },
    /// Stop whatever runs in a session and delete it.
    DeleteSession {
        /// Which one.
        session: SessionId,
    },
    /// List the tools. Answered by [`crate::Told::Tools`].
    ListTools {
        /// Comes back in the answer.
        request: RequestNo,
    },
    /// Call tools. Answered by [`crate::Told::ToolsCalled`] when all of them are over.
    CallTools {
        /// Comes back in the answer.
        request: RequestNo,
        /// Which, and with what.
        calls: Vec<ToolRequest>,
        /// How they go.
        mode: BatchMode,
    },
    /// Cancel a call, whoever asked for it. Answered by [`crate::Told::CallCancelled`].
    CancelCall {
        /// Comes back in the answer.
        request: RequestNo,
        /// The call's name.
        call: CallId,
    },
    /// List calls, the newest first. Answered by [`crate::Told::Calls`].
    ListCalls {
        /// Comes back in the answer.
        request: RequestNo,
        /// Only of this tool.
        tool: Option<ToolName>,
        /// After this one; from the newest if absent.
        before: Option<CallPlace>,
        /// At most so many.
        limit: usize,
    },
    /// Lend tools for as long as this link lives. Answered by [`crate::Told::Lent`].
    LendTools {
        /// Comes back in the answer.
        request: RequestNo,
        /// Each with what a call of it can do, as the lender says.
        tools: Vec<(ToolDefinition, Effect)>,
    },
    /// What came of [`crate::Told::LentCall`].
    LentResult {
        /// Which call.
        call: u64,
        /// What the tool gave, or why it gave nothing.
        result: Result<serde_json::Value, ToolFailure>,
    },
    /// Be told of the questions in the workspace's bench session, and in sessions that this link calls tools for.
    /// Answered by [`crate::Told::ApprovalsWatched`]; then each question that is open comes, and each new one.
    WatchApprovals {
        /// Comes back in the answer.
        request: RequestNo,
    },
    /// Answer an approval by its session. Answered by [`crate::Told::Answered`].
    Answer {
        /// Comes back in the answer.
        request: RequestNo,
        /// Where.
        session: SessionId,
        /// Which question.
        approval: ApprovalId,
        /// The answer.
        decision: Decision,
        /// The command as the person edited it.
        command: Option<String>,
    },
    /// Change what a tab's agent may do unasked.
    SetPolicy {
        /// Whose agent.
        tab: TabId,
        /// What changes.
        change: PolicyChange,
    },
    /// List all rules, and be told of each change of them. Answered by [`crate::Told::Rules`], again after each change.
    WatchRules {},
    /// Take a rule out.
    RemoveRule {
        /// Which one.
        rule: RuleId,
    },
    /// Ask something about a session by its id. Answered by [`crate::Told::Answer`], exactly once.
    Session {
        /// Comes back in the answer.
        request: RequestNo,
        /// What.
        what: SessionRequest,
    },
    /// Have something done around the host: search, settings, upkeep. Answered by [`crate::Told::ChoreDone`], exactly once.
    Chore {
        /// Comes back in the answer.
        request: RequestNo,
        /// What.
        what: Chore,
    },
    /// Be told the settings as they are, and each change of them. Answered by [`crate::Told::Settings`].
    WatchSettings {},
    /// Say that the host is alive.
    Ping {
        /// Comes back in the answer.
        number: u64,
    },
}

impl Command {
    /// The tab that the command is about.
    #[must_use]
    pub fn tab(&self) -> Option<&TabId> {
        match self {
            Self::Ready { .. }
            | Self::Watch { .. }
            | Self::Visibility(_)
            | Self::Trust { .. }
            | Self::History { .. }
            | Self::DeleteSession { .. }
            | Self::AddAgent { .. }
            | Self::ListTools { .. }
            | Self::CallTools { .. }
            | Self::CancelCall { .. }
            | Self::ListCalls { .. }
            | Self::LendTools { .. }
            | Self::LentResult { .. }
            | Self::WatchApprovals { .. }
            | Self::Answer { .. }
            | Self::WatchRules {}
            | Self::RemoveRule { .. }
            | Self::Session { .. }
            | Self::Chore { .. }
            | Self::WatchSettings {}
            | Self::Ping { .. } => None,
            Self::OpenTab { tab, .. }
            | Self::OpenSession { tab, .. }
            | Self::LeaveTab { tab }
            | Self::Prompt { tab, .. }
            | Self::Cancel { tab, .. }
            | Self::CloseTab { tab }
            | Self::Ack { tab, .. }
            | Self::Decide { tab, .. }
            | Self::SetOption { tab, .. }
            | Self::SignIn { tab, .. }
            | Self::SetPolicy { tab, .. }
            | Self::RestartAgent { tab } => Some(tab),
        }
    }
}

/// What is done around the host for a view.
#[derive(Clone, Debug, PartialEq)]
pub enum Chore {
    /// About all that was said.
    Library(LibraryRequest),
    /// About settings.
    Settings(SettingsRequest),
}

/// Whether a view can be seen. A hidden view gets no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Events go out.
    Visible,
    /// The cursors stand still.
    Hidden,
}

/// The last event that a view has seen of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Its place.
    pub seq: Seq,
    /// The life of the log that it was seen in; a view that keeps none is taken at its word.
    pub epoch: Option<Epoch>,
}

impl From<Seq> for Seen {
    fn from(seq: Seq) -> Self {
        Self { seq, epoch: None }
    }
}

/// Whether a workspace is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Its configured agents may start.
    Trusted,
    /// Only the demo agent may start.
    Untrusted,
}

/// A place in the list of all sessions: the last used first, of two that were used at the same time the newer one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryPlace {
    /// When the session there was last used.
    pub updated: Time,
    /// The session there.
    pub session: SessionId,
}
