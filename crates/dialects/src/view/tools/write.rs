//! What the host tells into a view's messages, each answer with its request's id or in its place. Never panics over what it does
//! not know, and never copies a large result more than once.

use serde::Serialize;
use serde_json::Value;
use switchboard_types::{
    AnsweredBy, Approval, ArgPattern, CallRow, FileDiff, Reject, RejectCode, RequestNo, Resolution, RuleWhat,
    SessionId, Success, Told, ToolCode, ToolFailure, ToolOutcome,
};

use super::order::{Kind, Order, Request};
use super::read::{self, Refusal, Refused};
use super::shape::{
    CancelledAnswer, DecidedAnswer, DecidedStatus, Details, ErrorAnswer, ErrorShape, HistoryAnswer, PastShape,
    PastStatus, RegisteredAnswer, ResultAnswer, ResultShape, ResultsAnswer, SubscribedAnswer, ToolsAnswer, Unasked,
};

/// Bytes of the scratch that a link keeps between writes; more is for rare large messages.
pub(super) const KEEP_SCRATCH_BYTES: usize = 4096;
/// What a view that came too early is told, to the letter.
const NOT_READY: &str = "ToolRegistry not ready";

/// Everything that a write needs.
pub(super) struct Writer<'a> {
    pub(super) order: &'a mut Order,
    pub(super) scratch: &'a mut Vec<u8>,
    pub(super) message: &'a mut dyn FnMut(&[u8]),
}

impl Writer<'_> {
    pub(super) fn told(&mut self, told: &Told) {
        match told {
            Told::Tools { request, tools: Ok(tools) } => {
                let tools = tools.iter().map(|tool| &tool.definition).collect();
                self.answer(*request, &ToolsAnswer { tools });
            }
            Told::ToolsCalled { request, outcomes: Ok(outcomes) } => self.outcomes(*request, outcomes),
            Told::CallCancelled { request, cancelled } => {
                self.answer(*request, &CancelledAnswer { cancelled: *cancelled });
            }
            Told::Calls { request, calls: Ok(calls), next } => {
                let history = calls.iter().map(past).collect();
                self.answer(*request, &HistoryAnswer { history, before: next.map(read::place_text) });
            }
            Told::Lent { request, result: Ok(names) } => self.answer(*request, &RegisteredAnswer { registered: names }),
            Told::ApprovalsWatched { request } => self.answer(*request, &SubscribedAnswer { subscribed: true }),
            Told::Answered { request, result: Ok((decision, by)) } => self.decided(*request, *decision, *by),
            Told::Tools { request, tools: Err(failure) }
            | Told::ToolsCalled { request, outcomes: Err(failure) }
            | Told::Calls { request, calls: Err(failure), .. }
            | Told::Lent { request, result: Err(failure) }
            | Told::Answered { request, result: Err(failure) } => self.failure(*request, failure),
            Told::LentCall { call, tool, parameters } => {
                self.unasked(&Unasked::ToolCall { call_id: call.to_string(), tool_name: tool, parameters });
            }
            Told::ApprovalOpen { session, approval } => self.question(*session, approval),
            // The host speaks of no request, so this has no place among the answers.
            Told::Refused(reject) => self.unasked(&ErrorAnswer { error: error(&failure_of(reject)), call_id: None }),
            // Only asked for in dialects that follow sessions.
            Told::Tabs { .. }
            | Told::Events { .. }
            | Told::Gap { .. }
            | Told::Reset { .. }
            | Told::Overview { .. }
            | Told::Session(_)
            | Told::SessionGone { .. }
            | Told::Workspace(_)
            | Told::History { .. }
            | Told::Rules { .. }
            | Told::ChoreNews { .. }
            | Told::ChoreDone { .. }
            | Told::Settings(_)
            | Told::Containment(_)
            | Told::Answer { .. }
            | Told::Pong { .. } => {}
        }
    }

    fn outcomes(&mut self, request: RequestNo, outcomes: &[ToolOutcome]) {
        match (self.order.kind(request), outcomes) {
            (Some(Kind::One), [outcome, ..]) => self.answer(request, &ResultAnswer { result: result(outcome) }),
            (Some(Kind::One), []) => {
                let failure = ToolFailure::new(ToolCode::ExecutionError, "the host gave no result");
                self.answer(request, &ResultAnswer { result: failed(&failure) });
            }
            (Some(Kind::Batch | Kind::Other), outcomes) => {
                self.answer(request, &ResultsAnswer { results: outcomes.iter().map(result).collect() });
            }
            (None, _) => {}
        }
    }

    fn decided(&mut self, request: RequestNo, decision: Resolution, by: AnsweredBy) {
        let status = match by {
            AnsweredBy::You => DecidedStatus::Applied,
            AnsweredBy::Before => DecidedStatus::AlreadyResolved,
        };
        self.answer(request, &DecidedAnswer { status, decision });
    }

    fn question(&mut self, session: SessionId, approval: &Approval) {
        self.unasked(&Unasked::ApprovalRequest {
            approval_id: format!("{session}:{}", approval.id),
            session_id: session.to_string(),
            execution_id: approval.call.as_ref(),
            kind: approval.kind,
            title: &approval.title,
            command: approval.command.as_deref(),
            cwd: approval.cwd.as_deref(),
            path: approval.path.as_deref(),
            diff: approval.diff.as_deref(),
            change: approval.change.as_ref(),
            diff_html: approval.change.as_ref().map(FileDiff::to_html),
            severity: approval.severity,
            reason: &approval.reason,
            editable: approval.editable,
            containment: approval.containment.as_ref(),
            rule: approval.rule.as_ref().map(rule_text),
            expires_at: approval.expires.map(|at| at.0),
        });
    }

    /// A request that could not be carried out at all.
    pub(super) fn failure(&mut self, request: RequestNo, failure: &ToolFailure) {
        self.answer(request, &ErrorAnswer { error: error(failure), call_id: None });
    }

    /// A message that was refused: at once if it has an id or nobody waits for it, else in its place.
    pub(super) fn refusal(&mut self, refusal: Refusal) {
        let at_once = refusal.id.is_some() || refusal.result_of.is_some();
        // Beyond the bound all refusals are the same, so that they cost nothing.
        let refusal = if !at_once && self.order.is_full() { Refusal::too_many(None) } else { refusal };
        let (code, message) = (code_of(refusal.code), refusal.message.as_str());
        let details = (!refusal.findings.is_empty()).then_some(Details::Findings(&refusal.findings));
        let call_id = refusal.result_of.as_ref().and_then(Option::as_deref);
        let answer = ErrorAnswer { error: ErrorShape { code, message, details }, call_id };
        let id = refusal.id.as_ref().map(|id| id.get());
        if !put(self.scratch, id, &answer) {
            return;
        }
        if at_once {
            (self.message)(self.scratch);
        } else {
            self.order.refuse(self.scratch, self.message);
        }
    }

    /// The one answer to a request; none if it has had it.
    fn answer(&mut self, number: RequestNo, answer: &impl Serialize) {
        let Some(request) = self.order.close(number) else { return };
        let id = request.id.as_ref().map(|id| id.get());
        if !put(self.scratch, id, answer) {
            return;
        }
        if id.is_some() {
            return (self.message)(self.scratch);
        }
        if !self.order.is_next(number) && !self.order.has_room(self.scratch.len()) {
            self.replace(&request);
        }
        self.order.answer(number, self.scratch, self.message);
    }

    /// Puts a small answer in the place of one that is too large to wait.
    fn replace(&mut self, request: &Request) {
        let message = "the answer is too large to wait for those before it; give requests a `requestId`";
        let failure = ToolFailure::new(ToolCode::ExecutionError, message);
        match request.kind {
            Kind::One => put(self.scratch, None, &ResultAnswer { result: failed(&failure) }),
            Kind::Batch | Kind::Other => {
                put(self.scratch, None, &ErrorAnswer { error: error(&failure), call_id: None })
            }
        };
    }

    fn unasked(&mut self, shape: &impl Serialize) {
        if put(self.scratch, None, shape) {
            (self.message)(self.scratch);
        }
    }
}

/// Writes an object, its request's id first; whether there is something to send.
fn put(scratch: &mut Vec<u8>, id: Option<&str>, shape: &impl Serialize) -> bool {
    scratch.clear();
    if let Some(id) = id {
        scratch.extend_from_slice(br#"{"requestId":"#);
        scratch.extend_from_slice(id.as_bytes());
    }
    let at = scratch.len();
    // Maps with string keys always have a JSON text, and a vector takes all of it.
    let written = serde_json::to_writer(&mut *scratch, shape).is_ok();
    if let Some(brace) = scratch.get_mut(at).filter(|_| id.is_some()) {
        // No answer is empty, so what follows the id is another member.
        *brace = b',';
    }
    written
}

fn result(outcome: &ToolOutcome) -> ResultShape<'_> {
    let (success, data, error) = match &outcome.result {
        Ok(data) => (true, Some(data), None),
        Err(failure) => (false, None, Some(error(failure))),
    };
    let (duration, metadata) = (outcome.duration_ms, outcome.metadata.as_ref());
    ResultShape { success, data, error, duration, metadata, execution_id: Some(&outcome.call) }
}

fn failed(failure: &ToolFailure) -> ResultShape<'_> {
    let error = Some(error(failure));
    ResultShape { success: false, data: None, error, duration: 0, metadata: None, execution_id: None }
}

fn error(failure: &ToolFailure) -> ErrorShape<'_> {
    let message = if failure.code == ToolCode::RegistryNotReady { NOT_READY } else { &failure.message };
    ErrorShape { code: failure.code, message, details: failure.details.as_ref().map(Details::Given) }
}

fn code_of(refused: Refused) -> ToolCode {
    match refused {
        Refused::UnknownType => ToolCode::UnknownMessageType,
        Refused::NotJson | Refused::Malformed | Refused::TooMany => ToolCode::ValidationError,
        Refused::Host(code) => host_code(code),
    }
}

fn host_code(code: RejectCode) -> ToolCode {
    match code {
        RejectCode::BadJson
        | RejectCode::BadMessage
        | RejectCode::UnknownTab
        | RejectCode::NotFound
        | RejectCode::Conflict
        | RejectCode::TooLarge => ToolCode::ValidationError,
        RejectCode::UnknownType => ToolCode::UnknownMessageType,
        RejectCode::WorkspaceUntrusted => ToolCode::WorkspaceUntrusted,
        RejectCode::AgentUnavailable | RejectCode::Internal => ToolCode::ExecutionError,
    }
}

/// A refusal of the host or the link in the dialect's words.
pub(super) fn failure_of(reject: &Reject) -> ToolFailure {
    ToolFailure::new(host_code(reject.code), reject.message.clone())
}

fn past(row: &CallRow) -> PastShape {
    let (parameters, whole) = kept(&row.parameters);
    let shape = PastShape {
        execution_id: row.call.clone(),
        tool_name: row.tool.clone(),
        parameters,
        session_id: row.session.to_string(),
        started_at: row.asked.0,
        status: PastStatus::Open,
        success: None,
        data: None,
        error: None,
        duration: None,
        truncated: !whole,
    };
    let Some(end) = &row.end else { return shape };
    let (result, result_whole) = kept(&end.result);
    let (success, data, error) = match end.success {
        Success::Yes => (true, Some(result), None),
        Success::No => (false, None, Some(result)),
    };
    PastShape {
        status: PastStatus::Done,
        success: Some(success),
        data,
        error,
        duration: Some(end.duration_ms),
        truncated: !(whole && result_whole),
        ..shape
    }
}

/// JSON as it was kept, and whether it is whole; what was cut is given as the text that is left.
fn kept(text: &str) -> (Value, bool) {
    serde_json::from_str(text).map_or_else(|_| (Value::from(text), false), |value| (value, true))
}

/// A word of a rule; where it could be taken for several, or for something else, it is quoted and its signs are spelled out.
fn word(plain: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_graphic() || (letter.is_alphanumeric() && !letter.is_ascii());
    let fits = !plain.is_empty() && plain.chars().all(is_plain) && !plain.contains(['"', '<', '>']);
    if fits { plain.to_owned() } else { format!("\"{}\"", plain.escape_debug()) }
}

/// A rule in a line, for people.
fn rule_text(what: &RuleWhat) -> String {
    match what {
        RuleWhat::Command { program, args, cwd } => {
            let args = args.iter().map(|arg| match arg {
                ArgPattern::Is { arg } => word(arg),
                ArgPattern::Any {} => "<any one argument>".to_owned(),
                ArgPattern::Rest {} => "<any further arguments>".to_owned(),
            });
            let line: Vec<String> = std::iter::once(word(program)).chain(args).collect();
            format!("{} in {} or below it", line.join(" "), word(cwd))
        }
        RuleWhat::Edit { glob } => format!("changes of {glob}"),
        RuleWhat::Tool { tool } => format!("calls of {tool}"),
    }
}
