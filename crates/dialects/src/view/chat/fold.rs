//! What goes on in one session, from its events: who works, what was said since the last tool calls, which calls and questions
//! are open. Notes what a person should see of each event; never writes a message, and never keeps what is over.

use std::collections::BTreeSet;

use switchboard_types::record::Peek;
use switchboard_types::{
    AgentOption, Body, Detail, EventRef, LogLevel, Memory, Outcome, SessionPolicy, SignInMethod, Text, Time, TurnId,
};

use super::actions::{Action, Group};
use super::questions::{Decided, Question, Questions};
use super::shape::{MessageShape, ModelShape, RoleWord};
use super::text::{Block, lines_of};

/// What is shown while an agent works and says nothing.
const THINKING: &str = "Thinking…";
/// Bytes of a prompt that are shown.
const MAX_PROMPT_BYTES: usize = 4 * 1024 * 1024;

/// Something that a person should see.
#[derive(Debug)]
pub(super) enum Note {
    /// A message that is there at once.
    Message(Box<MessageShape>),
    /// Something runs or waits, or nothing does any more.
    Generating(bool),
    /// The agent works without a word; none says that this is over.
    Thinking(Option<String>),
    /// The text so far is complete; other text starts anew.
    BlockEnds(Block, BlockEnd),
    /// Tool calls begin.
    GroupStarts(&'static str),
    /// A call as it is now.
    Action(Action),
    /// They are over.
    GroupEnds(Group),
    /// A person is asked.
    Asked(Box<Question>),
    /// A question is decided, or something was done unasked, or what was allowed has an end.
    Decided(Box<Decided>),
    /// Something went wrong.
    Wrong(String, Time),
    /// What the agent may do unasked has changed.
    Policy,
    /// The models, or the mode, have changed.
    Choices,
}

/// Why a text is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockEnd {
    /// Tool calls follow.
    Tools,
    /// The turn is over, or the text is too long to be repeated any further.
    Final,
}

/// One session.
#[derive(Debug, Default)]
pub(super) struct Fold {
    /// Its name in the names of messages.
    session: u64,
    /// Turns that run or wait.
    open: BTreeSet<TurnId>,
    running: Option<TurnId>,
    is_thinking: bool,
    pub(super) block: Block,
    /// The end of what the agent thinks, for a line.
    pub(super) thought: Block,
    pub(super) group: Option<Group>,
    pub(super) questions: Questions,
    pub(super) policy: SessionPolicy,
    pub(super) models: Vec<ModelShape>,
    /// The choices of the agent's own mode.
    pub(super) modes: Vec<String>,
}

impl Fold {
    pub(super) fn new(session: u64) -> Self {
        Self { session, ..Self::default() }
    }

    /// Whether something runs or waits.
    pub(super) fn is_generating(&self) -> bool {
        !self.open.is_empty()
    }

    /// What is shown while the agent says nothing; none if it does, or does not work.
    pub(super) fn thinking(&self) -> Option<&'static str> {
        self.is_thinking.then_some(THINKING)
    }

    /// The model that works.
    pub(super) fn model(&self) -> Option<&str> {
        self.models.iter().find(|model| model.selected).map(|model| model.name.as_str())
    }

    /// The name of the message that begins with an event.
    pub(super) fn id(&self, seq: u64) -> String {
        format!("{}-{seq}", self.session)
    }

    /// Takes one event.
    pub(super) fn apply(&mut self, event: &EventRef<'_>, notes: &mut Vec<Note>) {
        match event.peek() {
            Peek::Text(escaped) => self.text(event, escaped, notes),
            Peek::Thought(escaped) => self.think(escaped, notes),
            Peek::Json(_) => {
                // What a newer version wrote has no word here.
                if let Ok(body) = event.body() {
                    self.body(event, body, notes);
                }
            }
        }
    }

    fn text(&mut self, event: &EventRef<'_>, escaped: &[u8], notes: &mut Vec<Note>) {
        if escaped.is_empty() {
            return;
        }
        self.end_group(notes);
        self.hide(notes);
        if self.block.is_full(escaped.len()) {
            notes.push(Note::BlockEnds(std::mem::take(&mut self.block), BlockEnd::Final));
        }
        self.block.push(event, escaped);
    }

    fn think(&mut self, escaped: &[u8], notes: &mut Vec<Note>) {
        self.thought.push_tail(escaped);
        if !self.is_thinking && self.block.is_empty() {
            self.show(THINKING.to_owned(), notes);
        }
    }

    fn body(&mut self, event: &EventRef<'_>, body: Body, notes: &mut Vec<Note>) {
        match body {
            Body::PromptQueued { prompt, position, .. } => {
                let mut message = MessageShape::new(self.id(event.seq.0), RoleWord::User, event.at);
                message.content = super::text::cut(prompt.text, MAX_PROMPT_BYTES);
                message.queued = (position > 0).then_some(position);
                notes.push(Note::Message(Box::new(message)));
                self.opened(event.turn, notes);
            }
            Body::TurnStarted {} => {
                self.running = event.turn;
                self.opened(event.turn, notes);
                self.show(THINKING.to_owned(), notes);
            }
            Body::TurnEnded { outcome, detail } => self.ended(event, outcome, detail, notes),
            Body::Code { text } => self.text(event, text.as_escaped(), notes),
            Body::Status { message, .. } => self.status(message, notes),
            Body::AgentSessionRestored { memory } => self.status(restored(memory).to_owned(), notes),
            Body::Plan { entries } => self.action(Action::plan(event, &entries), notes),
            Body::ToolCall { call } | Body::ToolCallUpdate { call } => self.action(Action::of(event, call), notes),
            Body::ApprovalAsked { approval } => {
                self.hide(notes);
                notes.push(Note::Asked(self.questions.ask(self.session, approval)));
            }
            Body::ApprovalResolved { approval, resolution, command, .. } => {
                notes.extend(
                    self.questions.resolve(&approval, resolution, command, event.at).map(Box::new).map(Note::Decided),
                );
            }
            Body::ExecutionStarted { execution } => {
                self.action(Action::started(event, &execution), notes);
                notes.extend(self.questions.begin(self.session, &execution, event.at).map(Box::new).map(Note::Decided));
            }
            Body::ExecutionEnded { execution, title, end, output } => {
                let action = self.questions.action_of(&execution);
                self.action(Action::ended(event, action, title, &end, output.as_deref()), notes);
                let over = self.questions.end(&execution, &end, output, event.at);
                notes.extend(over.map(Box::new).map(Note::Decided));
            }
            Body::PolicyChanged { policy } => {
                let mode = policy.mode != self.policy.mode;
                self.policy = policy;
                notes.push(Note::Policy);
                notes.extend(mode.then_some(Note::Choices));
            }
            Body::OptionsChanged { options } => self.options(&options, notes),
            // The end of its turn says it too.
            Body::AgentExited { message } if self.open.is_empty() => notes.push(Note::Wrong(message, event.at)),
            Body::Log { level: LogLevel::Error, message } | Body::SourceGap { message, .. } => {
                notes.push(Note::Wrong(message, event.at));
            }
            Body::SignInNeeded { message, methods } => notes.push(Note::Wrong(sign_in(&message, &methods), event.at)),
            Body::SessionOpened { .. }
            | Body::SessionClosed {}
            | Body::SessionReopened {}
            | Body::TitleChanged { .. }
            | Body::Text { .. }
            | Body::Thought { .. }
            | Body::Echo { .. }
            | Body::Log { level: LogLevel::Info | LogLevel::Warn | LogLevel::Stderr, .. }
            | Body::CancelAsked {}
            | Body::PromptTaken {}
            | Body::ExecutionOutput { .. }
            | Body::CommandsChanged { .. }
            | Body::Usage { .. }
            | Body::TurnUsed { .. }
            | Body::AgentExited { .. }
            | Body::AgentRestarted {}
            | Body::Unknown { .. } => {}
        }
    }

    fn opened(&mut self, turn: Option<TurnId>, notes: &mut Vec<Note>) {
        let was = self.is_generating();
        self.open.extend(turn);
        if !was && self.is_generating() {
            notes.push(Note::Generating(true));
        }
    }

    fn ended(&mut self, event: &EventRef<'_>, outcome: Outcome, detail: Option<Detail>, notes: &mut Vec<Note>) {
        if event.turn == self.running {
            self.running = None;
            self.end_group(notes);
            self.hide(notes);
            self.thought = Block::default();
            let block = std::mem::take(&mut self.block);
            if !block.is_empty() || outcome == Outcome::Completed {
                notes.push(Note::BlockEnds(block, BlockEnd::Final));
            }
        }
        if outcome == Outcome::Failed {
            let why = detail.map_or_else(|| "the turn could not be finished".to_owned(), |detail| detail.message);
            notes.push(Note::Wrong(why, event.at));
        }
        let was = self.is_generating();
        if let Some(turn) = event.turn {
            self.open.remove(&turn);
        }
        if was && !self.is_generating() {
            notes.push(Note::Generating(false));
        }
    }

    fn status(&mut self, message: String, notes: &mut Vec<Note>) {
        if self.running.is_some() && self.block.is_empty() {
            self.show(lines_of(&message), notes);
        }
    }

    fn show(&mut self, message: String, notes: &mut Vec<Note>) {
        self.is_thinking = true;
        notes.push(Note::Thinking(Some(message)));
    }

    fn hide(&mut self, notes: &mut Vec<Note>) {
        if std::mem::take(&mut self.is_thinking) {
            self.thought = Block::default();
            notes.push(Note::Thinking(None));
        }
    }

    /// A call, or what changed of one.
    fn action(&mut self, action: Action, notes: &mut Vec<Note>) {
        if self.group.is_none() {
            self.hide(notes);
            if !self.block.is_empty() {
                notes.push(Note::BlockEnds(std::mem::take(&mut self.block), BlockEnd::Tools));
            }
            notes.push(Note::GroupStarts(action.group()));
        }
        let group = self.group.get_or_insert_with(|| Group::new(action.group()));
        let action = group.put(action);
        let is_over = group.is_over();
        notes.push(Note::Action(action));
        // The agent goes on by itself now.
        if is_over && self.running.is_some() && !self.is_thinking {
            self.show(THINKING.to_owned(), notes);
        } else if !is_over {
            self.hide(notes);
        }
    }

    fn end_group(&mut self, notes: &mut Vec<Note>) {
        notes.extend(self.group.take().map(Note::GroupEnds));
    }

    fn options(&mut self, options: &[AgentOption], notes: &mut Vec<Note>) {
        let about = |category: &str| {
            let by_category = options.iter().find(|option| option.category.as_deref() == Some(category));
            by_category.or_else(|| options.iter().find(|option| option.id.as_str() == category))
        };
        let models = about("model").map_or_else(Vec::new, |option| {
            let shape = |value: &String| ModelShape { name: value.clone(), selected: *value == option.value };
            option.choices.iter().map(|choice| shape(&choice.value)).collect()
        });
        self.modes = about("mode")
            .map_or_else(Vec::new, |option| option.choices.iter().map(|choice| choice.value.clone()).collect());
        if models != self.models {
            self.models = models;
            notes.push(Note::Choices);
        }
    }
}

/// The end of what the agent thinks, as a line.
pub(super) fn thought_line(thought: &Block) -> String {
    let plain = Text::from_escaped(bytes::Bytes::copy_from_slice(thought.escaped())).to_plain();
    let line = plain.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let line = lines_of(line);
    if line.is_empty() { THINKING.to_owned() } else { line }
}

fn sign_in(message: &str, methods: &[SignInMethod]) -> String {
    let ways = methods.iter().map(|method| format!("{}: {}", method.name, method.todo));
    std::iter::once(message.to_owned()).chain(ways).collect::<Vec<_>>().join("\n")
}

fn restored(memory: Memory) -> &'static str {
    match memory {
        Memory::Resumed => "The agent goes on where it was",
        Memory::Loaded => "The agent has read the conversation again and goes on",
        Memory::Summarized => "The agent has lost the conversation; it gets a summary of it",
    }
}
