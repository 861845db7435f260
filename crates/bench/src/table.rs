//! The figures as a table in Markdown and as JSON. Never judges; a row does.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::row::{Row, Unit, Verdict, short};
use crate::stats::median;

/// What a whole run brought.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The machine.
    pub machine: String,
    /// The share of the processors that was taken away, from 0 to 1.
    pub stolen: f64,
    /// The figures, in order.
    pub rows: Vec<Row>,
    /// What could not be measured, and why.
    pub notes: Vec<String>,
}

impl Report {
    /// The table.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::from(
            "| figure | ours | limit | ours ÷ limit | peer | ours ÷ peer | goal | reached |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        );
        for row in &self.rows {
            let goals: Vec<String> = row.goals.iter().map(|goal| row.words(goal)).collect();
            let reached: Vec<&str> = row.goals.iter().map(|goal| word(row.verdict(goal))).collect();
            let peer = median(&row.peer).map(|value| format!("{} ({})", row.unit.show(value), row.peer_name));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} | {} |",
                row.name,
                shown(row.unit, &row.ours),
                shown(row.unit, &row.limit),
                times(row.to_limit()),
                peer.unwrap_or_default(),
                times(row.to_peer()),
                goals.join("; "),
                reached.join("; "),
            );
        }
        let _ = writeln!(
            text,
            "\n{}; {:.1} % of the processors were taken away meanwhile.",
            self.machine,
            self.stolen * 100.0
        );
        for note in &self.notes {
            let _ = writeln!(text, "Not measured: {note}");
        }
        text
    }

    /// The same as JSON, with every round.
    #[must_use]
    pub fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(Row::json).collect();
        json!({"machine": self.machine, "stolen": self.stolen, "notes": self.notes, "rows": rows})
    }
}

fn shown(unit: Unit, values: &[f64]) -> String {
    median(values).map_or_else(String::new, |value| unit.show(value))
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or_else(String::new, |ratio| format!("{}×", short(ratio)))
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "yes",
        Verdict::Missed => "**no**",
        Verdict::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Against, Bound};

    fn report() -> Report {
        let mut row = Row::new("relay", Unit::PerSecond)
            .goal(Against::Limit, Bound::AtLeast(0.35))
            .goal(Against::Peer, Bound::AtLeast(12.0));
        (row.ours, row.limit, row.peer) = (vec![700_000.0], vec![2_000_000.0], vec![70_000.0]);
        let notes = vec!["the moon".to_owned()];
        Report { machine: "2 cores".to_owned(), stolen: 0.015, rows: vec![row, Row::new("bare", Unit::Millis)], notes }
    }

    #[test]
    fn the_table_has_one_line_a_figure_with_ratios_and_verdicts() {
        let text = report().markdown();
        let lines: Vec<&str> = text.lines().collect();
        let relay =
            "| relay | 700 k/s | 2.00 M/s | 0.35× | 70 k/s (Node) | 10× | ≥ 0.35× limit; ≥ 12× Node | yes; **no** |";
        assert_eq!(lines[2], relay);
        assert_eq!(lines[3], "| bare |  |  |  |  |  |  |  |");
        assert_eq!(lines[5], "2 cores; 1.5 % of the processors were taken away meanwhile.");
        assert_eq!(lines[6], "Not measured: the moon");
    }

    #[test]
    fn the_json_keeps_every_round() {
        let json = report().json();
        assert_eq!(json["rows"][0]["rounds"]["peer"], json!([70_000.0]));
        assert_eq!(json["rows"][0]["goals"][1]["verdict"], "missed");
    }
}
