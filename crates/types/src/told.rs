//! What the host says to a view, in our own words. Every dialect for views translates from these.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use ts_rs::TS;

use crate::body::{Approval, Outcome, Resolution};
use crate::command::{HistoryPlace, Trust};
use crate::desk::SessionAnswer;
use crate::ids::{AgentName, Epoch, RequestNo, Seq, SessionId, TabId, Time, ToolName, TurnId, TurnName, WorkspaceRoot};
use crate::library::LibraryAnswer;
use crate::limits::MIN_PAGE_COST;
use crate::policy::{Containment, Rule, SessionPolicy};
use crate::record::Page;
use crate::reject::Reject;
use crate::settings::{SettingsAnswer, SettingsState};
use crate::source::Connection;
use crate::tool::{CallPlace, CallRow, ToolFailure, ToolOutcome, Tools};

/// The names of the turns that a page speaks of, in ascending order of turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnNames(Arc<[(TurnId, TurnName)]>);

impl TurnNames {
    /// Takes names in ascending order of turns.
    pub fn new(names: impl Into<Arc<[(TurnId, TurnName)]>>) -> Self {
        Self(names.into())
    }

    /// A turn's name, if the page speaks of the turn.
    #[must_use]
    pub fn get(&self, turn: TurnId) -> Option<&TurnName> {
        let at = self.0.binary_search_by_key(&turn, |(id, _)| *id).ok()?;
        self.0.get(at).map(|(_, name)| name)
    }
}

/// What the host says to a view.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// The tabs that exist, in answer to [`crate::Command::Ready`].
    Tabs {
        /// In the order in which they were opened.
        tabs: Vec<TabSummary>,
    },
    /// Events of a tab, the next ones after its cursor.
    Events {
        /// The tab.
        tab: TabId,
        /// The events.
        page: Arc<Page>,
        /// The names of the turns in it.
        names: TurnNames,
        /// The life of the log.
        epoch: Epoch,
        /// Where its agent works.
        home: AgentHome,
    },
    /// Events that the log no longer holds; what remains comes after it.
    Gap {
        /// The tab.
        tab: TabId,
        /// The first lost event.
        from: Seq,
        /// The last lost event.
        to: Seq,
    },
    /// What the view has seen of the tab is not this log's; everything comes from the start.
    Reset {
        /// The tab.
        tab: TabId,
    },
    /// A command was refused, or something went wrong that the log cannot tell.
    Refused(Reject),
    /// Everything as it is, in answer to [`crate::Command::Watch`]; changes come after it.
    Overview {
        /// The workspace of tabs that name none.
        home: Option<WorkspaceRoot>,
        /// All workspaces, by folder.
        workspaces: Vec<WorkspaceSummary>,
        /// The sessions that have a tab, in the order in which they were opened.
        sessions: Vec<SessionSummary>,
    },
    /// A session was opened, closed or changed.
    Session(SessionSummary),
    /// A session was deleted.
    SessionGone {
        /// Which one.
        session: SessionId,
    },
    /// A workspace became known or changed.
    Workspace(WorkspaceSummary),
    /// Sessions, in answer to [`crate::Command::History`].
    History {
        /// The last used first.
        sessions: Vec<SessionSummary>,
        /// Where the next ones are; none at the end.
        next: Option<HistoryPlace>,
    },
    /// The answer to [`crate::Command::Ping`].
    Pong {
        /// The number that was sent.
        number: u64,
    },
    /// The tools, in answer to [`crate::Command::ListTools`], by name.
    Tools {
        /// Whose answer.
        request: RequestNo,
        /// All of them, or why they cannot be listed.
        tools: Result<Tools, ToolFailure>,
    },
    /// What came of calls, in answer to [`crate::Command::CallTools`], in the order of the request.
    ToolsCalled {
        /// Whose answer.
        request: RequestNo,
        /// One for each call, or why there was no call at all.
        outcomes: Result<Vec<ToolOutcome>, ToolFailure>,
    },
    /// In answer to [`crate::Command::CancelCall`].
    CallCancelled {
        /// Whose answer.
        request: RequestNo,
        /// Whether it was open; its own answer comes apart.
        cancelled: bool,
    },
    /// Calls, in answer to [`crate::Command::ListCalls`], the newest first.
    Calls {
        /// Whose answer.
        request: RequestNo,
        /// The calls, or why they cannot be listed.
        calls: Result<Vec<CallRow>, ToolFailure>,
        /// Where the next ones are; none at the end.
        next: Option<CallPlace>,
    },
    /// In answer to [`crate::Command::LendTools`].
    Lent {
        /// Whose answer.
        request: RequestNo,
        /// The names under which they can be called, or why none was taken.
        result: Result<Vec<ToolName>, ToolFailure>,
    },
    /// Somebody calls a tool that this link lends.
    LentCall {
        /// Comes back in [`crate::Command::LentResult`].
        call: u64,
        /// Which tool.
        tool: ToolName,
        /// What goes in, as its schema says.
        parameters: serde_json::Value,
    },
    /// In answer to [`crate::Command::WatchApprovals`].
    ApprovalsWatched {
        /// Whose answer.
        request: RequestNo,
    },
    /// A question is open.
    ApprovalOpen {
        /// Where.
        session: SessionId,
        /// The question.
        approval: Box<Approval>,
    },
    /// In answer to [`crate::Command::Answer`].
    Answered {
        /// Whose answer.
        request: RequestNo,
        /// How the question came to its end, and by whom; or why the answer means nothing.
        result: Result<(Resolution, AnsweredBy), ToolFailure>,
    },
    /// All rules as they are now.
    Rules {
        /// The oldest first.
        rules: Vec<Rule>,
    },
    /// How commands are held in.
    Containment(Containment),
    /// A chore goes on; its answer comes later.
    ChoreNews {
        /// Whose answer.
        request: RequestNo,
        /// How much is done.
        done: u64,
        /// Of how much.
        total: u64,
    },
    /// In answer to [`crate::Command::Chore`].
    ChoreDone {
        /// Whose answer.
        request: RequestNo,
        /// What came of it, or why nothing did.
        result: Result<Box<ChoreAnswer>, Reject>,
    },
    /// The settings as they are now.
    Settings(Arc<SettingsState>),
    /// In answer to [`crate::Command::Session`].
    Answer {
        /// Whose answer.
        request: RequestNo,
        /// What came of it, or why nothing did.
        result: Result<Box<SessionAnswer>, Reject>,
    },
}

/// What came of a chore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoreAnswer {
    /// About all that was said.
    Library(LibraryAnswer),
    /// About settings.
    Settings(SettingsAnswer),
}

/// Whose answer it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnsweredBy {
    /// This one.
    You,
    /// Somebody's before.
    Before,
}

impl Told {
    /// What it costs within a link's window.
    #[must_use]
    pub fn cost(&self) -> usize {
        match self {
            Self::Events { page, .. } => page.cost(),
            Self::Session(_) | Self::SessionGone { .. } | Self::Workspace(_) => MIN_PAGE_COST,
            Self::Tabs { .. }
            | Self::Gap { .. }
            | Self::Reset { .. }
            | Self::Refused(_)
            | Self::Overview { .. }
            | Self::History { .. }
            | Self::Tools { .. }
            | Self::ToolsCalled { .. }
            | Self::CallCancelled { .. }
            | Self::Calls { .. }
            | Self::Lent { .. }
            | Self::LentCall { .. }
            | Self::ApprovalsWatched { .. }
            | Self::ApprovalOpen { .. }
            | Self::Answered { .. }
            | Self::Rules { .. }
            | Self::Containment(_)
            | Self::ChoreNews { .. }
            | Self::ChoreDone { .. }
            | Self::Settings(_)
            | Self::Answer { .. }
            | Self::Pong { .. } => 0,
        }
    }
}

/// A tab in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabSummary {
    /// Its name.
    pub tab: TabId,
    /// Its session's title.
    pub title: String,
    /// Its last durable event.
    pub head: Seq,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its id.
    pub session: SessionId,
    /// The life of its log.
    pub epoch: Epoch,
    /// Its tab; none when it is closed.
    pub tab: Option<TabId>,
    /// Its title; empty until there is one.
    pub title: String,
    /// Who works.
    pub agent: AgentName,
    /// Where.
    pub workspace: WorkspaceRoot,
    /// What goes on in it.
    pub status: Status,
    /// How its agent is.
    pub agent_state: AgentState,
    /// How the way to its agent is, if that works elsewhere.
    pub connection: Option<Connection>,
    /// Prompts that wait.
    pub queued: usize,
    /// Questions that wait for a person.
    pub approvals: usize,
    /// How its last turn ended, if one has.
    pub ended: Option<Outcome>,
    /// What its agent may do unasked.
    pub policy: SessionPolicy,
    /// When it was opened.
    pub created: Time,
    /// When a turn last began or ended.
    pub updated: Time,
}

/// A session's status in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing runs and nothing waits.
    Idle,
    /// Prompts wait, none runs.
    Queued,
    /// A turn runs.
    Running,
    /// A turn runs and waits for a person.
    AwaitingApproval,
}

/// How the agent of a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Nobody has needed it yet.
    None,
    /// It starts, or opens its own session.
    Starting,
    /// The same, and it takes long.
    Slow,
    /// It is there.
    Ready,
    /// A turn runs, and nothing has come from it for long.
    Stalled,
    /// It was unloaded because nobody needed it; the next prompt wakes it, and it goes on where it was.
    Asleep,
    /// It has ended; the log says why.
    Exited,
}

/// A workspace in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceSummary {
    /// Its folder.
    pub root: WorkspaceRoot,
    /// Whether a person trusts it.
    pub trust: Trust,
    /// The agents that are configured there.
    pub agents: Vec<AgentInfo>,
    /// The one that works when nobody names one.
    pub default_agent: AgentName,
    /// Well-known agents that are installed and not configured yet.
    pub offers: Vec<AgentOffer>,
}

/// An agent that is configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// Its name.
    pub name: AgentName,
    /// Its kind, as the configuration calls it.
    pub kind: String,
    /// How many sessions share one process.
    pub process: ProcessPer,
    /// Where it works.
    pub home: AgentHome,
}

/// Where an agent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AgentHome {
    /// Here: it ends with the host, and so do its turns.
    #[default]
    Here,
    /// Elsewhere: it keeps a log of its own and goes on when the host is gone.
    Elsewhere,
}

/// How many sessions share one process of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ProcessPer {
    /// Each session has its own.
    Session,
    /// One for all sessions of a workspace.
    Shared,
}

/// A well-known agent that could be configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentOffer {
    /// Its name in the configuration, once it is there.
    pub name: AgentName,
    /// Its name for people.
    pub title: String,
    /// How it would be started.
    pub command: String,
}
