//! One turn of the demo agent: what it says, how it waits, and how it is stopped. Knows no trick.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::wire::{self, Said, Step};

/// Answers that may wait for a turn.
const NEWS: usize = 16;

/// The turn was cancelled or its session closed; whoever gets this stops at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped;

/// What the desk tells a turn.
#[derive(Debug)]
pub(super) enum News {
    /// Look whether you are stopped.
    Look,
    /// What came of a tool call.
    Tool {
        /// Which call.
        call: String,
        /// What it gave, or why it gave nothing.
        outcome: Result<serde_json::Value, serde_json::Value>,
    },
    /// What a person decided.
    Approval {
        /// Which question.
        approval: String,
        /// The answer.
        decision: String,
    },
}

/// The desk's end of a turn.
#[derive(Debug)]
pub(super) struct Reins {
    stop: Arc<AtomicBool>,
    news: SyncSender<News>,
}

impl Reins {
    /// Stops the turn at once.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.tell(News::Look);
    }

    /// Tells the turn something; one that does not listen misses it.
    pub(super) fn tell(&self, news: News) {
        let _ = self.news.try_send(news);
    }
}

/// A running turn.
#[derive(Debug)]
pub(super) struct Turn {
    session: String,
    message: Option<String>,
    /// The folder of its session.
    pub(super) cwd: String,
    stop: Arc<AtomicBool>,
    news: Receiver<News>,
}

impl Turn {
    pub(super) fn new(session: String, message: Option<String>, cwd: String) -> (Self, Reins) {
        let (send, news) = sync_channel(NEWS);
        let stop = Arc::new(AtomicBool::new(false));
        (Self { session, message, cwd, stop: Arc::clone(&stop), news }, Reins { stop, news: send })
    }

    /// The agent session.
    pub(super) fn session(&self) -> &str {
        &self.session
    }

    /// Whether the turn may go on.
    pub(super) fn check(&self) -> Result<(), Stopped> {
        if self.stop.load(Ordering::Acquire) { Err(Stopped) } else { Ok(()) }
    }

    /// A piece of the answer, as a message.
    pub(super) fn chunk<'a>(&'a self, chunk: &'a str) -> Said<'a> {
        Said::ResponseChunk { session_id: &self.session, message_id: self.message.as_deref(), chunk }
    }

    /// Says a piece of the answer.
    pub(super) fn say(&self, chunk: &str) -> Result<(), Stopped> {
        self.check()?;
        wire::say(&self.chunk(chunk));
        Ok(())
    }

    /// Says a text piece by piece, at a pace that can be read along.
    pub(super) fn tell(&self, text: &str, pace: Duration) -> Result<(), Stopped> {
        for piece in pieces(text) {
            self.say(piece)?;
            self.pause(pace)?;
        }
        Ok(())
    }

    /// Thinks aloud, piece by piece.
    pub(super) fn think(&self, text: &str, pace: Duration) -> Result<(), Stopped> {
        for chunk in pieces(text) {
            self.check()?;
            let message_id = self.message.as_deref();
            wire::say(&Said::ThoughtChunk { session_id: &self.session, message_id, chunk });
            self.pause(pace)?;
        }
        Ok(())
    }

    /// Shows the plan with `done` of its steps done and, unless all are, the next one begun.
    pub(super) fn plan(&self, steps: &[&str], done: usize) -> Result<(), Stopped> {
        self.check()?;
        let status = |place: usize| match place.cmp(&done) {
            std::cmp::Ordering::Less => "completed",
            std::cmp::Ordering::Equal => "in_progress",
            std::cmp::Ordering::Greater => "pending",
        };
        let entries: Vec<_> =
            steps.iter().enumerate().map(|(place, content)| Step { content, status: status(place) }).collect();
        wire::say(&Said::Plan { session_id: &self.session, entries: &entries });
        Ok(())
    }

    /// Waits, unless it is stopped.
    pub(super) fn pause(&self, time: Duration) -> Result<(), Stopped> {
        let until = Instant::now() + time;
        loop {
            self.check()?;
            match self.news.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return self.check(),
                Err(RecvTimeoutError::Disconnected) => return Err(Stopped),
            }
        }
    }

    /// Waits for news, however long it takes.
    pub(super) fn listen(&self) -> Result<News, Stopped> {
        loop {
            self.check()?;
            match self.news.recv() {
                Ok(News::Look) => {}
                Ok(news) => return Ok(news),
                Err(_) => return Err(Stopped),
            }
        }
    }

    /// Ends the turn.
    pub(super) fn complete(&self) {
        wire::say(&Said::ResponseComplete { session_id: &self.session, message_id: self.message.as_deref() });
    }
}

/// Cuts a text into words with the blanks that follow them, so that joined again they are the text.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '\n'])
}
