//! The first process behind the walls, which is this program: looks whether everything is what was shown, runs
//! the command, or several one after the other, and tells the host how that went. Knows no shell: words are words.
//!
//! It tells the host through what it has as standard input, and puts something else there before any command runs.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::Duration;

use rustix::process::{getpgid, getppid, ioctl_tiocsctty, setpgid, setsid};
use rustix::stdio::{dup2_stdin, stdin, stdout};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::judged::Builtin;
use super::script::{Join, MAX_REPORT_BYTES, Report, SUBCOMMAND, Script, Step};
use super::streams::{Streams, cannot_open};
use crate::agents::command::LIFE;

/// Nothing could be started.
const NOT_STARTED: u8 = 125;
/// A program could not be started.
const CANNOT_RUN: i32 = 126;
/// What is added to the number of a signal that ended a program.
const SIGNALLED: i32 = 128;
/// Time for a signal that has come to be noticed.
const A_MOMENT: Duration = Duration::from_millis(1);

/// Does what a script says if this process was started for one; gives what it ends with.
#[must_use]
pub fn asked() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != SUBCOMMAND {
        return None;
    }
    // Without a script it is a trial, and what was tried has worked.
    let Some(script) = words.next() else { return Some(ExitCode::SUCCESS) };
    Some(match start(&script, words.collect()) {
        Ok(code) => u8::try_from(code).unwrap_or(u8::MAX).into(),
        Err(error) => {
            eprintln!("switchboard: {error}");
            NOT_STARTED.into()
        }
    })
}

fn start(script: &OsStr, words: Vec<OsString>) -> io::Result<i32> {
    let script: Script = serde_json::from_slice(script.as_bytes())?;
    let mut host = Host(File::from(rustix::io::fcntl_dupfd_cloexec(stdin(), 3)?));
    // Who ends a command signals all of it, this process too: it stays to say how the command ended.
    let mut signals = Signals::caught()?;
    let played = take_place(&script)
        .and_then(|()| Play::of(&script, words))
        .and_then(|play| play.begin().map(|begun| (play, begun)));
    let (play, begun) = match played {
        Ok(played) => played,
        Err(trouble) => {
            host.tell(&trouble)?;
            return Ok(NOT_STARTED.into());
        }
    };
    host.tell(&Report::Started)?;
    let end = match begun {
        Begun::Only(mut child) => End::of(child.wait()?),
        Begun::Nothing => play.run(&mut signals),
    };
    host.tell(&end.report())?;
    Ok(end.code())
}

/// The way to the host.
struct Host(File);

impl Host {
    fn tell(&mut self, report: &Report) -> io::Result<()> {
        let mut line = serde_json::to_vec(report)?;
        if line.len() >= MAX_REPORT_BYTES {
            line = serde_json::to_vec(&trouble("it could not be started"))?;
        }
        line.push(b'\n');
        self.0.write_all(&line)
    }
}

/// Signals that would end this process.
struct Signals {
    runtime: Runtime,
    caught: Vec<Signal>,
}

impl Signals {
    fn caught() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup(), SignalKind::quit()];
        let caught = kinds.into_iter().map(signal).collect::<io::Result<_>>()?;
        drop(entered);
        Ok(Self { runtime, caught })
    }

    /// Whether all of it is to end.
    fn came(&mut self) -> bool {
        let Self { runtime, caught } = self;
        runtime.block_on(async {
            for signal in caught {
                if tokio::time::timeout(A_MOMENT, signal.recv()).await.is_ok() {
                    return true;
                }
            }
            false
        })
    }
}

/// How something ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Code(i32),
    Signal(i32),
}

impl End {
    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Code(CANNOT_RUN),
        }
    }

    fn code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => SIGNALLED + signal,
        }
    }

    fn report(self) -> Report {
        match self {
            Self::Code(code) => Report::Code(code),
            Self::Signal(signal) => Report::Signal(signal),
        }
    }
}

fn trouble(message: &str) -> Report {
    Report::Trouble { changed: false, message: message.to_owned() }
}

fn take_place(script: &Script) -> Result<(), Report> {
    let failed = |error: io::Error| trouble(&error.to_string());
    if script.terminal {
        // Its own session, so that the terminal is this command's and nobody else's; it may lead one already.
        if setsid().is_err() {
            // Whoever leads a group cannot begin a session; in its parent's it leads none.
            let parents = getppid().and_then(|parent| getpgid(Some(parent)).ok());
            let _ = setpgid(None, parents).and_then(|()| setsid());
        }
        dup2_stdin(stdout()).map_err(|error| failed(error.into()))?;
        ioctl_tiocsctty(stdin()).map_err(|error| failed(error.into()))?;
    } else {
        let nothing = File::open("/dev/null").map_err(failed)?;
        dup2_stdin(&nothing).map_err(|error| failed(error.into()))?;
    }
    let changed = || Report::Trouble {
        changed: true,
        message: "the folder of the command is not the one that was shown any more, so it was not run; ask again"
            .into(),
    };
    std::env::set_current_dir(&script.cwd).map_err(|_| changed())?;
    let here = Path::new(".").metadata().map_err(failed)?;
    if (here.dev(), here.ino()) == script.folder { Ok(()) } else { Err(changed()) }
}

/// What runs already.
enum Begun {
    Only(Child),
    Nothing,
}

/// All that is to run, with its words.
struct Play<'a> {
    root: &'a Path,
    variables: Vec<(OsString, OsString)>,
    steps: Vec<Part<'a>>,
}

/// One program with its words.
struct Part<'a> {
    step: &'a Step,
    variables: Vec<(OsString, OsString)>,
    words: Vec<OsString>,
    builtin: Option<Builtin>,
}

impl<'a> Play<'a> {
    fn of(script: &'a Script, words: Vec<OsString>) -> Result<Self, Report> {
        let mut words = words.into_iter();
        let mut variables = pairs(words.by_ref().take(script.variables));
        variables.extend(std::env::var_os(LIFE).map(|value| (LIFE.into(), value)));
        let mut steps = Vec::new();
        for step in &script.steps {
            let own = pairs(words.by_ref().take(step.variables));
            let words: Vec<OsString> = words.by_ref().take(step.words).collect();
            let Some(name) = words.first() else {
                return Err(trouble("a program has no name"));
            };
            let builtin = if step.program.is_none() { Builtin::of(name) } else { None };
            if builtin.is_none() && step.program.is_none() {
                return Err(trouble(&format!("there is no program {}", name.display())));
            }
            steps.push(Part { step, variables: own, words, builtin });
        }
        Ok(Self { root: &script.root, variables, steps })
    }

    /// A program that stands alone is started at once, so that it can be said whether it could be.
    fn begin(&self) -> Result<Begun, Report> {
        let [only] = self.steps.as_slice() else { return Ok(Begun::Nothing) };
        if only.builtin.is_some() {
            return Ok(Begun::Nothing);
        }
        if let Some(pin) = only.step.program.as_ref().filter(|pin| !pin.holds()) {
            let path = pin.path.display();
            let message = format!("`{path}` is not the program that was shown any more, so it was not run; ask again");
            return Err(Report::Trouble { changed: true, message });
        }
        let streams = Streams::of(None, None).and_then(|streams| streams.led(only.step, self.root));
        let spawned = streams.and_then(|streams| only.spawn(&self.variables, streams));
        spawned.map(Begun::Only).map_err(|error| trouble(&error.to_string()))
    }

    /// One pipeline after the other, as their joins say, until one is ended by somebody.
    fn run(&self, signals: &mut Signals) -> End {
        let mut end = End::Code(0);
        let mut rest = self.steps.as_slice();
        while let Some((first, others)) = rest.split_first() {
            let length = 1 + others.iter().take_while(|part| part.step.join == Join::Pipe).count();
            let (pipeline, after) = rest.split_at(length);
            rest = after;
            let runs = match first.step.join {
                Join::Then | Join::Pipe => true,
                Join::And => end.code() == 0,
                Join::Or => end.code() != 0,
            };
            if runs {
                end = self.pipeline(pipeline);
            }
            if !rest.is_empty() && signals.came() {
                return end;
            }
        }
        end
    }

    /// All of it at once; it ends as its last one does.
    fn pipeline(&self, parts: &[Part<'_>]) -> End {
        let mut children: Vec<Result<Child, i32>> = Vec::new();
        let mut input: Option<OwnedFd> = None;
        for (at, part) in parts.iter().enumerate() {
            let (next, output) = match (at + 1 < parts.len()).then(io::pipe) {
                Some(Ok((reader, writer))) => (Some(reader.into()), Some(writer.into())),
                Some(Err(error)) => return End::Code(cannot_run(&part.words, &error)),
                None => (None, None),
            };
            let input = std::mem::replace(&mut input, next);
            let streams = Streams::of(input, output).and_then(|streams| streams.led(part.step, self.root));
            children.push(match (streams, part.builtin) {
                (Err(error), _) => Err(cannot_open(&error)),
                (Ok(_), Some(builtin)) => Err(builtin.code()),
                (Ok(streams), None) => {
                    part.spawn(&self.variables, streams).map_err(|error| cannot_run(&part.words, &error))
                }
            });
        }
        let ends: Vec<End> = children
            .into_iter()
            .map(|child| match child {
                Ok(mut child) => child.wait().map_or(End::Code(CANNOT_RUN), End::of),
                Err(code) => End::Code(code),
            })
            .collect();
        ends.last().copied().unwrap_or(End::Code(0))
    }
}

impl Part<'_> {
    fn spawn(&self, variables: &[(OsString, OsString)], streams: Streams) -> io::Result<Child> {
        let Some(pin) = &self.step.program else { return Err(io::ErrorKind::NotFound.into()) };
        if !pin.holds() {
            let message = "it is not the program that was judged any more, so it was not run; ask again";
            return Err(io::Error::other(message));
        }
        let (name, arguments) = self.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(&pin.path);
        command.arg0(name).args(arguments).env_clear();
        command.envs(variables.iter().chain(&self.variables).map(|(name, value)| (name, value)));
        let Streams { input, output, errors } = streams;
        command.stdin(input).stdout(output).stderr(errors).spawn()
    }
}

fn pairs(words: impl Iterator<Item = OsString>) -> Vec<(OsString, OsString)> {
    let split = |word: OsString| {
        let bytes = word.as_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (bytes.get(..at)?, bytes.get(at + 1..)?);
        Some((OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(value).to_owned()))
    };
    words.filter_map(split).collect()
}

fn cannot_run(words: &[OsString], error: &io::Error) -> i32 {
    let name = words.first().map(|name| name.display().to_string()).unwrap_or_default();
    eprintln!("switchboard: {}: {error}", crate::agents::shown::shown(&name, 200));
    CANNOT_RUN
}
