//! Calls of tools: who may call what, batches, cancelling, listing. Every call that is taken gets exactly one answer.
//! Carries none out; `carrying.rs` does.

use std::sync::Arc;

use serde_json::Value;
use switchboard_types::limits::{
    DEFAULT_CALL_MS, MAX_BATCH_CALLS, MAX_CALL_MS, MAX_CALL_ROW_BYTES, MAX_CALL_ROWS, MAX_ID_BYTES, MAX_OPEN_CALLS,
    MAX_PARAMETER_BYTES,
};
use switchboard_types::{
    Ask, BatchMode, Body, CallId, CallPlace, CallRow, Effect, ErrandCode, ErrandFailure, LifeId, LinkId, RequestNo,
    SessionId, Time, Told, Tool, ToolCall, ToolCode, ToolError, ToolFailure, ToolName, ToolOutcome, ToolRequest,
    ToolStatus, TurnId, WorkspaceRoot,
};

use super::Host;
use super::carrying::tool_failure;
use crate::input::Output;
use crate::open::{Batch, BatchNo, Caller, OpenCall, Slot, never_begun};
use crate::session::Writes;

/// A call that is about to be taken.
struct Wanted {
    call: CallId,
    tool: Arc<Tool>,
    parameters: Value,
    /// The same as text.
    text: String,
    timeout_ms: u64,
}

impl Host {
    pub(super) fn list_tools(&mut self, link: LinkId, request: RequestNo) {
        let tools = if self.registry.is_ready() { Ok(self.registry.list()) } else { Err(not_ready()) };
        self.tell(link, Told::Tools { request, tools });
    }

    /// A view calls tools.
    pub(super) fn call_tools(
        &mut self,
        now: Time,
        link: LinkId,
        request: RequestNo,
        calls: Vec<ToolRequest>,
        mode: BatchMode,
    ) {
        let refusal = if !self.registry.is_ready() {
            Some(not_ready())
        } else if calls.len() > MAX_BATCH_CALLS {
            let message = format!("one request holds at most {MAX_BATCH_CALLS} calls; send several");
            Some(ToolFailure::new(ToolCode::ValidationError, message))
        } else if !self.has_room_for_calls(link, calls.len()) {
            let message = format!("more than {MAX_OPEN_CALLS} calls of this link would be open; wait for some of them");
            Some(ToolFailure::new(ToolCode::ExecutionError, message))
        } else {
            None
        };
        if let Some(failure) = refusal {
            return self.tell(link, Told::ToolsCalled { request, outcomes: Err(failure) });
        }
        self.begin_batch(now, Batch::new(link, request, mode), calls);
    }

    /// Whether a link may have so many more calls open.
    pub(super) fn has_room_for_calls(&self, link: LinkId, more: usize) -> bool {
        self.calls.of_link(link) + more <= MAX_OPEN_CALLS
    }

    /// Takes the calls of a request, and begins what may begin now.
    pub(super) fn begin_batch(&mut self, now: Time, batch: Batch, calls: Vec<ToolRequest>) -> BatchNo {
        let batch = self.calls.insert_batch(batch);
        for (at, wanted) in calls.into_iter().enumerate() {
            let slot = self.slot(batch, at, wanted);
            if let Some(batch) = self.calls.batches.get_mut(&batch) {
                batch.done += usize::from(matches!(slot, Slot::Done(_)));
                batch.slots.push(slot);
            }
        }
        self.advance_batch(now, batch);
        batch
    }

    /// A place in a batch: a call's name is its own until its outcome.
    fn slot(&mut self, batch: BatchNo, at: usize, mut wanted: ToolRequest) -> Slot {
        let call = match wanted.call.take() {
            Some(call) => call,
            None => CallId::new(format!("c{:016x}", self.next_random())),
        };
        let wrong = if call.as_str().is_empty() || call.as_str().len() > MAX_ID_BYTES {
            Some(format!("a call's name has 1 to {MAX_ID_BYTES} bytes"))
        } else if self.calls.names.contains_key(&call) {
            Some(is_open(&call))
        } else {
            None
        };
        if let Some(message) = wrong {
            return Slot::Done(Box::new(refused(call, ToolFailure::new(ToolCode::ValidationError, message))));
        }
        self.calls.names.insert(call.clone(), (batch, at));
        wanted.call = Some(call);
        Slot::Waiting(Box::new(wanted))
    }

    /// Begins what may begin now, and answers once everything is over.
    fn advance_batch(&mut self, now: Time, no: BatchNo) {
        while let Some(batch) = self.calls.batches.get_mut(&no) {
            if batch.is_over() {
                return self.finish_batch(no);
            }
            if batch.mode != BatchMode::Parallel && batch.open > 0 {
                return;
            }
            let (at, link) = (batch.next, batch.link);
            let Some(slot) = batch.slots.get_mut(at) else { return };
            batch.next += 1;
            if !matches!(slot, Slot::Waiting(_)) {
                continue;
            }
            let Slot::Waiting(wanted) = std::mem::replace(slot, Slot::Open) else { continue };
            batch.open += 1;
            if let Err(outcome) = self.begin_for_view(now, link, (no, at), *wanted) {
                self.fill_slot((no, at), *outcome);
            }
        }
    }

    /// What came of a view's call is on the disk, or will never be.
    pub(super) fn outcome_ready(&mut self, now: Time, (no, at): (BatchNo, usize), outcome: ToolOutcome) {
        self.fill_slot((no, at), outcome);
        self.advance_batch(now, no);
    }

    fn fill_slot(&mut self, (no, at): (BatchNo, usize), outcome: ToolOutcome) {
        let Some(batch) = self.calls.batches.get_mut(&no) else { return };
        if matches!(batch.slots.get(at), Some(Slot::Open)) {
            batch.open -= 1;
        }
        for free in batch.fill(at, outcome) {
            self.calls.names.remove(&free);
        }
    }

    fn finish_batch(&mut self, no: BatchNo) {
        let Some(mut batch) = self.calls.batches.remove(&no) else { return };
        if let Some(answer) = batch.shows.take() {
            let is_done = |slot: &Slot| matches!(slot, Slot::Done(outcome) if outcome.result.is_ok());
            return self.shown((batch.link, batch.request), answer, batch.slots.iter().all(is_done));
        }
        let outcome = |slot| match slot {
            Slot::Done(outcome) => Some(*outcome),
            Slot::Waiting(_) | Slot::Open => None,
        };
        let outcomes = Ok(batch.slots.into_iter().filter_map(outcome).collect());
        self.tell(batch.link, Told::ToolsCalled { request: batch.request, outcomes });
    }

    /// The view is gone: what it asked for is cancelled, and nobody is told.
    pub(super) fn drop_batches(&mut self, now: Time, link: LinkId) {
        let gone: Vec<BatchNo> =
            self.calls.batches.iter().filter(|(_, batch)| batch.link == link).map(|(no, _)| *no).collect();
        for no in &gone {
            self.calls.batches.remove(no);
        }
        self.calls.names.retain(|_, (batch, _)| !gone.contains(batch));
        let failure = ErrandFailure::new(ErrandCode::Cancelled, "the view that asked for it is gone");
        self.stop_calls(now, &failure, |call| matches!(call.caller, Caller::View(batch, _) if gone.contains(&batch)));
    }

    fn begin_for_view(
        &mut self,
        now: Time,
        link: LinkId,
        place: (BatchNo, usize),
        wanted: ToolRequest,
    ) -> Result<(), Box<ToolOutcome>> {
        let ToolRequest { call, tool, parameters, session, workspace, timeout_ms } = wanted;
        let Some(call) = call else { return Ok(()) };
        if self.stopping {
            return Err(Box::new(never_begun(call, "the host is stopping")));
        }
        let named = call.clone();
        let root = match session {
            Some(id) => self.sessions.get(&id).map(|session| &session.workspace),
            None => workspace.as_ref().or(self.home.as_ref()),
        };
        let timeout_ms = timeout_ms.or_else(|| self.set_timeout(root));
        let checked = self.checked(call, &tool, parameters, timeout_ms);
        let found = checked.and_then(|wanted| match session {
            Some(id) => self.session_for_call(id).map(|id| (wanted, id)),
            None => self.bench(now, workspace).map(|id| (wanted, id)),
        });
        let taken = found.and_then(|(wanted, id)| self.takes_call(id, &wanted.call).map(|()| (wanted, id)));
        match taken {
            Ok((wanted, id)) => {
                self.calls_for(link, id);
                self.take_call(now, id, (Caller::View(place.0, place.1), None), wanted);
                Ok(())
            }
            Err(failure) => Err(Box::new(refused(named, failure))),
        }
    }

    /// An agent calls a tool.
    pub(super) fn tool_call(
        &mut self,
        now: Time,
        (life, id): (LifeId, SessionId),
        call: CallId,
        tool: String,
        parameters: Value,
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        let (turn, forbidden) = (session.heard_turn(), session.forbids_harm());
        if session.state.call(&call).is_some() {
            // The log tells calls apart by their names, so this one cannot even be told.
            let failure = ToolFailure::new(ToolCode::ValidationError, is_open(&call));
            return self.ask(id, life, Ask::ToolResult { session: id, call, result: Err(failure) });
        }
        let name = ToolName::new(tool.as_str());
        let input = parameters.clone();
        let checked = self.checked(call.clone(), &name, parameters, self.set_timeout(Some(&session.workspace)));
        let may = checked.and_then(|wanted| match forbidden.filter(|_| wanted.tool.effect != Effect::Reads) {
            Some((code, message)) => Err(tool_failure(ErrandFailure::new(code, message))),
            None => self.takes_call(id, &call).map(|()| wanted),
        });
        match may {
            Ok(wanted) => self.take_call(now, id, (Caller::Agent(life), turn), wanted),
            Err(failure) => self.refuse_call(
                now,
                (life, id),
                turn,
                ToolCall { input: Some(input), ..ToolCall::new(call, tool, ToolStatus::Pending) },
                failure,
            ),
        }
    }

    /// A call of an agent that is not taken: it and its refusal are on record, and the agent is told.
    fn refuse_call(
        &mut self,
        now: Time,
        (life, id): (LifeId, SessionId),
        turn: Option<TurnId>,
        asked: ToolCall,
        failure: ToolFailure,
    ) {
        // What is too large for a call is too large for the log.
        let fits = asked.input.as_ref().is_some_and(|input| input.to_string().len() <= MAX_PARAMETER_BYTES);
        let asked = ToolCall { input: asked.input.filter(|_| fits), ..asked };
        let error =
            ToolError { code: failure.code, message: failure.message.clone(), details: failure.details.clone() };
        let told = ToolCall { error: Some(error), status: ToolStatus::Failed, input: None, ..asked.clone() };
        let call = asked.id.clone();
        self.append(now, id, turn, &Body::ToolCall { call: asked });
        self.append(now, id, turn, &Body::ToolCallUpdate { call: told });
        self.ask(id, life, Ask::ToolResult { session: id, call, result: Err(failure) });
    }

    /// How long a call in this workspace may take if nobody says, where people have set that.
    fn set_timeout(&self, root: Option<&WorkspaceRoot>) -> Option<u64> {
        let settings = &self.known_settings;
        let own = settings.workspaces.iter().find(|(workspace, _)| Some(workspace) == root);
        own.and_then(|(_, own)| own.tool_timeout).or(settings.user.tool_timeout)
    }

    fn checked(
        &self,
        call: CallId,
        tool: &ToolName,
        parameters: Value,
        timeout_ms: Option<u64>,
    ) -> Result<Wanted, ToolFailure> {
        if !self.registry.is_ready() {
            return Err(not_ready());
        }
        let Some(tool) = self.registry.get(tool).cloned() else {
            let message = format!("this host offers no tool named `{tool}`");
            return Err(ToolFailure::new(ToolCode::ToolNotFound, message));
        };
        let timeout_ms = timeout_ms.unwrap_or(DEFAULT_CALL_MS);
        if !(1..=MAX_CALL_MS).contains(&timeout_ms) {
            let message = format!("a timeout is from 1 to {MAX_CALL_MS} ms, and not {timeout_ms}");
            return Err(ToolFailure::new(ToolCode::ValidationError, message));
        }
        let text = parameters.to_string();
        if text.len() > MAX_PARAMETER_BYTES {
            let message = format!("the parameters have {} bytes; at most {MAX_PARAMETER_BYTES} are taken", text.len());
            return Err(ToolFailure::new(ToolCode::ValidationError, message));
        }
        Ok(Wanted { call, tool, parameters, text, timeout_ms })
    }

    fn session_for_call(&mut self, id: SessionId) -> Result<SessionId, ToolFailure> {
        let open = self.sessions.get(&id).is_some_and(|session| !session.state.closed);
        if open && !self.deleting.contains_key(&id) {
            return Ok(id);
        }
        let message = format!("there is no open session {id}; leave the session out to call at the bench");
        Err(ToolFailure::new(ToolCode::ValidationError, message))
    }

    /// Whether a session can keep one more call.
    fn takes_call(&mut self, id: SessionId, call: &CallId) -> Result<(), ToolFailure> {
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        if session.calls.len() >= MAX_OPEN_CALLS {
            let message = format!("{MAX_OPEN_CALLS} calls are open in this session; wait for some of them");
            return Err(ToolFailure::new(ToolCode::ExecutionError, message));
        }
        if session.state.call(call).is_some() {
            return Err(ToolFailure::new(ToolCode::ValidationError, is_open(call)));
        }
        if session.is_writable() {
            return Ok(());
        }
        if matches!(session.writes, Writes::Sealed) {
            session.writes = Writes::Reloading(Vec::new());
            self.outputs.push_back(Output::Reload(id));
        }
        let message = "this session is being read from the disk again; try again in a moment";
        Err(ToolFailure::new(ToolCode::ExecutionError, message))
    }

    /// Takes note of a call; it begins when its turn comes.
    fn take_call(&mut self, now: Time, id: SessionId, (caller, turn): (Caller, Option<TurnId>), wanted: Wanted) {
        let Wanted { call, tool, parameters, text, timeout_ms } = wanted;
        let told = ToolCall { input: Some(parameters.clone()), ..told(&tool, call.clone(), ToolStatus::Pending) };
        let Some(asked_at) = self.append(now, id, turn, &Body::ToolCall { call: told }) else { return };
        let parameters = Some(parameters);
        let row =
            CallRow { session: id, asked_at, call, tool: tool.name(), parameters: cut(text), asked: now, end: None };
        let open = OpenCall {
            row: row.clone(),
            tool,
            caller,
            turn,
            timeout_ms,
            parameters,
            errand: None,
            started: None,
            execution: None,
            cleared: None,
            contained: None,
            stopping: None,
            result: None,
        };
        let no = self.calls.insert(open);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.calls.insert(no);
            session.keep_call(row);
        }
    }

    /// Cancels a call by its name: a view's, or else an agent's.
    pub(super) fn cancel_call(&mut self, now: Time, link: LinkId, request: RequestNo, call: &CallId) {
        let failure = ErrandFailure::new(ErrandCode::Cancelled, "it was cancelled");
        let place = self.calls.names.get(call).copied();
        let waits = |(batch, at): (BatchNo, usize)| {
            let slot = self.calls.batches.get(&batch).and_then(|batch| batch.slots.get(at));
            matches!(slot, Some(Slot::Waiting(_)))
        };
        let cancelled = match place {
            Some(place) if waits(place) => {
                self.fill_slot(place, never_begun(call.clone(), "it was cancelled"));
                self.advance_batch(now, place.0);
                true
            }
            Some((batch, at)) => self.stop_calls(now, &failure, |open| open.caller == Caller::View(batch, at)),
            None => {
                self.stop_calls(now, &failure, |open| open.row.call == *call && matches!(open.caller, Caller::Agent(_)))
            }
        };
        self.tell(link, Told::CallCancelled { request, cancelled });
    }

    pub(super) fn list_calls(
        &mut self,
        link: LinkId,
        request: RequestNo,
        (tool, before): (Option<ToolName>, Option<CallPlace>),
        limit: usize,
    ) {
        let limit = limit.clamp(1, MAX_CALL_ROWS);
        self.outputs.push_back(Output::ReadCalls { link, request, tool, before, limit });
    }

    pub(super) fn calls_read(
        &mut self,
        link: LinkId,
        request: RequestNo,
        calls: Result<(Vec<CallRow>, Option<CallPlace>), String>,
    ) {
        let (calls, next) = match calls {
            Ok((rows, next)) => (Ok(rows), next),
            Err(reason) => {
                let message = format!("the list of calls cannot be read: {reason}");
                (Err(ToolFailure::new(ToolCode::ExecutionError, message)), None)
            }
        };
        self.tell(link, Told::Calls { request, calls, next });
    }
}

fn refused(call: CallId, failure: ToolFailure) -> ToolOutcome {
    ToolOutcome { call, result: Err(failure), duration_ms: 0, metadata: None }
}

fn is_open(call: &CallId) -> String {
    format!("a call named `{call}` is open already; choose another name")
}

pub(super) fn not_ready() -> ToolFailure {
    ToolFailure::new(ToolCode::RegistryNotReady, "ToolRegistry not ready")
}

/// A call as the log tells it.
pub(super) fn told(tool: &Tool, call: CallId, status: ToolStatus) -> ToolCall {
    let kind = match tool.effect {
        Effect::Reads => "read",
        Effect::Writes => "edit",
        Effect::Runs => "execute",
        Effect::Acts => "other",
    };
    let name = tool.name();
    let (kind, title) = (Some(kind.to_owned()), name.as_str().to_owned());
    ToolCall { kind, tool: Some(name), ..ToolCall::new(call, title, status) }
}

/// As much of a text as the list of calls keeps.
pub(super) fn cut(mut text: String) -> String {
    if text.len() > MAX_CALL_ROW_BYTES {
        text.truncate(text.floor_char_boundary(MAX_CALL_ROW_BYTES));
    }
    text
}
