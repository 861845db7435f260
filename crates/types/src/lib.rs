//! The plain data of Switchboard: what happens, what is asked, what is told. Holds no behaviour beyond encoding itself.
//!
//! | module | owns |
//! | --- | --- |
//! | [`ids`] | a newtype for every id and every number with a meaning |
//! | [`text`] | streamed text, escaped once |
//! | [`body`] | what an event says |
//! | [`record`] | how events lie in the log, in a page and on the wire between core and edges |
//! | [`command`] | what a view asks of the host |
//! | [`told`] | what the host says to a view |
//! | [`desk`] | what can be asked about a session by its id, and what is answered |
//! | [`library`] | what is found again: search, usage, upkeep |
//! | [`settings`] | settings that people change at a view |
//! | [`source`] | agents that work elsewhere and keep a log of their own |
//! | [`agent`] | what the host asks of an agent, and the words an agent says |
//! | [`tool`] | tools: what can be called by name, how, and what comes of it |
//! | [`policy`] | what the policy judges, by what, and what it says |
//! | [`diff`] | how a file would change |
//! | [`errand`] | what an agent asks the host to do for it |
//! | [`rows`] | the metadata that is stored beside the log, and the unit of commit |
//! | [`reject`] | a refused message; the link lives on |
//! | [`limits`] | the bound of everything that a peer could make large |

pub mod agent;
pub mod body;
pub mod command;
pub mod desk;
pub mod diff;
pub mod errand;
pub mod ids;
pub mod library;
pub mod limits;
pub mod policy;
pub mod record;
pub mod reject;
pub mod rows;
pub mod settings;
pub mod source;
pub mod text;
pub mod told;
pub mod tool;

pub use agent::{About, Answer, Ask, Elsewhere, Past, Said, Telling, Wish, Word};
pub use body::{
    AgentOption, Approval, ApprovalKind, ApprovalOption, Body, ContextItem, Cost, Decision, Detail, Execution,
    ExecutionEnd, Image, Location, LogLevel, Memory, OptionChoice, OptionKind, Outcome, PlanEntry, PlanStatus, Prompt,
    Resolution, Severity, SignInBy, SignInMethod, SlashCommand, TitleBy, ToolCall, ToolContent, ToolError, ToolStatus,
};
pub use command::{Chore, Command, HistoryPlace, Seen, Trust, Visibility};
pub use desk::{
    FileAnswer, FileEntry, FileEntryKind, FileRequest, FollowFrom, SessionAnswer, SessionRequest, SnippetCut,
};
pub use diff::{DiffHunk, DiffLine, FileDiff};
pub use errand::{
    Console, Cut, Errand, ErrandCode, ErrandFailure, ErrandNews, ErrandOrder, ErrandResult, Exit, Network, Prepared,
    Run, TerminalWish,
};
pub use ids::{
    AgentName, AgentRequest, AgentSession, ApprovalId, CallId, Epoch, ErrandId, ErrandName, ExecutionId, LifeId,
    LinkId, OptionId, ReadId, RequestNo, RuleId, Seq, SessionId, SourceId, TabId, Ticket, Time, ToolName, TurnId,
    TurnName, WorkspaceRoot,
};
pub use library::{
    CostSum, Found, FoundMessage, FoundSession, Kept, LibraryAnswer, LibraryRequest, Rebuilt, Role, SearchOrder,
    SearchQuery, SnippetPiece, Tokens, UsageBy, UsageQuery, UsageRow,
};
pub use policy::{
    ArgPattern, Asker, CommandFacts, Containment, EditFacts, Facts, Judgement, Mode, Patterns, Place, PolicyChange,
    ProgramFacts, Rule, RuleEffect, RuleWhat, RunAs, SessionKeeps, SessionPolicy, TargetFacts, Unasked, Verdict,
};
pub use record::{Event, EventRef, Page, PageBuilder};
pub use reject::{Reject, RejectCode};
pub use rows::{Change, Commit, CommitDone, Entry, History, SessionRow, TurnPhase, TurnRow, WorkspaceRow};
pub use settings::{
    ModelServer, SecretText, ServedModel, ServerKind, Settings, SettingsAnswer, SettingsRequest, SettingsScope,
    SettingsState, Temperature, Unset,
};
pub use source::{
    AgentSessionInfo, Connection, ConnectionStatus, PermissionMode, Setup, Source, SourceCursor, SourceRef, Upstream,
};
pub use text::Text;
pub use told::{
    AgentHome, AgentInfo, AgentOffer, AgentState, AnsweredBy, ChoreAnswer, ProcessPer, SessionSummary, Status,
    TabSummary, Told, TurnNames, WorkspaceSummary,
};
pub use tool::{
    BatchMode, CallEnd, CallPlace, CallRow, CustomTool, Effect, Finding, FindingCode, FunctionTool, Provider, Success,
    Tool, ToolCode, ToolDefinition, ToolFailure, ToolOutcome, ToolRequest, Tools,
};
