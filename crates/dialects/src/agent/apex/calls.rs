//! The tool calls that a backend waits for. Each is completed exactly once, in the way that it was asked; what the host says of
//! one that is over changes nothing.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;
use switchboard_types::CallId;
use switchboard_types::ToolFailure;
use thiserror::Error;

use super::fault;
use super::say::{ToolAnswer, ToolResponse};
use crate::jsonrpc::{Debt, Failure, IdRef, Owed, codes, write};

/// Tool calls that may be open at once.
const MAX_OPEN_CALLS: usize = 64;
/// Tool calls of one task that are remembered once they are over.
const MAX_DONE_CALLS: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Calls {
    open: HashMap<CallId, Asked>,
    /// Those of the running task that are over, the oldest forgotten beyond a bound.
    done: VecDeque<CallId>,
    /// Those that we have completed ourselves and of which the host will still say something.
    unanswered: HashSet<CallId>,
}

/// How a call was asked for.
#[derive(Debug)]
enum Asked {
    Request(Debt),
    Notification,
}

/// Why a tool call is not taken.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum Refused {
    #[error("the tool call {id} was asked for before; every call needs a `toolCallId` of its own")]
    Again { id: String },
    #[error("{MAX_OPEN_CALLS} tool calls are open already")]
    TooMany,
}

impl Calls {
    /// A new task may use the names of the one before again.
    pub(super) fn begin_task(&mut self) {
        self.done.clear();
    }

    /// A call that was asked for by a request.
    pub(super) fn asked(&mut self, id: &CallId, debt: Debt) -> Result<(), (Refused, Debt)> {
        match self.check(id) {
            Ok(()) => {
                self.open.insert(id.clone(), Asked::Request(debt));
                Ok(())
            }
            Err(refused) => Err((refused, debt)),
        }
    }

    /// A call that was asked for by a notification.
    pub(super) fn notified(&mut self, id: &CallId) -> Result<(), Refused> {
        self.check(id)?;
        self.open.insert(id.clone(), Asked::Notification);
        Ok(())
    }

    fn check(&self, id: &CallId) -> Result<(), Refused> {
        if self.open.contains_key(id) || self.unanswered.contains(id) || self.done.contains(id) {
            return Err(Refused::Again { id: crate::json::shown(id.as_str()) });
        }
        if self.open.len() + self.unanswered.len() >= MAX_OPEN_CALLS {
            return Err(Refused::TooMany);
        }
        Ok(())
    }

    /// The host has a result, or a reason why there is none.
    pub(super) fn complete(
        &mut self,
        id: &CallId,
        result: &Result<Value, ToolFailure>,
        owed: &mut Owed,
    ) -> Option<Vec<u8>> {
        if self.unanswered.remove(id) {
            return None;
        }
        let asked = self.open.remove(id)?;
        self.remember(id);
        match result {
            Ok(result) => respond(id, asked, result, owed),
            Err(failure) => fail(id, asked, &fault::tool_failed(id, failure), owed),
        }
    }

    /// Completes everything that is open, since its task is cancelled or over.
    pub(super) fn abandon_all(&mut self, owed: &mut Owed) -> Vec<Vec<u8>> {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
        let completed = open.into_iter().filter_map(|(id, asked)| {
            let answer = fail(&id, asked, &fault::cancelled_call(&id), owed);
            self.unanswered.insert(id);
            answer
        });
        completed.collect()
    }

    /// The backend calls back a request of its own.
    pub(super) fn call_back(&mut self, request: IdRef<'_>, owed: &mut Owed) -> Option<Vec<u8>> {
        let is_it = |asked: &Asked| match asked {
            Asked::Request(debt) => debt.id().as_json() == request.as_json(),
            Asked::Notification => false,
        };
        let id = self.open.iter().find(|(_, asked)| is_it(asked)).map(|(id, _)| id.clone())?;
        let asked = self.open.remove(&id)?;
        self.unanswered.insert(id.clone());
        fail(&id, asked, &Failure::new(codes::REQUEST_CANCELLED, "called back"), owed)
    }

    fn remember(&mut self, id: &CallId) {
        if self.done.len() == MAX_DONE_CALLS {
            self.done.pop_front();
        }
        self.done.push_back(id.clone());
    }
}

fn respond(id: &CallId, asked: Asked, result: &Value, owed: &mut Owed) -> Option<Vec<u8>> {
    let answer = ToolAnswer { tool_call_id: id.as_str(), result, error: None };
    match asked {
        Asked::Request(debt) => Some(owed.result(debt, &answer)),
        Asked::Notification => {
            let response = ToolResponse { tool_call_id: id.as_str(), result: Some(result), error: None };
            write::notification("toolResponse", &response).ok()
        }
    }
}

fn fail(id: &CallId, asked: Asked, failure: &Failure, owed: &mut Owed) -> Option<Vec<u8>> {
    match asked {
        Asked::Request(debt) => Some(owed.error(debt, failure)),
        Asked::Notification => {
            let response = ToolResponse { tool_call_id: id.as_str(), result: None, error: Some(failure) };
            write::notification("toolResponse", &response).ok()
        }
    }
}
