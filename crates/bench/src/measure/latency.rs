//! An agent's pipe to one view, a thousand messages a second: how long each is on its way.

use anyhow::Result;

use super::{Bench, Findings, progress};
use crate::load::Load;
use crate::row::{Against, Bound, Row, Unit};
use crate::stats::percentile;

const RATE: u64 = 1000;

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let load = Load::Paced { rate: RATE, count: bench.extent.pick(100, 4000) };
    let mut middles = [
        Row::new("latency p50 at 1,000 a second, NORMAL log", Unit::Micros).goal(Against::Limit, Bound::AtMost(1.8)),
        Row::new("latency p50 at 1,000 a second, FULL log", Unit::Micros).goal(Against::Limit, Bound::AtMost(5.0)),
    ];
    let mut tails = [
        Row::new("latency p99 at 1,000 a second, NORMAL log", Unit::Micros).goal(Against::Peer, Bound::AtMost(1.0)),
        Row::new("latency p99 at 1,000 a second, FULL log", Unit::Micros).goal(Against::Peer, Bound::AtMost(1.0)),
    ];
    let names = ["NORMAL log", "FULL log", "raw copy", "Node"];
    let mut all: Vec<(String, Vec<f64>)> = names.iter().map(|name| ((*name).to_owned(), Vec::new())).collect();
    let mut four = bench.four()?;
    for round in 0..bench.rounds {
        progress(&format!("latency, round {}", round + 1));
        let mut lists = Vec::new();
        for subject in [Some(&mut four.normal), Some(&mut four.full), Some(&mut four.raw), four.node.as_mut()] {
            lists.push(subject.map(|subject| subject.run(1, load)).transpose()?.map(|run| run.seen.latencies));
        }
        let at = |who: usize, share: f64| lists.get(who)?.as_ref().and_then(|list| percentile(list, share));
        for ours in 0..2 {
            for (row, share) in [(&mut middles[ours], 0.5), (&mut tails[ours], 0.99)] {
                row.ours.extend(at(ours, share));
                row.limit.extend(at(2, share));
                row.peer.extend(at(3, share));
            }
        }
        for (list, (_, kept)) in lists.into_iter().zip(&mut all) {
            kept.extend(list.unwrap_or_default());
        }
    }
    let rows = middles.into_iter().chain(tails).collect();
    Ok(Findings { rows, latencies: all, notes: Vec::new() })
}
