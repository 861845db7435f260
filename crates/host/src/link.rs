//! The seam between the task that owns the host and the tasks that own links: bounded queues and what travels in them.
//! Holds no state of its own.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
pub use switchboard_core::EndHow;
use switchboard_dialects::view::ViewKind;
pub use switchboard_types::Trust;
use switchboard_types::{
    Ask, Command, Epoch, LifeId, LinkId, Page, SessionId, TabId, Told, TurnNames, Word, WorkspaceRoot,
};
use tokio::sync::{mpsc, oneshot};

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
    /// Another folder joins this host.
    AddWorkspace {
        /// Its folder.
        root: WorkspaceRoot,
        /// Answered when the host knows it.
        answer: oneshot::Sender<()>,
    },
}

/// What the host's task sends to the link of a view.
#[derive(Clone, Debug)]
pub enum Outgoing {
    /// Events; the encoded form is shared by all links that get the same page.
    Events(Arc<SharedPage>),
    /// Anything else; boxed, since an idle link pays for the size of what could wait for it.
    Told(Box<Told>),
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
    /// WebSocket frames, one after the other, for each of [`ViewKind::ALL`].
    pub frames: [OnceLock<Bytes>; ViewKind::ALL.len()],
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

/// What the host's task sends to the link of an agent.
#[derive(Debug)]
pub enum AgentOrder {
    /// Ask it something.
    Ask(Ask),
    /// End the process.
    End(EndHow),
}
