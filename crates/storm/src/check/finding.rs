//! What the checker can find. Each says what was promised and what was there instead.

use thiserror::Error;

/// A broken promise.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Finding {
    /// A view was shown what the file does not hold.
    #[error("{tab}: event {index} was shown, but the file ends at {head}: it was shown before it was durable")]
    NotDurable {
        /// Where.
        tab: String,
        /// What was shown.
        index: u64,
        /// Where the log ends.
        head: u64,
    },
    /// A view was shown something of a tab of which the file knows nothing.
    #[error("{tab}: {shown} events were shown, but the file knows no such tab")]
    NoLog {
        /// Where.
        tab: String,
        /// How many.
        shown: usize,
    },
    /// Events that a view must see were left out.
    #[error("{tab}: events {from} to {to} were never shown")]
    Lost {
        /// Where.
        tab: String,
        /// The first of them.
        from: u64,
        /// The last of them.
        to: u64,
    },
    /// An event was shown twice on one link, or though the view said that it has it.
    #[error("{tab}: event {index} was shown again")]
    Doubled {
        /// Where.
        tab: String,
        /// Which event.
        index: u64,
    },
    /// An event was shown after a later one.
    #[error("{tab}: event {index} was shown after event {after}")]
    Reordered {
        /// Where.
        tab: String,
        /// Which event.
        index: u64,
        /// The later one.
        after: u64,
    },
    /// What was shown is not what the log has.
    #[error("{tab}: event {index} was shown as {shown} but is {logged} in the log")]
    Changed {
        /// Where.
        tab: String,
        /// Which event.
        index: u64,
        /// As it was shown.
        shown: String,
        /// As it should have been.
        logged: String,
    },
    /// A row of the file is not what its checksum or its numbers say.
    #[error("the file is wrong: {what}")]
    File {
        /// What is wrong with it.
        what: String,
    },
    /// What was in the log once is there no more, or is something else.
    #[error("session {session}: event {seq} is not what it was in the file before: {what}")]
    Rewritten {
        /// Whose log.
        session: u64,
        /// Which event.
        seq: u64,
        /// What happened to it.
        what: String,
    },
    /// A turn did not go as turns go.
    #[error("session {session}, turn {turn}: {what}")]
    Turn {
        /// Whose turn.
        session: u64,
        /// Which one.
        turn: u32,
        /// What is wrong with it.
        what: String,
    },
    /// An agent was asked something that it must not be asked.
    #[error("the agent and the prompt `{name}`: {what}")]
    Asked {
        /// The prompt's name.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// Something was run that must not be run, or not so often.
    #[error("the command of `{name}`: {what}")]
    Run {
        /// The prompt's name, or the execution's.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// Something else that must not be, seen from outside.
    #[error("{0}")]
    Seen(String),
}
