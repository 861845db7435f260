//! Commands that run without a shell: what the reading of a line says, as steps. What only a shell could do is refused.

use std::ffi::{OsStr, OsString};

use switchboard_core::policy::{Reading, Simple};

use super::pins::Pin;
use super::script::{Join, Step};

/// What the sequence does itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    /// `cd`: the folder of all that follows.
    Cd,
    /// `true` and `:`
    True,
    /// `false`
    False,
}

impl Builtin {
    pub(super) fn of(name: &OsStr) -> Option<Self> {
        match name.to_str()? {
            "cd" => Some(Self::Cd),
            "true" | ":" => Some(Self::True),
            "false" => Some(Self::False),
            _ => None,
        }
    }

    /// What it ends with where it changes nothing.
    pub(super) fn code(self) -> i32 {
        match self {
            Self::Cd | Self::True => 0,
            Self::False => 1,
        }
    }

    pub(super) fn run(self, words: &[OsString]) -> i32 {
        match (self, words) {
            (Self::Cd, [_, folder]) => match std::env::set_current_dir(folder) {
                Ok(()) => 0,
                Err(error) => {
                    eprintln!("cd: {}: {error}", folder.display());
                    1
                }
            },
            (Self::Cd, _) => 1,
            (Self::True | Self::False, _) => self.code(),
        }
    }
}

/// A line without a shell: its steps and their words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) steps: Vec<Step>,
    pub(crate) words: Vec<OsString>,
}

/// Makes steps of a reading, or says why only a shell could run it. `find` gives a program's file.
pub(crate) fn steps(reading: &Reading, mut find: impl FnMut(&str) -> Option<Pin>) -> Result<Line, String> {
    if let Some(doubt) = reading.doubts.first() {
        return Err(format!("only a shell could run this: {doubt}"));
    }
    let joins = joins(reading)?;
    let mut line = Line::default();
    let mut moved = false;
    for (simple, join) in reading.commands.iter().zip(joins) {
        let step = step(simple, join, moved, &mut find)?;
        moved |= simple.words.first().is_some_and(|name| name == "cd");
        let variables = simple.assignments.iter().map(|(name, value)| format!("{name}={value}"));
        line.words.extend(variables.chain(simple.words.iter().cloned()).map(OsString::from));
        line.steps.push(step);
    }
    if line.steps.is_empty() { Err("there is nothing to run".to_owned()) } else { Ok(line) }
}

fn step(simple: &Simple, join: Join, moved: bool, find: &mut impl FnMut(&str) -> Option<Pin>) -> Result<Step, String> {
    let name = simple.words.first().ok_or("it only sets variables, which is for a shell")?;
    let builtin = Builtin::of(OsStr::new(name));
    if builtin == Some(Builtin::Cd) && !(simple.words.len() == 2 && simple.words.iter().all(|word| word != "-")) {
        return Err("`cd` needs one folder here".to_owned());
    }
    // Its file was looked for in the folder where all of it begins.
    if moved && name.contains('/') && !name.starts_with('/') {
        return Err(format!("which program `{name}` is depends on the `cd` before it"));
    }
    let program = match builtin {
        Some(_) => None,
        None => Some(find(name).ok_or_else(|| format!("there is no program `{name}`"))?),
    };
    Ok(Step { program, variables: simple.assignments.len(), words: simple.words.len(), join, redirects: Vec::new() })
}

/// How the commands of a reading are joined. One that stands alone is joined to nothing.
fn joins(reading: &Reading) -> Result<Vec<Join>, String> {
    match reading.commands.as_slice() {
        [_] => Ok(vec![Join::Then]),
        _ => Err("how its commands are joined was not read".to_owned()),
    }
}
