//! The requests of one link that have no answer yet, bounded. Never answers one twice.

use std::collections::{BTreeMap, VecDeque};

use switchboard_types::{FollowFrom, RequestNo, SessionId, TurnName};

use super::asked::Method;

/// Requests of one link that have no answer yet.
pub const MAX_OPEN_REQUESTS: usize = 256;

/// A request that is open.
#[derive(Debug)]
pub(super) struct Open {
    /// The view's name for it; none if the dialect itself has asked.
    pub(super) id: Option<String>,
    pub(super) kind: Kind,
}

/// Names one wish for another selection; of several that are open, the last one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Choice(pub(super) u64);

/// A seat that is asked for; the first of the ways that the host can honour is taken.
#[derive(Debug)]
pub(super) struct Selecting {
    pub(super) session: SessionId,
    /// What was asked.
    pub(super) method: Method,
    pub(super) choice: Choice,
    /// What is tried now.
    pub(super) from: From,
    /// What is tried next.
    pub(super) ways: VecDeque<FollowFrom>,
}

/// From where on a seat is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// Where the view wants it.
    Wanted,
    /// The start, since that cannot be honoured.
    Lost,
}

/// How an answer is to be said.
#[derive(Debug)]
pub(super) enum Kind {
    Init,
    List,
    Create {
        choice: Choice,
    },
    Select(Selecting),
    Delete,
    Send {
        name: TurnName,
    },
    Stop,
    Command,
    Approve,
    Files(Method),
    /// Asked by the dialect: a seat that was lost.
    Again {
        session: SessionId,
    },
    /// Asked by the dialect: nobody waits for what comes of it.
    Leave,
}

impl Kind {
    /// The method that it answers; none where nobody has asked.
    pub(super) fn method(&self) -> Option<Method> {
        match self {
            Self::Init => Some(Method::Init),
            Self::List => Some(Method::ListSessions),
            Self::Create { .. } => Some(Method::CreateSession),
            Self::Select(selecting) => Some(selecting.method),
            Self::Delete => Some(Method::DeleteSession),
            Self::Send { .. } => Some(Method::SendMessage),
            Self::Stop => Some(Method::Stop),
            Self::Command => Some(Method::Command),
            Self::Approve => Some(Method::ApprovePermission),
            Self::Files(method) => Some(*method),
            Self::Again { .. } | Self::Leave => None,
        }
    }
}

/// The open requests of one link.
#[derive(Debug, Default)]
pub(super) struct Requests {
    last: u64,
    open: BTreeMap<RequestNo, Open>,
}

impl Requests {
    /// Whether no more requests can be taken.
    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= MAX_OPEN_REQUESTS
    }

    /// Whether a request of this name is open.
    pub(super) fn has(&self, id: &str) -> bool {
        self.open.values().any(|open| open.id.as_deref() == Some(id))
    }

    /// Notes a request.
    pub(super) fn open(&mut self, id: Option<String>, kind: Kind) -> RequestNo {
        self.last += 1;
        let number = RequestNo(self.last);
        self.open.insert(number, Open { id, kind });
        number
    }

    /// How an open request is to be answered.
    pub(super) fn kind(&self, number: RequestNo) -> Option<&Kind> {
        self.open.get(&number).map(|open| &open.kind)
    }

    /// A request whose answer is there; none if it has had one.
    pub(super) fn close(&mut self, number: RequestNo) -> Option<Open> {
        self.open.remove(&number)
    }
}
