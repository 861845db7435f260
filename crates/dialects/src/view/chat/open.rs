//! What was asked of the host and has no answer yet, each with how its answer is to be said. Bounded; answers nothing twice.

use std::collections::BTreeMap;

use switchboard_types::limits::MAX_OPEN_REQUESTS;
use switchboard_types::{Command, RequestNo, SessionId, Settings};

use super::lists::Listing;
use super::sessions::Choice;

/// How an answer is to be said.
#[derive(Debug)]
pub(super) enum Kind {
    /// A part of the list of sessions.
    List(Listing),
    /// A new session, to be made the current one.
    Create {
        choice: Choice,
    },
    /// A session that is to be the current one.
    Follow {
        session: SessionId,
        choice: Choice,
    },
    /// A seat that was lost.
    Again {
        session: SessionId,
    },
    /// Nobody waits for what comes of it, unless it fails.
    Quiet {
        session: Option<SessionId>,
    },
    /// Nobody waits for what comes of it.
    Silent,
    /// A turn is to be stopped.
    Stop {
        session: SessionId,
    },
    /// A session is to be deleted, alone.
    Delete {
        session: SessionId,
    },
    /// The same, as one of many.
    DeleteOne {
        session: SessionId,
    },
    /// A question is answered.
    Answer {
        session: SessionId,
    },
    /// What is selected in the editor.
    Context,
    /// A change is to be shown in the editor.
    Show {
        session: SessionId,
    },
    /// Words are looked for.
    Search {
        query: String,
    },
    /// Settings are stored.
    Save {
        change: Box<Settings>,
    },
    /// A token is kept; the server is tried with it then, if that is wanted.
    Token {
        then_test: Option<Option<String>>,
    },
    /// The server is tried.
    Test,
    Upkeep,
    Rebuild,
}

/// The open requests of one link.
#[derive(Debug, Default)]
pub(super) struct Requests {
    last: u64,
    open: BTreeMap<RequestNo, Kind>,
}

impl Requests {
    /// Whether a view has to wait. The dialect's own requests have room beyond it.
    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= MAX_OPEN_REQUESTS / 2
    }

    pub(super) fn open(&mut self, kind: Kind) -> RequestNo {
        self.last += 1;
        let number = RequestNo(self.last);
        self.open.insert(number, kind);
        number
    }

    /// A request whose answer is there; none if it has had one.
    pub(super) fn close(&mut self, number: RequestNo) -> Option<Kind> {
        self.open.remove(&number)
    }
}

/// The number of what is asked, where it has one.
pub(super) fn request_of(command: &Command) -> Option<RequestNo> {
    match command {
        Command::Session { request, .. }
        | Command::Answer { request, .. }
        | Command::CallTools { request, .. }
        | Command::Chore { request, .. } => Some(*request),
        _ => None,
    }
}
