//! A whole storm: world after world, round after round, until the rounds are done, something is found, or it is stopped.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::check::{Ends, Finding};
use crate::dice::Dice;
use crate::host::Trouble;
use crate::life::{self, Lived};
use crate::plan::{self, Life, Mode, Round};
use crate::tally::Tally;
use crate::verdict;
use crate::world::World;

/// Rounds on one data folder before a fresh one is taken: enough that logs are packed and grow, not so many that reading
/// them from the start is all that is done.
pub const ROUNDS_PER_WORLD: u64 = 20;

/// What to do with folders of worlds that went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Leave them.
    All,
    /// Remove them; a world in which something was found is always left.
    Failed,
}

/// What storm it shall be.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program `switchboard`.
    pub program: PathBuf,
    /// Where worlds get their folders.
    pub folder: PathBuf,
    /// From which everything is decided.
    pub seed: u64,
    /// The first round; those before it in the same world are done too.
    pub from: u64,
    /// How many rounds, from the first one of that world.
    pub rounds: u64,
    /// Rounds on one data folder.
    pub rounds_per_world: u64,
    /// Only these modes; all if it is empty.
    pub only: Vec<Mode>,
    /// What to do with folders.
    pub keep: Keep,
}

/// How far a storm is.
#[derive(Debug)]
pub struct Progress<'a> {
    /// Rounds done.
    pub done: u64,
    /// Rounds to do.
    pub rounds: u64,
    /// What the last round was about.
    pub mode: Mode,
    /// Counts of this world.
    pub world: &'a Tally,
    /// Since the start.
    pub elapsed: Duration,
}

/// What came of a storm.
#[derive(Debug)]
pub struct Outcome {
    /// What was done.
    pub tally: Tally,
    /// What was found, if anything.
    pub failure: Option<Failure>,
    /// Whether it was stopped before its rounds were done.
    pub is_stopped: bool,
    /// How long it took.
    pub took: Duration,
    /// Folders that were left.
    pub kept: Vec<PathBuf>,
}

/// A round in which something was found.
#[derive(Debug)]
pub struct Failure {
    /// Which round.
    pub round: u64,
    /// What it was about.
    pub mode: Mode,
    /// What was planned, in full.
    pub plan: String,
    /// What was found.
    pub findings: Vec<Finding>,
    /// Why it could not go on, if it could not.
    pub trouble: Option<String>,
    /// Where everything lies.
    pub folder: PathBuf,
}

/// Runs a storm. It stops between rounds when `stop` says so.
pub async fn run(options: &Options, stop: &watch::Receiver<bool>, progress: &mut dyn FnMut(&Progress<'_>)) -> Outcome {
    let began = Instant::now();
    let mut outcome =
        Outcome { tally: Tally::default(), failure: None, is_stopped: false, took: Duration::ZERO, kept: Vec::new() };
    let per_world = options.rounds_per_world.max(1);
    let first = options.from / per_world * per_world;
    let mut round = first;
    let end = first + options.rounds;
    while round < end && outcome.failure.is_none() && !outcome.is_stopped {
        let until = end.min(round + per_world);
        let mut tell = |done: u64, mode, world: &Tally| {
            progress(&Progress { done: done - first, rounds: options.rounds, mode, world, elapsed: began.elapsed() });
        };
        world(options, round, until, stop, &mut outcome, &mut tell).await;
        round = until;
    }
    outcome.took = began.elapsed();
    outcome
}

/// One world: its rounds, and a last life in which everything must come to its end.
async fn world(
    options: &Options,
    first: u64,
    until: u64,
    stop: &watch::Receiver<bool>,
    outcome: &mut Outcome,
    tell: &mut dyn FnMut(u64, Mode, &Tally),
) {
    let mut dice = Dice::new(options.seed, first / options.rounds_per_world.max(1));
    let deck = plan::deck(&mut dice, options.rounds_per_world as usize, &options.only);
    let mut world = match World::new(&options.program, &options.folder).await {
        Ok(world) => world,
        Err(trouble) => {
            let found = Found { findings: Vec::new(), trouble: Some(words(&trouble)), lived: Lived::default() };
            outcome.failure = Some(failure(first, Mode::Kill, "a fresh folder", found, &options.folder));
            return;
        }
    };
    let mut failed = None;
    let mut last = (first, Mode::Kill);
    for (round, mode) in (first..until).zip(deck) {
        let planned = plan::round(&mut dice, mode);
        last = (round, mode);
        *world.tally.rounds.entry(mode).or_default() += 1;
        if let Some(found) = play(&mut world, &planned.lives, round, Ends::AtMostOnce).await {
            failed = Some((format!("{planned:#?}"), found));
            break;
        }
        tell(round + 1, mode, &world.tally);
        outcome.is_stopped = *stop.borrow();
        if outcome.is_stopped {
            break;
        }
    }
    if failed.is_none() {
        let planned = Round { mode: last.1, lives: vec![plan::last_life()] };
        let found = play(&mut world, &planned.lives, last.0, Ends::ExactlyOnce).await;
        failed = found.map(|found| (format!("the end of the world: {planned:#?}"), found));
    }
    outcome.tally.add(std::mem::take(&mut world.tally));
    if failed.is_none() && options.keep == Keep::Failed {
        return;
    }
    let folder = world.place.keep();
    outcome.kept.push(folder.clone());
    outcome.failure = failed.map(|(plan, found)| failure(last.0, last.1, &plan, found, &folder));
}

/// What stopped a round.
struct Found {
    findings: Vec<Finding>,
    trouble: Option<String>,
    lived: Lived,
}

async fn play(world: &mut World, lives: &[Life], round: u64, ends: Ends) -> Option<Found> {
    for life in lives {
        let lived = match life::live(world, life, round).await {
            Ok(lived) => lived,
            Err(trouble) => {
                let trouble = Some(words(&trouble));
                return Some(Found { findings: Vec::new(), trouble, lived: Lived::default() });
            }
        };
        match verdict::judge(world, &lived, ends) {
            Ok(findings) if findings.is_empty() => {}
            Ok(findings) => return Some(Found { findings, trouble: None, lived }),
            Err(trouble) => {
                return Some(Found { findings: Vec::new(), trouble: Some(words(&trouble)), lived });
            }
        }
    }
    None
}

/// Writes down all that may help to understand a failure, beside the data.
fn failure(round: u64, mode: Mode, plan: &str, found: Found, folder: &Path) -> Failure {
    let Found { findings, trouble, lived } = found;
    // What cannot be written is still printed.
    let _ = std::fs::write(folder.join("plan.txt"), plan);
    for (at, (role, journal)) in lived.journals.iter().enumerate() {
        let shown = journal.shown.values().flatten().map(|shown| shown.raw.as_str());
        let lines: Vec<&str> = shown.chain(journal.odd.iter().map(String::as_str)).collect();
        let _ = std::fs::write(folder.join(format!("journal-{at}-{role:?}.jsonl")), lines.join("\n"));
    }
    Failure { round, mode, plan: plan.to_owned(), findings, trouble, folder: folder.to_owned() }
}

fn words(trouble: &Trouble) -> String {
    let mut text = trouble.to_string();
    let mut cause = std::error::Error::source(trouble);
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}
