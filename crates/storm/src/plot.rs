//! Restart times as a picture: how they are spread, and how they went round by round. Writes SVG by hand; readable on light
//! and dark ground.

use std::fmt::Write;
use std::time::Duration;

use crate::summary::{Spread, bins, millis};
use crate::tally::Restart;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 620.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const BINS: usize = 40;

const STYLE: &str = "
  svg { background: #fff; color: #1d232b; font: 13px system-ui, sans-serif; }
  text { fill: currentColor; } .soft { fill: #5c6773; } .line { stroke: #c9d1d9; stroke-width: 1; }
  .ready { fill: #2563a8; } .first { fill: #b3540f; } .starved { fill: none; stroke: #8a3ffc; stroke-width: 1.4; }
  @media (prefers-color-scheme: dark) {
    svg { background: #14181d; color: #e4e8ec; } .soft { fill: #9aa5b1; } .line { stroke: #39424c; }
    .ready { fill: #6cb0f5; } .first { fill: #f0a05a; } .starved { stroke: #c4a1ff; }
  }
";

/// One panel's place on the paper.
struct Panel {
    top: f64,
    bottom: f64,
    /// What the right and the upper edge stand for.
    across: f64,
    up: f64,
}

impl Panel {
    fn x(&self, value: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (value / self.across).clamp(0.0, 1.0)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * (value / self.up).clamp(0.0, 1.0)
    }

    /// Lines and numbers along both edges.
    fn edges(&self, svg: &mut String, words: &str) {
        for part in 0..=4 {
            let share = f64::from(part) / 4.0;
            let (x, y) = (self.x(share * self.across), self.y(share * self.up));
            let (low, name) = (self.bottom + 18.0, number(share * self.across));
            add(svg, &format!(r#"<text class="soft" x="{x:.1}" y="{low:.1}" text-anchor="middle">{name}</text>"#));
            let (right, left, base, name) = (WIDTH - RIGHT, LEFT - 8.0, y + 4.0, number(share * self.up));
            add(svg, &format!(r#"<line class="line" x1="{LEFT}" x2="{right}" y1="{y:.1}" y2="{y:.1}"/>"#));
            add(svg, &format!(r#"<text class="soft" x="{left}" y="{base:.1}" text-anchor="end">{name}</text>"#));
        }
        let above = self.top - 12.0;
        add(svg, &format!(r#"<text x="{LEFT}" y="{above:.1}">{words}</text>"#));
    }
}

fn add(svg: &mut String, line: &str) {
    // A string takes whatever is written to it.
    let _ = writeln!(svg, "{line}");
}

fn number(value: f64) -> String {
    if value < 10.0 && value.fract() != 0.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// The picture of all restarts of a storm.
#[must_use]
pub fn svg(restarts: &[Restart], seed: u64) -> String {
    let fed: Vec<&Restart> = restarts.iter().filter(|restart| !restart.is_starved()).collect();
    let ready: Vec<Duration> = fed.iter().map(|restart| restart.ready).collect();
    let spread = Spread::of(ready.iter().copied());
    let mut svg = String::new();
    add(&mut svg, &format!(r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">"#));
    add(&mut svg, &format!("<title>Restart times after SIGKILL, seed {seed}</title>\n<style>{STYLE}</style>"));
    let [p50, p99, max] = [spread.p50, spread.p99, spread.max].map(millis);
    let heading = format!(
        "Restart after SIGKILL: {} restarts, p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms (seed {seed})",
        fed.len()
    );
    add(&mut svg, &format!(r#"<text x="{LEFT}" y="26" font-size="16" font-weight="600">{heading}</text>"#));
    spread_panel(&mut svg, &ready);
    course_panel(&mut svg, restarts);
    add(&mut svg, "</svg>");
    svg
}

fn spread_panel(svg: &mut String, ready: &[Duration]) {
    let (width, bins) = bins(ready, BINS);
    let most = bins.iter().copied().max().unwrap_or(0).max(4);
    let panel = Panel { top: 74.0, bottom: 274.0, across: width * (BINS + 1) as f64, up: most as f64 };
    panel.edges(svg, "restarts by ms from SIGKILL to ready; the last bar is everything beyond");
    for (at, bin) in bins.iter().enumerate() {
        let (x, y) = (panel.x(at as f64 * width), panel.y(*bin as f64));
        let (wide, high) = (panel.x((at + 1) as f64 * width) - x - 1.0, panel.bottom - y);
        add(
            svg,
            &format!(
                r#"<rect class="ready" x="{x:.1}" y="{y:.1}" width="{wide:.1}" height="{high:.1}"><title>{bin}</title></rect>"#
            ),
        );
    }
}

fn course_panel(svg: &mut String, restarts: &[Restart]) {
    let all = restarts.iter().flat_map(|restart| [Some(restart.ready), restart.first_event]).flatten();
    // The slowest few would press all others flat; they are drawn at the upper edge.
    let up = millis(Spread::of(all).p99).max(1.0) * 1.1;
    let (first, last) = (restarts.first().map_or(0, |one| one.round), restarts.last().map_or(1, |one| one.round));
    let panel = Panel { top: 350.0, bottom: 570.0, across: (last - first).max(1) as f64, up };
    panel.edges(svg, "ms by round:");
    let legend = [
        ("ready", 160.0, "ready to serve"),
        ("first", 280.0, "first event at a view"),
        ("starved", 440.0, "ready, starved"),
    ];
    for (class, x, words) in legend {
        let (y, text) = (panel.top - 16.0, x + 10.0);
        add(
            svg,
            &format!(
                r#"<circle class="{class}" cx="{x}" cy="{y}" r="4"/><text x="{text}" y="{}">{words}</text>"#,
                y + 4.0
            ),
        );
    }
    for restart in restarts {
        let x = panel.x((restart.round - first) as f64);
        let class = if restart.is_starved() { "starved" } else { "ready" };
        dot(svg, class, x, panel.y(millis(restart.ready)));
        if let Some(event) = restart.first_event.filter(|_| !restart.is_starved()) {
            dot(svg, "first", x, panel.y(millis(event)));
        }
    }
}

fn dot(svg: &mut String, class: &str, x: f64, y: f64) {
    add(svg, &format!(r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="2"/>"#));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Care;

    #[test]
    fn every_restart_is_in_the_picture_and_none_make_an_empty_one() {
        let restart = |round| Restart {
            round,
            ready: Duration::from_millis(10 + round),
            first_event: Some(Duration::from_millis(20 + round)),
            care: if round == 3 { Care::Starved } else { Care::Fed },
        };
        let svg = svg(&(0..10).map(restart).collect::<Vec<_>>(), 5);
        let dots = |class: &str| svg.matches(&format!(r#"<circle class="{class}""#)).count();
        // One more of each in the legend.
        assert_eq!((dots("ready"), dots("first"), dots("starved")), (10, 10, 2));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
        assert!(!super::svg(&[], 5).contains("NaN"));
    }
}
