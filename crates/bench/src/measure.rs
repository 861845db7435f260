//! The measurements, one file each, and what they share. Each starts what it needs and ends it again.

mod agent;
mod agents;
mod append;
mod engine;
mod fan_out;
mod framing;
mod idle;
mod latency;
mod reconnect;
mod relay;
mod replay;
mod search;
mod start;
mod tools;

use anyhow::Result;

use crate::row::Row;
use crate::subject::{Durability, Kind, Places, Subject};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Enough to see that everything runs; the numbers mean little.
    Quick,
    /// All of it.
    Full,
}

impl Extent {
    /// One number for a look, another for a measurement.
    #[must_use]
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// What a measurement is given.
#[derive(Clone, Debug)]
pub struct Bench {
    /// Where programs and data are.
    pub places: Places,
    /// How much.
    pub extent: Extent,
    /// Rounds; ours, the limit and the peer take turns in each.
    pub rounds: usize,
}

/// What a measurement brings.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Figures.
    pub rows: Vec<Row>,
    /// Microseconds of single messages, for the picture.
    pub latencies: Vec<(String, Vec<f64>)>,
    /// What could not be measured, and why.
    pub notes: Vec<String>,
}

/// One measurement.
#[derive(Clone, Copy)]
pub struct Measurement {
    /// Its name on the command line.
    pub name: &'static str,
    /// Doing it.
    pub run: fn(&Bench) -> Result<Findings>,
}

/// All of them, in the order of the table.
pub const ALL: &[Measurement] = &[
    Measurement { name: "framing", run: framing::measure },
    Measurement { name: "relay", run: relay::measure },
    Measurement { name: "latency", run: latency::measure },
    Measurement { name: "fan-out", run: fan_out::measure },
    Measurement { name: "append", run: append::measure },
    Measurement { name: "replay", run: replay::measure },
    Measurement { name: "start", run: start::measure },
    Measurement { name: "idle", run: idle::measure },
    Measurement { name: "agents", run: agents::measure },
    Measurement { name: "agent", run: agent::measure },
    Measurement { name: "tools", run: tools::measure },
    Measurement { name: "engine", run: engine::measure },
    Measurement { name: "reconnect", run: reconnect::measure },
    Measurement { name: "search", run: search::measure },
];

impl Bench {
    /// A subject that is warm; none if it is the peer and there is no Node.
    fn warm(&self, kind: Kind) -> Result<Option<Subject>> {
        if kind == Kind::Node && self.places.node.is_none() {
            return Ok(None);
        }
        Subject::warm(kind, &self.places).map(Some)
    }

    /// Ours twice, the limit, and the peer if there is one.
    fn four(&self) -> Result<Four> {
        Ok(Four {
            normal: Subject::warm(Kind::Ours(Durability::Normal), &self.places)?,
            full: Subject::warm(Kind::Ours(Durability::Full), &self.places)?,
            raw: Subject::warm(Kind::Raw, &self.places)?,
            node: self.warm(Kind::Node)?,
        })
    }
}

/// The subjects that take turns.
struct Four {
    normal: Subject,
    full: Subject,
    raw: Subject,
    node: Option<Subject>,
}

/// Tells the person who waits.
pub fn progress(what: &str) {
    eprintln!("bench: {what}");
}
