//! Tries the agents one after the other, each in folders of its own with a host of its own. Says how it goes; judges nothing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::host::{Host, Place};
use crate::install::install;
use crate::model::Model;
use crate::peer::Peer;
use crate::trial::{Outcome, Stage, Trial};
use crate::view::View;

/// How long what is left of an agent may take to go.
const LEFTOVERS: Duration = Duration::from_secs(10);

/// How the agents are tried.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program under test.
    pub program: PathBuf,
    /// Where packages are kept.
    pub cache: PathBuf,
    /// Where each agent gets a folder; not below `TMPDIR`, which one of them does not bear.
    pub folder: PathBuf,
}

/// What came of one agent.
#[derive(Clone, Debug)]
pub struct Report {
    /// Who.
    pub peer: Peer,
    /// What came of each trial, in order.
    pub outcomes: Vec<(Trial, Outcome)>,
    /// What it had in memory.
    pub megabytes: u64,
}

/// Tries one agent.
pub async fn try_peer(peer: &Peer, options: &Options) -> Result<Report> {
    let installed =
        install(peer, &options.cache).await.with_context(|| format!("{} cannot be installed", peer.title))?;
    let folder = options.folder.join(peer.name);
    let place = Place::new(&folder, &options.program)?;
    let model = Model::start(0, Some(&folder.join("model.jsonl"))).await.context("the model cannot listen")?;
    place.configure(peer, &installed, &format!("http://{}", model.address))?;
    let host = place.serve().await?;
    let view = View::open(&host, &folder.join("view.jsonl")).await?;
    let mut stage = Stage { peer, host: &host, view, workspace: place.workspace(), megabytes: 0 };
    let mut outcomes = Vec::new();
    for trial in Trial::ALL.iter().copied().filter(|trial| *trial != Trial::End) {
        let outcome = if has_not_started(&outcomes) {
            Outcome::Skipped("it does not start")
        } else {
            stage.tries(trial).await.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
        };
        tell(peer, trial, &outcome);
        outcomes.push((trial, outcome));
    }
    let megabytes = stage.megabytes;
    drop(stage);
    let end = end(host).await;
    tell(peer, Trial::End, &end);
    outcomes.push((Trial::End, end));
    Ok(Report { peer: *peer, outcomes, megabytes })
}

fn has_not_started(outcomes: &[(Trial, Outcome)]) -> bool {
    matches!(outcomes.first(), Some((Trial::Start, Outcome::Failed(_))))
}

/// Ends the host and looks for what is left of its agents.
pub(crate) async fn end(host: Host) -> Outcome {
    let families: Vec<i32> = host.agents().into_iter().flat_map(family).collect();
    match host.end().await {
        Err(error) => return Outcome::Failed(error.to_string()),
        Ok(took) if took > LEFTOVERS => return Outcome::Failed(format!("the host took {} s", took.as_secs())),
        Ok(_) => {}
    }
    let began = Instant::now();
    loop {
        let left = families.iter().filter(|pid| is_alive(**pid)).count();
        if left == 0 {
            return Outcome::Passed(String::new());
        }
        if began.elapsed() > LEFTOVERS {
            return Outcome::Failed(format!("{left} processes are left"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A process and all that descend from it.
fn family(root: i32) -> Vec<i32> {
    let mut family = vec![root];
    let mut at = 0;
    while let Some(elder) = family.get(at).copied() {
        let children = std::fs::read_to_string(format!("/proc/{elder}/task/{elder}/children")).unwrap_or_default();
        family.extend(children.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        at += 1;
    }
    family
}

fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()).is_some_and(|state| state != "Z")
}

fn tell(peer: &Peer, trial: Trial, outcome: &Outcome) {
    let words = match outcome {
        Outcome::Passed(note) => format!("passed {note}"),
        Outcome::Failed(why) => format!("FAILED {why}"),
        Outcome::Skipped(why) => format!("-      {why}"),
    };
    eprintln!("{:<10} {:<14} {}", peer.name, trial.word(), words.trim_end());
}

/// Leaves nothing of a run but what is asked to be kept.
pub fn clear(folder: &Path) {
    // What cannot be removed is in nobody's way.
    let _ = std::fs::remove_dir_all(folder);
}
