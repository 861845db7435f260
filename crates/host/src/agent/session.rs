//! One session: its worker, the prompts that wait for their answers, what is being done for it. Talks to nobody.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use switchboard_agent::deed::Shown;
use switchboard_agent::worker::{Mode, Worker};
use switchboard_dialects::jsonrpc::Debt;
use tokio::task::AbortHandle;

use super::place::Place;
use super::shelf::Book;
use super::show::Shows;
use crate::runner::stop::Brake;

/// Prompts of one session that are not answered yet.
pub(super) const MAX_PROMPTS: usize = 32;

/// A session that is open.
pub(super) struct Session {
    pub(super) place: Arc<Place>,
    pub(super) worker: Worker,
    pub(super) book: Book,
    /// The model that a person has chosen here.
    pub(super) chosen: Option<String>,
    /// Prompts that the client waits for, the one that is worked on first.
    pub(super) prompts: VecDeque<Waiting>,
    /// The question to the model that is open.
    pub(super) question: Option<(u64, AbortHandle)>,
    /// What is done for calls of the model, by its name for the call.
    pub(super) calls: HashMap<String, Call>,
    /// What a person has answered for good.
    pub(super) consent: Consent,
    /// Calls that were named so far.
    pub(super) named: u64,
}

/// A prompt that waits for its answer.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) ticket: u64,
    pub(super) debt: Debt,
}

/// A call that has begun and not ended.
#[derive(Debug)]
pub(super) struct Call {
    /// Its name towards the client.
    pub(super) id: String,
    /// How it looks.
    pub(super) shown: Shown,
    pub(super) shows: Shows,
    /// What is being done for it, if anything is.
    pub(super) deed: Option<(u64, Brake)>,
}

/// What a person has answered for good, for this session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Consent {
    pub(super) writes: Option<Standing>,
    pub(super) runs: Option<Standing>,
}

/// An answer for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Yes.
    Allowed,
    /// No.
    Rejected,
}

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A change of a file.
    Write,
    /// A command.
    Run,
}

impl Consent {
    pub(super) fn of(self, sort: Sort) -> Option<Standing> {
        match sort {
            Sort::Write => self.writes,
            Sort::Run => self.runs,
        }
    }

    pub(super) fn remember(&mut self, sort: Sort, standing: Standing) {
        match sort {
            Sort::Write => self.writes = Some(standing),
            Sort::Run => self.runs = Some(standing),
        }
    }
}

impl Session {
    /// A new one, or one that was taken up.
    pub(super) fn new(place: Arc<Place>, worker: Worker, book: Book) -> Self {
        let chosen = book.header().model.clone();
        Self {
            place,
            worker,
            book,
            chosen,
            prompts: VecDeque::new(),
            question: None,
            calls: HashMap::new(),
            consent: Consent::default(),
            named: 0,
        }
    }

    pub(super) fn mode(&self) -> Mode {
        self.worker.mode()
    }

    /// Forgets the question that is open; its link is closed with it.
    pub(super) fn hang_up(&mut self) {
        if let Some((_, asking)) = self.question.take() {
            asking.abort();
        }
    }

    /// Stops all that is being done.
    pub(super) fn stop_deeds(&mut self) {
        self.calls.drain().for_each(|(_, call)| call.stop());
    }
}

impl Call {
    /// Stops what is being done for it.
    pub(super) fn stop(self) {
        if let Some((_, brake)) = self.deed {
            brake.pull();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.hang_up();
        self.stop_deeds();
    }
}
