//! The program behind `cargo xtask bench`: chooses what is measured, prints the table, keeps the numbers. Measures nothing
//! itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use switchboard_bench::machine::{self, Ticks};
use switchboard_bench::measure::{ALL, Bench, Extent, Findings, Measurement, progress};
use switchboard_bench::plot;
use switchboard_bench::subject::Places;
use switchboard_bench::table::Report;

/// Measures Switchboard, the raw limit and the peer side by side.
#[derive(Parser)]
struct Arguments {
    /// Prints JSON with every round, not a table.
    #[arg(long)]
    json: bool,
    /// Measures only these.
    #[arg(long, num_args = 1.., value_name = "NAME")]
    only: Vec<String>,
    /// A look at everything within seconds; its numbers mean little.
    #[arg(long)]
    quick: bool,
    /// Rounds of each measurement.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Where results and data go; must be on the disk that is to be measured.
    #[arg(long)]
    out: PathBuf,
    /// The peer's scripts.
    #[arg(long)]
    node: PathBuf,
    /// The scripts of the peers in Python.
    #[arg(long)]
    python: PathBuf,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let chosen = choose(&arguments.only)?;
    fs::create_dir_all(&arguments.out)?;
    let data = arguments.out.join(format!("data-{}", std::process::id()));
    let done = run(&arguments, &chosen, &data);
    // Whatever came of it, gigabytes are not left behind.
    let _ = fs::remove_dir_all(&data);
    done
}

fn choose(only: &[String]) -> Result<Vec<Measurement>> {
    let names: Vec<&str> = ALL.iter().map(|one| one.name).collect();
    if let Some(stranger) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no measurement `{stranger}`; there are {}", names.join(", "));
    }
    Ok(ALL.iter().filter(|one| only.is_empty() || only.iter().any(|name| name == one.name)).copied().collect())
}

fn run(arguments: &Arguments, chosen: &[Measurement], data: &Path) -> Result<ExitCode> {
    let mut report = Report { machine: machine::description(&arguments.out), ..Report::default() };
    let node = peer(&arguments.node, &arguments.out.join("node"));
    if let Err(error) = &node {
        report.notes.push(format!("the peer: {error:#}"));
    }
    let own = std::env::current_exe()?;
    let programs = own.parent().context("this program lies in no folder")?.to_path_buf();
    let extent = if arguments.quick { Extent::Quick } else { Extent::Full };
    let (python, kept) = (arguments.python.clone(), arguments.out.clone());
    let places = Places { programs, data: data.to_path_buf(), node: node.ok(), python, kept };
    let bench = Bench { places, extent, rounds: extent.pick(1, arguments.rounds.max(1)) };
    let (start, mut failed) = (Ticks::now(), false);
    for measurement in chosen {
        fs::create_dir_all(data)?;
        let before = Ticks::now();
        let done = (measurement.run)(&bench).unwrap_or_else(|error| {
            let log = fs::read_to_string(bench.places.log()).unwrap_or_default();
            progress(&format!("`{}` failed: {error:#}\n{}", measurement.name, last_lines(&log)));
            failed = true;
            Findings { notes: vec![format!("`{}`: {error:#}", measurement.name)], ..Findings::default() }
        });
        let stolen = Ticks::now().stolen_since(before);
        progress(&format!("{}: done, {:.1} % of the processors taken away", measurement.name, stolen * 100.0));
        if !done.latencies.is_empty() {
            fs::write(arguments.out.join("latency.svg"), plot::latencies(&done.latencies))?;
        }
        report.rows.extend(done.rows);
        report.notes.extend(done.notes);
        fs::remove_dir_all(data)?;
    }
    report.stolen = Ticks::now().stolen_since(start);
    keep(arguments, &report)?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn keep(arguments: &Arguments, report: &Report) -> Result<()> {
    let (json, table) = (format!("{:#}\n", report.json()), report.markdown());
    fs::write(arguments.out.join("results.json"), &json)?;
    fs::write(arguments.out.join("results.md"), &table)?;
    fs::write(arguments.out.join("ratios.svg"), plot::ratios(&report.rows))?;
    print!("{}", if arguments.json { json } else { table });
    progress(&format!("results and pictures are in {}", arguments.out.display()));
    Ok(())
}

fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join("\n")
}

/// The peer's scripts with their packages beside them, in a folder of our own.
fn peer(scripts: &Path, folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let mut changed = false;
    for name in
        ["package.json", "package-lock.json", "host.mjs", "framing.mjs", "writing.mjs", "tools.mjs", "engine.mjs"]
    {
        let text =
            fs::read(scripts.join(name)).with_context(|| format!("{} is missing", scripts.join(name).display()))?;
        changed |= name.starts_with("package") && fs::read(folder.join(name)).ok().as_ref() != Some(&text);
        fs::write(folder.join(name), text)?;
    }
    if changed || !folder.join("node_modules").is_dir() {
        progress("installing the peer's packages");
        let arguments = ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"];
        let installed = Command::new("npm").args(arguments).current_dir(folder).status().context("npm")?;
        if !installed.success() {
            bail!("npm could not install `ws` and `vscode-jsonrpc`");
        }
    }
    let node = Command::new("node").arg("--version").output().context("node")?;
    if !node.status.success() {
        bail!("node does not run");
    }
    Ok(folder.to_path_buf())
}
