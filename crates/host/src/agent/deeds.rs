//! What a model wants done: through the client where it can, by itself where it cannot, and only after a person's consent where
//! the client is not one that asks by itself. Every deed can be stopped at once.
//!
//! | module | owns |
//! | --- | --- |
//! | `consent` | asking a person |
//! | `files` | reading and writing |
//! | `looking` | listing and searching |
//! | `running` | commands |

mod consent;
mod files;
mod looking;
mod running;
#[cfg(test)]
mod stage;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_agent::deed::{Deed, Outcome, Shown};
use switchboard_types::{ErrandCode, ErrandFailure};
use tokio::sync::OnceCell;

use super::peer::{Peer, PeerError, Within};
use super::place::Place;
use super::session::{Consent, Sort, Standing};
use crate::agents::command::Cradle;
use crate::runner::stop::Stop;

/// The code for what is not there.
const NOT_FOUND: i64 = -32002;

/// How long a client may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadlines {
    /// For what it has at hand: a file's text, a terminal's output.
    telling: Duration,
    /// For what it does after a person has agreed: a file written, a command started.
    doing: Duration,
    /// For what was called back and may be done all the same.
    undoing: Duration,
}

/// How long a client usually may take.
const USUAL: Deadlines = Deadlines {
    telling: Duration::from_secs(2 * 60),
    doing: Duration::from_secs(5 * 60),
    undoing: Duration::from_secs(10 * 60),
};

impl Default for Deadlines {
    fn default() -> Self {
        USUAL
    }
}

/// What the client can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Abilities {
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) runs: bool,
    pub(super) notices: bool,
    /// It judges what it is asked to do, and asks a person itself.
    pub(super) gate: bool,
}

/// Who does one deed.
pub(super) struct Hands {
    pub(super) peer: Peer,
    pub(super) abilities: Abilities,
    pub(super) place: Arc<Place>,
    pub(super) consent: Consent,
    pub(super) stop: Stop,
    /// The call's name towards the client.
    pub(super) id: String,
    pub(super) shown: Shown,
    pub(super) cradle: Arc<OwnCommands>,
    pub(super) deadlines: Deadlines,
}

/// Where commands are born that the client does not run; made when the first is wanted.
pub(super) struct OwnCommands {
    pub(super) data: PathBuf,
    pub(super) made: OnceCell<Cradle>,
}

/// What came of a deed.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) outcome: Outcome,
    /// What a person has answered for good.
    pub(super) remember: Option<(Sort, Standing)>,
}

impl From<Outcome> for Done {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, remember: None }
    }
}

impl Hands {
    /// How long the client may take to write or to start something. One that asks by itself asks then, and a person may think as
    /// long as they like; where we have asked before, there is nothing left to think about.
    fn doing(&self) -> Within {
        if self.abilities.gate { Within::Ever } else { Within::Time(self.deadlines.doing) }
    }

    /// Does it. Nothing is heard of it once it was stopped.
    pub(super) async fn perform(self, deed: Deed) -> Done {
        match deed {
            Deed::Read { path, line, limit } => self.read(&path, line, limit).await.into(),
            Deed::ReadWhole { path } => self.read(&path, None, None).await.into(),
            Deed::List { path, glob } => self.list(path, glob).await.into(),
            Deed::Search { pattern, path, glob } => self.search(pattern, path, glob).await.into(),
            Deed::Write { path, before, after } => {
                let write = files::Write { path, before, after };
                self.write(write).await
            }
            Deed::Run { command, cwd, timeout_ms } => {
                let run = running::Run { command, cwd, timeout_ms };
                self.run(run).await
            }
        }
    }
}

/// Why the client has not done it.
fn refused(error: PeerError) -> Outcome {
    match &error {
        PeerError::Refused { code: NOT_FOUND, .. } => Outcome::NotThere,
        PeerError::Refused { data, .. } if data["denied"] == true => {
            Outcome::Denied { why: error.message(), stop: false }
        }
        PeerError::GivenUp | PeerError::Late(_) | PeerError::Refused { .. } | PeerError::Gone(_) => {
            Outcome::Failed(error.message())
        }
    }
}

/// Why we have not done it ourselves.
fn failed(failure: ErrandFailure) -> Outcome {
    match failure.code {
        ErrandCode::NotFound => Outcome::NotThere,
        ErrandCode::Denied | ErrandCode::Untrusted => Outcome::Denied { why: failure.message, stop: false },
        ErrandCode::Outside
        | ErrandCode::Invalid
        | ErrandCode::TooLarge
        | ErrandCode::Cancelled
        | ErrandCode::Changed
        | ErrandCode::Failed
        | ErrandCode::TimedOut => Outcome::Failed(failure.message),
    }
}

/// Work that waits for a disk.
async fn off_task(work: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
    let ended_badly = |error| Outcome::Failed(format!("it ended badly: {error}"));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(ended_badly)
}
