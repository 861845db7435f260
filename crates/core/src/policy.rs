//! The one judge of everything that may do harm: what is asked, by whom, under which settings and rules, to allow, ask or
//! deny, and why. Pure: looks at no file, asks nobody, remembers nothing.
//!
//! | module | owns |
//! | --- | --- |
//! | `reading` | what a command says: its programs, its files, and what is doubtful about it |
//! | `severity` | how bad it could be, by programs and flags |
//! | `files` | which files may be changed without a question |
//! | `protected` | which files nobody changes without a person's word, each time |
//! | `rules` | stored decisions |
//! | `judging` | the order in which all of that decides |
//! | `text` | letters that look alike, or like nothing |

mod files;
mod judging;
mod protected;
mod reading;
mod rules;
mod severity;
mod text;

use switchboard_types::{Asker, CommandFacts, Facts, Patterns, ProgramFacts, Rule, SessionPolicy, TargetFacts, Trust};

pub use files::{check_glob, check_patterns, default_patterns};
pub use judging::judge;
pub use reading::{
    Join, MAX_COMMANDS, MAX_LINE_BYTES, Reading, Redirect, RedirectTo, Simple, Step, Target, Touch, read_argv,
    read_line,
};
pub use rules::{check_rule, describe};

/// Something that may do harm, and all that decides about it.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What is known of it.
    pub facts: &'a Facts,
    /// Who asks.
    pub asker: Asker,
    /// What a person has set for the session.
    pub session: &'a SessionPolicy,
    /// The patterns of the settings; the defaults hold if there are none.
    pub patterns: Option<&'a Patterns>,
    /// The rules that hold in the workspace: the workspace's and the user's.
    pub rules: &'a [&'a Rule],
    /// Whether a person has allowed just this for the session.
    pub granted: bool,
    /// Whether a person trusts the workspace.
    pub trust: Trust,
}

/// Whether a path, from the workspace's folder or absolute, is one that nobody changes without a person's word.
#[must_use]
pub fn is_protected(path: &str) -> bool {
    protected::guard(path).is_some()
}

/// What the reading of a command names, looked up: its programs and its files, each in the reading's order.
pub fn look_up(
    facts: &mut CommandFacts,
    reading: &Reading,
    program: impl FnMut(&str) -> ProgramFacts,
    target: impl FnMut(&str) -> TargetFacts,
) {
    facts.programs = reading.commands.iter().map(severity::program).map(program).collect();
    facts.targets = reading.targets.iter().map(|target| target.path.as_str()).map(target).collect();
}

/// The reading of a command, from what is known of it.
#[must_use]
pub fn read(facts: &CommandFacts) -> Reading {
    match &facts.line {
        Some(line) => read_line(line),
        None => read_argv(&facts.argv),
    }
}
