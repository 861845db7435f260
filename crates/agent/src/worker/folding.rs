//! Keeping the conversation within the model's window: before each question, by command, and when a server says that it is too long.
//! Whatever is left out is noted and kept.

use super::turn::{After, Answer, Flow, Purpose, State, Turn};
use super::{Do, Kept, TurnEnd, Worker};
use crate::context::{self, Budget, Cut};
use crate::prompt;
use crate::said::End;
use crate::talk::{Ask, Calling, Message, Part};
use crate::tools;
use crate::trouble::TroubleKind;

/// How much of the window the text for a summary may take, in hundredths.
const TRANSCRIPT: u64 = 50;

/// How much of the window a summary may take, in hundredths.
const SUMMARY: u64 = 15;

/// The least that is kept of a summary, in bytes.
const LEAST_SUMMARY: usize = 400;

/// What came of making room.
pub(super) enum Fit {
    /// It may be sent.
    Fits,
    /// A summary has to be made first.
    Summarize(Cut),
    /// There is nothing more to leave out.
    TooMuch,
}

impl Worker {
    /// Makes room for the next question, which has so many tokens beside the conversation. All is tried on a copy: what cannot be sent in
    /// the end leaves the conversation as it was, and so does a summary that is still to be made.
    pub(super) fn make_room(&mut self, turn: &mut Turn, beside: u64, out: &mut Vec<Do>) -> Fit {
        if !self.budget.is_over(context::size(&self.messages, beside)) {
            return Fit::Fits;
        }
        let mut shorter = self.messages.clone();
        let folded = context::fold(&mut shorter, beside, &self.budget);
        let mut notes = Vec::new();
        if folded > 0 {
            notes.push(format!(
                "The context was nearly full: {folded} older results, thoughts or pictures are left out from now on."
            ));
        }
        if self.budget.is_over(context::size(&shorter, beside)) {
            let worthwhile = self.budget.window() / 10;
            let cut = context::cut(&shorter, &self.budget, worthwhile).filter(|_| !turn.tries.summarized);
            if !self.shorten_by_force(&mut shorter, beside, &mut notes) {
                return Fit::TooMuch;
            }
            if let Some(cut) = cut {
                return Fit::Summarize(cut);
            }
        }
        if !notes.is_empty() {
            self.messages = shorter;
            out.extend(notes.into_iter().map(Do::Note));
            self.keep_folded(turn, out);
        }
        Fit::Fits
    }

    /// Without the model's help: leaves out the oldest part, then parts of the newest results. Says whether it fits then.
    fn shorten_by_force(&self, messages: &mut Vec<Message>, beside: u64, notes: &mut Vec<String>) -> bool {
        if self.budget.is_too_much(context::size(messages, beside))
            && let Some(cut) = context::cut(messages, &self.budget, 100)
        {
            context::drop_prefix(messages, cut);
            notes.push("The context was full: the oldest part of the conversation is left out from now on.".to_owned());
        }
        if self.budget.is_too_much(context::size(messages, beside)) && context::squeeze(messages, beside, &self.budget)
        {
            notes.push("The newest results were too long for the model and are given to it in part.".to_owned());
        }
        !self.budget.is_too_much(context::size(messages, beside))
    }

    fn keep_folded(&mut self, turn: &mut Turn, out: &mut Vec<Do>) {
        // The call that showed the plan may be gone, and what the server has kept is of no use any more: show it as it stands.
        turn.plan_shown = self.plan.clone();
        out.push(Do::Keep(Kept::Folded { messages: self.messages.clone() }));
        // What was kept before may be dropped now, and the plan with it.
        if !self.plan.is_empty() {
            out.push(Do::Keep(Kept::Plan { steps: self.plan.clone() }));
        }
    }

    /// Asks for a summary of what is before the cut.
    pub(super) fn ask_for_summary(
        &mut self,
        now: u64,
        turn: &mut Turn,
        cut: Cut,
        after: After,
        out: &mut Vec<Do>,
    ) -> Flow {
        turn.tries.summarized = true;
        let text = context::transcript(&self.messages, cut, self.budget.bytes(TRANSCRIPT));
        let ask = Ask {
            model: self.facts.model.clone(),
            messages: vec![
                Message::System { text: prompt::SUMMARIZE.to_owned() },
                Message::User { parts: vec![Part::Text { text }] },
            ],
            tools: Vec::new(),
            calling: Calling::Native,
            temperature: self.temperature,
            context: self.told_window(),
        };
        self.send(now, turn, ask, Purpose::Summary(cut, after), out);
        Flow::Open
    }

    /// The summary has come, or has not.
    pub(super) fn on_summary(
        &mut self,
        now: u64,
        turn: &mut Turn,
        answer: Answer,
        end: End,
        out: &mut Vec<Do>,
    ) -> Flow {
        let Purpose::Summary(cut, after) = answer.purpose else { return Flow::Open };
        let failed = match end {
            End::Done | End::Cut => answer.text.trim().is_empty().then(|| "it said nothing".to_owned()),
            End::Refused(why) => Some(why),
            End::Failed(trouble) if after == After::Work && trouble.kind.may_pass() => {
                turn.tries.summarized = false;
                return self.rest(now, turn, trouble, out);
            }
            End::Failed(trouble) => match trouble.kind {
                // The question after it would fare no better: nothing is left out for that.
                TroubleKind::NoServer | TroubleKind::Unwelcome | TroubleKind::NoModel => {
                    return Flow::Over(TurnEnd::Failed(trouble.message));
                }
                TroubleKind::TooLong => {
                    self.budget.too_long(answer.estimate);
                    Some(trouble.message)
                }
                TroubleKind::NoTools | TroubleKind::NoImages | TroubleKind::Garbage | TroubleKind::Refused => {
                    Some(trouble.message)
                }
                TroubleKind::Busy | TroubleKind::NotYet | TroubleKind::BrokenOff => Some(trouble.message),
            },
        };
        match (failed, after) {
            (None, After::Work | After::Nothing) => {
                let room = context::summary_room(&self.messages, cut, self.beside(turn), &self.budget);
                let room = room.clamp(LEAST_SUMMARY, self.budget.bytes(SUMMARY).max(LEAST_SUMMARY));
                let summary = tools::bounded(answer.text.trim(), room);
                context::put_summary(&mut self.messages, cut, &summary);
                out.push(Do::Note(
                    "The older part of the conversation is replaced by a summary from now on.".to_owned(),
                ));
            }
            (Some(why), After::Nothing) => {
                return Flow::Over(TurnEnd::Failed(format!("No summary was made, and nothing was left out: {why}")));
            }
            (Some(why), After::Work) => {
                context::drop_prefix(&mut self.messages, cut);
                out.push(Do::Note(format!(
                    "The older part of the conversation is left out from now on. A summary of it could not be made: {why}"
                )));
            }
        }
        self.keep_folded(turn, out);
        match after {
            After::Work => self.ask_again(now, turn, out),
            After::Nothing => {
                let text = format!("The conversation was made shorter. {}", self.fullness());
                out.push(Do::Say(text));
                Flow::Over(TurnEnd::Done)
            }
        }
    }

    /// `/compact`.
    pub(super) fn compact(&mut self, now: u64, turn: &mut Turn, out: &mut Vec<Do>) -> Flow {
        match context::cut(&self.messages, &self.budget, 0) {
            Some(cut) => self.ask_for_summary(now, turn, cut, After::Nothing, out),
            None => {
                out.push(Do::Say("There is nothing to make shorter yet.".to_owned()));
                Flow::Over(TurnEnd::Done)
            }
        }
    }

    /// How full the context is, in words.
    pub(super) fn fullness(&self) -> String {
        let turn = Turn::new(0, None, &self.plan);
        let used = self.budget.corrected(context::size(&self.messages, self.beside(&turn)).tokens);
        let (model, by) = (&self.facts.model, self.messages.len());
        match self.budget.known_window() {
            Some(window) => {
                let part = used.saturating_mul(100) / window;
                format!(
                    "About {used} of {window} tokens of {model}'s context are used ({part} %), by {by} messages and the instructions."
                )
            }
            None => format!(
                "About {used} tokens are used, by {by} messages and the instructions. How many {model} can read is not known yet; its \
                 server has not said so."
            ),
        }
    }

    /// The window that a server is told, if it is known.
    pub(super) fn told_window(&self) -> Option<u32> {
        // Not what is left of it after trouble: a server may load the model anew for each size.
        u32::try_from(Budget::new(self.facts.context).known_window()?).ok()
    }

    /// Nothing fits any more.
    pub(super) fn too_much(&self, turn: &mut Turn) -> Flow {
        turn.state = State::Between;
        let size = self.budget.known_window().map(|window| format!(", which is {window} tokens")).unwrap_or_default();
        Flow::Over(TurnEnd::Failed(format!(
            "This does not fit into the context of {}{size}. Send a shorter prompt (name files instead of pasting them), begin a new \
             session, or choose a model with a larger context.",
            self.facts.model
        )))
    }
}
