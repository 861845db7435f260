//! `doctor`: looks at all that must be right, one thing after the other, and says how to mend what is not. Changes nothing, and
//! starts nothing but what holds commands in, for a trial.
//!
//! | module | owns |
//! | --- | --- |
//! | `place` | the data folder, its disk and its rights |
//! | `host` | the host that runs, or the way for one that does not |
//! | `setup` | configuration, agents, the machine |
//! | `walls` | how commands are held in |

mod host;
mod place;
mod setup;
mod walls;

use serde::Serialize;

use super::args::{Cli, Format};
use super::exit::Failure;
use super::print;

/// How a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Good,
    Doubtful,
    Wrong,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    state: State,
    message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<String>,
}

/// Collects and prints what is found, as it is found.
struct Report {
    format: Format,
    wrong: usize,
    doubtful: usize,
}

impl Report {
    fn good(&mut self, check: &'static str, message: impl Into<String>) {
        self.add(Finding { check, state: State::Good, message: message.into(), mend: None });
    }

    fn doubtful(&mut self, check: &'static str, message: impl Into<String>, mend: impl Into<String>) {
        self.doubtful += 1;
        self.add(Finding { check, state: State::Doubtful, message: message.into(), mend: Some(mend.into()) });
    }

    fn wrong(&mut self, check: &'static str, message: impl Into<String>, mend: impl Into<String>) {
        self.wrong += 1;
        self.add(Finding { check, state: State::Wrong, message: message.into(), mend: Some(mend.into()) });
    }

    fn add(&mut self, finding: Finding) {
        if self.format == Format::Json {
            return print::json(&finding);
        }
        let (mark, colour) = match finding.state {
            State::Good => ("✓", anstyle::AnsiColor::Green),
            State::Doubtful => ("!", anstyle::AnsiColor::Yellow),
            State::Wrong => ("✗", anstyle::AnsiColor::Red),
        };
        let style = anstyle::Style::new().fg_color(Some(colour.into()));
        anstream::println!("{style}{mark}{style:#} {}: {}", finding.check, print::safe(&finding.message));
        if let Some(mend) = finding.mend.filter(|mend| !mend.is_empty()) {
            anstream::println!("    {}", print::safe(&mend));
        }
    }
}

/// Looks at everything. A failure says that something is wrong; doubts are none.
pub(super) async fn run(cli: &Cli) -> Result<(), Failure> {
    let mut report = Report { format: cli.format(), wrong: 0, doubtful: 0 };
    let place = place::look(cli, &mut report);
    let known = match &place {
        Some(place) => host::look(place, &mut report).await,
        None => None,
    };
    setup::look(cli, known.as_deref(), &mut report);
    match report.wrong {
        0 if report.format == Format::Words && report.doubtful == 0 => print::words("All is well."),
        0 if report.format == Format::Words => print::words("It works; see the lines marked with `!`."),
        0 => {}
        1 => return Err(Failure::failed("one thing is wrong; see above how to mend it")),
        wrong => return Err(Failure::failed(format!("{wrong} things are wrong; see above how to mend them"))),
    }
    Ok(())
}
