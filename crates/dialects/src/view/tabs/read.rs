//! A view's messages into commands. Never guesses: what is not exactly a message of the dialect is refused, with where
//! it belongs and what was expected.

use std::path::Path;

use switchboard_types::limits::{MAX_ID_BYTES, MAX_JSON_DEPTH, MAX_SEATS_PER_LINK};
use switchboard_types::{
    AgentName, ApprovalId, Command, ContextItem, Prompt, Reject, RejectCode, Seen, Seq, TabId, TurnName, Visibility,
    WorkspaceRoot,
};

use crate::json::{FieldError, Fields, deeper_than, items, pairs, shown};

/// The types that a view may send.
pub(super) const TYPES: [&str; 9] = [
    "webview-ready",
    "new-tab",
    "prompt",
    "cancel",
    "close-tab",
    "visibility",
    "message-ack",
    "approval-response",
    "restart-agent",
];

/// Every field that a view's message may carry.
const FIELDS: [&str; 15] = [
    "type",
    "tabId",
    "messageId",
    "index",
    "text",
    "context",
    "lastSeenIndex",
    "agent",
    "workspace",
    "visible",
    "approvalId",
    "decision",
    "command",
    "rule",
    "option",
];

/// The largest index: what any JSON reader can hold exactly.
const MAX_INDEX: u64 = (1 << 53) - 1;
/// Files and excerpts that go with one prompt.
const MAX_CONTEXT_ITEMS: usize = 1000;

const AN_INDEX: &str = "an integer below 2^53";
const DECISIONS: &str = "allow_once, allow_session, allow_rule, deny or deny_stop";

type TabsFields<'a> = Fields<'a, { FIELDS.len() }>;

/// Why a message is refused, before it is known where it belongs.
struct Refusal {
    code: RejectCode,
    message: String,
}

impl Refusal {
    fn new(code: RejectCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl From<FieldError> for Refusal {
    fn from(error: FieldError) -> Self {
        Self::new(RejectCode::BadMessage, error.to_string())
    }
}

/// Translates one message.
pub(super) fn command(frame: &[u8]) -> Result<Command, Reject> {
    let bad_json = |reason: String| Reject::new(RejectCode::BadJson, reason);
    let text = std::str::from_utf8(frame).map_err(|error| bad_json(format!("not UTF-8: {error}")))?;
    let too_deep = deeper_than(frame, MAX_JSON_DEPTH);
    // The parser keeps values as text and does not descend into them, so it is safe at any depth.
    let fields = TabsFields::read(text, &FIELDS).map_err(|error| bad_json(error.to_string()))?;
    let read = if too_deep {
        Err(Refusal::new(RejectCode::BadJson, format!("nested deeper than {MAX_JSON_DEPTH}")))
    } else {
        read(&fields)
    };
    read.map_err(|refusal| Reject {
        code: refusal.code,
        message: refusal.message,
        tab: fields.optional_id("tabId").ok().flatten().map(|tab| TabId::from(&*tab)),
        turn: fields.optional_id("messageId").ok().flatten().map(|name| TurnName::from(&*name)),
        window: None,
    })
}

fn read(fields: &TabsFields<'_>) -> Result<Command, Refusal> {
    if let Some(fault) = fields.fault() {
        return Err(Refusal::new(RejectCode::BadMessage, fault.to_string()));
    }
    let kind = fields.name("type")?;
    Ok(match &*kind {
        "webview-ready" => Command::Ready { seen: seen_tabs(fields)? },
        "new-tab" => open_tab(fields)?,
        "prompt" => Command::Prompt { tab: tab(fields)?, name: turn(fields)?, prompt: prompt(fields)? },
        "cancel" => Command::Cancel { tab: tab(fields)?, name: turn(fields)? },
        "close-tab" => Command::CloseTab { tab: tab(fields)? },
        "visibility" => Command::Visibility(visibility(fields)?),
        "message-ack" => Command::Ack { tab: tab(fields)?, seq: index("index", fields.required("index", AN_INDEX)?)? },
        "approval-response" => decide(fields)?,
        "restart-agent" => Command::RestartAgent { tab: tab(fields)? },
        unknown => {
            let message = format!("unknown type {}; known types are {}", shown(unknown), TYPES.join(", "));
            return Err(Refusal::new(RejectCode::UnknownType, message));
        }
    })
}

fn tab(fields: &TabsFields<'_>) -> Result<TabId, FieldError> {
    Ok(TabId::from(&*fields.id("tabId")?))
}

fn turn(fields: &TabsFields<'_>) -> Result<TurnName, FieldError> {
    Ok(TurnName::from(&*fields.id("messageId")?))
}

fn open_tab(fields: &TabsFields<'_>) -> Result<Command, FieldError> {
    let workspace = fields.optional_text("workspace")?;
    if workspace.as_ref().is_some_and(|path| !Path::new(path).is_absolute()) {
        return Err(FieldError::Wrong { name: "workspace", expected: "an absolute path" });
    }
    Ok(Command::OpenTab {
        tab: tab(fields)?,
        agent: fields.optional_id("agent")?.map(|agent| AgentName::from(&*agent)),
        workspace: workspace.map(WorkspaceRoot::new),
        seen: fields.raw("lastSeenIndex").map_or(Ok(Seq::START), |raw| index("lastSeenIndex", raw))?.into(),
    })
}

fn seen_tabs(fields: &TabsFields<'_>) -> Result<Vec<(TabId, Seen)>, Refusal> {
    let (name, expected) = ("lastSeenIndex", "an object from tabId to index");
    let Some(raw) = fields.raw(name) else { return Ok(Vec::new()) };
    let Ok(pairs) = pairs(raw, MAX_SEATS_PER_LINK).ok_or(FieldError::Wrong { name, expected })? else {
        let message = format!("`lastSeenIndex` names more than {MAX_SEATS_PER_LINK} tabs");
        return Err(Refusal::new(RejectCode::TooLarge, message));
    };
    let seat = |(tab, raw): (String, &str)| {
        let size = tab.len();
        if size > MAX_ID_BYTES {
            return Err(FieldError::IdTooLong { name, size }.into());
        }
        Ok((TabId::new(tab), index(name, raw)?.into()))
    };
    pairs.into_iter().map(seat).collect()
}

/// An index as a cursor. Before the first event there are many negative ones and only one cursor.
fn index(name: &'static str, raw: &str) -> Result<Seq, FieldError> {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    let wrong = FieldError::Wrong { name, expected: AN_INDEX };
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(wrong);
    }
    if raw.starts_with('-') {
        return Ok(Seq::START);
    }
    digits.parse().ok().filter(|index| *index <= MAX_INDEX).map(Seq).ok_or(wrong)
}

fn prompt(fields: &TabsFields<'_>) -> Result<Prompt, Refusal> {
    let text = fields.text("text")?;
    let (name, expected) = ("context", "an array of {path?, content?, image?}");
    let Some(raw) = fields.raw(name) else { return Ok(Prompt { text, context: Vec::new() }) };
    let Ok(list) = items(raw, MAX_CONTEXT_ITEMS).ok_or(FieldError::Wrong { name, expected })? else {
        let message = format!("`context` has more than {MAX_CONTEXT_ITEMS} items");
        return Err(Refusal::new(RejectCode::TooLarge, message));
    };
    let context: Option<Vec<_>> = list.into_iter().map(context_item).collect();
    Ok(Prompt { text, context: context.ok_or(FieldError::Wrong { name, expected })? })
}

fn context_item(raw: &str) -> Option<ContextItem> {
    let fields = Fields::read(raw, &["path", "content", "image"]).ok()?;
    let whole = fields.fault().is_none();
    let image = fields.raw("image").map(serde_json::from_str).transpose().ok()?;
    let (path, content) = (fields.optional_text("path").ok()?, fields.optional_text("content").ok()?);
    let item = ContextItem { path, content, image };
    whole.then_some(item)
}

fn visibility(fields: &TabsFields<'_>) -> Result<Visibility, FieldError> {
    let (name, expected) = ("visible", "true or false");
    match fields.required(name, expected)? {
        "true" => Ok(Visibility::Visible),
        "false" => Ok(Visibility::Hidden),
        _ => Err(FieldError::Wrong { name, expected }),
    }
}

fn decide(fields: &TabsFields<'_>) -> Result<Command, FieldError> {
    let missing = FieldError::Missing { name: "decision", expected: DECISIONS };
    // A view may name the rule that it would store; the host makes its own from what was approved.
    fields.optional_text("rule")?;
    Ok(Command::Decide {
        tab: tab(fields)?,
        approval: ApprovalId::from(&*fields.id("approvalId")?),
        decision: fields.one_of("decision", DECISIONS)?.ok_or(missing)?,
        command: fields.optional_text("command")?,
        option: fields.optional_text("option")?,
    })
}
