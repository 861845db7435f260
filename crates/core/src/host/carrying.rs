//! Calls of tools on their way: begun in order, started, stopped, ended. At most so many are carried out at once; a call's
//! end is told only when it is on the disk, and implies the end of what ran for it.

use serde_json::{Map, Value, json};
use switchboard_types::limits::{MAX_RESULT_BYTES, MAX_RUNNING_CALLS};
use switchboard_types::{
    Ask, Body, CallEnd, CallId, CallRow, Containment, Effect, Errand, ErrandCode, ErrandFailure, ErrandId, ErrandOrder,
    ErrandResult, ExecutionId, Provider, SessionId, Success, Time, ToolCall, ToolCode, ToolError, ToolFailure,
    ToolOutcome, ToolStatus,
};

use super::Host;
use super::calls::{cut, told};
use crate::input::Output;
use crate::open::{CallNo, Caller, Cleared, ErrandAsker, ErrandStage, OpenCall};
use crate::timers::Alarm;

impl Host {
    /// Begins what waits, as far as that is possible now.
    pub(super) fn pump_calls(&mut self, now: Time) {
        while !self.stopping && self.calls.running.len() < MAX_RUNNING_CALLS {
            let Some(no) = self.calls.waiting.pop_front() else { return };
            self.calls.running.insert(no);
            self.go_on(now, no);
        }
    }

    fn go_on(&mut self, now: Time, no: CallNo) {
        let Some(call) = self.calls.open.get_mut(&no) else { return };
        let (id, turn) = (call.row.session, call.turn);
        if let Some(parameters) = call.parameters.take() {
            let tool = call.tool.clone();
            let is_needed_again = tool.provider != Provider::Host || tool.effect == Effect::Runs;
            let what = Errand::Tool { tool, parameters };
            let serves = !what.may_harm();
            let kept = is_needed_again.then(|| what.clone());
            let errand = self.begin_errand(id, (ErrandAsker::Call(no), turn), what, kept);
            if let Some(call) = self.calls.open.get_mut(&no) {
                call.errand = errand;
            }
            if serves {
                self.call_starts(
                    now,
                    no,
                    &Cleared { approval: None, unasked: None, run_as: switchboard_types::RunAs::Judged },
                    None,
                );
            }
            return;
        }
        let Some(errand) = call.errand else { return };
        let session = self.sessions.get(&id);
        let Some(open) = session.and_then(|session| session.errands.get(&errand)) else { return };
        if let ErrandStage::Cleared(prepared, cleared) = &open.stage {
            let (prepared, cleared) = (prepared.clone(), cleared.clone());
            if let Err(failure) = self.still_allowed(id, errand, &prepared) {
                return self.withdraw(now, id, errand, failure);
            }
            self.perform(now, id, errand, &prepared, cleared);
        }
    }

    /// A call is started for good: its time runs from now on. Gives its name.
    pub(super) fn call_starts(
        &mut self,
        now: Time,
        no: CallNo,
        cleared: &Cleared,
        contained: Option<&Containment>,
    ) -> Option<CallId> {
        let call = self.calls.open.get_mut(&no)?;
        let (id, turn, name) = (call.row.session, call.turn, call.row.call.clone());
        call.cleared = Some(cleared.clone());
        call.contained = contained.map(|contained| matches!(contained, Containment::Works { .. }));
        let running = told(&call.tool, name.clone(), ToolStatus::Running);
        self.timers.set(now.after_ms(call.timeout_ms), Alarm::Call(no));
        let at = self.append(now, id, turn, &Body::ToolCallUpdate { call: running });
        if let Some(call) = self.calls.open.get_mut(&no) {
            call.started = Some((now, at.unwrap_or_default()));
        }
        Some(name)
    }

    /// What runs for a call has a name now.
    pub(super) fn call_executes(&mut self, id: SessionId, no: CallNo, execution: &ExecutionId) {
        if let Some(call) = self.calls.open.get_mut(&no) {
            call.execution = Some(execution.clone());
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            session.executing.insert(execution.clone(), no);
        }
    }

    /// A call may have taken too long.
    pub(super) fn call_alarm(&mut self, now: Time, no: CallNo) {
        let Some(call) = self.calls.open.get(&no) else { return };
        if call.started.is_some_and(|(at, _)| at.after_ms(call.timeout_ms) <= now) {
            let message = format!("it took longer than {} ms and was ended", call.timeout_ms);
            self.stop_call(now, no, ErrandFailure::new(ErrandCode::TimedOut, message));
        }
    }

    /// Stops every call that a test picks out; says whether any could be stopped.
    pub(super) fn stop_calls(&mut self, now: Time, failure: &ErrandFailure, picks: impl Fn(&OpenCall) -> bool) -> bool {
        let picked = self.calls.which(|call| call.result.is_none() && picks(call));
        for no in &picked {
            self.stop_call(now, *no, failure.clone());
        }
        !picked.is_empty()
    }

    /// A call comes to its end before its time: at once if nothing is done for it yet, else when that is confirmed to be
    /// over.
    fn stop_call(&mut self, now: Time, no: CallNo, failure: ErrandFailure) {
        let Some(call) = self.calls.open.get_mut(&no) else { return };
        let id = call.row.session;
        let Some(errand) = call.errand else { return self.end_call(now, no, Err(tool_failure(failure))) };
        let session = self.sessions.get(&id);
        // Without an errand there is a result already, which waits for the end of what ran.
        let Some(open) = session.and_then(|session| session.errands.get(&errand)) else { return };
        match open.stage {
            ErrandStage::Preparing | ErrandStage::Asked(_) | ErrandStage::Cleared(..) => {
                self.withdraw(now, id, errand, failure);
            }
            ErrandStage::Lent => self.end_lent(now, no, Err(tool_failure(failure))),
            ErrandStage::Serving | ErrandStage::Performing => {
                if call.stopping.is_none() {
                    call.stopping = Some(failure);
                    self.when_durable(id, Output::Errand(ErrandOrder::Stop { errand }));
                }
            }
        }
    }

    /// The errand of a call is answered.
    pub(super) fn call_answered(&mut self, now: Time, no: CallNo, result: Result<ErrandResult, ErrandFailure>) {
        let Some(call) = self.calls.open.get_mut(&no) else { return };
        let result = match (call.stopping.take(), result) {
            (Some(failure), _) | (None, Err(failure)) => Err(tool_failure(failure)),
            (None, Ok(ErrandResult::Tool { data })) => Ok(data),
            (None, Ok(other)) => {
                let message = format!("the tool gave no result but {other:?}");
                Err(ToolFailure::new(ToolCode::ExecutionError, message))
            }
        };
        let session = self.sessions.get(&call.row.session);
        let runs = call
            .execution
            .as_ref()
            .is_some_and(|execution| session.is_some_and(|session| session.state.execution(execution).is_some()));
        if runs {
            call.result = Some(result);
        } else {
            self.end_call(now, no, result);
        }
    }

    /// What ran for a call is over.
    pub(super) fn call_has_ended(&mut self, now: Time, no: CallNo) {
        if let Some(result) = self.calls.open.get_mut(&no).and_then(|call| call.result.take()) {
            self.end_call(now, no, result);
        }
    }

    /// The one end of a call, and its one answer once that is on the disk.
    pub(super) fn end_call(&mut self, now: Time, no: CallNo, result: Result<Value, ToolFailure>) {
        let Some(call) = self.calls.remove(no) else { return };
        let id = call.row.session;
        let result = bounded(result);
        let duration_ms = call.started.map_or(0, |(at, _)| now.since(at));
        let update = ended(told(&call.tool, call.row.call.clone(), ToolStatus::Completed), &result, duration_ms);
        let seq = self.append(now, id, call.turn, &Body::ToolCallUpdate { call: update });
        let row = CallRow { end: Some(row_end(now, duration_ms, &result)), ..call.row.clone() };
        let metadata = Some(metadata(&call));
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.calls.remove(&no);
        session.keep_call(row);
        let life = session.life();
        match call.caller {
            Caller::View(batch, at) => {
                let outcome = ToolOutcome { call: call.row.call, result, duration_ms, metadata };
                session.outcomes.push_back((seq.unwrap_or(session.head), (batch, at), outcome));
            }
            Caller::Agent(asked) if life == Some(asked) => {
                self.ask(id, asked, Ask::ToolResult { session: id, call: call.row.call, result });
            }
            Caller::Agent(_) | Caller::Gone => {}
        }
        self.delete_if_over(id);
        self.forget_if_over(id);
    }

    /// The calls of a session whose events are not on the disk: nobody can say that they are, so all of them have failed.
    pub(super) fn lose_calls(&mut self, now: Time, id: SessionId, reason: &str) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let lost = std::mem::take(&mut session.calls);
        let unkept = std::mem::take(&mut session.outcomes);
        session.executing.clear();
        let message = format!("what became of it could not be written to the disk: {reason}");
        let failure = ToolFailure::new(ToolCode::ExecutionError, message);
        let mut outcomes = Vec::new();
        for (_, place, outcome) in unkept {
            outcomes.push((place, ToolOutcome { result: Err(failure.clone()), metadata: None, ..outcome }));
        }
        for no in lost {
            let Some(call) = self.calls.remove(no) else { continue };
            if let Caller::View(batch, at) = call.caller {
                let (call, result) = (call.row.call, Err(failure.clone()));
                outcomes.push(((batch, at), ToolOutcome { call, result, duration_ms: 0, metadata: None }));
            }
        }
        for (place, outcome) in outcomes {
            self.outcome_ready(now, place, outcome);
        }
    }

    /// At start-up: calls that were open when the host died have failed.
    pub(super) fn settle_calls(&mut self, now: Time, id: SessionId, open: Vec<CallRow>) {
        for row in open {
            let failure =
                ToolFailure::new(ToolCode::ExecutionError, "the host ended meanwhile; nobody knows what came of it");
            let Some(session) = self.sessions.get(&id) else { return };
            let known = session.state.call(&row.call);
            let turn = known.and_then(|known| known.turn);
            let title = known.map_or_else(|| row.tool.as_str().to_owned(), |known| known.title.clone());
            let call =
                ToolCall { tool: Some(row.tool.clone()), ..ToolCall::new(row.call.clone(), title, ToolStatus::Failed) };
            let result = Err(failure);
            self.append(now, id, turn, &Body::ToolCallUpdate { call: ended(call, &result, 0) });
            if let Some(session) = self.sessions.get_mut(&id) {
                session.keep_call(CallRow { end: Some(row_end(now, 0, &result)), ..row });
            }
        }
    }

    /// Lets go an errand that is not the runner's any more.
    pub(super) fn forget_errand(&mut self, id: SessionId, errand: ErrandId) {
        self.errands.remove(&errand);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.errands.remove(&errand);
        }
    }
}

/// A failure in the words of tools.
pub(super) fn tool_failure(failure: ErrandFailure) -> ToolFailure {
    let code = match failure.code {
        ErrandCode::Invalid if !failure.findings.is_empty() => ToolCode::ValidationError,
        ErrandCode::TimedOut => ToolCode::Timeout,
        ErrandCode::Cancelled => ToolCode::Cancelled,
        ErrandCode::Denied => ToolCode::Denied,
        ErrandCode::Untrusted => ToolCode::WorkspaceUntrusted,
        ErrandCode::NotFound
        | ErrandCode::Outside
        | ErrandCode::TooLarge
        | ErrandCode::Invalid
        | ErrandCode::Changed
        | ErrandCode::Failed => ToolCode::ExecutionError,
    };
    let details = (!failure.findings.is_empty()).then(|| json!(failure.findings));
    ToolFailure { code, message: failure.message, details }
}

/// A result that is too large is none.
fn bounded(result: Result<Value, ToolFailure>) -> Result<Value, ToolFailure> {
    let too_large = |size: usize| {
        let message = format!("the result has {size} bytes; at most {MAX_RESULT_BYTES} are taken. Ask for less");
        Err(ToolFailure::new(ToolCode::ExecutionError, message))
    };
    let size = match &result {
        Ok(data) => data.to_string().len(),
        Err(failure) => failure.message.len() + failure.details.as_ref().map_or(0, |details| details.to_string().len()),
    };
    if size > MAX_RESULT_BYTES { too_large(size) } else { result }
}

fn ended(call: ToolCall, result: &Result<Value, ToolFailure>, duration_ms: u64) -> ToolCall {
    let duration_ms = Some(duration_ms);
    match result {
        Ok(data) => ToolCall { output: Some(data.clone()), duration_ms, status: ToolStatus::Completed, ..call },
        Err(failure) => {
            let ToolFailure { code, message, details } = failure.clone();
            let error = Some(ToolError { code, message, details });
            ToolCall { error, duration_ms, status: ToolStatus::Failed, ..call }
        }
    }
}

fn row_end(now: Time, duration_ms: u64, result: &Result<Value, ToolFailure>) -> CallEnd {
    let (success, text) = match result {
        Ok(data) => (Success::Yes, data.to_string()),
        Err(failure) => {
            let mut error = json!({ "code": failure.code.as_str(), "message": failure.message });
            if let (Some(details), Some(error)) = (&failure.details, error.as_object_mut()) {
                error.insert("details".to_owned(), details.clone());
            }
            (Success::No, error.to_string())
        }
    };
    CallEnd { at: now, duration_ms, success, result: cut(text) }
}

/// What else is worth knowing of a call.
fn metadata(call: &OpenCall) -> Value {
    let mut known = Map::new();
    known.insert("executionId".to_owned(), json!(call.row.call));
    known.insert("sessionId".to_owned(), json!(call.row.session.to_string()));
    if let Some(cleared) = &call.cleared {
        if let Some(approval) = &cleared.approval {
            known.insert("approval".to_owned(), json!(format!("{}:{approval}", call.row.session)));
        }
        if let Some(unasked) = &cleared.unasked {
            known.insert("unasked".to_owned(), json!(unasked));
        }
    }
    if let Some(contained) = call.contained {
        known.insert("contained".to_owned(), json!(contained));
    }
    Value::Object(known)
}
