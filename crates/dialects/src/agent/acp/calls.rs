//! The agent's own tool calls, put together by their ids from whatever comes in whatever order. Remembers of each only what
//! an update may leave out; never what a call shows.

use std::collections::{HashMap, VecDeque};

use switchboard_types::{CallId, ExecutionId, Telling, ToolCall, ToolContent, ToolStatus};

use super::content;
use super::permission::Hint;
use super::small::{MAX_LINE_CHARS, cut, fields, first_items, last_bytes, line, name, string, value_or_text};
use crate::json::Fields;

/// Calls of one session that are remembered; the oldest are forgotten first.
pub(super) const MAX_CALLS: usize = 1_024;
/// Pieces that one call shows, and places that it is at.
const MAX_PIECES: usize = 256;
/// Bytes of a terminal's output that are kept for a call, where the agent itself runs it.
const MAX_SHOWN_BYTES: usize = 64 * 1024;
/// So much more must have come before a terminal's output is told again in full.
const MIN_NEW_BYTES: usize = 4 * 1024;
/// Terminals of the host that one session remembers.
const MAX_TERMINALS: usize = 256;

const FIELDS: [&str; 10] =
    ["toolCallId", "title", "kind", "status", "content", "locations", "rawInput", "rawOutput", "_meta", "name"];

type CallFields<'a> = Fields<'a, { FIELDS.len() }>;

/// Where something about a call stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// In `tool_call`.
    Call,
    /// In `tool_call_update`.
    Update,
    /// In a request for permission.
    Question,
}

/// The calls of one session.
#[derive(Debug, Default)]
pub(super) struct Calls {
    known: HashMap<CallId, Known>,
    order: VecDeque<CallId>,
    turn: u64,
    terminals: VecDeque<ExecutionId>,
}

/// What is remembered of a call.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) title: String,
    pub(super) kind: Option<String>,
    pub(super) hint: Hint,
    status: ToolStatus,
    turn: u64,
    shown: Option<Shown>,
}

/// The output of a terminal that the agent runs itself.
#[derive(Debug)]
struct Shown {
    terminal: ExecutionId,
    text: String,
    fresh: usize,
}

/// A call, or what changed of it, ready to be told.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) call: ToolCall,
    pub(super) telling: Telling,
}

impl Calls {
    /// A new prompt has gone out. Some agents count their calls anew with each.
    pub(super) fn new_turn(&mut self) {
        self.turn += 1;
    }

    /// The host runs a command for the agent under this name.
    pub(super) fn host_runs(&mut self, terminal: ExecutionId) {
        self.terminals.push_back(terminal);
        if self.terminals.len() > MAX_TERMINALS {
            self.terminals.pop_front();
        }
    }

    pub(super) fn known(&self, id: &CallId) -> Option<&Known> {
        self.known.get(id)
    }

    /// Reads what the agent says of a call. None if it cannot be told which call; a call without news gives no word.
    pub(super) fn read(&mut self, raw: &str, source: Source) -> Option<(CallId, Option<Told>)> {
        let found = fields(raw, &FIELDS)?;
        let id = CallId::new(name(&found, "toolCallId").filter(|id| !id.is_empty())?);
        let turn = self.turn;
        let is_new = match self.known.get(&id) {
            None => true,
            // The same id in a later turn is another call, if the agent says that it begins.
            Some(known) => known.turn != turn && source != Source::Update,
        };
        if is_new {
            self.remember(id.clone(), &found);
        }
        let ours: Vec<ExecutionId> = self.terminals.iter().cloned().collect();
        let known = self.known.get_mut(&id)?;
        known.turn = turn;
        known.learn(&found);
        let content = known.content(&found, &ours);
        let input = found.raw("rawInput").map(value_or_text);
        known.hint.learn(input.as_ref());
        let call = ToolCall {
            id: id.clone(),
            title: known.title.clone(),
            kind: known.kind.clone(),
            status: known.status,
            input,
            output: found.raw("rawOutput").map(value_or_text),
            content,
            locations: found.raw("locations").and_then(|raw| first_items(raw, MAX_PIECES)).map(places),
            tool: None,
            error: None,
            duration_ms: None,
        };
        let telling = if is_new { Telling::First } else { Telling::Again };
        let news = is_new || says_something(&found, &call);
        Some((id, news.then_some(Told { call, telling })))
    }

    fn remember(&mut self, id: CallId, found: &CallFields<'_>) {
        let title = line(found, "title").or_else(|| line(found, "name")).or_else(|| line(found, "kind"));
        let known = Known {
            title: title.unwrap_or_else(|| "a tool call".to_owned()),
            kind: None,
            hint: Hint::default(),
            status: ToolStatus::Pending,
            turn: self.turn,
            shown: None,
        };
        if self.known.insert(id.clone(), known).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > MAX_CALLS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

impl Known {
    fn learn(&mut self, found: &CallFields<'_>) {
        if let Some(title) = line(found, "title") {
            self.title = title;
        }
        if let Some(kind) = line(found, "kind") {
            self.kind = Some(cut(kind, 64));
        }
        if let Some(status) = string(found, "status").and_then(|word| status(&word)) {
            self.status = status;
        }
        let Some(meta) = found.raw("_meta").and_then(|raw| fields(raw, &["terminal_info", "terminal_output"])) else {
            return;
        };
        for place in ["terminal_info", "terminal_output"] {
            if let Some(told) = meta.raw(place).and_then(|raw| fields(raw, &["terminal_id", "data"])) {
                let terminal = name(&told, "terminal_id").unwrap_or_else(|| "terminal".to_owned());
                self.hear(&terminal, &string(&told, "data").unwrap_or_default());
            }
        }
    }

    /// Keeps a piece of the output of a terminal that is the agent's own.
    fn hear(&mut self, terminal: &str, data: &str) {
        let shown = self.shown.get_or_insert_with(|| Shown {
            terminal: ExecutionId::from(terminal),
            text: String::new(),
            fresh: 0,
        });
        shown.text.push_str(data);
        shown.fresh += data.len();
        if shown.text.len() > 2 * MAX_SHOWN_BYTES {
            shown.text = last_bytes(&shown.text, MAX_SHOWN_BYTES).to_owned();
        }
    }

    /// What the call shows now, if that has changed.
    fn content(&mut self, found: &CallFields<'_>, ours: &[ExecutionId]) -> Option<Vec<ToolContent>> {
        let ended = matches!(self.status, ToolStatus::Completed | ToolStatus::Failed);
        let given = found.raw("content").and_then(|raw| first_items(raw, MAX_PIECES));
        let Some(given) = given else {
            // Told again in full, so only when enough has come; the end tells all of it.
            let shown = self.shown.as_mut()?;
            let due = shown.fresh >= MIN_NEW_BYTES.max(shown.text.len() / 2) || (ended && shown.fresh > 0);
            return due.then(|| vec![shown.tell()]);
        };
        let mut pieces: Vec<ToolContent> = given.into_iter().map(content::of_tool).collect();
        for piece in &mut pieces {
            if let ToolContent::Terminal { terminal, output } = piece
                && !ours.contains(terminal)
            {
                let shown = self.shown.as_mut().filter(|shown| shown.terminal == *terminal);
                *output = Some(shown.map(|shown| shown.say()).unwrap_or_default());
            }
        }
        Some(pieces)
    }
}

impl Shown {
    fn say(&mut self) -> String {
        self.fresh = 0;
        last_bytes(&self.text, MAX_SHOWN_BYTES).to_owned()
    }

    fn tell(&mut self) -> ToolContent {
        let output = Some(self.say());
        ToolContent::Terminal { terminal: self.terminal.clone(), output }
    }
}

/// Whether an update says anything at all.
fn says_something(found: &CallFields<'_>, call: &ToolCall) -> bool {
    let spoken = ["title", "kind", "status"].iter().any(|name| found.raw(name).is_some());
    spoken || call.content.is_some() || call.locations.is_some() || call.input.is_some() || call.output.is_some()
}

/// How far a call is; none for a word that we do not know, since then it is as far as it was.
fn status(word: &str) -> Option<ToolStatus> {
    match word {
        "pending" | "queued" => Some(ToolStatus::Pending),
        "in_progress" | "running" => Some(ToolStatus::Running),
        "completed" | "success" | "done" => Some(ToolStatus::Completed),
        "failed" | "error" | "cancelled" | "canceled" | "rejected" => Some(ToolStatus::Failed),
        _ => None,
    }
}

fn places(items: Vec<&str>) -> Vec<switchboard_types::Location> {
    items.into_iter().filter_map(content::location).collect()
}

/// A call's title in a line, for a person who is asked about it.
pub(super) fn title_of(told: Option<&Told>, known: Option<&Known>) -> String {
    let title = told.map(|told| told.call.title.as_str()).or(known.map(|known| known.title.as_str()));
    cut(title.unwrap_or("a tool call"), MAX_LINE_CHARS)
}
