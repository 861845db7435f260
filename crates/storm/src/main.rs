//! The storm as a program; `cargo xtask storm` builds and starts it. Says how it goes on standard error, and what came of
//! it on standard output.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use clap::Parser;
use switchboard_storm::{
    Failure, Keep, Mode, Options, Outcome, Progress, ROUNDS_PER_WORLD, histogram, json, run, svg, words,
};
use tokio::sync::watch;

/// Where a line cannot be rewritten, one comes after so many rounds.
const ROUNDS_PER_LINE: u64 = 50;
/// Findings that are printed; one fault often shows many times.
const SHOWN_FINDINGS: usize = 20;

/// Kills, stops and starves the real program at seeded instants, and checks that nothing is lost, doubled, reordered or
/// shown before it was durable.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask storm")]
struct Args {
    /// The program under test; `cargo xtask storm` builds it and fills this in
    #[arg(long, hide = true)]
    program: PathBuf,
    /// How many rounds
    #[arg(long, default_value_t = 2000)]
    rounds: u64,
    /// Decides everything that can be decided; a random one if absent
    #[arg(long)]
    seed: Option<u64>,
    /// Begin with the world of this round, to repeat a failure quickly
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Only rounds of these modes, separated by commas: kill, startup, double, term, close, stop, agent-stop, agent-kill,
    /// reader, lock, starve, run
    #[arg(long, value_delimiter = ',')]
    only: Vec<Mode>,
    /// Keep all data folders, not only that of a failure
    #[arg(long)]
    keep: bool,
    /// Where data folders are made
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    folder: PathBuf,
    /// Where the picture of the restart times goes
    #[arg(long)]
    plot: Option<PathBuf>,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let seed = args.seed.unwrap_or_else(any_seed);
    let options = Options {
        program: args.program.canonicalize().with_context(|| format!("no program at {}", args.program.display()))?,
        folder: args.folder.clone(),
        seed,
        from: args.from,
        rounds: args.rounds,
        rounds_per_world: ROUNDS_PER_WORLD,
        only: args.only.clone(),
        keep: if args.keep { Keep::All } else { Keep::Failed },
    };
    eprintln!("storm: {} rounds, seed {seed}; Ctrl-C ends it after the round", args.rounds);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let outcome = runtime.block_on(until_done(&options));
    for folder in &outcome.kept {
        eprintln!("kept {}", folder.display());
    }
    if let Some(failure) = &outcome.failure {
        eprint!("{}", report(failure, &args, seed));
    }
    if let Some(path) = &args.plot {
        plot(path, &outcome, seed)?;
    }
    if args.json {
        println!("{}", json(&outcome, seed));
    } else {
        print!("{}\n{}", words(&outcome, seed), histogram(&outcome.tally.restarts));
    }
    Ok(match (&outcome.failure, outcome.is_stopped) {
        (Some(_), _) => ExitCode::FAILURE,
        (None, true) => ExitCode::from(130),
        (None, false) => ExitCode::SUCCESS,
    })
}

async fn until_done(options: &Options) -> Outcome {
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        // Without Ctrl-C the storm can still be killed.
        if tokio::signal::ctrl_c().await.is_ok() {
            let _ = stop.send(true);
        }
        std::future::pending::<()>().await;
    });
    let is_terminal = std::io::stderr().is_terminal();
    let outcome = run(options, &stopped, &mut |progress| tell(progress, is_terminal)).await;
    if is_terminal {
        eprintln!();
    }
    outcome
}

fn tell(progress: &Progress<'_>, is_terminal: bool) {
    let Progress { done, rounds, mode, world, elapsed } = progress;
    if !is_terminal && !done.is_multiple_of(ROUNDS_PER_LINE) && done != rounds {
        return;
    }
    let last = world.restarts.last().map_or(0.0, |restart| restart.ready.as_secs_f64() * 1000.0);
    let left = elapsed.mul_f64((rounds.saturating_sub(*done)) as f64 / (*done).max(1) as f64);
    let words = format!("{done}/{rounds} {:<10} last restart {last:6.1} ms, {} to go", mode.word(), clock(left));
    if is_terminal {
        eprint!("\r\x1b[K{words}");
        let _ = std::io::stderr().flush();
    } else {
        eprintln!("{words}");
    }
}

fn clock(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

fn report(failure: &Failure, args: &Args, seed: u64) -> String {
    let mut text = format!("\nround {} ({}) failed\n", failure.round, failure.mode);
    for finding in failure.findings.iter().take(SHOWN_FINDINGS) {
        text += &format!("  {finding}\n");
    }
    if failure.findings.len() > SHOWN_FINDINGS {
        text += &format!("  and {} more\n", failure.findings.len() - SHOWN_FINDINGS);
    }
    if let Some(trouble) = &failure.trouble {
        text += &format!("  {trouble}\n");
    }
    let first = failure.round / ROUNDS_PER_WORLD * ROUNDS_PER_WORLD;
    let dev = if cfg!(debug_assertions) { " --dev" } else { "" };
    let only: Vec<&str> = args.only.iter().map(|mode| mode.word()).collect();
    let only = if only.is_empty() { String::new() } else { format!(" --only {}", only.join(",")) };
    text += &format!(
        "the data, the plan and every view's journal are in {}\nseed {seed}; to repeat it:\n  \
         cargo xtask storm{dev} --seed {seed} --from {first} --rounds {}{only}\n\n",
        failure.folder.display(),
        failure.round - first + 1
    );
    text
}

fn plot(path: &Path, outcome: &Outcome, seed: u64) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let picture = svg(&outcome.tally.restarts, seed);
    std::fs::write(path, picture).with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("the restart times are drawn in {}", path.display());
    Ok(())
}

fn any_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos().into()
}
