//! Commands that run without a shell: what the reading of a line says, as steps. What only a shell could do is refused.

use std::ffi::{OsStr, OsString};

use switchboard_core::policy::{self, Reading, Simple};

use super::pins::Pin;
use super::script::{Join, Redirect, RedirectTo, Step, Stream};

/// What the sequence does itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    /// `true` and `:`
    True,
    /// `false`
    False,
}

impl Builtin {
    pub(super) fn of(name: &OsStr) -> Option<Self> {
        match name.to_str()? {
            "true" | ":" => Some(Self::True),
            "false" => Some(Self::False),
            _ => None,
        }
    }

    /// What it ends with.
    pub(super) fn code(self) -> i32 {
        match self {
            Self::True => 0,
            Self::False => 1,
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
    let mut line = Line::default();
    for read in &reading.steps {
        let simple = reading.commands.get(read.command).ok_or("it was not read whole")?;
        line.steps.push(step(simple, read, &mut find)?);
        let variables = simple.assignments.iter().map(|(name, value)| format!("{name}={value}"));
        line.words.extend(variables.chain(simple.words.iter().cloned()).map(OsString::from));
    }
    if line.steps.is_empty() { Err("there is nothing to run".to_owned()) } else { Ok(line) }
}

fn step(simple: &Simple, read: &policy::Step, find: &mut impl FnMut(&str) -> Option<Pin>) -> Result<Step, String> {
    let name = simple.words.first().ok_or("it only sets variables, which is for a shell")?;
    let builtin = Builtin::of(OsStr::new(name));
    let program = match builtin {
        Some(_) => None,
        None => Some(find(name).ok_or_else(|| format!("there is no program `{name}`"))?),
    };
    let redirects = read.redirects.iter().map(redirect).collect::<Result<_, _>>()?;
    let join = join(read.join);
    Ok(Step { program, variables: simple.assignments.len(), words: simple.words.len(), join, redirects })
}

fn join(read: policy::Join) -> Join {
    match read {
        policy::Join::First | policy::Join::Then => Join::Then,
        policy::Join::And => Join::And,
        policy::Join::Or => Join::Or,
        policy::Join::Pipe => Join::Pipe,
    }
}

fn redirect(read: &policy::Redirect) -> Result<Redirect, String> {
    let to = match &read.to {
        policy::RedirectTo::Read(path) => RedirectTo::Read(path.clone()),
        policy::RedirectTo::Write(path) => RedirectTo::Write(path.clone()),
        policy::RedirectTo::Append(path) => RedirectTo::Append(path.clone()),
        policy::RedirectTo::Same(other) => RedirectTo::Same(stream(*other)?),
    };
    Ok(Redirect { of: stream(read.fd)?, to })
}

fn stream(number: u32) -> Result<Stream, String> {
    match number {
        0 => Ok(Stream::Input),
        1 => Ok(Stream::Output),
        2 => Ok(Stream::Errors),
        other => Err(format!("only a shell could lead {other} elsewhere")),
    }
}
