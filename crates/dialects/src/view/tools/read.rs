//! A view's messages into what they ask for. Never guesses: what is not exactly a message of the dialect is refused, with
//! everything that is wrong with it.

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use switchboard_types::limits::{
    MAX_BATCH_CALLS, MAX_CALL_MS, MAX_CALL_ROWS, MAX_ID_BYTES, MAX_JSON_DEPTH, MAX_LENT_TOOLS, MAX_PARAMETER_BYTES,
    MAX_RESULT_BYTES,
};
use switchboard_types::{
    ApprovalId, BatchMode, CallId, CallPlace, Command, Decision, Effect, Finding, FindingCode, Reject, RejectCode,
    RequestNo, Seq, SessionId, Time, ToolCode, ToolDefinition, ToolFailure, ToolName, ToolRequest, WorkspaceRoot,
};

use super::check::Members;
use super::lend;
use super::order::{Kind, MAX_OPEN_REQUESTS, RequestId};
use crate::json::{Fields, FieldsError, deeper_than, shown};

/// The types that a view may send.
pub(super) const TYPES: [&str; 9] = [
    "GET_TOOLS",
    "EXECUTE_TOOL",
    "CANCEL_EXECUTION",
    "GET_TOOL_HISTORY",
    "BATCH_EXECUTE",
    "SUBSCRIBE_APPROVALS",
    "APPROVAL_RESPONSE",
    "REGISTER_TOOLS",
    "TOOL_RESULT",
];

/// How deep a message may nest: what goes in and what comes out must be readable again once it lies in the log.
const MAX_DEPTH: usize = MAX_JSON_DEPTH - 8;
/// Calls in one answer of a listing, if nobody says.
const USUAL_ROWS: u64 = 50;

const DECISIONS: [(&str, Decision); 5] = [
    ("allow_once", Decision::AllowOnce),
    ("allow_session", Decision::AllowSession),
    ("allow_rule", Decision::AllowRule),
    ("deny", Decision::Deny),
    ("deny_stop", Decision::DenyStop),
];

/// Failures that a lender may name; anything else that goes wrong there is an error of the execution.
const LENDER_CODES: [ToolCode; 4] =
    [ToolCode::ExecutionError, ToolCode::ValidationError, ToolCode::Timeout, ToolCode::Cancelled];

/// A message as far as it was understood.
#[derive(Debug)]
pub(super) struct Heard {
    /// The id that its answer repeats.
    pub(super) id: Option<RequestId>,
    /// What it asks for.
    pub(super) asked: Result<Asked, Refusal>,
}

/// What a message asks for.
#[derive(Debug)]
pub(super) enum Asked {
    /// Something that gets one answer.
    Request(Asking),
    /// Nothing: it is the result of a lent tool.
    Result { call: u64, result: Result<Value, ToolFailure> },
}

/// A request without its number.
#[derive(Debug)]
pub(super) enum Asking {
    Tools,
    Call(Box<ToolRequest>),
    Batch(Vec<ToolRequest>, BatchMode),
    Cancel(CallId),
    History { tool: Option<ToolName>, before: Option<CallPlace>, limit: usize },
    Lend(Vec<(ToolDefinition, Effect)>),
    Watch,
    Answer { session: SessionId, approval: ApprovalId, decision: Decision, command: Option<String> },
}

impl Asking {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Call(_) => Kind::One,
            Self::Batch(..) => Kind::Batch,
            Self::Tools
            | Self::Cancel(_)
            | Self::History { .. }
            | Self::Lend(_)
            | Self::Watch
            | Self::Answer { .. } => Kind::Other,
        }
    }

    pub(super) fn command(self, request: RequestNo) -> Command {
        match self {
            Self::Tools => Command::ListTools { request },
            Self::Call(call) => Command::CallTools { request, calls: vec![*call], mode: BatchMode::Parallel },
            Self::Batch(calls, mode) => Command::CallTools { request, calls, mode },
            Self::Cancel(call) => Command::CancelCall { request, call },
            Self::History { tool, before, limit } => Command::ListCalls { request, tool, before, limit },
            Self::Lend(tools) => Command::LendTools { request, tools },
            Self::Watch => Command::WatchApprovals { request },
            Self::Answer { session, approval, decision, command } => {
                Command::Answer { request, session, approval, decision, command }
            }
        }
    }
}

/// Why a message is refused, and how to say so.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    pub(super) id: Option<RequestId>,
    pub(super) code: Refused,
    pub(super) message: String,
    pub(super) findings: Vec<Finding>,
    /// The lent call whose result it was; nobody waits for an answer to that, so it has no place among them.
    pub(super) result_of: Option<Option<String>>,
}

/// The sorts of refusals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is no JSON, or no object.
    NotJson,
    /// There is no such message.
    UnknownType,
    /// Something in it is wrong.
    #[default]
    Malformed,
    /// Too many requests are open.
    TooMany,
    /// The host says so itself.
    Host(RejectCode),
}

impl Refusal {
    fn new(code: Refused, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), ..Self::default() }
    }

    /// Too many requests are open.
    pub(super) fn too_many(id: Option<RequestId>) -> Self {
        let message = format!("{MAX_OPEN_REQUESTS} requests of this link have no answer yet; wait for some of them");
        Self { id, ..Self::new(Refused::TooMany, message) }
    }

    /// What somebody else found wrong.
    pub(super) fn of(reject: &Reject) -> Self {
        Self::new(Refused::Host(reject.code), &reject.message)
    }

    /// The same for the link, which counts and records it.
    pub(super) fn reject(&self) -> Reject {
        let code = match self.code {
            Refused::NotJson => RejectCode::BadJson,
            Refused::UnknownType => RejectCode::UnknownType,
            Refused::Malformed => RejectCode::BadMessage,
            Refused::TooMany => RejectCode::TooLarge,
            Refused::Host(code) => code,
        };
        Reject::new(code, self.message.clone())
    }
}

/// Reads one message.
pub(super) fn heard(frame: &[u8]) -> Heard {
    let broken = |reason: String| Heard { id: None, asked: Err(Refusal::new(Refused::NotJson, reason)) };
    let text = match std::str::from_utf8(frame) {
        Ok(text) => text,
        Err(error) => return broken(format!("not UTF-8: {error}")),
    };
    // The parser keeps values as text and does not descend into them, so it is safe at any depth.
    let fields = match Fields::read(text, &["type", "requestId"]) {
        Ok(fields) => fields,
        Err(error) => return broken(error.to_string()),
    };
    let mut findings = Vec::new();
    let id = fields.raw("requestId").and_then(|raw| request_id(raw, &mut findings));
    let asked = match fields.fault() {
        Some(fault @ FieldsError::Twice { .. }) => Err(Refusal::new(Refused::Malformed, fault.to_string())),
        Some(fault) => Err(Refusal::new(Refused::NotJson, fault.to_string())),
        None if deeper_than(frame, MAX_DEPTH) => {
            Err(Refusal::new(Refused::NotJson, format!("nested deeper than {MAX_DEPTH}")))
        }
        None => asked(text, findings),
    };
    Heard { id, asked }
}

/// An id to repeat: a string or a number, not too long.
fn request_id(raw: &str, findings: &mut Vec<Finding>) -> Option<RequestId> {
    let mut wrong = |code, message: String| {
        findings.push(Finding { parameter: "requestId".to_owned(), message, code });
        None
    };
    if !raw.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit()) {
        return wrong(FindingCode::TypeMismatch, "must be a string or a number".to_owned());
    }
    let size = raw.trim_matches('"').len();
    if size > MAX_ID_BYTES {
        return wrong(FindingCode::OutOfRange, format!("must have at most {MAX_ID_BYTES} bytes, not {size}"));
    }
    RawValue::from_string(raw.to_owned()).ok()
}

fn asked(text: &str, mut findings: Vec<Finding>) -> Result<Asked, Refusal> {
    let members: Map<String, Value> = serde_json::from_str(text)
        .map_err(|error| Refusal::new(Refused::NotJson, format!("cannot be read: {error}")))?;
    let call = members.get("callId").and_then(Value::as_str).map(str::to_owned);
    let mut message = Members::new(members, "", &mut findings);
    let kind = message.text("type");
    let asked = match kind.as_deref() {
        Some("GET_TOOLS") => Some(Asked::Request(Asking::Tools)),
        Some("EXECUTE_TOOL") => execute(&mut message),
        Some("CANCEL_EXECUTION") => message.id("executionId").map(|id| Asked::Request(Asking::Cancel(CallId::new(id)))),
        Some("GET_TOOL_HISTORY") => history(&mut message),
        Some("BATCH_EXECUTE") => batch(&mut message),
        Some("SUBSCRIBE_APPROVALS") => Some(Asked::Request(Asking::Watch)),
        Some("APPROVAL_RESPONSE") => answer(&mut message),
        Some("REGISTER_TOOLS") => register(&mut message),
        Some("TOOL_RESULT") => result(&mut message, text.len()),
        Some(unknown) => {
            let message = format!("Unknown message type: {}; known types are {}", shown(unknown), TYPES.join(", "));
            return Err(Refusal::new(Refused::UnknownType, message));
        }
        None => None,
    };
    let result_of = (kind.as_deref() == Some("TOOL_RESULT")).then_some(call);
    match asked {
        Some(asked) if findings.is_empty() => Ok(asked),
        _ => {
            let first = findings.first().map(|finding| format!("`{}` {}", finding.parameter, finding.message));
            let more = if findings.len() > 1 { format!(" (and {} more)", findings.len() - 1) } else { String::new() };
            let message = format!("{}{more}", first.unwrap_or_else(|| "the message cannot be read".to_owned()));
            Err(Refusal { findings, result_of, ..Refusal::new(Refused::Malformed, message) })
        }
    }
}

fn execute(message: &mut Members<'_>) -> Option<Asked> {
    let request = message.object("request")?;
    let call = request_of(&mut message.within("request", request))?;
    Some(Asked::Request(Asking::Call(Box::new(call))))
}

/// One call. Its session is ours, in decimal; whether there is one is for the host to say.
fn request_of(request: &mut Members<'_>) -> Option<ToolRequest> {
    let tool = request.id("toolName");
    let parameters = Value::Object(request.optional_object("parameters").unwrap_or_default());
    if size_of(&parameters, MAX_PARAMETER_BYTES).is_none() {
        let message = format!("must have at most {MAX_PARAMETER_BYTES} bytes of JSON");
        request.wrong("parameters", FindingCode::OutOfRange, message);
    }
    let session = request.optional_text("sessionId").and_then(|text| {
        let session = text.parse().ok().map(SessionId);
        if session.is_none() {
            request.wrong("sessionId", FindingCode::PatternMismatch, "must be the number of a session, in decimal");
        }
        session
    });
    let workspace = request.optional_text("workspace").and_then(|path| {
        let absolute = std::path::Path::new(&path).is_absolute();
        if !absolute {
            request.wrong("workspace", FindingCode::PatternMismatch, "must be an absolute path");
        }
        absolute.then(|| WorkspaceRoot::new(path))
    });
    // The caller's own name for a turn; it is taken and means nothing to us.
    request.optional_id("turnId");
    let timeout_ms = request.optional_count("timeout", 1..=MAX_CALL_MS);
    let call = request.optional_id("executionId").map(CallId::new);
    Some(ToolRequest { call, tool: ToolName::new(tool?), parameters, session, workspace, timeout_ms })
}

/// Bytes of a value as JSON; none if there are more than so many.
fn size_of(value: &Value, most: usize) -> Option<usize> {
    struct Count {
        left: usize,
    }
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.left = self.left.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::FileTooLarge)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count { left: most };
    serde_json::to_writer(&mut count, value).ok().map(|()| most - count.left)
}

fn batch(message: &mut Members<'_>) -> Option<Asked> {
    let objects = message.objects("requests", MAX_BATCH_CALLS);
    let calls: Option<Vec<_>> =
        objects.into_iter().map(|(at, request)| request_of(&mut message.within(at, request))).collect();
    let until_error = message.optional_flag("stopOnError");
    let sequential = if until_error { BatchMode::SequentialUntilError } else { BatchMode::Sequential };
    // All at once leaves nothing to stop.
    let words = [("parallel", BatchMode::Parallel), ("sequential", sequential)];
    let mode = message.optional_word("mode", &words).unwrap_or(BatchMode::Parallel);
    Some(Asked::Request(Asking::Batch(calls?, mode)))
}

fn history(message: &mut Members<'_>) -> Option<Asked> {
    let tool = message.optional_id("toolName").map(ToolName::new);
    let limit = message.optional_count("limit", 1..=MAX_CALL_ROWS as u64).unwrap_or(USUAL_ROWS);
    let before = message.optional_text("before").and_then(|text| {
        let place = place_of(&text);
        if place.is_none() {
            message.wrong("before", FindingCode::PatternMismatch, "must be the `before` of an answer");
        }
        place
    });
    Some(Asked::Request(Asking::History { tool, before, limit: usize::try_from(limit).unwrap_or(MAX_CALL_ROWS) }))
}

/// A place in the list of calls as text that only we take apart.
pub(super) fn place_text(place: CallPlace) -> String {
    format!("{}.{}.{}", place.asked, place.session, place.asked_at)
}

fn place_of(text: &str) -> Option<CallPlace> {
    let mut parts = text.splitn(3, '.').map(|part| part.parse::<u64>().ok());
    let mut next = || parts.next().flatten();
    Some(CallPlace { asked: Time(next()?), session: SessionId(next()?), asked_at: Seq(next()?) })
}

fn answer(message: &mut Members<'_>) -> Option<Asked> {
    let named = message.text("approvalId").and_then(|text| {
        let found = text.split_once(':').and_then(|(session, approval)| {
            let fits = (1..=MAX_ID_BYTES).contains(&approval.len());
            Some((SessionId(session.parse().ok().filter(|_| fits)?), ApprovalId::from(approval)))
        });
        if found.is_none() {
            message.wrong("approvalId", FindingCode::PatternMismatch, "must be the `approvalId` of a request");
        }
        found
    });
    // A word that we do not know is no denial: somebody meant something by it.
    let decision = message.word("decision", &DECISIONS);
    let command = message.optional_text("command");
    let (session, approval) = named?;
    Some(Asked::Request(Asking::Answer { session, approval, decision: decision?, command }))
}

fn register(message: &mut Members<'_>) -> Option<Asked> {
    let objects = message.objects("tools", MAX_LENT_TOOLS);
    let mut tools = Vec::with_capacity(objects.len());
    for (at, tool) in objects {
        tools.extend(lend::tool(&mut message.within(at, tool)));
    }
    Some(Asked::Request(Asking::Lend(tools)))
}

fn result(message: &mut Members<'_>, frame_bytes: usize) -> Option<Asked> {
    let call = message.text("callId").and_then(|text| {
        let call = text.parse().ok();
        if call.is_none() {
            message.wrong("callId", FindingCode::PatternMismatch, "must be the `callId` of a call");
        }
        call
    });
    let success = message.flag("success");
    let result = match success? {
        true => {
            let data = message.optional("data").unwrap_or_default();
            // Only a frame that is larger can hold something that is.
            if frame_bytes > MAX_RESULT_BYTES && size_of(&data, MAX_RESULT_BYTES).is_none() {
                let message = format!("the tool gave more than {MAX_RESULT_BYTES} bytes; ask it for less at a time");
                Err(ToolFailure::new(ToolCode::ExecutionError, message))
            } else {
                Ok(data)
            }
        }
        false => Err(lender_failure(message)?),
    };
    Some(Asked::Result { call: call?, result })
}

/// Why a lent tool failed: words, or words with a code.
fn lender_failure(message: &mut Members<'_>) -> Option<ToolFailure> {
    let unsaid =
        || ToolFailure::new(ToolCode::ExecutionError, "the view that lends the tool does not say why it failed");
    let error = match message.optional("error") {
        None => return Some(unsaid()),
        Some(Value::String(text)) => return Some(ToolFailure::new(ToolCode::ExecutionError, text)),
        Some(Value::Object(error)) => error,
        Some(_) => {
            message.wrong("error", FindingCode::TypeMismatch, "must be a string or {code?, message, details?}");
            return None;
        }
    };
    let mut error = message.within("error", error);
    let text = error.optional_text("message").unwrap_or_else(|| unsaid().message);
    let (code, details) = (error.optional_text("code"), error.optional("details"));
    let known = LENDER_CODES.into_iter().find(|known| code.as_deref() == Some(known.as_str()));
    let text = match code {
        Some(own) if known.is_none() => format!("{own}: {text}"),
        _ => text,
    };
    Some(ToolFailure { code: known.unwrap_or(ToolCode::ExecutionError), message: text, details })
}
