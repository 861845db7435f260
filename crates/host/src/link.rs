//! The seam between the task that owns the host and the tasks that own links: bounded queues and what travels in them.
//! Holds no state of its own.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
pub use switchboard_core::EndHow;
use switchboard_dialects::view::ViewKind;
pub use switchboard_types::Trust;
use switchboard_types::{
    AgentHome, Ask, Command, Epoch, LifeId, LinkId, Page, Reject, RuleId, SessionId, TabId, Time, Told, TurnNames,
    Word, WorkspaceRoot,
};
use tokio::sync::{mpsc, oneshot};

use crate::wire::Switch;

/// Messages that wait for one view's link. Events are bounded by bytes in the core; this bounds the rest.
pub const OUTBOX_MESSAGES: usize = 4096;
/// Inputs that wait for the host's task, of views and of agents each. One may be as large as a message may be, so few wait
/// here: whoever has more waits at its own end.
pub const INBOX_MESSAGES: usize = 16;

/// What the links of views send to the host's task.
#[derive(Debug)]
pub enum ViewInput {
    /// A view's link is up.
    Opened {
        /// Its name, never used again.
        link: LinkId,
        /// Where its messages go.
        outbox: mpsc::Sender<Outgoing>,
    },
    /// A view asks for something.
    Command {
        /// Who asks.
        link: LinkId,
        /// For what.
        command: Command,
    },
    /// The same while something is recorded: a message as it came, with what the dialect made of it.
    Taped {
        /// Who sent it.
        link: LinkId,
        /// The message.
        tape: Box<ViewTape>,
    },
    /// Somebody wants a session's wire recorded, or no longer.
    Record {
        /// Which session.
        session: SessionId,
        /// Which of the two; none to be told only.
        switch: Option<Switch>,
        /// Answered with whether it is recorded now; the error is for a person.
        answer: oneshot::Sender<Result<bool, String>>,
    },
    /// Event bytes (as [`Page::cost`] counts them) have left for the view.
    Drained {
        /// Whose.
        link: LinkId,
        /// How many.
        bytes: usize,
    },
    /// The link is gone.
    Closed {
        /// Which one.
        link: LinkId,
    },
    /// A person trusts a workspace, or no longer does.
    Trust {
        /// Its folder.
        root: WorkspaceRoot,
        /// Which of the two.
        trust: Trust,
        /// Answered when it is durable; the error is for a person.
        answer: oneshot::Sender<Result<(), String>>,
    },
    /// Somebody who is no view wants a session deleted.
    Delete {
        /// Which one.
        session: SessionId,
        /// Answered when it is durable; the error is for a person.
        answer: oneshot::Sender<Result<(), String>>,
    },
    /// Somebody who is no view wants a rule taken out.
    RemoveRule {
        /// Which one.
        rule: RuleId,
        /// Answered with whether there was one, when it is durable; the error is for a person.
        answer: oneshot::Sender<Result<bool, String>>,
    },
    /// Somebody wants to know what is wrong in the configuration.
    Configuration {
        /// Answered with what is, each for a person.
        answer: oneshot::Sender<Vec<String>>,
    },
    /// Another folder joins this host.
    AddWorkspace {
        /// Its folder.
        root: WorkspaceRoot,
        /// Answered when the host knows it.
        answer: oneshot::Sender<()>,
    },
}

/// A message of a view as it came.
#[derive(Debug)]
pub struct ViewTape {
    /// When it came.
    pub at: Time,
    /// The vocabulary.
    pub kind: ViewKind,
    /// Its beginning.
    pub raw: Bytes,
    /// Bytes of all of it.
    pub bytes: usize,
    /// What it asks for, or why the link refused it and what the link answered.
    pub read: Result<Command, (Reject, Vec<Bytes>)>,
}

/// What the host's task sends to the link of a view.
#[derive(Clone, Debug)]
pub enum Outgoing {
    /// Events; the encoded form is shared by all links that get the same page.
    Events(Arc<SharedPage>),
    /// Anything else; boxed, since an idle link pays for the size of what could wait for it.
    Told(Box<Told>),
    /// One of these two, and the sessions whose record it goes into as well.
    Taped(Box<Outgoing>, Arc<[SessionId]>),
    /// The link must end.
    Close(CloseReason),
}

/// Why the host ends a view's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The host stops (WebSocket close code 1001).
    GoingAway,
    /// The view asks faster than it reads the answers (WebSocket close code 1008).
    TooSlow,
}

/// A page of events for a tab, with room for its encoded frames: the first link that needs them makes them, the others
/// share them.
#[derive(Debug)]
pub struct SharedPage {
    /// The tab.
    pub tab: TabId,
    /// The events.
    pub page: Arc<Page>,
    /// The names of the turns in it.
    pub names: TurnNames,
    /// The life of the log.
    pub epoch: Epoch,
    /// Where its agent works.
    pub home: AgentHome,
    /// WebSocket frames, one after the other, for each of [`ViewKind::ALL`].
    pub frames: [OnceLock<Bytes>; ViewKind::ALL.len()],
    /// The same as server-sent events.
    pub events: OnceLock<Bytes>,
}

/// What the links of agents send to the host's task.
#[derive(Debug)]
pub enum AgentInput {
    /// The process runs.
    Started {
        /// Which life.
        life: LifeId,
    },
    /// The process said something.
    Words {
        /// Which life.
        life: LifeId,
        /// What, in order.
        words: Vec<Word>,
    },
    /// The same while a session of the process is recorded: what went over its pipes, in order.
    Taped {
        /// Which life.
        life: LifeId,
        /// What.
        items: Vec<AgentTape>,
    },
    /// The process wrote lines to its error output.
    Stderr {
        /// Which life.
        life: LifeId,
        /// The lines, escaped and cut.
        lines: Vec<String>,
    },
    /// The process could not be started or has ended; the last input of its life.
    Ended {
        /// Which life.
        life: LifeId,
        /// For a person: why.
        message: String,
    },
}

/// A message on an agent's pipe as it was.
#[derive(Debug)]
pub enum AgentTape {
    /// The process said it.
    Heard {
        /// When.
        at: Time,
        /// Its beginning.
        raw: Bytes,
        /// Bytes of all of it.
        bytes: usize,
        /// What it says, in order.
        words: Vec<Word>,
        /// Why it, or a part of it, means nothing.
        noise: Option<String>,
    },
    /// It was said to the process.
    Told {
        /// When.
        at: Time,
        /// Its beginning.
        raw: Bytes,
        /// Bytes of all of it.
        bytes: usize,
        /// The session that it is about; none if it is about the agent as a whole.
        session: Option<SessionId>,
    },
    /// So many that were said to the process could not be kept.
    LeftOut(u64),
}

/// What the host's task sends to the link of an agent.
#[derive(Debug)]
pub enum AgentOrder {
    /// Ask it something.
    Ask(Ask),
    /// Hand in what goes over its pipes as it is, or no longer.
    Tape(Taping),
    /// End the process.
    End(EndHow),
}

/// Whether what goes over an agent's pipes is handed in as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taping {
    /// It is.
    On,
    /// Only what it means is.
    Off,
}
