//! A storm in numbers, for people and for programs. Computes from what was counted; measures nothing itself.

use std::time::Duration;

use serde_json::{Value, json};

use crate::run::Outcome;
use crate::tally::Restart;

/// Lines of the histogram.
const BINS: usize = 12;
/// Its longest bar, in characters.
const BAR: usize = 50;

/// How times are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// How many there are.
    pub count: usize,
    /// The shortest.
    pub min: Duration,
    /// Half are not longer.
    pub p50: Duration,
    /// Nine of ten are not longer.
    pub p90: Duration,
    /// All but one of a hundred are not longer.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

impl Spread {
    /// Of any times; all zero if there are none.
    #[must_use]
    pub fn of(times: impl IntoIterator<Item = Duration>) -> Self {
        let mut times: Vec<Duration> = times.into_iter().collect();
        times.sort_unstable();
        // The smallest time that so many of a hundred do not exceed.
        let at = |percent: usize| {
            let rank = (times.len() * percent).div_ceil(100).max(1);
            times.get(rank - 1).copied().unwrap_or_default()
        };
        let (min, max) = (times.first().copied().unwrap_or_default(), times.last().copied().unwrap_or_default());
        Self { count: times.len(), min, p50: at(50), p90: at(90), p99: at(99), max }
    }

    fn words(self) -> String {
        let [min, p50, p90, p99, max] = [self.min, self.p50, self.p90, self.p99, self.max].map(millis);
        format!("min {min:.1}  p50 {p50:.1}  p90 {p90:.1}  p99 {p99:.1}  max {max:.1} ms  ({} restarts)", self.count)
    }

    fn json(self) -> Value {
        let round = |time: Duration| (millis(time) * 1000.0).round() / 1000.0;
        json!({
            "count": self.count, "minMs": round(self.min), "p50Ms": round(self.p50), "p90Ms": round(self.p90),
            "p99Ms": round(self.p99), "maxMs": round(self.max)
        })
    }
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

struct Times {
    ready: Spread,
    first_event: Spread,
    starved: Spread,
}

fn times(restarts: &[Restart]) -> Times {
    let fed = || restarts.iter().filter(|restart| !restart.is_starved());
    Times {
        ready: Spread::of(fed().map(|restart| restart.ready)),
        first_event: Spread::of(fed().filter_map(|restart| restart.first_event)),
        starved: Spread::of(restarts.iter().filter(|restart| restart.is_starved()).map(|restart| restart.ready)),
    }
}

fn verdict(outcome: &Outcome) -> &'static str {
    match (&outcome.failure, outcome.is_stopped) {
        (Some(_), _) => "failed",
        (None, true) => "stopped",
        (None, false) => "passed",
    }
}

/// The summary for people.
#[must_use]
pub fn words(outcome: &Outcome, seed: u64) -> String {
    let tally = &outcome.tally;
    let Times { ready, first_event, starved } = times(&tally.restarts);
    let modes: Vec<String> = tally.rounds.iter().map(|(mode, rounds)| format!("{mode} {rounds}")).collect();
    let verdict = match (&outcome.failure, outcome.is_stopped) {
        (Some(_), _) => "FAILED: a promise is broken, see above",
        (None, true) => "nothing lost, doubled, reordered or shown too early, as far as it went",
        (None, false) => "passed: nothing lost, doubled, reordered or shown before it was durable",
    };
    format!(
        "seed       {seed}\n\
         rounds     {} in {:.1} s ({})\n\
         signals    SIGKILL to hosts: {} running, {} starting, {} ending; to agents: {}. SIGTERM: {}. \
         SIGSTOP to hosts: {}, to agents: {}. Locks: {}. Starved lives: {}\n\
         checked    {} events ({:.1} MB) in {} journals against {} looks at the file ({} with packed parts); {} prompts, {} commands run\n\
         ready      {}\n\
         1st event  {}\n\
         starved    {}\n\
         verdict    {verdict}\n",
        tally.total(),
        outcome.took.as_secs_f64(),
        modes.join(", "),
        tally.kills,
        tally.startup_kills,
        tally.ending_kills,
        tally.agent_kills,
        tally.good_ends,
        tally.host_stops,
        tally.agent_stops,
        tally.locks,
        tally.starved,
        tally.events,
        tally.bytes as f64 / 1e6,
        tally.journals,
        tally.looks,
        tally.packed,
        tally.prompts,
        tally.runs,
        ready.words(),
        first_event.words(),
        starved.words(),
    )
}

/// The summary for programs, as one value.
#[must_use]
pub fn json(outcome: &Outcome, seed: u64) -> Value {
    let tally = &outcome.tally;
    let Times { ready, first_event, starved } = times(&tally.restarts);
    let modes: serde_json::Map<String, Value> =
        tally.rounds.iter().map(|(mode, rounds)| (mode.word().to_owned(), json!(rounds))).collect();
    let failure = outcome.failure.as_ref().map(|failure| {
        let findings: Vec<String> = failure.findings.iter().map(ToString::to_string).collect();
        json!({
            "round": failure.round, "mode": failure.mode.word(), "findings": findings, "trouble": failure.trouble,
            "folder": failure.folder
        })
    });
    json!({
        "verdict": verdict(outcome), "seed": seed, "rounds": tally.total(), "modes": modes,
        "seconds": (outcome.took.as_secs_f64() * 10.0).round() / 10.0,
        "kills": tally.kills, "startupKills": tally.startup_kills, "endingKills": tally.ending_kills,
        "agentKills": tally.agent_kills, "goodEnds": tally.good_ends, "hostStops": tally.host_stops,
        "agentStops": tally.agent_stops, "locks": tally.locks, "starvedLives": tally.starved, "journals": tally.journals,
        "events": tally.events, "bytes": tally.bytes, "looks": tally.looks, "packed": tally.packed, "prompts": tally.prompts, "runs": tally.runs,
        "ready": ready.json(), "firstEvent": first_event.json(), "starved": starved.json(), "failure": failure
    })
}

/// Times in bins of equal width up to the slowest of a hundred; the last bin takes what is beyond.
pub(crate) fn bins(times: &[Duration], count: usize) -> (f64, Vec<usize>) {
    let top = millis(Spread::of(times.iter().copied()).p99).max(1.0) * 1.05;
    let width = top / count as f64;
    let mut bins = vec![0; count + 1];
    for time in times {
        let bin = ((millis(*time) / width) as usize).min(count);
        if let Some(bin) = bins.get_mut(bin) {
            *bin += 1;
        }
    }
    (width, bins)
}

/// A small histogram of restart times for a terminal; empty if there were none.
#[must_use]
pub fn histogram(restarts: &[Restart]) -> String {
    let times: Vec<Duration> =
        restarts.iter().filter(|restart| !restart.is_starved()).map(|restart| restart.ready).collect();
    if times.is_empty() {
        return String::new();
    }
    let (width, bins) = bins(&times, BINS);
    let most = bins.iter().copied().max().unwrap_or(1).max(1);
    let mut text = String::from("SIGKILL to ready, in ms\n");
    for (at, bin) in bins.iter().enumerate() {
        let from = at as f64 * width;
        let bar = "█".repeat((bin * BAR).div_ceil(most));
        let sign = if at == BINS { "+" } else { " " };
        text += &format!("{from:8.1}{sign} {bin:5} {bar}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_read_off_the_sorted_times() {
        let spread = Spread::of((1..=200).rev().map(Duration::from_millis));
        let ms = Duration::from_millis;
        let expected = Spread { count: 200, min: ms(1), p50: ms(100), p90: ms(180), p99: ms(198), max: ms(200) };
        assert_eq!(spread, expected);
        assert_eq!(Spread::of([]), Spread::default());
    }

    #[test]
    fn every_time_is_in_one_bin() {
        let times: Vec<Duration> = (1..=1000).map(Duration::from_millis).collect();
        let (width, bins) = bins(&times, 10);
        assert_eq!(bins.iter().sum::<usize>(), 1000);
        assert!((width - 990.0 * 1.05 / 10.0).abs() < 1e-9);
    }
}
