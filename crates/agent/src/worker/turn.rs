//! What is known of the turn that is going on: what it waits for, what it has used, how often it has tried. Plain state.

use super::{Mode, Step, TurnEnd};
use crate::context::Cut;
use crate::talk::{ToolCall, Used};
use crate::tools::Wanted;

/// How much one answer may have: its text, its thoughts and what it writes into its calls. Several large files fit.
pub(super) const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// How many calls one answer may have.
pub(super) const MAX_CALLS: usize = 32;

/// After so long without a word of the model the person is told.
pub(super) const SILENCE_MS: u64 = 60 * 1000;

/// Whether a turn goes on.
#[derive(Debug)]
pub(super) enum Flow {
    /// It waits for something.
    Open,
    /// It is over.
    Over(TurnEnd),
}

/// One prompt and all that follows from it.
#[derive(Debug)]
pub(super) struct Turn {
    /// The mode of this turn alone, by a command.
    pub(super) mode: Option<Mode>,
    pub(super) clock: Clock,
    pub(super) rounds: u32,
    pub(super) used: Used,
    pub(super) state: State,
    pub(super) tries: Tries,
    /// What the model had said before its answer was cut off, and it is asked to go on.
    pub(super) so_far: String,
    /// What is added to the next question.
    pub(super) hint: Option<&'static str>,
    pub(super) repeated: Repeated,
    /// The plan as the system's message shows it. It is not changed with each step: servers keep what they have read.
    pub(super) plan_shown: Vec<Step>,
    pub(super) plan_changed: bool,
}

/// What a turn waits for.
#[derive(Debug)]
pub(super) enum State {
    /// Nothing; something is being decided.
    Between,
    /// The model's answer.
    Asking(Answer),
    /// A little time, before the model is asked again.
    Resting { until: u64 },
    /// The outcome of a call.
    Doing(Doing),
}

/// Why the model was asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// To work.
    Work,
    /// To make a summary of what is before the cut, and then to go on with this.
    Summary(Cut, After),
}

/// What comes after a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The question that there was no room for.
    Work,
    /// Nothing: the summary was all that was wanted.
    Nothing,
}

/// An answer as far as it was heard.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) purpose: Purpose,
    pub(super) text: String,
    pub(super) thought: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) used: Used,
    /// How many tokens we took the question to have.
    pub(super) estimate: u64,
    pub(super) bytes: usize,
    /// When the person is told that nothing is heard.
    pub(super) silent_until: Option<u64>,
}

/// The calls of an answer.
#[derive(Debug)]
pub(super) struct Doing {
    /// The call that is being done.
    pub(super) open: Option<Open>,
    /// Those after it.
    pub(super) rest: std::collections::VecDeque<ToolCall>,
}

/// A call that is being done.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) call: ToolCall,
    pub(super) wanted: Wanted,
    pub(super) stage: Stage,
    /// When it is given up; none while a person may be asked.
    pub(super) until: Option<u64>,
}

/// How far a call is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// There is only one deed.
    Only,
    /// The file is read before it is written.
    Taking,
    /// It is written; then this is said.
    Writing(String),
}

/// What was tried for the question that is open. Begins anew with each good answer.
#[derive(Debug, Default)]
pub(super) struct Tries {
    pub(super) retries: u32,
    pub(super) asked_again: bool,
    pub(super) went_on: bool,
    pub(super) continued: bool,
    pub(super) shortened: bool,
    pub(super) summarized: bool,
}

/// How long a turn has worked. Stands still while a person may be asked.
#[derive(Debug)]
pub(super) struct Clock {
    began: u64,
    stood: u64,
    standing_since: Option<u64>,
}

impl Clock {
    pub(super) fn new(now: u64) -> Self {
        Self { began: now, stood: 0, standing_since: None }
    }

    /// Stands still from now on.
    pub(super) fn stand(&mut self, now: u64) {
        self.standing_since.get_or_insert(now);
    }

    /// Goes on; so much of the time that it stood counts after all.
    pub(super) fn go_on(&mut self, now: u64, counts: u64) {
        if let Some(since) = self.standing_since.take() {
            self.stood += now.saturating_sub(since).saturating_sub(counts);
        }
    }

    /// When so much time is used up; none while it stands.
    pub(super) fn end(&self, limit: u64) -> Option<u64> {
        match self.standing_since {
            Some(_) => None,
            None => Some(self.began.saturating_add(self.stood).saturating_add(limit)),
        }
    }
}

/// How often the same call was made in a row.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    last: Option<ToolCall>,
    failed: u32,
    times: u32,
}

/// So often the same call may fail in a row.
pub(super) const MAX_SAME_FAILURES: u32 = 3;

impl Repeated {
    /// A call is about to be made.
    pub(super) fn begin(&mut self, call: &ToolCall) {
        let same = self.last.as_ref().is_some_and(|last| last.name == call.name && last.arguments == call.arguments);
        if !same {
            *self = Self { last: Some(call.clone()), failed: 0, times: 0 };
        }
        self.times += 1;
    }

    /// It has ended. Says whether it has failed too often.
    pub(super) fn end(&mut self, failed: bool) -> bool {
        self.failed = if failed { self.failed + 1 } else { 0 };
        self.failed >= MAX_SAME_FAILURES
    }

    /// How often it was made in a row.
    pub(super) fn times(&self) -> u32 {
        self.times
    }
}

impl Turn {
    pub(super) fn new(now: u64, mode: Option<Mode>, plan: &[Step]) -> Self {
        Self {
            mode,
            clock: Clock::new(now),
            rounds: 0,
            used: Used::default(),
            state: State::Between,
            tries: Tries::default(),
            so_far: String::new(),
            hint: None,
            repeated: Repeated::default(),
            plan_shown: plan.to_vec(),
            plan_changed: false,
        }
    }

    /// When something is due.
    pub(super) fn due(&self, turn_ms: u64) -> Option<u64> {
        let own = match &self.state {
            State::Between => None,
            State::Asking(answer) => answer.silent_until,
            State::Resting { until } => Some(*until),
            State::Doing(doing) => doing.open.as_ref().and_then(|open| open.until),
        };
        [own, self.clock.end(turn_ms)].into_iter().flatten().min()
    }

    /// Adds what an answer has used.
    pub(super) fn count(&mut self, used: Used) {
        self.used.input = self.used.input.saturating_add(used.input);
        self.used.output = self.used.output.saturating_add(used.output);
        self.used.cached = self.used.cached.saturating_add(used.cached);
        self.used.thought = self.used.thought.saturating_add(used.thought);
    }
}
