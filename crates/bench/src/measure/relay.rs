//! An agent's pipe to one view, flat out: messages a second and the host's time for each.

use anyhow::Result;

use super::{Bench, Findings, progress};
use crate::load::Load;
use crate::row::{Against, Bound, Row, Unit};

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let pick = |quick, full| Load::Flat { count: bench.extent.pick(quick, full) };
    let (ours, raw, node) = (pick(5_000, 600_000), pick(20_000, 3_000_000), pick(2_000, 60_000));
    let mut rates = [
        Row::new("relay to one view, NORMAL log", Unit::PerSecond)
            .goal(Against::Limit, Bound::AtLeast(0.35))
            .goal(Against::Peer, Bound::AtLeast(12.0)),
        Row::new("relay to one view, FULL log", Unit::PerSecond)
            .goal(Against::Limit, Bound::AtLeast(0.25))
            .goal(Against::Peer, Bound::AtLeast(8.0)),
    ];
    let mut costs = [
        Row::new("host CPU for one message, NORMAL log", Unit::Micros),
        Row::new("host CPU for one message, FULL log", Unit::Micros),
    ];
    let mut four = bench.four()?;
    for round in 0..bench.rounds {
        progress(&format!("relay, round {}", round + 1));
        let (normal, full) = (four.normal.run(1, ours)?, four.full.run(1, ours)?);
        let raw = four.raw.run(1, raw)?;
        let node = four.node.as_mut().map(|subject| subject.run(1, node)).transpose()?;
        for (at, run) in [normal, full].iter().enumerate() {
            rates[at].ours.push(run.per_second());
            rates[at].limit.push(raw.per_second());
            rates[at].peer.extend(node.as_ref().map(crate::subject::Run::per_second));
            costs[at].ours.push(run.cpu_per_delivery());
            costs[at].limit.push(raw.cpu_per_delivery());
            costs[at].peer.extend(node.as_ref().map(crate::subject::Run::cpu_per_delivery));
        }
    }
    let rows = rates.into_iter().chain(costs).collect();
    Ok(Findings { rows, ..Findings::default() })
}
