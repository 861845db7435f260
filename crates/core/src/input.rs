//! What happens to the host and what it wants done. Plain data; the edges carry it.

use switchboard_types::{
    AgentInfo, AgentName, AgentOffer, AgentSessionInfo, Ask, CallPlace, CallRow, Chore, ChoreAnswer, Command, Commit,
    CommitDone, Containment, ErrandNews, ErrandOrder, FileAnswer, FileRequest, History, HistoryPlace, LifeId, LinkId,
    Page, Patterns, ReadId, Reject, RequestNo, RuleId, Seq, SessionId, SessionRow, SettingsState, SourceId, Told, Tool,
    ToolName, Trust, Word, WorkspaceRoot,
};

use crate::fold::State;

/// Something happened.
#[derive(Debug)]
pub enum Input {
    /// A view's link is up.
    LinkOpened(LinkId),
    /// A view's link is gone.
    LinkClosed(LinkId),
    /// A view asks for something.
    Command {
        /// Who.
        link: LinkId,
        /// What.
        command: Command,
    },
    /// Event bytes have left for a view.
    Drained {
        /// Whose.
        link: LinkId,
        /// How many, as [`Page::cost`] counts.
        bytes: usize,
    },
    /// An agent's process runs.
    LifeStarted(LifeId),
    /// An agent said something.
    Words {
        /// Which life of which agent.
        life: LifeId,
        /// What, in order.
        words: Vec<Word>,
    },
    /// An agent's process could not be started, or has ended.
    LifeEnded {
        /// Which life.
        life: LifeId,
        /// For a person: why.
        message: String,
    },
    /// An agent's process wrote lines to its error output.
    Stderr {
        /// Which life.
        life: LifeId,
        /// The lines, escaped and cut.
        lines: Vec<String>,
    },
    /// Something has become of an errand.
    Errand(ErrandNews),
    /// The summary of a conversation is made; the error is for a person.
    Recap {
        /// Which session.
        session: SessionId,
        /// What was said, in short.
        recap: Result<String, String>,
    },
    /// The configuration of an agent has changed while it may run.
    Configure {
        /// Which agent.
        agent: AgentName,
        /// Where.
        workspace: WorkspaceRoot,
        /// All of it.
        config: serde_json::Value,
    },
    /// The store has answered a commit.
    Committed(CommitDone),
    /// The store has answered a read.
    PageRead {
        /// Which read.
        read: ReadId,
        /// What comes next; the error is for a person.
        slice: Result<Slice, String>,
    },
    /// The store has answered a reload.
    Reloaded {
        /// Which session.
        session: SessionId,
        /// What it holds; the error is for a person.
        recovered: Result<Box<Recovered>, String>,
    },
    /// The edges know a workspace, or know it better now.
    Workspace(Workspace),
    /// A person trusts a workspace, or no longer does.
    Trust {
        /// The workspace as it is with that trust.
        workspace: Workspace,
        /// Its name in the answer.
        request: RequestId,
    },
    /// The store has answered a listing.
    HistoryRead {
        /// Who asked.
        link: LinkId,
        /// Comes back in the answer, if it was asked at the desk.
        request: Option<RequestNo>,
        /// What it holds; the error is for a person.
        history: Result<History, String>,
    },
    /// The store has looked for a session.
    LookedUp {
        /// Who asked.
        link: LinkId,
        /// Comes back in the answer.
        request: RequestNo,
        /// Its row, if there is one; the error is for a person.
        found: Result<Option<SessionRow>, String>,
    },
    /// The store has looked for sessions of an agent elsewhere.
    UnknownFound {
        /// Which agent.
        agent: AgentName,
        /// Where it is configured.
        workspace: WorkspaceRoot,
        /// Those that no session of ours stands for.
        sessions: Vec<AgentSessionInfo>,
    },
    /// Somebody who is no view wants a session deleted.
    Delete {
        /// Which one.
        session: SessionId,
        /// Its name in the answer.
        request: RequestId,
    },
    /// The host's own tools are ready to be called; before, nobody is told of any.
    Tools(Vec<Tool>),
    /// How commands are held in, as the edges found out.
    Containment(Containment),
    /// The store has answered a listing of calls.
    CallsRead {
        /// Who asked.
        link: LinkId,
        /// Comes back in the answer.
        request: RequestNo,
        /// The calls, and where the next ones are; the error is for a person.
        calls: Result<(Vec<CallRow>, Option<CallPlace>), String>,
    },
    /// Somebody who is no view wants a rule taken out.
    RemoveRule {
        /// Which one.
        rule: RuleId,
        /// Its name in the answer.
        request: RequestId,
    },
    /// The edges have looked at files.
    FilesDone {
        /// Who asked.
        link: LinkId,
        /// Comes back in the answer.
        request: RequestNo,
        /// What there is, or why that cannot be said.
        result: Result<Box<FileAnswer>, Reject>,
    },
    /// The store has looked for an event by its source.
    SourceFound {
        /// Who asked.
        link: LinkId,
        /// Comes back in the answer.
        request: RequestNo,
        /// Which session.
        session: SessionId,
        /// Its place in our log, if it is there; the error is for a person.
        found: Result<Option<Seq>, String>,
    },
    /// A chore goes on.
    ChoreNews {
        /// Who asked.
        link: LinkId,
        /// Comes back in the answer.
        request: RequestNo,
        /// How much is done.
        done: u64,
        /// Of how much.
        total: u64,
    },
    /// A chore is done.
    ChoreDone {
        /// Who asked.
        link: LinkId,
        /// Comes back in the answer.
        request: RequestNo,
        /// What came of it, or why nothing did.
        result: Result<Box<ChoreAnswer>, Reject>,
    },
    /// The settings as the edges have read them, at the start and after each change.
    Settings(Box<SettingsState>),
    /// Time has passed.
    Tick,
    /// The host must stop: mark what runs and take nothing more.
    Stop,
}

/// Something to do.
#[derive(Debug, PartialEq)]
pub enum Output {
    /// Write this to the disk and answer with [`Input::Committed`], in order.
    Commit(Commit),
    /// Tell a view.
    Tell {
        /// Which link.
        link: LinkId,
        /// What.
        told: Told,
    },
    /// Read a session's next events and answer with [`Input::PageRead`].
    Read {
        /// Its name in the answer.
        read: ReadId,
        /// Which session.
        session: SessionId,
        /// After which event.
        after: Seq,
        /// At most so many bytes, but at least one event.
        max_bytes: usize,
    },
    /// Read a session anew, as at start-up, and answer with [`Input::Reloaded`].
    Reload(SessionId),
    /// Start an agent's process and answer with [`Input::LifeStarted`] or [`Input::LifeEnded`].
    Spawn {
        /// The name of this life.
        life: LifeId,
        /// Which agent.
        agent: AgentName,
        /// Where.
        workspace: WorkspaceRoot,
    },
    /// Ask an agent something.
    Ask {
        /// Which life.
        life: LifeId,
        /// What.
        ask: Ask,
    },
    /// Do something for an agent, and answer with [`Input::Errand`].
    Errand(ErrandOrder),
    /// Sum up what was said in a session so far, and answer with [`Input::Recap`].
    Recap(SessionId),
    /// Configure a well-known agent; every workspace that it changes comes back as [`Input::Workspace`].
    AddAgent {
        /// Who asks.
        link: LinkId,
        /// Its name.
        name: AgentName,
    },
    /// End an agent's process.
    End {
        /// Which life.
        life: LifeId,
        /// How.
        how: EndHow,
    },
    /// List sessions and answer with [`Input::HistoryRead`].
    ReadHistory {
        /// Who asks.
        link: LinkId,
        /// Comes back in the answer, if it was asked at the desk.
        request: Option<RequestNo>,
        /// After this one.
        before: Option<HistoryPlace>,
        /// At most so many.
        limit: usize,
    },
    /// Look for a session and answer with [`Input::LookedUp`].
    LookUp {
        /// Who asks.
        link: LinkId,
        /// Comes back in the answer.
        request: RequestNo,
        /// Which one.
        session: SessionId,
    },
    /// Find those sessions of an agent elsewhere that no session of ours stands for, and answer with
    /// [`Input::UnknownFound`].
    FindUnknown {
        /// Which agent.
        agent: AgentName,
        /// Where it is configured.
        workspace: WorkspaceRoot,
        /// The sessions that it has.
        sessions: Vec<AgentSessionInfo>,
    },
    /// A view wants a workspace's trust changed; see to it and answer with [`Input::Trust`].
    SetTrust {
        /// Who asks.
        link: LinkId,
        /// Its folder.
        root: WorkspaceRoot,
        /// Which of the two.
        trust: Trust,
    },
    /// A session is deleted, or not.
    Deleted {
        /// Which request.
        request: RequestId,
        /// Durable, or why not.
        result: Result<(), String>,
    },
    /// List calls and answer with [`Input::CallsRead`].
    ReadCalls {
        /// Who asks.
        link: LinkId,
        /// Comes back in the answer.
        request: RequestNo,
        /// Only of this tool.
        tool: Option<ToolName>,
        /// After this one.
        before: Option<CallPlace>,
        /// At most so many.
        limit: usize,
    },
    /// Look at files of a session and answer with [`Input::FilesDone`].
    Files {
        /// Who asks.
        link: LinkId,
        /// Comes back in the answer.
        request: RequestNo,
        /// Whose files.
        session: SessionId,
        /// Its workspace.
        root: WorkspaceRoot,
        /// Whether that is trusted; what could run something is only done if it is.
        trust: Trust,
        /// What.
        what: FileRequest,
    },
    /// Do something for a view and answer with [`Input::ChoreDone`].
    Chore {
        /// Who asks.
        link: LinkId,
        /// Comes back in the answer.
        request: RequestNo,
        /// What.
        what: Chore,
    },
    /// Look for an event by its source and answer with [`Input::SourceFound`].
    FindSource {
        /// Who asks.
        link: LinkId,
        /// Comes back in the answer.
        request: RequestNo,
        /// Which session.
        session: SessionId,
        /// The event's name in the log that it comes from.
        source: SourceId,
    },
    /// A rule is taken out, or not.
    RuleRemoved {
        /// Which request.
        request: RequestId,
        /// Whether there was one, durably; or why not.
        result: Result<bool, String>,
    },
    /// A workspace's trust is settled.
    TrustSettled {
        /// Which request.
        request: RequestId,
        /// Durable, or why not.
        result: Result<(), String>,
    },
}

/// A request of the edges that wants one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// How a process is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndHow {
    /// With time to put its things in order.
    Gracefully,
    /// Now.
    AtOnce,
}

/// What the store has after a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Events that are lost, from the cursor to the page.
    pub gap: Option<(Seq, Seq)>,
    /// The next events; none at the end of the log.
    pub page: Option<Page>,
}

/// A workspace as the edges know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
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
    /// The patterns of its settings; none if the defaults hold.
    pub patterns: Option<Patterns>,
}

/// A session as it is found on the disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Recovered {
    /// Its row.
    pub row: SessionRow,
    /// Its last event.
    pub head: Seq,
    /// The fold of its log.
    pub state: State,
    /// The calls of tools in it that have no end.
    pub calls: Vec<CallRow>,
}
