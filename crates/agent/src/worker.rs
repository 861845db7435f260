//! The loop of one session: prompts in, questions to the model and deeds out, until the model is done. Pure: the edges carry it all
//! out and tell what came of it.

mod asking;
mod doing;
mod folding;
mod session;
mod setup;
mod turn;
mod waiting;

pub use crate::commands::{SlashCommand, commands};
pub use session::Worker;
pub use setup::{Facts, Instruction, Limits, Setup};
pub use waiting::{MAX_PROMPT_BYTES, MAX_WAITING, MAX_WAITING_BYTES};

use crate::deed::{Deed, Outcome, Shown};
use crate::said::Said;
use crate::talk::{Ask, Message, Part, Used};

/// How the agent works, as a person chooses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Reads, changes and runs what it needs.
    #[default]
    Agent,
    /// Reads, and makes a plan; changes nothing.
    Plan,
    /// Answers questions; reads, and changes nothing.
    Ask,
    /// Reads and changes files; runs nothing.
    Edit,
}

/// What the edges are to do, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    /// Ask the model. Its answer comes in by [`Heard::Model`]; there is never a second question before the first has ended.
    AskModel(Box<Ask>),
    /// Forget the question that is open; nothing more is heard of it.
    HangUp,
    /// Show text of the answer.
    Say(String),
    /// Show thinking.
    Think(String),
    /// Show a call that is wanted, and do it. What came of it comes in by [`Heard::Deed`], once.
    Begin {
        /// The call.
        call: String,
        /// How it looks.
        shown: Shown,
        /// What to do; none if there is nothing to be done outside, and the call ends at once.
        deed: Option<Deed>,
    },
    /// Do something more for a call that was begun: an edit has read its file and now writes it. Comes after the outcome of what was
    /// done before, and has its own, again by [`Heard::Deed`], once.
    Then {
        /// The call.
        call: String,
        /// What to do.
        deed: Deed,
    },
    /// Stop doing it; nothing more is heard of it. The call ends by this; there is no [`Do::Finish`].
    Abandon {
        /// The call.
        call: String,
    },
    /// Show how a call has ended.
    Finish {
        /// The call.
        call: String,
        /// What came of it, as the model reads it.
        text: String,
        /// Whether it failed.
        failed: bool,
    },
    /// Show the plan as it stands now.
    Plan(Vec<Step>),
    /// Tell the person, and the log, what happened beside the work: a retry, what was folded, a limit.
    Note(String),
    /// Keep this on the disk, after all that was kept before.
    Keep(Kept),
    /// How full the context is: tokens used, of so many.
    Filled {
        /// Tokens used.
        used: u64,
        /// Of so many.
        of: u64,
    },
    /// The turn is over.
    EndTurn {
        /// How.
        end: TurnEnd,
        /// What it has used.
        used: Used,
    },
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Step {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: StepStatus,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model is done.
    Done,
    /// A person stopped it.
    Cancelled,
    /// The model ran out of tokens.
    Cut,
    /// The model will not.
    Refused,
    /// So many rounds, or so much time, and no end.
    Limit,
    /// It failed; for a person.
    Failed(String),
}

/// What is kept on the disk, a line each, so that a session can be taken up again.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kept", rename_all = "snake_case")]
pub enum Kept {
    /// A message was added.
    Message {
        /// It.
        message: Message,
    },
    /// All messages so far, the system's left out, were replaced by these.
    Folded {
        /// They.
        messages: Vec<Message>,
    },
    /// The plan as it stands.
    Plan {
        /// Its steps.
        steps: Vec<Step>,
    },
}

/// What the worker is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A person's prompt. A second one during a turn waits for it.
    Prompt(Vec<Part>),
    /// A piece of the model's answer.
    Model(Said),
    /// What came of a deed.
    Deed {
        /// The call.
        call: String,
        /// It.
        outcome: Outcome,
    },
    /// A person stops the turn.
    Cancel,
    /// Time has passed: what was due is due.
    Tick,
}
