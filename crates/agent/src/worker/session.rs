//! The worker itself: what it hears goes to the turn that is going on, and when that is over, to the next prompt. Every way a turn can end
//! goes through one place here, so that no question, deed or call is left open.

use super::turn::{Flow, Purpose, SILENCE_MS, State, Turn};
use super::waiting::{Next, Waiting};
use super::{Do, Facts, Heard, Instruction, Kept, Limits, Mode, Setup, Step, StepStatus, TurnEnd};
use crate::commands::{self, Command};
use crate::context::{self, Budget};
use crate::talk::{Calling, Message, Part, Used};

/// The loop of one session.
#[derive(Debug)]
pub struct Worker {
    pub(super) facts: Facts,
    pub(super) mode: Mode,
    pub(super) root: String,
    pub(super) instructions: Vec<Instruction>,
    pub(super) limits: Limits,
    pub(super) temperature: Option<f64>,
    pub(super) messages: Vec<Message>,
    pub(super) plan: Vec<Step>,
    pub(super) budget: Budget,
    pub(super) calling: Calling,
    /// Whether the model is sent pictures.
    pub(super) pictures: bool,
    /// The model of which the person was told that it writes its calls as text.
    told_text: Option<String>,
    /// How many calls were named so far: the names are unique within the session.
    pub(super) calls: u64,
    waiting: Waiting,
    turn: Option<Turn>,
}

impl Worker {
    /// A worker, with what was kept of its session.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let Setup { facts, mode, root, instructions, limits, temperature, kept } = setup;
        let mut worker = Self {
            budget: Budget::new(facts.context),
            calling: Calling::Native,
            pictures: true,
            told_text: None,
            facts,
            mode,
            root,
            instructions,
            limits,
            temperature,
            messages: Vec::new(),
            plan: Vec::new(),
            calls: 0,
            waiting: Waiting::default(),
            turn: None,
        };
        worker.learn_from_facts();
        worker.take_up(kept);
        worker
    }

    fn learn_from_facts(&mut self) {
        self.budget = Budget::new(self.facts.context);
        self.calling = if self.facts.tools == Some(false) { Calling::Text } else { Calling::Native };
        self.pictures = self.facts.images != Some(false);
    }

    fn take_up(&mut self, kept: Vec<Kept>) {
        let mut messages = Vec::new();
        for kept in kept {
            match kept {
                Kept::Message { message } => {
                    self.count_names(&message);
                    messages.push(message);
                }
                Kept::Folded { messages: folded } => {
                    folded.iter().for_each(|message| self.count_names(message));
                    messages = folded;
                }
                Kept::Plan { steps } => self.plan = steps,
            }
        }
        self.messages = context::repaired(messages);
    }

    /// Names that were given are not given again.
    fn count_names(&mut self, message: &Message) {
        if let Message::Assistant { calls, .. } = message {
            let named = calls.iter().filter_map(|call| call.id.strip_prefix("call")?.parse().ok());
            self.calls = named.fold(self.calls, u64::max);
        }
    }

    /// What was heard, and what is to be done then. `now_ms` is any clock that does not go backwards.
    pub fn hear(&mut self, now_ms: u64, heard: Heard) -> Vec<Do> {
        let mut out = Vec::new();
        match heard {
            Heard::Prompt(parts) => self.waiting.push(parts, &mut out),
            Heard::Model(said) => self.within(&mut out, |worker, turn, out| worker.on_said(now_ms, turn, said, out)),
            Heard::Deed { call, outcome } => {
                self.within(&mut out, |worker, turn, out| worker.on_deed(now_ms, turn, &call, outcome, out));
            }
            Heard::Cancel => self.within(&mut out, |_, _, _| Flow::Over(TurnEnd::Cancelled)),
            Heard::Tick => {}
        }
        self.within(&mut out, |worker, turn, out| worker.on_time(now_ms, turn, out));
        while self.turn.is_none() {
            match self.waiting.pop() {
                Some(Next::Prompt(parts)) => self.begin(now_ms, parts, &mut out),
                Some(Next::Refused(why)) => {
                    out.push(Do::EndTurn { end: TurnEnd::Failed(why), used: Used::default() });
                }
                None => break,
            }
        }
        out
    }

    /// When to say [`Heard::Tick`], if nothing else is heard before.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        self.turn.as_ref()?.due(self.limits.turn_ms)
    }

    /// From now on in this mode, also within the turn that is going on.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// From the next question on with this model.
    pub fn set_facts(&mut self, facts: Facts) {
        if facts != self.facts {
            self.facts = facts;
            self.learn_from_facts();
        }
    }

    /// From now on within these limits.
    pub fn set_limits(&mut self, limits: Limits, temperature: Option<f64>) {
        self.limits = limits;
        self.temperature = temperature;
    }

    /// The mode that was set.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether a turn is going on.
    #[must_use]
    pub fn is_working(&self) -> bool {
        self.turn.is_some()
    }

    /// The conversation as it stands, without the system's message. A message that begins with [`context::SUMMARY_MARK`] stands in the
    /// place of older ones.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The plan as it stands.
    #[must_use]
    pub fn plan(&self) -> &[Step] {
        &self.plan
    }

    /// Lets the turn that is going on take a step, and closes it if that was its last.
    fn within(&mut self, out: &mut Vec<Do>, step: impl FnOnce(&mut Self, &mut Turn, &mut Vec<Do>) -> Flow) {
        let Some(mut turn) = self.turn.take() else { return };
        match step(self, &mut turn, out) {
            Flow::Open => self.turn = Some(turn),
            Flow::Over(end) => self.close(turn, end, out),
        }
    }

    fn begin(&mut self, now: u64, parts: Vec<Part>, out: &mut Vec<Do>) {
        let mut turn = Turn::new(now, None, &self.plan);
        let flow = match commands::read(&parts) {
            Some(Command::Help) => said(out, commands::help()),
            Some(Command::Context) => said(out, self.fullness()),
            Some(Command::Compact) => self.compact(now, &mut turn, out),
            Some(Command::Plan(parts)) => {
                turn.mode = Some(Mode::Plan);
                self.work(now, &mut turn, parts, out)
            }
            Some(Command::Init) => match self.mode {
                Mode::Agent | Mode::Edit => {
                    self.work(now, &mut turn, vec![Part::Text { text: commands::INIT.to_owned() }], out)
                }
                Mode::Plan | Mode::Ask => said(
                    out,
                    "/init writes a file, which this mode does not do. Choose the mode agent or edit.".to_owned(),
                ),
            },
            None => self.work(now, &mut turn, parts, out),
        };
        match flow {
            Flow::Open => self.turn = Some(turn),
            Flow::Over(end) => self.close(turn, end, out),
        }
    }

    fn work(&mut self, now: u64, turn: &mut Turn, parts: Vec<Part>, out: &mut Vec<Do>) -> Flow {
        let is_empty = parts.iter().all(|part| match part {
            Part::Text { text } => text.trim().is_empty(),
            Part::Image { .. } => false,
        });
        if is_empty {
            return Flow::Over(TurnEnd::Failed("The prompt is empty. Say what you want done.".to_owned()));
        }
        let has_picture = parts.iter().any(|part| matches!(part, Part::Image { .. }));
        let prompt = Message::User { parts };
        // What can never be sent must not cost the conversation anything.
        let alone = context::size(std::slice::from_ref(&prompt), self.beside(turn));
        if self.budget.is_too_much(alone) {
            return self.too_much(turn);
        }
        if has_picture && !self.pictures {
            out.push(Do::Note(format!("{} takes no pictures; they are left out.", self.facts.model)));
        }
        if self.calling == Calling::Text && self.told_text.as_ref() != Some(&self.facts.model) {
            self.tell_of_text(out);
        }
        self.add(prompt, out);
        self.question(now, turn, out)
    }

    /// Tells the person how the model calls tools.
    pub(super) fn tell_of_text(&mut self, out: &mut Vec<Do>) {
        out.push(Do::Note(format!(
            "{} does not call tools by its server's own way; it is asked to write its calls as text.",
            self.facts.model
        )));
        self.told_text = Some(self.facts.model.clone());
    }

    /// What is due now.
    fn on_time(&mut self, now: u64, turn: &mut Turn, out: &mut Vec<Do>) -> Flow {
        if turn.clock.end(self.limits.turn_ms).is_some_and(|end| end <= now) {
            let minutes = self.limits.turn_ms.div_ceil(60_000);
            out.push(Do::Note(format!("The turn has used its time of {minutes} min. Say “go on” to continue it.")));
            return Flow::Over(TurnEnd::Limit);
        }
        match &mut turn.state {
            State::Between => Flow::Open,
            State::Asking(answer) => {
                if answer.silent_until.is_some_and(|until| until <= now) {
                    answer.silent_until = None;
                    let seconds = SILENCE_MS / 1000;
                    out.push(Do::Note(format!(
                        "{} has not said a word for {seconds} s; still waiting.",
                        self.facts.model
                    )));
                }
                Flow::Open
            }
            State::Resting { until } if *until <= now => self.ask_again(now, turn, out),
            State::Resting { .. } => Flow::Open,
            State::Doing(_) => self.give_up_late(now, turn, out),
        }
    }

    /// Adds a message, and keeps it.
    pub(super) fn add(&mut self, message: Message, out: &mut Vec<Do>) {
        out.push(Do::Keep(Kept::Message { message: message.clone() }));
        self.messages.push(message);
    }

    /// Adds what the model has said, if it said anything.
    pub(super) fn add_words(&mut self, turn: &mut Turn, text: &str, thought: String, out: &mut Vec<Do>) {
        let mut whole = std::mem::take(&mut turn.so_far);
        whole.push_str(text);
        if !whole.trim().is_empty() {
            self.add(Message::Assistant { text: whole, thought, calls: Vec::new() }, out);
        }
    }

    /// The end of a turn, whatever state it is in.
    fn close(&mut self, mut turn: Turn, end: TurnEnd, out: &mut Vec<Do>) {
        match std::mem::replace(&mut turn.state, State::Between) {
            State::Between | State::Resting { .. } => self.add_words(&mut turn, "", String::new(), out),
            State::Asking(answer) => {
                out.push(Do::HangUp);
                turn.count(answer.used);
                match answer.purpose {
                    Purpose::Work => self.add_words(&mut turn, &answer.text, answer.thought, out),
                    Purpose::Summary(..) => self.add_words(&mut turn, "", String::new(), out),
                }
            }
            State::Doing(doing) => self.leave_undone(doing, &end, out),
        }
        let left = self.plan.iter().filter(|step| step.status != StepStatus::Completed).count();
        if turn.plan_changed && left > 0 && end == TurnEnd::Done {
            out.push(Do::Note(format!("{left} of {} steps of the plan are not done.", self.plan.len())));
        }
        out.push(Do::EndTurn { end, used: turn.used });
    }
}

/// An answer of our own, which is no part of the conversation.
fn said(out: &mut Vec<Do>, text: String) -> Flow {
    out.push(Do::Say(text));
    Flow::Over(TurnEnd::Done)
}
