//! From a log's events to messages. Pure: the same events give the same messages, however they were cut into pages.
//!
//! Messages are handed out when none is open any more. So a cursor behind them has every event of theirs behind it, too, and
//! whoever goes on from there derives neither half a message nor one twice.

mod tool;

use std::collections::VecDeque;

use switchboard_types::{
    Body, CallId, Cost, EventRef, Prompt, Role, Seq, Text, Time, Tokens, ToolCall, ToolStatus, TurnId,
};

use self::tool::Draft;
use super::derived::{Item, MAX_PATH_BYTES, MAX_TEXT_BYTES, Message, Spent, SpentOf, Used};

/// What may be held back, in bytes, before it is handed out as it is.
const MAX_HELD_BYTES: usize = 1024 * 1024;
/// The same in messages.
const MAX_HELD: usize = 256;
/// Characters of a currency's name.
const MAX_CURRENCY_CHARS: usize = 16;

/// Something that has begun.
#[derive(Clone, Debug)]
struct Held {
    seq: Seq,
    turn: Option<TurnId>,
    at: Time,
    open: bool,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Said { role: Role, text: String, paths: String },
    Tool(Box<Draft>),
    Used { tokens: Tokens, spent: Option<Spent> },
}

/// What was read of one log, as far as it was not handed out.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    read: Seq,
    held: VecDeque<Held>,
    bytes: usize,
}

impl Fold {
    /// Goes on behind a cursor.
    pub(crate) fn after(cursor: Seq) -> Self {
        Self { read: cursor, held: VecDeque::new(), bytes: 0 }
    }

    /// The last event that was read.
    pub(crate) fn read(&self) -> Seq {
        self.read
    }

    /// The last event before all that is held back.
    pub(crate) fn cursor(&self) -> Seq {
        self.held.front().map_or(self.read, |held| Seq(held.seq.0.saturating_sub(1)))
    }

    /// Whether something is held back.
    pub(crate) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes one event; what is complete with it is added to `ready`.
    pub(crate) fn take(&mut self, event: &EventRef<'_>, ready: &mut Vec<Item>) {
        self.read = event.seq;
        // What a newer version wrote, or what cannot be read, is not found by its words.
        if let Ok(body) = event.body() {
            self.body(event, body);
        }
        if self.bytes > MAX_HELD_BYTES || self.held.len() > MAX_HELD {
            self.close_all();
        }
        self.hand_out(ready);
    }

    /// Events up to this one are lost; what they belonged to ends there.
    pub(crate) fn skip(&mut self, last: Seq, ready: &mut Vec<Item>) {
        self.close_all();
        self.read = last;
        self.hand_out(ready);
    }

    /// All that is held back, as if it ended now.
    pub(crate) fn so_far(&self) -> Vec<Item> {
        let mut items = Vec::new();
        self.held.iter().cloned().for_each(|held| held.finish(&mut items));
        items
    }

    fn hand_out(&mut self, ready: &mut Vec<Item>) {
        if self.held.is_empty() || self.held.iter().any(|held| held.open) {
            return;
        }
        self.bytes = 0;
        self.held.drain(..).for_each(|held| held.finish(ready));
    }

    fn close_all(&mut self) {
        self.held.iter_mut().for_each(|held| held.open = false);
    }

    fn close_run(&mut self) {
        let runs = self.held.iter_mut().filter(|held| matches!(held.what, What::Said { .. }));
        runs.for_each(|held| held.open = false);
    }

    fn body(&mut self, event: &EventRef<'_>, body: Body) {
        match body {
            Body::PromptQueued { prompt, .. } => self.prompt(event, prompt),
            Body::Text { text } | Body::Code { text } => self.run(event, Role::Assistant, &text),
            Body::Thought { text } => self.run(event, Role::Thought, &text),
            Body::ToolCall { call } | Body::ToolCallUpdate { call } => self.call(event, call),
            Body::ExecutionStarted { execution } => {
                self.tool(event, |draft| draft.is_for(execution.call.as_ref()), |draft| draft.execution(&execution));
            }
            Body::ExecutionOutput { execution, text } => {
                self.tool(event, |draft| draft.runs(&execution), |draft| draft.output(&execution, &text));
            }
            Body::ExecutionEnded { execution, title, output, .. } => {
                let end = |draft: &mut Draft| draft.execution_ended(&execution, &title, output.as_deref());
                self.tool(event, |draft| draft.runs(&execution), end);
            }
            Body::TurnUsed { tokens, cost } => {
                self.used(event, tokens, cost.and_then(|cost| spent(cost, SpentOf::Turn)));
            }
            Body::Usage { cost, .. } => {
                if let Some(spent) = cost.and_then(|cost| spent(cost, SpentOf::Everything)) {
                    self.used(event, Tokens::default(), Some(spent));
                }
            }
            Body::TurnEnded { .. } => {
                let ended = self.held.iter_mut().filter(|held| held.turn == event.turn);
                ended.for_each(|held| held.open = false);
            }
            Body::SessionClosed {} | Body::SessionReopened {} | Body::AgentExited { .. } => self.close_all(),
            // An echo repeats a prompt, which has its own event; the rest is about the work, not a part of it.
            Body::SessionOpened { .. }
            | Body::TitleChanged { .. }
            | Body::TurnStarted {}
            | Body::Echo { .. }
            | Body::Log { .. }
            | Body::Plan { .. }
            | Body::Status { .. }
            | Body::CancelAsked {}
            | Body::ApprovalAsked { .. }
            | Body::ApprovalResolved { .. }
            | Body::PolicyChanged { .. }
            | Body::CommandsChanged { .. }
            | Body::OptionsChanged { .. }
            | Body::SignInNeeded { .. }
            | Body::AgentSessionRestored { .. }
            | Body::AgentRestarted {}
            | Body::PromptTaken {}
            | Body::SourceGap { .. }
            | Body::Unknown { .. } => {}
        }
    }

    fn hold(&mut self, event: &EventRef<'_>, open: bool, what: What) {
        self.held.push_back(Held { seq: event.seq, turn: event.turn, at: event.at, open, what });
    }

    fn prompt(&mut self, event: &EventRef<'_>, prompt: Prompt) {
        let mut paths = String::new();
        prompt.context.iter().filter_map(|item| item.path.as_deref()).for_each(|path| add_path(&mut paths, path));
        self.bytes += prompt.text.len() + paths.len();
        self.hold(event, false, What::Said { role: Role::User, text: prompt.text, paths });
    }

    /// A piece of an answer or of thinking: the run goes on, or a new one begins.
    fn run(&mut self, event: &EventRef<'_>, role: Role, piece: &Text) {
        let plain = piece.to_plain();
        self.bytes += plain.len();
        let open = self.held.iter_mut().rev().find(|held| held.open && matches!(held.what, What::Said { .. }));
        if let Some(Held { turn, what: What::Said { role: now, text, .. }, .. }) = open
            && *now == role
            && *turn == event.turn
            && text.len() < MAX_TEXT_BYTES
        {
            text.push_str(&plain);
            return;
        }
        self.close_run();
        self.hold(event, true, What::Said { role, text: plain, paths: String::new() });
    }

    fn call(&mut self, event: &EventRef<'_>, call: ToolCall) {
        let id = call.id.clone();
        self.tool(event, |draft| draft.is_for(Some(&id)), |draft| draft.call(call));
    }

    /// Lets the tool's message that is meant, or a new one, take something in. A text that ran before it has ended.
    fn tool(&mut self, event: &EventRef<'_>, is_it: impl Fn(&Draft) -> bool, take: impl FnOnce(&mut Draft) -> usize) {
        let meant = self.held.iter_mut().filter(|held| held.open).find_map(|held| match &mut held.what {
            What::Tool(draft) if is_it(draft) => Some(draft),
            What::Tool(_) | What::Said { .. } | What::Used { .. } => None,
        });
        if let Some(draft) = meant {
            self.bytes += take(draft);
        } else {
            self.close_run();
            let mut draft = Box::<Draft>::default();
            self.bytes += take(&mut draft);
            self.hold(event, true, What::Tool(draft));
        }
        self.close_finished();
    }

    fn close_finished(&mut self) {
        for held in &mut self.held {
            if let What::Tool(draft) = &held.what
                && draft.is_finished()
            {
                held.open = false;
            }
        }
    }

    fn used(&mut self, event: &EventRef<'_>, tokens: Tokens, spent: Option<Spent>) {
        self.hold(event, false, What::Used { tokens, spent });
    }
}

impl Held {
    fn finish(self, items: &mut Vec<Item>) {
        let Self { seq, turn, at, open: _, what } = self;
        let (role, text, paths) = match what {
            What::Said { role, text, paths } => (role, text, paths),
            What::Tool(draft) => {
                let (text, paths) = draft.write();
                (Role::Tool, text, paths)
            }
            What::Used { tokens, spent } => {
                return items.push(Item::Used(Used { seq, turn, at, tokens, spent }));
            }
        };
        if !text.trim().is_empty() || !paths.is_empty() {
            Message { seq, turn, role, at, text, paths }.split(items);
        }
    }
}

/// Adds a path if it is not there yet and there is room.
fn add_path(paths: &mut String, path: &str) {
    if path.is_empty() || paths.lines().any(|known| known == path) || paths.len() + path.len() >= MAX_PATH_BYTES {
        return;
    }
    if !paths.is_empty() {
        paths.push('\n');
    }
    paths.push_str(path);
}

fn spent(cost: Cost, of: SpentOf) -> Option<Spent> {
    let micros = (cost.amount * 1e6).round();
    // What is no amount of money is none.
    if !(0.0..=9e15).contains(&micros) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range was looked at")]
    let micros = micros as i64;
    Some(Spent { micros, currency: cost.currency.chars().take(MAX_CURRENCY_CHARS).collect(), of })
}

/// How far a call is that no more will be said of.
fn is_over(status: ToolStatus) -> bool {
    match status {
        ToolStatus::Pending | ToolStatus::Running => false,
        ToolStatus::Completed | ToolStatus::Failed => true,
    }
}

/// A call's name.
type Call = Option<CallId>;

#[cfg(test)]
mod tests;
