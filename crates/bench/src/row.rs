//! One figure: what was measured of us, of the limit and of the peer, round by round, and what is to be reached. Never
//! measures.

use serde_json::{Value, json};

use crate::stats::median;

/// How numbers are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things a second.
    PerSecond,
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
    /// Bytes.
    Bytes,
    /// Machine instructions.
    Instructions,
}

/// What a figure is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Against {
    /// The raw limit of the same run.
    Limit,
    /// The peer of the same run.
    Peer,
    /// A program that was measured once, beside the same limit: so many times the limit.
    Recorded {
        /// Its name.
        name: &'static str,
        /// Its figure divided by the limit's.
        times_limit: f64,
    },
    /// A number.
    Number,
}

/// On which side of a bound the figure is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// There or above.
    AtLeast(f64),
    /// There or below.
    AtMost(f64),
}

/// Something to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Held against what.
    pub against: Against,
    /// How.
    pub bound: Bound,
}

/// Whether a goal is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Met,
    /// It is not.
    Missed,
    /// What it is held against was not measured.
    Unknown,
}

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Ours, one a round.
    pub ours: Vec<f64>,
    /// The limit's.
    pub limit: Vec<f64>,
    /// The peer's.
    pub peer: Vec<f64>,
    /// Who the peer is.
    pub peer_name: &'static str,
    /// What is to be reached.
    pub goals: Vec<Goal>,
}

impl Row {
    /// A figure without numbers yet.
    #[must_use]
    pub fn new(name: impl Into<String>, unit: Unit) -> Self {
        let (ours, limit, peer, goals) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { name: name.into(), unit, ours, limit, peer, peer_name: "Node", goals }
    }

    /// Names another peer.
    #[must_use]
    pub fn beside(mut self, peer_name: &'static str) -> Self {
        self.peer_name = peer_name;
        self
    }

    /// Adds something to reach.
    #[must_use]
    pub fn goal(mut self, against: Against, bound: Bound) -> Self {
        self.goals.push(Goal { against, bound });
        self
    }

    /// Ours divided by the limit's.
    #[must_use]
    pub fn to_limit(&self) -> Option<f64> {
        ratio(&self.ours, &self.limit)
    }

    /// Ours divided by the peer's.
    #[must_use]
    pub fn to_peer(&self) -> Option<f64> {
        ratio(&self.ours, &self.peer)
    }

    /// The number that a goal is about.
    #[must_use]
    pub fn measured(&self, goal: &Goal) -> Option<f64> {
        match goal.against {
            Against::Limit => self.to_limit(),
            Against::Peer => self.to_peer(),
            Against::Recorded { times_limit, .. } => self.to_limit().map(|ratio| ratio / times_limit),
            Against::Number => median(&self.ours),
        }
    }

    /// Whether a goal is reached.
    #[must_use]
    pub fn verdict(&self, goal: &Goal) -> Verdict {
        match (self.measured(goal), goal.bound) {
            (None, _) => Verdict::Unknown,
            (Some(value), Bound::AtLeast(bound)) if value >= bound => Verdict::Met,
            (Some(value), Bound::AtMost(bound)) if value <= bound => Verdict::Met,
            (Some(_), _) => Verdict::Missed,
        }
    }

    /// A goal in words.
    #[must_use]
    pub fn words(&self, goal: &Goal) -> String {
        let (sign, bound) = match goal.bound {
            Bound::AtLeast(bound) => ("≥", bound),
            Bound::AtMost(bound) => ("≤", bound),
        };
        match goal.against {
            Against::Limit => format!("{sign} {}× limit", short(bound)),
            Against::Peer => format!("{sign} {}× {}", short(bound), self.peer_name),
            Against::Recorded { name, .. } => format!("{sign} {}× {name}, as recorded", short(bound)),
            Against::Number => format!("{sign} {}", self.unit.show(bound)),
        }
    }

    /// The figure as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let goals: Vec<Value> = self
            .goals
            .iter()
            .map(|goal| {
                json!({
                    "goal": self.words(goal), "measured": self.measured(goal),
                    "verdict": format!("{:?}", self.verdict(goal)).to_lowercase(),
                })
            })
            .collect();
        json!({
            "name": self.name, "unit": format!("{:?}", self.unit), "peerName": self.peer_name,
            "ours": median(&self.ours), "limit": median(&self.limit), "peer": median(&self.peer),
            "oursToLimit": self.to_limit(), "oursToPeer": self.to_peer(), "goals": goals,
            "rounds": {"ours": self.ours, "limit": self.limit, "peer": self.peer},
        })
    }
}

/// Rounds run side by side, so each round's own ratio counts; where their numbers differ, the medians'.
fn ratio(ours: &[f64], theirs: &[f64]) -> Option<f64> {
    let ratio = if ours.len() == theirs.len() {
        let each: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
        median(&each)?
    } else {
        median(ours)? / median(theirs)?
    };
    ratio.is_finite().then_some(ratio)
}

impl Unit {
    /// A number in this unit.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self {
            Self::PerSecond => format!("{}/s", large(value)),
            Self::Micros => format!("{} µs", short(value)),
            Self::Millis => format!("{} ms", short(value)),
            Self::Bytes if value >= 1e6 => format!("{} MB", short(value / 1e6)),
            Self::Bytes => format!("{} KB", short(value / 1e3)),
            Self::Instructions => short(value),
        }
    }
}

fn large(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e3 => format!("{:.0} k", v / 1e3),
        v => short(v),
    }
}

/// Three digits or so.
#[must_use]
pub fn short(value: f64) -> String {
    let text = match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let mut row = Row::new("relay", Unit::PerSecond)
            .goal(Against::Limit, Bound::AtLeast(0.35))
            .goal(Against::Peer, Bound::AtLeast(12.0))
            .goal(Against::Recorded { name: "other", times_limit: 0.1 }, Bound::AtLeast(5.0))
            .goal(Against::Number, Bound::AtMost(3000.0));
        row.ours = vec![400.0, 1000.0, 800.0];
        row.limit = vec![1000.0, 2000.0, 2000.0];
        row
    }

    #[test]
    fn the_ratio_is_the_median_of_the_rounds_own() {
        assert_eq!(row().to_limit(), Some(0.4));
        assert_eq!(row().to_peer(), None);
    }

    #[test]
    fn a_goal_is_met_missed_or_not_known() {
        let row = row();
        let verdicts: Vec<Verdict> = row.goals.iter().map(|goal| row.verdict(goal)).collect();
        assert_eq!(verdicts, vec![Verdict::Met, Verdict::Unknown, Verdict::Missed, Verdict::Met]);
        let words: Vec<String> = row.goals.iter().map(|goal| row.words(goal)).collect();
        assert_eq!(words, vec!["≥ 0.35× limit", "≥ 12× Node", "≥ 5× other, as recorded", "≤ 3 k/s"]);
    }

    #[test]
    fn numbers_are_short() {
        let shown = [Unit::PerSecond.show(1_234_567.0), Unit::Micros.show(0.0416), Unit::Bytes.show(4_812.0)];
        assert_eq!(shown, ["1.23 M/s", "0.042 µs", "4.81 KB"]);
        assert_eq!((short(100.0), short(30.0)), ("100".to_owned(), "30".to_owned()));
    }
}
