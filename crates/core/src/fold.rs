//! The fold of a log to a state: what a session is, derived from its events and nothing else. Never decides; the host
//! reads it and decides.

use std::collections::{BTreeMap, HashMap, VecDeque};

use switchboard_types::record::Peek;
use switchboard_types::{
    Approval, ApprovalId, Body, CallId, EventRef, ExecutionId, PlanEntry, Prompt, Resolution, Seq, SessionRow, Status,
    ToolCall, ToolStatus, TurnId, TurnName, TurnPhase, TurnRow,
};

/// Answers that are remembered, so that a late one can be told what was decided.
const REMEMBERED_RESOLUTIONS: usize = 256;

/// A session as its log tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Its title; empty until there is one.
    pub title: String,
    /// All turns, the first at index 0.
    turns: Vec<TurnState>,
    names: HashMap<TurnName, TurnId>,
    /// The prompts that wait, in order.
    queue: VecDeque<TurnId>,
    running: Option<TurnId>,
    cancelling: bool,
    /// The prompts of turns that have not started.
    prompts: HashMap<TurnId, Prompt>,
    /// The prompt of the turn that runs, for an agent that must be asked again whether it has it.
    running_prompt: Option<Prompt>,
    /// The turns that an agent elsewhere has taken and not ended, in its order.
    taken: VecDeque<TurnId>,
    /// Answers to questions of an agent elsewhere that it has not confirmed, within the turns that are not over.
    unconfirmed: Vec<Unconfirmed>,
    approvals: BTreeMap<ApprovalId, OpenApproval>,
    resolved: VecDeque<(ApprovalId, Resolution)>,
    /// What runs or is being written for the agent.
    executions: BTreeMap<ExecutionId, OpenExecution>,
    /// Calls of tools of the registry that have no end yet.
    calls: BTreeMap<CallId, CallTold>,
    /// The running turn's plan, or the last one's.
    pub plan: Vec<PlanEntry>,
    /// Why the agent is gone, while it is.
    pub agent_exit: Option<String>,
    /// Whether the tab was closed.
    pub closed: bool,
}

/// A turn as the log tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnState {
    /// The view's name for it.
    pub name: TurnName,
    /// A digest of its prompt.
    pub digest: u64,
    /// The event that queued it.
    pub queued: Seq,
    /// How far it is.
    pub phase: TurnPhase,
}

/// Something that was allowed and has not ended yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenExecution {
    /// The turn that it belongs to.
    pub turn: Option<TurnId>,
    /// For people: what it is.
    pub title: String,
}

/// A question that nobody has answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenApproval {
    /// The turn that waits for it.
    pub turn: Option<TurnId>,
    /// The event that asks it.
    pub asked_at: Seq,
    /// The question.
    pub approval: Approval,
}

/// An answer that an agent elsewhere may not have heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    /// The turn that waited for it.
    pub turn: Option<TurnId>,
    /// Which question.
    pub approval: ApprovalId,
    /// The answer.
    pub resolution: Resolution,
    /// Which of the agent's own answers it was.
    pub option: Option<String>,
}

/// A call of a tool of the registry that has no end yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTold {
    /// The turn that it belongs to.
    pub turn: Option<TurnId>,
    /// How it is told to people.
    pub title: String,
}

impl State {
    /// The state up to the first turn that is not over, and the cursor from which the log must be folded on.
    #[must_use]
    pub fn from_rows(row: &SessionRow, turns: &[TurnRow], head: Seq) -> (Self, Seq) {
        let mut state = Self { title: row.title.clone(), closed: row.tab.is_none(), ..Self::default() };
        for turn in turns {
            if turn.phase != TurnPhase::Ended {
                return (state, Seq(turn.queued.0.saturating_sub(1)));
            }
            state.push_turn(turn.turn, turn.name.clone(), turn.digest, turn.queued, TurnPhase::Ended);
        }
        (state, head)
    }

    /// Takes note of one stored event. Streamed text changes nothing here and is not even read.
    pub fn apply_record(&mut self, event: EventRef<'_>) {
        if matches!(event.peek(), Peek::Text(_) | Peek::Thought(_)) {
            return;
        }
        // A body of a newer version is a fact that this version cannot fold; the log keeps it.
        if let Ok(body) = event.body() {
            let whose = if event.source().is_some() { Whose::Theirs } else { Whose::Ours };
            self.apply_from(event.seq, event.turn, &body, whose);
        }
    }

    /// Takes note of one event, whoever says it.
    pub fn apply_from(&mut self, seq: Seq, turn: Option<TurnId>, body: &Body, whose: Whose) {
        self.apply(seq, turn, body);
        if whose == Whose::Ours {
            return;
        }
        match body {
            Body::PromptQueued { .. } => self.taken.extend(turn),
            Body::ApprovalResolved { approval, .. } => self.confirm(approval),
            _ => {}
        }
    }

    /// Takes note of one event.
    pub fn apply(&mut self, seq: Seq, turn: Option<TurnId>, body: &Body) {
        match body {
            Body::TitleChanged { title, .. } => self.title.clone_from(title),
            Body::PromptQueued { name, prompt, .. } => self.prompt_queued(seq, turn, name, prompt),
            Body::TurnStarted {} => self.turn_started(turn),
            Body::CancelAsked {} => self.cancelling = self.running.is_some() && turn == self.running,
            Body::TurnEnded { .. } => self.turn_ended(turn),
            Body::Plan { entries } => self.plan.clone_from(entries),
            Body::ApprovalAsked { approval } => {
                let open = OpenApproval { turn, asked_at: seq, approval: approval.clone() };
                self.approvals.insert(approval.id.clone(), open);
            }
            Body::ApprovalResolved { approval, resolution, option, .. } => {
                self.approval_resolved(turn, approval, *resolution, option.as_ref());
            }
            Body::PromptTaken {} => self.prompt_taken(turn),
            Body::ExecutionStarted { execution } => {
                let open = OpenExecution { turn, title: execution.title.clone() };
                self.executions.insert(execution.id.clone(), open);
            }
            Body::ExecutionEnded { execution, .. } => {
                self.executions.remove(execution);
            }
            Body::ToolCall { call } | Body::ToolCallUpdate { call } => self.call_told(turn, call),
            Body::AgentExited { message } => self.agent_exit = Some(message.clone()),
            Body::AgentRestarted {} => self.agent_exit = None,
            Body::SessionClosed {} => self.closed = true,
            Body::SessionReopened {} => self.closed = false,
            Body::SessionOpened { .. }
            | Body::PolicyChanged { .. }
            | Body::Text { .. }
            | Body::Thought { .. }
            | Body::Code { .. }
            | Body::Echo { .. }
            | Body::Log { .. }
            | Body::ExecutionOutput { .. }
            | Body::CommandsChanged { .. }
            | Body::OptionsChanged { .. }
            | Body::Usage { .. }
            | Body::TurnUsed { .. }
            | Body::SignInNeeded { .. }
            | Body::AgentSessionRestored { .. }
            | Body::Status { .. }
            | Body::SourceGap { .. }
            | Body::Unknown { .. } => {}
        }
    }

    /// Only calls of the registry end for sure; what an agent does by itself is not kept.
    fn call_told(&mut self, turn: Option<TurnId>, call: &ToolCall) {
        match call.status {
            ToolStatus::Pending | ToolStatus::Running if call.tool.is_some() => {
                let told = CallTold { turn, title: call.title.clone() };
                self.calls.entry(call.id.clone()).or_insert(told);
            }
            ToolStatus::Pending | ToolStatus::Running => {}
            ToolStatus::Completed | ToolStatus::Failed => {
                self.calls.remove(&call.id);
            }
        }
    }

    fn prompt_queued(&mut self, seq: Seq, turn: Option<TurnId>, name: &TurnName, prompt: &Prompt) {
        let Some(turn) = turn else { return };
        self.push_turn(turn, name.clone(), digest(prompt), seq, TurnPhase::Queued);
        self.queue.push_back(turn);
        self.prompts.insert(turn, prompt.clone());
    }

    /// Takes note of a turn at its own number. Turns that a damaged file has lost are over, under names that nobody uses.
    fn push_turn(&mut self, turn: TurnId, name: TurnName, digest: u64, queued: Seq, phase: TurnPhase) {
        while self.next_turn() < turn {
            let name = TurnName::new(format!("lost turn {}", self.next_turn()));
            self.turns.push(TurnState { name, digest: 0, queued: Seq::START, phase: TurnPhase::Ended });
        }
        if self.next_turn() == turn {
            self.names.insert(name.clone(), turn);
            self.turns.push(TurnState { name, digest, queued, phase });
        }
    }

    fn turn_started(&mut self, turn: Option<TurnId>) {
        let Some(turn) = turn else { return };
        self.queue.retain(|waiting| *waiting != turn);
        self.running_prompt = self.prompts.remove(&turn);
        self.set_phase(turn, TurnPhase::Running);
        self.running = Some(turn);
        self.cancelling = false;
        self.plan.clear();
    }

    fn turn_ended(&mut self, turn: Option<TurnId>) {
        let Some(turn) = turn else { return };
        self.queue.retain(|waiting| *waiting != turn);
        self.prompts.remove(&turn);
        self.set_phase(turn, TurnPhase::Ended);
        self.taken.retain(|taken| *taken != turn);
        self.unconfirmed.retain(|answer| answer.turn != Some(turn));
        if self.running == Some(turn) {
            self.running = None;
            self.running_prompt = None;
            self.cancelling = false;
        }
    }

    fn set_phase(&mut self, turn: TurnId, phase: TurnPhase) {
        if let Some(state) = (turn.0 as usize).checked_sub(1).and_then(|at| self.turns.get_mut(at)) {
            state.phase = phase;
        }
    }

    fn prompt_taken(&mut self, turn: Option<TurnId>) {
        let Some(turn) = turn.filter(|turn| !self.taken.contains(turn)) else { return };
        self.taken.push_back(turn);
    }

    fn approval_resolved(
        &mut self,
        turn: Option<TurnId>,
        approval: &ApprovalId,
        resolution: Resolution,
        option: Option<&String>,
    ) {
        let was_open = self.approvals.remove(approval).is_some();
        if was_open && named_elsewhere(approval).is_some() {
            let (approval, option) = (approval.clone(), option.cloned());
            self.unconfirmed.push(Unconfirmed { turn, approval, resolution, option });
        }
        if self.resolved.len() == REMEMBERED_RESOLUTIONS {
            self.resolved.pop_front();
        }
        self.resolved.push_back((approval.clone(), resolution));
    }

    /// The number of the next prompt's turn.
    #[must_use]
    pub fn next_turn(&self) -> TurnId {
        TurnId(u32::try_from(self.turns.len()).unwrap_or(u32::MAX - 1) + 1)
    }

    /// A turn by its number.
    #[must_use]
    pub fn turn(&self, turn: TurnId) -> Option<&TurnState> {
        self.turns.get((turn.0 as usize).checked_sub(1)?)
    }

    /// A turn by its name.
    #[must_use]
    pub fn turn_named(&self, name: &TurnName) -> Option<TurnId> {
        self.names.get(name).copied()
    }

    /// How many turns there have been.
    #[must_use]
    pub fn turn_count(&self) -> usize {
        self.turns.len()
    }

    /// Whether any prompt has gone to an agent.
    #[must_use]
    pub fn has_spoken(&self) -> bool {
        self.turns.iter().any(|turn| turn.phase != TurnPhase::Queued)
    }

    /// The turn that runs.
    #[must_use]
    pub fn running(&self) -> Option<TurnId> {
        self.running
    }

    /// Whether somebody asked for the running turn to be cancelled.
    #[must_use]
    pub fn is_cancelling(&self) -> bool {
        self.cancelling
    }

    /// The prompt of the turn that runs, as far as it is kept.
    #[must_use]
    pub fn running_prompt(&self) -> Option<&Prompt> {
        self.running_prompt.as_ref()
    }

    /// Only an agent elsewhere is ever asked again.
    pub(crate) fn forget_running_prompt(&mut self) {
        self.running_prompt = None;
    }

    /// The turns that an agent elsewhere has taken and not ended, in its order.
    pub fn taken(&self) -> impl ExactSizeIterator<Item = TurnId> + '_ {
        self.taken.iter().copied()
    }

    /// Answers that an agent elsewhere may not have heard.
    #[must_use]
    pub fn unconfirmed(&self) -> &[Unconfirmed] {
        &self.unconfirmed
    }

    /// An agent elsewhere has confirmed an answer.
    pub(crate) fn confirm(&mut self, approval: &ApprovalId) {
        self.unconfirmed.retain(|answer| answer.approval != *approval);
    }

    /// The turns that wait, in order.
    pub fn queue(&self) -> impl ExactSizeIterator<Item = TurnId> + '_ {
        self.queue.iter().copied()
    }

    /// The prompt of a turn that waits.
    #[must_use]
    pub fn waiting_prompt(&self, turn: TurnId) -> Option<&Prompt> {
        self.prompts.get(&turn)
    }

    /// Bytes of the prompts that wait.
    #[must_use]
    pub fn queued_bytes(&self) -> usize {
        self.prompts.values().map(Prompt::size).sum()
    }

    /// The questions that nobody has answered yet.
    pub fn approvals(&self) -> impl Iterator<Item = &OpenApproval> {
        self.approvals.values()
    }

    /// An open question by its name.
    #[must_use]
    pub fn approval(&self, approval: &ApprovalId) -> Option<&OpenApproval> {
        self.approvals.get(approval)
    }

    /// How a question was answered, if that was not too long ago.
    #[must_use]
    pub fn resolution(&self, approval: &ApprovalId) -> Option<Resolution> {
        self.resolved.iter().rev().find(|(id, _)| id == approval).map(|(_, resolution)| *resolution)
    }

    /// What was allowed and has not ended yet.
    pub fn executions(&self) -> impl Iterator<Item = (&ExecutionId, &OpenExecution)> {
        self.executions.iter()
    }

    /// An execution that has not ended yet.
    #[must_use]
    pub fn execution(&self, execution: &ExecutionId) -> Option<&OpenExecution> {
        self.executions.get(execution)
    }

    /// A call of a tool of the registry that has no end yet.
    #[must_use]
    pub fn call(&self, call: &CallId) -> Option<&CallTold> {
        self.calls.get(call)
    }

    /// Whether something that a turn started has not ended yet.
    #[must_use]
    pub fn has_executions(&self, turn: TurnId) -> bool {
        self.executions.values().any(|open| open.turn == Some(turn))
    }

    /// The status in one word.
    #[must_use]
    pub fn status(&self) -> Status {
        match self.running {
            Some(_) if self.approvals.is_empty() => Status::Running,
            Some(_) => Status::AwaitingApproval,
            None if self.queue.is_empty() => Status::Idle,
            None => Status::Queued,
        }
    }
}

/// Who says an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The host, by itself.
    Ours,
    /// A log that somebody else keeps; the event stands for one of that log.
    Theirs,
}

/// What an agent elsewhere calls a question, if the question's name says so: such a question outlives the host, so its name
/// must lead back to the agent's.
pub(crate) fn named_elsewhere(approval: &ApprovalId) -> Option<&str> {
    approval.as_str().split_once(':').map(|(_, theirs)| theirs)
}

/// What tells one prompt from another.
pub(crate) fn digest(prompt: &Prompt) -> u64 {
    let mut parts = vec![prompt.text.as_bytes()];
    for item in &prompt.context {
        parts.push(item.path.as_deref().unwrap_or_default().as_bytes());
        parts.push(item.content.as_deref().unwrap_or_default().as_bytes());
        if let Some(image) = &item.image {
            parts.push(image.mime.as_bytes());
            parts.push(image.data.as_bytes());
        }
    }
    digest_of(parts)
}

/// FNV-1a: stable for ever, since it is stored; it guards against mistakes, not against attackers.
pub(crate) fn digest_of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.into_iter().flat_map(|part| part.iter().chain(&[0xff])) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}
