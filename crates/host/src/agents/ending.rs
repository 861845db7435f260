//! How a process is ended, step by step, and what is said of its end. Signals nobody itself.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::Instant;

use super::group::signal_name;

/// How long each step of a graceful end may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graces {
    /// From the closing of its input to SIGTERM.
    pub input_closed: Duration,
    /// From SIGTERM to SIGKILL.
    pub terminated: Duration,
    /// For what is still in its pipes once it is gone.
    pub drained: Duration,
}

impl Default for Graces {
    fn default() -> Self {
        Self {
            input_closed: Duration::from_secs(2),
            terminated: Duration::from_secs(5),
            drained: Duration::from_secs(1),
        }
    }
}

/// Why a process is being ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The host wants it.
    Asked,
    /// It closed its output, so it can say nothing more.
    OutputClosed,
    /// It closed its input, so it can be asked nothing more.
    InputClosed,
    /// It does not read what it is asked.
    NotReading,
}

/// How far the ending of a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Living,
    InputClosed { until: Instant },
    Terminated { until: Instant },
    Killed,
}

/// The ending of one process.
#[derive(Debug)]
pub(super) struct Ending {
    graces: Graces,
    stage: Stage,
    why: Option<Why>,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    Nothing,
    /// Close its input.
    CloseInput,
    /// Send this to its group.
    Signal(Signal),
}

impl Ending {
    pub(super) fn new(graces: Graces) -> Self {
        Self { graces, stage: Stage::Living, why: None }
    }

    /// Begins to end it, politely, unless that is under way.
    pub(super) fn begin(&mut self, why: Why, now: Instant) -> Step {
        if self.stage != Stage::Living {
            return Step::Nothing;
        }
        self.why = Some(why);
        match why {
            Why::Asked | Why::OutputClosed | Why::InputClosed => {
                self.stage = Stage::InputClosed { until: now + self.graces.input_closed };
                Step::CloseInput
            }
            // It would not notice that its input is closed.
            Why::NotReading => self.terminate(now),
        }
    }

    /// Ends it at once.
    pub(super) fn at_once(&mut self, why: Why) -> Step {
        self.why.get_or_insert(why);
        self.stage = Stage::Killed;
        Step::Signal(Signal::KILL)
    }

    /// Whether it is being ended.
    pub(super) fn is_under_way(&self) -> bool {
        self.stage != Stage::Living
    }

    /// When the next step is due.
    pub(super) fn due(&self) -> Option<Instant> {
        match self.stage {
            Stage::InputClosed { until } | Stage::Terminated { until } => Some(until),
            Stage::Living | Stage::Killed => None,
        }
    }

    /// Takes the next step, now that it is due.
    pub(super) fn next(&mut self, now: Instant) -> Step {
        match self.stage {
            Stage::InputClosed { .. } => self.terminate(now),
            Stage::Terminated { .. } => {
                self.stage = Stage::Killed;
                Step::Signal(Signal::KILL)
            }
            Stage::Living | Stage::Killed => Step::Nothing,
        }
    }

    fn terminate(&mut self, now: Instant) -> Step {
        self.stage = Stage::Terminated { until: now + self.graces.terminated };
        Step::Signal(Signal::TERM)
    }

    /// What is said of the end, for a person.
    pub(super) fn message(&self, agent: &str, status: Option<ExitStatus>, last_words: &str) -> String {
        let how = status.map_or_else(|| "is gone".to_owned(), in_words);
        let signalled = matches!(self.stage, Stage::Terminated { .. } | Stage::Killed);
        let what = match self.why {
            Some(Why::Asked) => return format!("agent `{agent}` was ended by the host: it {how}"),
            Some(Why::NotReading) => format!("agent `{agent}` does not read its input and was ended"),
            Some(Why::OutputClosed) if signalled => {
                format!("agent `{agent}` closed its output without exiting and was ended")
            }
            Some(Why::InputClosed) if signalled => {
                format!("agent `{agent}` closed its input without exiting and was ended")
            }
            Some(Why::OutputClosed | Why::InputClosed) | None => format!("agent `{agent}` {how}"),
        };
        if last_words.is_empty() { what } else { format!("{what}; its last words: {last_words}") }
    }
}

/// An exit as a person would say it.
fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => match signal_name(signal) {
            Some(name) => format!("was ended by signal {signal} ({name})"),
            None => format!("was ended by signal {signal}"),
        },
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graceful_end_closes_the_input_then_terminates_then_kills() {
        let (now, mut ending) = (Instant::now(), Ending::new(Graces::default()));
        assert_eq!(ending.due(), None);
        assert_eq!(ending.begin(Why::Asked, now), Step::CloseInput);
        assert_eq!(ending.due(), Some(now + Duration::from_secs(2)));
        assert_eq!(ending.begin(Why::OutputClosed, now), Step::Nothing);
        assert_eq!(ending.next(now), Step::Signal(Signal::TERM));
        assert_eq!(ending.due(), Some(now + Duration::from_secs(5)));
        assert_eq!(ending.next(now), Step::Signal(Signal::KILL));
        assert_eq!((ending.due(), ending.next(now)), (None, Step::Nothing));
    }

    #[test]
    fn an_end_is_told_in_words() {
        let mut ending = Ending::new(Graces::default());
        let code = Some(ExitStatus::from_raw(3 << 8));
        assert_eq!(ending.message("x", code, ""), "agent `x` exited with code 3");
        assert_eq!(ending.message("x", code, "oh"), "agent `x` exited with code 3; its last words: oh");
        let killed = Some(ExitStatus::from_raw(9));
        assert_eq!(ending.message("x", killed, ""), "agent `x` was ended by signal 9 (SIGKILL)");
        ending.begin(Why::NotReading, Instant::now());
        assert_eq!(ending.message("x", killed, ""), "agent `x` does not read its input and was ended");
    }
}
