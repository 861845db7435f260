//! What is open: errands, calls of tools, batches of them, consents of a turn. Plain data of the host; never decides.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;
use switchboard_types::{
    Approval, ApprovalId, BatchMode, CallId, CallRow, Errand, ErrandFailure, ErrandId, ErrandName, ExecutionId,
    FileAnswer, LifeId, LinkId, Prepared, RequestNo, RunAs, Seq, SessionId, Severity, Time, Tool, ToolFailure,
    ToolOutcome, ToolRequest, TurnId,
};

/// One call of a tool while it is open; never used again while the host runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CallNo(pub(crate) u64);

/// Several calls of one request; never used again while the host runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BatchNo(pub(crate) u64);

/// An errand that its asker has no answer to yet.
#[derive(Clone, Debug)]
pub(crate) struct OpenErrand {
    pub(crate) asker: ErrandAsker,
    /// The turn that it belongs to; what can do no harm needs none.
    pub(crate) turn: Option<TurnId>,
    pub(crate) stage: ErrandStage,
    /// What it is, where that is needed again: for a command that may be edited, for a lent tool.
    pub(crate) what: Option<Errand>,
    /// A person has allowed it in other words: the question, and how bad that was.
    pub(crate) edited: Option<(ApprovalId, Severity)>,
}

/// Who asked for an errand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ErrandAsker {
    /// An agent, under its own name for it.
    Agent { name: ErrandName, life: LifeId },
    /// Somebody who called a tool.
    Call(CallNo),
}

/// How far an errand is.
#[derive(Clone, Debug)]
pub(crate) enum ErrandStage {
    /// It can do no harm and is being served.
    Serving,
    /// It is being made ready to be shown.
    Preparing,
    /// A person is asked.
    Asked(Box<Prepared>),
    /// It is allowed and waits until fewer calls are carried out.
    Cleared(Box<Prepared>, Cleared),
    /// It is being done.
    Performing,
    /// The view that lends the tool is at it.
    Lent,
}

/// Why something may be done, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cleared {
    /// The question that a person answered.
    pub(crate) approval: Option<ApprovalId>,
    /// Why nobody was asked.
    pub(crate) unasked: Option<String>,
    pub(crate) run_as: RunAs,
}

/// Who waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApprovalAsker {
    /// The agent, under its own name for the question.
    Agent(ApprovalId),
    /// Something that the host would do for it.
    Errand(ErrandId),
}

/// What a person has allowed the agent itself; good for the same thing once, within the turn.
#[derive(Clone, Debug)]
pub(crate) struct Consent {
    pub(crate) turn: TurnId,
    pub(crate) approval: Approval,
}

/// A call of a tool that has no end yet.
#[derive(Debug)]
pub(crate) struct OpenCall {
    pub(crate) row: CallRow,
    pub(crate) tool: Arc<Tool>,
    pub(crate) caller: Caller,
    pub(crate) turn: Option<TurnId>,
    pub(crate) timeout_ms: u64,
    /// What goes in, until it begins.
    pub(crate) parameters: Option<Value>,
    /// Once it has begun.
    pub(crate) errand: Option<ErrandId>,
    /// When it was started for good, and the event that tells so.
    pub(crate) started: Option<(Time, Seq)>,
    pub(crate) execution: Option<ExecutionId>,
    pub(crate) cleared: Option<Cleared>,
    /// Whether the command is held in.
    pub(crate) contained: Option<bool>,
    /// Why it is being stopped.
    pub(crate) stopping: Option<ErrandFailure>,
    /// What came of it, while its execution has no end yet.
    pub(crate) result: Option<Result<Value, ToolFailure>>,
}

/// Who called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A view: its batch, and the place in it.
    View(BatchNo, usize),
    /// The agent of the session.
    Agent(LifeId),
    /// An agent that waits for no answer any more: its agent session is over.
    Gone,
}

/// The calls of one request.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) link: LinkId,
    pub(crate) request: RequestNo,
    pub(crate) mode: BatchMode,
    pub(crate) slots: Vec<Slot>,
    /// The first that may not have begun yet.
    pub(crate) next: usize,
    /// How many have begun and have no outcome yet.
    pub(crate) open: usize,
    /// How many have an outcome.
    pub(crate) done: usize,
    /// The change of a file that its one call shows; whoever asked for it is answered with it.
    pub(crate) shows: Option<Box<FileAnswer>>,
}

/// One call of a batch.
#[derive(Debug)]
pub(crate) enum Slot {
    /// It has not begun.
    Waiting(Box<ToolRequest>),
    /// It has begun.
    Open,
    /// It is over, and that is on the disk.
    Done(Box<ToolOutcome>),
}

/// All calls that are open.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) open: BTreeMap<CallNo, OpenCall>,
    /// Those that are carried out now.
    pub(crate) running: BTreeSet<CallNo>,
    /// Those that wait until fewer are, in order.
    pub(crate) waiting: VecDeque<CallNo>,
    pub(crate) batches: BTreeMap<BatchNo, Batch>,
    /// The names of views' calls, from the request to the outcome.
    pub(crate) names: HashMap<CallId, (BatchNo, usize)>,
    last: u64,
    last_batch: u64,
}

impl Calls {
    pub(crate) fn insert(&mut self, call: OpenCall) -> CallNo {
        self.last += 1;
        let no = CallNo(self.last);
        self.open.insert(no, call);
        self.waiting.push_back(no);
        no
    }

    pub(crate) fn remove(&mut self, no: CallNo) -> Option<OpenCall> {
        let call = self.open.remove(&no)?;
        if !self.running.remove(&no) {
            self.waiting.retain(|waiting| *waiting != no);
        }
        Some(call)
    }

    pub(crate) fn insert_batch(&mut self, batch: Batch) -> BatchNo {
        self.last_batch += 1;
        let no = BatchNo(self.last_batch);
        self.batches.insert(no, batch);
        no
    }

    /// How many calls of a link have no outcome yet.
    pub(crate) fn of_link(&self, link: LinkId) -> usize {
        let of_link = self.batches.values().filter(|batch| batch.link == link);
        of_link.map(|batch| batch.slots.len() - batch.done).sum()
    }

    /// The open calls that a test picks out.
    /// The agent session is over that called for a session.
    pub(crate) fn forget_agent(&mut self, session: SessionId) {
        for call in self.open.values_mut() {
            if call.row.session == session && matches!(call.caller, Caller::Agent(_)) {
                call.caller = Caller::Gone;
            }
        }
    }

    pub(crate) fn which(&self, picks: impl Fn(&OpenCall) -> bool) -> Vec<CallNo> {
        self.open.iter().filter(|(_, call)| picks(call)).map(|(no, _)| *no).collect()
    }
}

impl Batch {
    /// One without calls.
    pub(crate) fn new(link: LinkId, request: RequestNo, mode: BatchMode) -> Self {
        Self { link, request, mode, slots: Vec::new(), next: 0, open: 0, done: 0, shows: None }
    }

    /// Puts an outcome in its place; gives the names that are free again.
    pub(crate) fn fill(&mut self, at: usize, outcome: ToolOutcome) -> Vec<CallId> {
        let mut free = vec![outcome.call.clone()];
        let failed = outcome.result.is_err();
        self.put(at, outcome);
        if failed && self.mode == BatchMode::SequentialUntilError {
            for later in at + 1..self.slots.len() {
                let Some(Slot::Waiting(wanted)) = self.slots.get(later) else { continue };
                let Some(call) = wanted.call.clone() else { continue };
                free.push(call.clone());
                self.put(later, never_begun(call, "a call before it failed"));
            }
        }
        free
    }

    fn put(&mut self, at: usize, outcome: ToolOutcome) {
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Slot::Done(Box::new(outcome));
            self.done += 1;
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.done == self.slots.len()
    }
}

/// A call that was cancelled before it began.
pub(crate) fn never_begun(call: CallId, why: &str) -> ToolOutcome {
    let failure = ToolFailure::new(switchboard_types::ToolCode::Cancelled, why);
    ToolOutcome { call, result: Err(failure), duration_ms: 0, metadata: None }
}
