//! The peers as a program; `cargo xtask peers` builds and starts it. Says how it goes on standard error, and prints the
//! table on standard output.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::Parser;
use switchboard_peers::model::Model;
use switchboard_peers::{
    Options, Other, PEERS, Peer, clear, markdown, own_markdown, own_placed, placed, surprises, surprises_of_own,
    try_own, try_peer, usual_cache,
};

/// Installs real agents and drives each of them through the real program, offline, against a model that the prompts script; then
/// the program's own agent with a model's server and a client that others have made. Prints tables of who passes what. Needs npm,
/// Python and their registries at the first run.
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
        for other in Other::ALL {
            println!("{:<10} {:<20} {}", other.name(), other.title(), other.packages().join(" "));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = chosen(&args.names)?;
    let program = args.program.clone().context("no program is named; start this as `cargo xtask peers`")?;
    let folder = args.cache.join(format!("run-{}", std::process::id()));
    let options = Options { program: program.canonicalize()?, cache: args.cache.clone(), folder: folder.clone() };
    let ended = tokio::select! {
        ended = try_all(&chosen, &options, args.out.as_deref()) => ended,
        interrupted = tokio::signal::ctrl_c() => interrupted.context("Ctrl-C cannot be heard").map(|()| ExitCode::from(130)),
    };
    if args.keep {
        eprintln!("kept {}", folder.display());
    } else {
        clear(&folder);
    }
    ended
}

/// Whoever is tried.
#[derive(Clone, Copy, Debug)]
enum Chosen {
    Agent(Peer),
    Own(Other),
}

impl Chosen {
    fn all() -> Vec<Self> {
        PEERS.iter().copied().map(Self::Agent).chain(Other::ALL.iter().copied().map(Self::Own)).collect()
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Agent(peer) => peer.name,
            Self::Own(other) => other.name(),
        }
    }
}

async fn try_all(chosen: &[Chosen], options: &Options, out: Option<&Path>) -> Result<ExitCode> {
    let (mut reports, mut own, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    for one in chosen {
        let tried = match one {
            Chosen::Agent(peer) => try_peer(peer, options).await.map(|report| reports.push(report)),
            Chosen::Own(other) => try_own(*other, options).await.map(|report| own.push(report)),
        };
        if let Err(error) = tried {
            eprintln!("{:<10} {error:#}", one.name());
            broken.push(one.name());
        }
    }
    if !reports.is_empty() {
        tell(&markdown(&reports, &today()), out, placed)?;
    }
    if !own.is_empty() {
        tell(&own_markdown(&own, &today()), out, own_placed)?;
    }
    let mut surprises = surprises(&reports);
    surprises.extend(surprises_of_own(&own));
    for surprise in &surprises {
        eprintln!("not expected: {surprise}");
    }
    for name in &broken {
        eprintln!("not tried: {name}");
    }
    Ok(if surprises.is_empty() && broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints a table, and puts it into the page if there is one.
fn tell(table: &str, out: Option<&Path>, placed: fn(&str, &str) -> String) -> Result<()> {
    println!("{table}");
    if let Some(path) = out {
        let page = std::fs::read_to_string(path).unwrap_or_default();
        std::fs::write(path, placed(&page, table)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn chosen(names: &[String]) -> Result<Vec<Chosen>> {
    let all = Chosen::all();
    if names.is_empty() {
        return Ok(all);
    }
    let known: Vec<&str> = all.iter().map(Chosen::name).collect();
    let find = |name: &String| match all.iter().find(|one| one.name() == name) {
        Some(one) => Ok(*one),
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
