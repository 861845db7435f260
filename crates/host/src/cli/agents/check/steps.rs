//! What a check prints: a line a step, with a mark and the time since the start; for programs a JSON value.

use std::time::Instant;

use serde::Serialize;
use serde_json::{Value, json};
use switchboard_types::About;

use super::whom::Whom;
use crate::cli::args::Format;
use crate::cli::exit::Failure;
use crate::cli::print;

/// A step of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Step {
    Program,
    Started,
    Introduced,
    Session,
    Options,
    Commands,
    Prompt,
    Closed,
}

impl Step {
    fn word(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Started => "started",
            Self::Introduced => "introduced",
            Self::Session => "session",
            Self::Options => "options",
            Self::Commands => "commands",
            Self::Prompt => "prompt",
            Self::Closed => "closed",
        }
    }
}

/// A line for programs.
#[derive(Serialize)]
struct Line<'a> {
    step: Step,
    state: &'a str,
    ms: u128,
    message: &'a str,
    #[serde(skip_serializing_if = "Value::is_null")]
    details: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<&'a str>,
}

/// What was found so far.
pub(super) struct Steps {
    format: Format,
    began: Instant,
}

impl Steps {
    pub(super) fn new(format: Format) -> Self {
        Self { format, began: Instant::now() }
    }

    /// For a person who waits.
    pub(super) fn remark(&self, text: &str) {
        if self.format == Format::Words {
            anstream::eprintln!("  {}", print::safe(text));
        }
    }

    pub(super) fn good(&mut self, step: Step, message: &str) {
        self.line(step, message, Value::Null);
    }

    pub(super) fn with(&mut self, step: Step, message: &str, details: &impl Serialize) {
        // Plain data always has a JSON text.
        self.line(step, message, serde_json::to_value(details).unwrap_or_default());
    }

    pub(super) fn introduced(&mut self, about: &About) {
        let who = format!("{} {}", about.name, about.version);
        let can =
            if about.abilities.is_empty() { String::new() } else { format!("; can: {}", about.abilities.join(", ")) };
        let message = format!("{}, protocol {}{can}", who.trim(), about.protocol);
        let sign_in: Vec<_> = about.sign_in.iter().map(|method| &method.id).collect();
        let details = json!({
            "name": about.name, "version": about.version, "protocol": about.protocol,
            "abilities": about.abilities, "sign_in": sign_in,
        });
        self.line(Step::Introduced, &message, details);
    }

    fn line(&mut self, step: Step, message: &str, details: Value) {
        let ms = self.began.elapsed().as_millis();
        match self.format {
            Format::Json => print::json(&Line { step, state: "good", ms, message, details, mend: None }),
            Format::Words => self.words("✓", anstyle::AnsiColor::Green, step, message),
        }
    }

    /// Says what went wrong and what to do about it; the check ends with this.
    pub(super) fn failed(&mut self, step: Step, why: &str, mend: &str) -> Failure {
        let ms = self.began.elapsed().as_millis();
        let mend = Some(mend).filter(|mend| !mend.is_empty());
        match self.format {
            Format::Json => print::json(&Line { step, state: "wrong", ms, message: why, details: Value::Null, mend }),
            Format::Words => {
                self.words("✗", anstyle::AnsiColor::Red, step, why);
                for line in mend.into_iter().flat_map(str::lines) {
                    anstream::println!("    {}", print::safe(line));
                }
            }
        }
        Failure::unreachable(format!("the check ended at the step `{}`", step.word()))
    }

    fn words(&self, mark: &str, colour: anstyle::AnsiColor, step: Step, message: &str) {
        let style = anstyle::Style::new().fg_color(Some(colour.into()));
        let dim = anstyle::Style::new().dimmed();
        let seconds = self.began.elapsed().as_secs_f64();
        let message = print::safe(message);
        anstream::println!("{style}{mark}{style:#} {}: {message} {dim}({seconds:.2} s){dim:#}", step.word());
    }

    pub(super) fn all_well(&self, whom: &Whom) {
        if self.format == Format::Words {
            print::words(&whom.farewell());
        }
    }
}
