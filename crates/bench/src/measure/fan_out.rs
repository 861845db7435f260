//! One agent to many views of the same tab: the host's time for one message to one view, flat out and paced.

use anyhow::Result;

use super::{Bench, Extent, Findings, progress};
use crate::load::Load;
use crate::row::{Against, Bound, Row, Unit};
use crate::subject::{Durability, Kind, Run, Subject};

/// How many views, and what each subject streams to them. Slow subjects get less, so that all take about as long.
struct Crowded {
    views: usize,
    ours: u64,
    raw: u64,
    node: u64,
    /// Messages a second when paced, and how many; the same for all.
    paced: (u64, u64),
}

const FULL: [Crowded; 3] = [
    Crowded { views: 1, ours: 300_000, raw: 2_000_000, node: 40_000, paced: (1000, 3000) },
    Crowded { views: 100, ours: 30_000, raw: 60_000, node: 2_000, paced: (200, 600) },
    Crowded { views: 1000, ours: 3_000, raw: 6_000, node: 200, paced: (20, 60) },
];
const QUICK: [Crowded; 2] = [
    Crowded { views: 1, ours: 1000, raw: 1000, node: 1000, paced: (1000, 50) },
    Crowded { views: 10, ours: 1000, raw: 1000, node: 1000, paced: (200, 20) },
];

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let places = &bench.places;
    let mut ours = Subject::warm(Kind::Ours(Durability::Full), places)?;
    let mut raw = Subject::warm(Kind::Raw, places)?;
    let mut node = bench.warm(Kind::Node)?;
    let mut rows = Vec::new();
    let sizes: &[Crowded] = match bench.extent {
        Extent::Quick => &QUICK,
        Extent::Full => &FULL,
    };
    for size in sizes {
        let views = size.views;
        let name = |how: &str| format!("fan-out to {views}, CPU for one delivery, {how}");
        let (mut flat, mut paced) = (Row::new(name("flat out"), Unit::Micros), Row::new(name("paced"), Unit::Micros));
        let mut rate = Row::new(format!("fan-out to {views}, deliveries, flat out"), Unit::PerSecond);
        if views == 100 {
            flat = flat.goal(Against::Limit, Bound::AtMost(2.0)).goal(Against::Peer, Bound::AtMost(1.0 / 30.0));
            paced = paced.goal(Against::Limit, Bound::AtMost(1.3)).goal(Against::Peer, Bound::AtMost(1.0 / 3.0));
        }
        for round in 0..bench.rounds {
            progress(&format!("fan-out to {views}, round {}", round + 1));
            let slow = Load::Paced { rate: size.paced.0, count: size.paced.1 };
            let both = |subject: &mut Subject, count: u64| -> Result<(Run, Run)> {
                Ok((subject.run(views, Load::Flat { count })?, subject.run(views, slow)?))
            };
            let ours = both(&mut ours, size.ours)?;
            let raw = both(&mut raw, size.raw)?;
            let node = node.as_mut().map(|node| both(node, size.node)).transpose()?;
            flat.ours.push(ours.0.cpu_per_delivery());
            flat.limit.push(raw.0.cpu_per_delivery());
            paced.ours.push(ours.1.cpu_per_delivery());
            paced.limit.push(raw.1.cpu_per_delivery());
            rate.ours.push(ours.0.per_second());
            rate.limit.push(raw.0.per_second());
            if let Some((node_flat, node_paced)) = node {
                flat.peer.push(node_flat.cpu_per_delivery());
                paced.peer.push(node_paced.cpu_per_delivery());
                rate.peer.push(node_flat.per_second());
            }
        }
        rows.extend([flat, paced, rate]);
    }
    Ok(Findings { rows, ..Findings::default() })
}
