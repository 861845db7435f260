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
//! | [`agent`] | what the host asks of an agent, and the words an agent says |
//! | [`rows`] | the metadata that is stored beside the log, and the unit of commit |
//! | [`reject`] | a refused message; the link lives on |
//! | [`limits`] | the bound of everything that a peer could make large |

pub mod agent;
pub mod body;
pub mod command;
pub mod ids;
pub mod limits;
pub mod record;
pub mod reject;
pub mod rows;
pub mod text;
pub mod told;

pub use agent::{Ask, Word};
pub use body::{
    Approval, ApprovalKind, Body, ContextItem, Decision, Detail, Outcome, PlanEntry, PlanStatus, Prompt, Resolution,
    Severity, ToolCall, ToolStatus,
};
pub use command::{Command, HistoryPlace, Seen, Trust, Visibility};
pub use ids::{
    AgentName, ApprovalId, CallId, Epoch, LifeId, LinkId, ReadId, Seq, SessionId, TabId, Ticket, Time, TurnId,
    TurnName, WorkspaceRoot,
};
pub use record::{Event, EventRef, Page, PageBuilder};
pub use reject::{Reject, RejectCode};
pub use rows::{Change, Commit, CommitDone, Entry, History, SessionRow, TurnPhase, TurnRow, WorkspaceRow};
pub use text::Text;
pub use told::{AgentState, SessionSummary, Status, TabSummary, Told, TurnNames, WorkspaceSummary};
