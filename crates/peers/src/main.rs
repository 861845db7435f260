//! The peers as a program; `cargo xtask peers` builds and starts it. Says how it goes on standard error, and prints the
//! table on standard output.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::Parser;
use switchboard_peers::model::Model;
use switchboard_peers::{Options, PEERS, Peer, clear, markdown, placed, surprises, try_peer, usual_cache};

/// Installs real agents and drives each of them through the real program, offline, against a model that the prompts script;
/// prints a table of who passes what. Needs npm and its registry at the first run.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask peers")]
struct Args {
    /// Which agents; all if none is named
    names: Vec<String>,
    /// The program under test; `cargo xtask peers` builds it and fills this in
    #[arg(long, hide = true)]
    program: Option<PathBuf>,
    /// List the agents
    #[arg(long)]
    list: bool,
    /// Only the model: prints its address and serves until it is ended
    #[arg(long)]
    model_server: bool,
    /// The model's port, with --model-server
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// With --model-server, where each request is written down
    #[arg(long)]
    journal: Option<PathBuf>,
    /// Keep each agent's folder: the host's log, what the view was shown, what the model was asked
    #[arg(long)]
    keep: bool,
    /// Where packages are kept
    #[arg(long, default_value_os_t = usual_cache())]
    cache: PathBuf,
    /// Also write the table here, between the marks of a page if it has them
    #[arg(long)]
    out: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let args = Args::parse();
    if args.model_server {
        let model = Model::start(args.port, args.journal.as_deref()).await.context("the model cannot listen")?;
        println!("http://{}", model.address);
        model.run().await;
        return Ok(ExitCode::SUCCESS);
    }
    if args.list {
        for peer in PEERS {
            println!("{:<10} {:<20} {}", peer.name, peer.title, peer.packages.join(" "));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = chosen(&args.names)?;
    let program = args.program.clone().context("no program is named; start this as `cargo xtask peers`")?;
    let folder = args.cache.join(format!("run-{}", std::process::id()));
    let options = Options { program: program.canonicalize()?, cache: args.cache.clone(), folder: folder.clone() };
    let ended = try_all(&chosen, &options, args.out.as_deref()).await;
    if args.keep {
        eprintln!("kept {}", folder.display());
    } else {
        clear(&folder);
    }
    ended
}

async fn try_all(chosen: &[Peer], options: &Options, out: Option<&Path>) -> Result<ExitCode> {
    let mut reports = Vec::new();
    let mut broken = Vec::new();
    for peer in chosen {
        tokio::select! {
            tried = try_peer(peer, options) => match tried {
                Ok(report) => reports.push(report),
                Err(error) => {
                    eprintln!("{:<10} {error:#}", peer.name);
                    broken.push(peer.title);
                }
            },
            interrupted = tokio::signal::ctrl_c() => {
                interrupted.context("Ctrl-C cannot be heard")?;
                return Ok(ExitCode::from(130));
            }
        }
    }
    let table = markdown(&reports, &today());
    println!("{table}");
    if let Some(path) = out {
        let page = std::fs::read_to_string(path).unwrap_or_default();
        std::fs::write(path, placed(&page, &table)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let surprises = surprises(&reports);
    for surprise in &surprises {
        eprintln!("not expected: {surprise}");
    }
    for title in &broken {
        eprintln!("not tried: {title}");
    }
    Ok(if surprises.is_empty() && broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn chosen(names: &[String]) -> Result<Vec<Peer>> {
    if names.is_empty() {
        return Ok(PEERS.to_vec());
    }
    let known: Vec<&str> = PEERS.iter().map(|peer| peer.name).collect();
    let find = |name: &String| match PEERS.iter().find(|peer| peer.name == name) {
        Some(peer) => Ok(*peer),
        None => bail!("there is no peer `{name}`; there are {}", known.join(", ")),
    };
    names.iter().map(find).collect()
}

/// The date, in the time of Greenwich.
fn today() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / 86_400);
    // Days are counted from a first of March, so that the leap day is a year's last.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day_of_month:02}")
}
