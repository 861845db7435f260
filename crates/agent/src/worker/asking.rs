//! Asking the model and hearing its answer: rounds, retries with back-off, and what to do about each sort of trouble. Never has two
//! questions open.

use super::folding::Fit;
use super::turn::{After, Answer, Doing, Flow, MAX_ANSWER_BYTES, MAX_CALLS, Purpose, SILENCE_MS, State, Tries, Turn};
use super::{Do, Mode, TurnEnd, Worker};
use crate::context;
use crate::prompt::{self, System};
use crate::said::{End, Said};
use crate::talk::{Ask, Calling, Message, Part, ToolCall, Used};
use crate::tools;
use crate::trouble::{Trouble, TroubleKind};

/// How often a question is asked again when there is trouble that may pass.
const MAX_RETRIES: u32 = 5;

/// The longest time that a server may ask us to wait.
const MAX_RETRY_AFTER_MS: u64 = 60 * 1000;

impl Worker {
    /// The mode of this turn.
    pub(super) fn mode_of(&self, turn: &Turn) -> Mode {
        turn.mode.unwrap_or(self.mode)
    }

    /// The next question of a turn, if its rounds are not used up.
    pub(super) fn question(&mut self, now: u64, turn: &mut Turn, out: &mut Vec<Do>) -> Flow {
        let rounds = self.limits.rounds.max(1);
        if turn.rounds >= rounds {
            out.push(Do::Note(format!(
                "The turn has used its {rounds} rounds (the setting max_iterations). Say “go on” to continue it."
            )));
            return Flow::Over(TurnEnd::Limit);
        }
        turn.rounds += 1;
        self.ask_again(now, turn, out)
    }

    /// The same question again, as the conversation is now. Counts no round.
    pub(super) fn ask_again(&mut self, now: u64, turn: &mut Turn, out: &mut Vec<Do>) -> Flow {
        turn.state = State::Between;
        let beside = self.beside(turn);
        match self.make_room(turn, beside, out) {
            Fit::Fits => {
                let ask = self.ask(turn);
                self.send(now, turn, ask, Purpose::Work, out);
                Flow::Open
            }
            Fit::Summarize(cut) => self.ask_for_summary(now, turn, cut, After::Work, out),
            Fit::TooMuch => self.too_much(turn),
        }
    }

    /// Sends a question.
    pub(super) fn send(&mut self, now: u64, turn: &mut Turn, ask: Ask, purpose: Purpose, out: &mut Vec<Do>) {
        turn.state = State::Asking(Answer {
            purpose,
            text: String::new(),
            thought: String::new(),
            calls: Vec::new(),
            used: Used::default(),
            estimate: context::estimate(&ask),
            bytes: 0,
            silent_until: Some(now.saturating_add(SILENCE_MS)),
        });
        out.push(Do::AskModel(Box::new(ask)));
    }

    fn ask(&self, turn: &Turn) -> Ask {
        let mode = self.mode_of(turn);
        let tools = tools::offered(mode);
        let mut messages = vec![Message::System { text: self.system(turn) }];
        messages.extend(context::as_sent(&self.messages, self.pictures));
        if !turn.so_far.is_empty() {
            let text = turn.so_far.clone();
            messages.push(Message::Assistant { text, thought: String::new(), calls: Vec::new() });
        }
        if let Some(hint) = turn.hint {
            context::add_hint(&mut messages, hint, self.calling);
        }
        Ask {
            model: self.facts.model.clone(),
            messages,
            tools,
            calling: self.calling,
            temperature: self.temperature,
            context: self.told_window(),
        }
    }

    fn system(&self, turn: &Turn) -> String {
        let mode = self.mode_of(turn);
        prompt::system(&System {
            mode,
            root: &self.root,
            instructions: &self.instructions,
            plan: &turn.plan_shown,
            calling: self.calling,
            tools: &tools::offered(mode),
            window: self.budget.window(),
        })
    }

    /// How many tokens are sent beside the conversation.
    pub(super) fn beside(&self, turn: &Turn) -> u64 {
        let system = context::tokens(&Message::System { text: self.system(turn) });
        let so_far = Message::Assistant { text: turn.so_far.clone(), thought: String::new(), calls: Vec::new() };
        let hint = turn.hint.map_or(0, str::len) as u64;
        system
            + context::tokens(&so_far)
            + hint
            + context::tool_tokens(&tools::offered(self.mode_of(turn)), self.calling)
    }

    /// A piece of the answer.
    pub(super) fn on_said(&mut self, now: u64, turn: &mut Turn, said: Said, out: &mut Vec<Do>) -> Flow {
        let State::Asking(answer) = &mut turn.state else { return Flow::Open };
        let aloud = matches!(answer.purpose, Purpose::Work);
        answer.silent_until = Some(now.saturating_add(SILENCE_MS));
        match said {
            Said::Text(text) => {
                answer.bytes += text.len();
                answer.text.push_str(&text);
                if aloud && !text.is_empty() {
                    out.push(Do::Say(text));
                }
            }
            Said::Thought(text) => {
                answer.bytes += text.len();
                answer.thought.push_str(&text);
                if aloud && !text.is_empty() {
                    out.push(Do::Think(text));
                }
            }
            Said::Call(call) => {
                answer.bytes += context::call_weight(&call);
                if answer.calls.len() == MAX_CALLS {
                    out.push(Do::Note(format!(
                        "The model wants more than {MAX_CALLS} things at once; the rest is not done."
                    )));
                }
                // One more than is done is kept to know that there were more.
                if answer.calls.len() <= MAX_CALLS {
                    answer.calls.push(call);
                }
            }
            Said::Used(used) => answer.used = used,
            Said::End(end) => return self.on_end(now, turn, end, out),
        }
        if answer.bytes <= MAX_ANSWER_BYTES {
            return Flow::Open;
        }
        out.push(Do::HangUp);
        out.push(Do::Note(format!("The answer grew over {MAX_ANSWER_BYTES} bytes and was stopped.")));
        // What it wanted done before it ran away is not trusted.
        answer.calls.clear();
        turn.tries.went_on = true;
        self.on_end(now, turn, End::Cut, out)
    }

    fn on_end(&mut self, now: u64, turn: &mut Turn, end: End, out: &mut Vec<Do>) -> Flow {
        let State::Asking(mut answer) = std::mem::replace(&mut turn.state, State::Between) else { return Flow::Open };
        turn.count(answer.used);
        if let Purpose::Summary(..) = answer.purpose {
            return self.on_summary(now, turn, answer, end, out);
        }
        let hint = turn.hint.take();
        if answer.calls.len() > MAX_CALLS {
            answer.calls.truncate(MAX_CALLS);
            turn.hint = Some(prompt::TOO_MANY_CALLS);
        }
        if !matches!(end, End::Failed(_)) {
            self.measure(&answer, out);
        }
        match end {
            End::Done => self.on_answer(now, turn, answer, out),
            End::Cut if answer.calls.is_empty() => self.on_cut(now, turn, answer, out),
            End::Cut => {
                turn.hint = Some(prompt::CUT_CALLS);
                self.on_answer(now, turn, answer, out)
            }
            End::Refused(why) => {
                self.add_words(turn, &answer.text, answer.thought, out);
                out.push(Do::Note(format!("The model will not answer: {why}")));
                Flow::Over(TurnEnd::Refused)
            }
            End::Failed(trouble) => {
                // What was to be said with the question still is.
                turn.hint = hint;
                self.on_trouble(now, turn, answer, trouble, out)
            }
        }
    }

    /// How full the context is now.
    fn measure(&mut self, answer: &Answer, out: &mut Vec<Do>) {
        let used = answer.used;
        // What a picture costs is anybody's guess; it says nothing of words.
        if used.input > 0 && !(self.pictures && self.has_pictures()) {
            self.budget.learn(answer.estimate, used.input);
        }
        let said = (answer.bytes as u64).div_ceil(4);
        let counted = used.input.saturating_add(used.output);
        let estimated = self.budget.corrected(answer.estimate).saturating_add(said);
        // A server that has kept the beginning of the question may count only the rest of it.
        let filled = if used.input.saturating_mul(2) > answer.estimate { counted } else { estimated };
        if let Some(of) = self.budget.known_window() {
            out.push(Do::Filled { used: filled, of });
        }
    }

    /// An answer that has come to its end.
    fn on_answer(&mut self, now: u64, turn: &mut Turn, answer: Answer, out: &mut Vec<Do>) -> Flow {
        let Answer { text, thought, calls, .. } = answer;
        if calls.is_empty() {
            if text.trim().is_empty() && turn.so_far.trim().is_empty() {
                return self.on_nothing(now, turn, out);
            }
            self.add_words(turn, &text, thought, out);
            return Flow::Over(TurnEnd::Done);
        }
        turn.tries = Tries::default();
        let calls: Vec<ToolCall> = calls.into_iter().map(|call| self.named(call)).collect();
        let mut whole = std::mem::take(&mut turn.so_far);
        whole.push_str(&text);
        self.add(Message::Assistant { text: whole, thought, calls: calls.clone() }, out);
        turn.state = State::Doing(Doing { open: None, rest: calls.into() });
        self.do_next(now, turn, out)
    }

    /// Servers name calls as they like, some all alike; here each has a name of its own.
    fn named(&mut self, call: ToolCall) -> ToolCall {
        self.calls += 1;
        ToolCall { id: format!("call{:05}", self.calls), ..call }
    }

    fn on_nothing(&mut self, now: u64, turn: &mut Turn, out: &mut Vec<Do>) -> Flow {
        if turn.tries.asked_again {
            return Flow::Over(TurnEnd::Failed(format!(
                "{} answered nothing, twice. Say it in other words, or choose another model.",
                self.facts.model
            )));
        }
        turn.tries.asked_again = true;
        turn.hint = Some(prompt::SAID_NOTHING);
        out.push(Do::Note("The model answered nothing; it is asked once more.".to_owned()));
        self.question(now, turn, out)
    }

    /// The model ran out of tokens while it spoke.
    fn on_cut(&mut self, now: u64, turn: &mut Turn, answer: Answer, out: &mut Vec<Do>) -> Flow {
        if turn.tries.went_on || answer.text.trim().is_empty() {
            self.add_words(turn, &answer.text, answer.thought, out);
            out.push(Do::Note(
                "The model ran out of tokens before it was done. Say “go on” to let it continue.".to_owned(),
            ));
            return Flow::Over(TurnEnd::Cut);
        }
        turn.tries.went_on = true;
        turn.so_far.push_str(&answer.text);
        turn.hint = Some(prompt::GO_ON);
        out.push(Do::Note("The model ran out of tokens in the middle; it is asked to go on.".to_owned()));
        self.question(now, turn, out)
    }

    /// There is no answer, or only a part of one.
    fn on_trouble(&mut self, now: u64, turn: &mut Turn, answer: Answer, trouble: Trouble, out: &mut Vec<Do>) -> Flow {
        let silent = answer.text.trim().is_empty() && answer.calls.is_empty();
        match trouble.kind {
            TroubleKind::NoTools if silent && self.calling == Calling::Native => {
                self.calling = Calling::Text;
                self.tell_of_text(out);
                self.ask_again(now, turn, out)
            }
            TroubleKind::NoImages if silent && self.pictures && self.has_pictures() => {
                self.pictures = false;
                out.push(Do::Note(format!("{} takes no pictures; they are left out.", self.facts.model)));
                self.ask_again(now, turn, out)
            }
            TroubleKind::TooLong if silent && !turn.tries.shortened => {
                turn.tries.shortened = true;
                self.budget.too_long(answer.estimate);
                out.push(Do::Note(
                    "The server says that the conversation is too long; it is made shorter and sent again.".to_owned(),
                ));
                self.ask_again(now, turn, out)
            }
            kind if kind.may_pass() && silent => self.rest(now, turn, trouble, out),
            kind if kind.may_pass() && !answer.calls.is_empty() => {
                out.push(Do::Note(format!("{} What it wanted done before that is done.", trouble.message)));
                turn.hint = None;
                self.on_answer(now, turn, answer, out)
            }
            kind if kind.may_pass() && !turn.tries.continued => {
                turn.tries.continued = true;
                turn.so_far.push_str(&answer.text);
                turn.hint = Some(prompt::GO_ON);
                self.rest(now, turn, trouble, out)
            }
            _ => {
                self.add_words(turn, &answer.text, answer.thought, out);
                Flow::Over(TurnEnd::Failed(trouble.message))
            }
        }
    }

    /// Waits a little, and longer each time.
    pub(super) fn rest(&mut self, now: u64, turn: &mut Turn, trouble: Trouble, out: &mut Vec<Do>) -> Flow {
        let wanted = trouble.retry_after_ms.unwrap_or(0);
        if wanted > MAX_RETRY_AFTER_MS {
            let seconds = wanted.div_ceil(1000);
            let message =
                format!("{} The server asks to wait {seconds} s; send the prompt again then.", trouble.message);
            return Flow::Over(TurnEnd::Failed(message));
        }
        if turn.tries.retries >= MAX_RETRIES {
            let message = format!("{} It was tried {} times.", trouble.message, MAX_RETRIES + 1);
            return Flow::Over(TurnEnd::Failed(message));
        }
        let wait = (1000 << turn.tries.retries).max(wanted);
        turn.tries.retries += 1;
        out.push(Do::Note(format!(
            "{} Asking again in {} s (try {} of {MAX_RETRIES}).",
            trouble.message,
            wait.div_ceil(1000),
            turn.tries.retries
        )));
        turn.state = State::Resting { until: now.saturating_add(wait) };
        Flow::Open
    }

    fn has_pictures(&self) -> bool {
        self.messages.iter().any(|message| match message {
            Message::User { parts } => parts.iter().any(|part| matches!(part, Part::Image { .. })),
            Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => false,
        })
    }
}
