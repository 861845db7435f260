//! The way to one session's event stream: when it is opened, when it is opened again, what a person is told of it. Never looks
//! at an event.

use switchboard_types::{Connection, ConnectionStatus, Time};

use super::orders::StreamNo;

/// How long it is waited before the next attempt, in milliseconds; the last for all further ones.
const STEPS: [u64; 4] = [250, 1_000, 2_000, 5_000];
/// A stream that has stood so long is a good one.
const GOOD_AFTER_MS: u64 = 10_000;
/// A stream that ends properly is not opened more often than this.
const CLEAN_MS: u64 = 5_000;
/// Silence of a stream that gives signs of life: three of them are missing.
const BEATING_SILENCE_MS: u64 = 45_000;
/// Silence of a stream that gives none, while something is being done.
const WORKING_SILENCE_MS: u64 = 120_000;
/// How long an attempt may take.
const OPENING_MS: u64 = 45_000;

/// What a stream is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// To follow the log.
    On,
    /// To find again what was missing, up to this number if there is one.
    Again {
        /// Where the hole ends.
        upto: Option<u64>,
    },
}

/// Whether something is being done in the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    UnderWay,
    None,
}

/// The way to one session's stream.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) stream: Option<StreamNo>,
    pub(super) reading: Reading,
    stands: Option<Time>,
    heard: Time,
    beats: bool,
    open_at: Option<Time>,
    retries: u32,
    heals: u32,
    healed: Option<Time>,
    ended_clean: Option<Time>,
    wait_ms: u64,
    error: Option<String>,
    gap: bool,
    /// Something was given up since the log began to be read again.
    lost: bool,
    told: Option<Connection>,
}

impl Way {
    pub(super) fn new(now: Time) -> Self {
        Self {
            stream: None,
            reading: Reading::On,
            stands: None,
            heard: now,
            beats: false,
            open_at: None,
            retries: 0,
            heals: 0,
            healed: None,
            ended_clean: None,
            wait_ms: 0,
            error: None,
            gap: false,
            lost: false,
            told: None,
        }
    }

    /// The stream is to be opened at once.
    pub(super) fn wanted(&mut self, now: Time) {
        if self.stream.is_none() {
            self.open_at = Some(now);
        }
    }

    /// The stream is being opened.
    pub(super) fn opening(&mut self, now: Time, stream: StreamNo) {
        (self.stream, self.open_at, self.stands) = (Some(stream), None, None);
        (self.beats, self.heard) = (false, now);
    }

    /// The engine has let us in.
    pub(super) fn opened(&mut self, now: Time) {
        (self.stands, self.heard, self.error) = (Some(now), now, None);
    }

    /// When it has stood since, if it does.
    pub(super) fn since(&self) -> Option<Time> {
        self.stands
    }

    pub(super) fn beat(&mut self, now: Time) {
        (self.heard, self.beats) = (now, true);
    }

    pub(super) fn event(&mut self, now: Time) {
        (self.heard, self.retries, self.wait_ms) = (now, 0, 0);
    }

    pub(super) fn asked_to_wait(&mut self, ms: u64) {
        self.wait_ms = ms.min(STEPS[3]);
    }

    /// It broke: it is opened again after a while, longer each time.
    pub(super) fn broke(&mut self, now: Time, error: String) {
        let step = usize::try_from(self.retries).unwrap_or(usize::MAX).min(STEPS.len() - 1);
        self.retries = self.retries.saturating_add(1);
        self.open_at = Some(now.after_ms(STEPS[step].max(self.wait_ms)));
        (self.stream, self.stands, self.error) = (None, None, Some(error));
    }

    /// It ended properly: no error, and no reason to hurry.
    pub(super) fn ended(&mut self, now: Time) {
        let last = self.ended_clean.replace(now);
        let soon = last.is_none_or(|last| now.since(last) >= CLEAN_MS);
        self.open_at = Some(now.after_ms(if soon { STEPS[0].max(self.wait_ms) } else { CLEAN_MS }));
        (self.stream, self.stands) = (None, None);
    }

    /// It ended properly, and nothing is to come.
    pub(super) fn rests(&mut self) {
        self.open_at = None;
    }

    /// It is closed and read again from the start; gives the stream to close.
    pub(super) fn read_again(&mut self, now: Time, upto: Option<u64>) -> Option<StreamNo> {
        if self.healed.is_some_and(|healed| now.since(healed) >= GOOD_AFTER_MS) {
            self.heals = 0;
        }
        let step = usize::try_from(self.heals).unwrap_or(usize::MAX);
        let wait = step.checked_sub(1).map_or(0, |step| STEPS[step.min(STEPS.len() - 1)]);
        (self.heals, self.healed) = (self.heals.saturating_add(1), Some(now));
        self.reading = Reading::Again { upto };
        self.open_at = Some(now.after_ms(wait));
        (self.gap, self.stands) = (true, None);
        self.stream.take()
    }

    /// What was missing is there, or is given up.
    pub(super) fn caught_up(&mut self) {
        self.reading = Reading::On;
        self.gap = std::mem::take(&mut self.lost);
    }

    /// Something was given up, and a person is told.
    pub(super) fn lost_something(&mut self) {
        (self.gap, self.lost) = (true, self.reading != Reading::On);
    }

    /// When something is due.
    pub(super) fn due(&self, work: Work) -> Option<Time> {
        let silent = self.silence(work).map(|ms| self.heard.after_ms(ms));
        let unsettled = (self.gap && self.reading == Reading::On) || self.retries > 0;
        let good = self.stands.filter(|_| unsettled).map(|since| since.after_ms(GOOD_AFTER_MS));
        [self.open_at, silent, good].into_iter().flatten().min()
    }

    fn silence(&self, work: Work) -> Option<u64> {
        self.stream?;
        match (self.stands, self.beats, work) {
            (None, ..) => Some(OPENING_MS),
            (Some(_), true, _) => Some(BEATING_SILENCE_MS),
            (Some(_), false, Work::UnderWay) => Some(WORKING_SILENCE_MS),
            (Some(_), false, Work::None) => None,
        }
    }

    /// What is due now.
    pub(super) fn tick(&mut self, now: Time, work: Work) -> Due {
        if self.stands.is_some_and(|since| now.since(since) >= GOOD_AFTER_MS) {
            (self.retries, self.gap) = (0, self.gap && self.reading != Reading::On);
        }
        if self.open_at.is_some_and(|at| now >= at) {
            self.open_at = None;
            return Due::Open;
        }
        match self.silence(work) {
            Some(ms) if now.since(self.heard) >= ms => Due::Silent { seconds: ms / 1000 },
            Some(_) | None => Due::Nothing,
        }
    }

    /// What a person is to be told, if it is not what they were told last.
    pub(super) fn news(&mut self) -> Option<Connection> {
        let status = match (self.stands, &self.error) {
            (Some(_), _) => ConnectionStatus::Connected,
            (None, Some(_)) if self.stream.is_none() => ConnectionStatus::Error,
            (None, _) => ConnectionStatus::Connecting,
        };
        let last_error = self.error.clone();
        let connection = Connection { status, retries: self.retries, last_error, gap: self.gap };
        if self.told.as_ref() == Some(&connection) {
            return None;
        }
        self.told = Some(connection.clone());
        Some(connection)
    }
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    Open,
    Silent { seconds: u64 },
}
