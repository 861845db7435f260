//! The program's own agent with what others have made around it: a model's server behind it, and a client before it. Says what
//! is tried and how it went; the trials are below.

mod acpx;
mod llama;

use anyhow::Result;

use crate::run::Options;
use crate::trial::Outcome;

/// What others have made that our own agent is tried with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// llama.cpp's server, with a model of ours.
    Llama,
    /// A client of the Agent Client Protocol for the terminal.
    Acpx,
}

impl Other {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Llama, Self::Acpx];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Acpx => "acpx",
        }
    }

    /// Its name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Llama => "llama.cpp's server",
            Self::Acpx => "acpx",
        }
    }

    /// Its packages, each with its version; the first one is its own.
    #[must_use]
    pub const fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Llama => llama::PACKAGES,
            Self::Acpx => acpx::PACKAGES,
        }
    }
}

/// What came of one of them.
#[derive(Clone, Debug)]
pub struct OwnReport {
    /// Who.
    pub other: Other,
    /// What was tried, in order, and what came of it.
    pub outcomes: Vec<(&'static str, Outcome)>,
}

/// Tries our agent with one of them.
pub async fn try_own(other: Other, options: &Options) -> Result<OwnReport> {
    let outcomes = match other {
        Other::Llama => llama::tries(options).await?,
        Other::Acpx => acpx::tries(options).await?,
    };
    Ok(OwnReport { other, outcomes })
}

/// Writes down what came of a trial, and says it.
fn note(other: Other, outcomes: &mut Vec<(&'static str, Outcome)>, what: &'static str, came: Result<Outcome>) {
    let outcome = came.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
    let words = match &outcome {
        Outcome::Passed(note) => format!("passed {note}"),
        Outcome::Failed(why) => format!("FAILED {why}"),
        Outcome::Skipped(why) => format!("-      {why}"),
    };
    eprintln!("{:<10} {what:<14} {}", other.name(), words.trim_end());
    outcomes.push((what, outcome));
}
