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
    /// From a farewell, which its dialect may have, and the closing of its input to SIGTERM.
    pub bidden_farewell: Duration,
    /// From the closing of its input without a farewell to SIGTERM.
    pub input_closed: Duration,
    /// From SIGTERM to SIGKILL.
    pub terminated: Duration,
    /// The same for what it left running, once it is gone itself.
    pub left_behind: Duration,
    /// For what is still in its pipes once it is gone.
    pub drained: Duration,
}

impl Default for Graces {
    fn default() -> Self {
        Self {
            bidden_farewell: Duration::from_secs(5),
            input_closed: Duration::from_secs(2),
            terminated: Duration::from_secs(5),
            left_behind: Duration::from_millis(500),
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
    /// Its output is not framed as its dialect says, so nothing more can be read of it.
    BadFraming,
}

/// Whether the agent was told that it is to end, in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Farewell {
    /// Its dialect has words for that, and they are on their way.
    Bidden,
    /// Its dialect has none.
    None,
}

/// What is known of a process at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest<'a> {
    /// How it ended, if the system said.
    pub(super) status: Option<ExitStatus>,
    /// The last lines of its error output.
    pub(super) last_words: &'a str,
    /// Whether anything it wrote was a message.
    pub(super) spoke: bool,
    /// The last that it wrote and that was none.
    pub(super) noise: Option<&'a str>,
    /// What is wrong with its framing.
    pub(super) fault: Option<&'a str>,
    /// Whether the system has ended processes for want of memory meanwhile.
    pub(super) memory: Memory,
}

/// Whether the system has ended processes for want of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// It did, since the process started.
    RanOut,
    /// It did not, or nobody knows.
    Sufficed,
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
    pub(super) fn begin(&mut self, why: Why, farewell: Farewell, now: Instant) -> Step {
        if self.stage != Stage::Living {
            return Step::Nothing;
        }
        self.why = Some(why);
        match why {
            Why::Asked | Why::OutputClosed | Why::InputClosed | Why::BadFraming => {
                let grace = match farewell {
                    Farewell::Bidden => self.graces.bidden_farewell,
                    Farewell::None => self.graces.input_closed,
                };
                self.stage = Stage::InputClosed { until: now + grace };
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

    /// How long what it left running has between SIGTERM and SIGKILL.
    pub(super) fn left_behind(&self) -> Duration {
        match self.stage {
            // Whoever was in a hurry still is.
            Stage::Killed => Duration::ZERO,
            Stage::Living | Stage::InputClosed { .. } | Stage::Terminated { .. } => self.graces.left_behind,
        }
    }

    /// What is said of the end, for a person.
    pub(super) fn message(&self, agent: &str, rest: &Rest<'_>) -> String {
        let how = rest.status.map_or_else(|| "is gone".to_owned(), in_words);
        let signalled = matches!(self.stage, Stage::Terminated { .. } | Stage::Killed);
        let what = match self.why {
            Some(Why::Asked) => return format!("agent `{agent}` was ended by the host: it {how}"),
            Some(Why::NotReading) => format!("agent `{agent}` does not read its input and was ended"),
            Some(Why::BadFraming) => {
                let fault = rest.fault.unwrap_or("its messages cannot be told apart");
                return with(format!("agent `{agent}` was ended, since its output cannot be read: {fault}"), rest);
            }
            Some(Why::OutputClosed) if signalled => {
                format!("agent `{agent}` closed its output without exiting and was ended")
            }
            Some(Why::InputClosed) if signalled => {
                format!("agent `{agent}` closed its input without exiting and was ended")
            }
            Some(Why::OutputClosed | Why::InputClosed) | None => self.by_itself(agent, &how, rest),
        };
        match rest.fault {
            Some(fault) => with(format!("{what}; {fault}"), rest),
            None => with(what, rest),
        }
    }

    fn by_itself(&self, agent: &str, how: &str, rest: &Rest<'_>) -> String {
        let early = if rest.spoke { "" } else { " before it said anything" };
        let killed = rest.status.and_then(|status| status.signal()) == Some(Signal::KILL.as_raw());
        let by_whom = match rest.memory {
            Memory::RanOut if killed => "; the system had run out of memory and ends processes then",
            Memory::Sufficed if killed => "; that was not the host's doing",
            Memory::RanOut | Memory::Sufficed => "",
        };
        format!("agent `{agent}` {how}{early}{by_whom}")
    }
}

/// With what it said last that could explain it.
fn with(what: String, rest: &Rest<'_>) -> String {
    match rest.noise {
        _ if !rest.last_words.is_empty() => format!("{what}; its last words: {}", rest.last_words),
        Some(noise) if !rest.spoke => format!("{what}; what it wrote is no message: {noise}"),
        Some(_) | None => what,
    }
}

/// An exit as a person would say it.
pub(crate) fn in_words(status: ExitStatus) -> String {
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
        for (farewell, first) in [(Farewell::None, 2), (Farewell::Bidden, 5)] {
            let (now, mut ending) = (Instant::now(), Ending::new(Graces::default()));
            assert_eq!(ending.due(), None);
            assert_eq!(ending.begin(Why::Asked, farewell, now), Step::CloseInput);
            assert_eq!(ending.due(), Some(now + Duration::from_secs(first)));
            assert_eq!(ending.begin(Why::OutputClosed, farewell, now), Step::Nothing);
            assert_eq!(ending.next(now), Step::Signal(Signal::TERM));
            assert_eq!(ending.due(), Some(now + Duration::from_secs(5)));
            assert_eq!(ending.next(now), Step::Signal(Signal::KILL));
            assert_eq!((ending.due(), ending.next(now)), (None, Step::Nothing));
        }
    }

    fn rest(raw: i32, last_words: &str) -> Rest<'_> {
        let status = Some(ExitStatus::from_raw(raw));
        Rest { status, last_words, spoke: true, noise: None, fault: None, memory: Memory::Sufficed }
    }

    #[test]
    fn an_end_is_told_in_words() {
        let ending = Ending::new(Graces::default());
        let (code, killed) = (rest(3 << 8, ""), rest(9, ""));
        let cases = [
            (code, "agent `x` exited with code 3"),
            (rest(3 << 8, "oh"), "agent `x` exited with code 3; its last words: oh"),
            (
                Rest { spoke: false, ..rest(3 << 8, "oh") },
                "agent `x` exited with code 3 before it said anything; its last words: oh",
            ),
            (
                Rest { spoke: false, noise: Some("usage: x"), ..code },
                "agent `x` exited with code 3 before it said anything; what it wrote is no message: usage: x",
            ),
            (Rest { fault: Some("half a message"), ..code }, "agent `x` exited with code 3; half a message"),
            (rest(11, ""), "agent `x` was ended by signal 11 (SIGSEGV)"),
            (killed, "agent `x` was ended by signal 9 (SIGKILL); that was not the host's doing"),
            (
                Rest { memory: Memory::RanOut, ..killed },
                "agent `x` was ended by signal 9 (SIGKILL); the system had run out of memory and ends processes then",
            ),
        ];
        for (rest, expected) in cases {
            assert_eq!(ending.message("x", &rest), expected);
        }
    }

    #[test]
    fn an_end_by_the_host_is_told_with_its_reason() {
        let killed = Rest { fault: Some("bad length"), ..rest(9, "") };
        let cases = [
            (Why::Asked, "agent `x` was ended by the host: it was ended by signal 9 (SIGKILL)"),
            (Why::NotReading, "agent `x` does not read its input and was ended; bad length"),
            (Why::BadFraming, "agent `x` was ended, since its output cannot be read: bad length"),
        ];
        for (why, expected) in cases {
            let mut ending = Ending::new(Graces::default());
            ending.begin(why, Farewell::None, Instant::now());
            assert_eq!(ending.message("x", &killed), expected);
        }
    }
}
