//! Small pictures of the figures: one bar chart of ratios, one curve of latencies. Writes SVG as text and nothing else.

use std::fmt::Write as _;

use crate::row::{Row, short};
use crate::stats::percentile;

const WIDTH: f64 = 720.0;
const LINE: f64 = 22.0;
const NAMES: f64 = 330.0;
/// Powers of ten that the bars span, to either side of 1.
const DECADES: f64 = 2.5;
const COLOURS: [&str; 4] = ["#2b6cb0", "#2f855a", "#888888", "#c05621"];

/// A bar for each figure that has a limit: ours divided by the limit's, on a logarithmic scale.
#[must_use]
pub fn ratios(rows: &[Row]) -> String {
    let bars: Vec<(&str, f64)> = rows.iter().filter_map(|row| Some((row.name.as_str(), row.to_limit()?))).collect();
    let height = LINE * (bars.len() as f64 + 2.0);
    let mut svg = open(height);
    let middle = NAMES + (WIDTH - NAMES) / 2.0;
    let reach = (WIDTH - NAMES) / 2.0 - 50.0;
    let _ = write!(svg, r##"<path d="M{middle} {LINE}V{height}" stroke="#888"/>"##);
    text(&mut svg, middle, LINE - 6.0, "middle", "ours ÷ limit (the line is 1)");
    for (at, (name, ratio)) in bars.iter().enumerate() {
        let y = LINE * (at as f64 + 1.2);
        let len = (ratio.log10() / DECADES).clamp(-1.0, 1.0) * reach;
        let (left, width) = if len < 0.0 { (middle + len, -len) } else { (middle, len) };
        let colour = COLOURS[0];
        let _ = write!(svg, r#"<rect x="{left:.1}" y="{y:.1}" width="{width:.1}" height="14" fill="{colour}"/>"#);
        text(&mut svg, NAMES - 8.0, y + 11.0, "end", name);
        let (place, anchor) = if len < 0.0 { (left - 4.0, "end") } else { (left + width + 4.0, "start") };
        text(&mut svg, place, y + 11.0, anchor, &format!("{}×", short(*ratio)));
    }
    svg + "</svg>\n"
}

/// The share of messages that arrived within a time, for each of the named lists of microseconds.
#[must_use]
pub fn latencies(lists: &[(String, Vec<f64>)]) -> String {
    const HEIGHT: f64 = 320.0;
    let mut svg = open(HEIGHT);
    let (left, bottom, right) = (50.0, HEIGHT - 40.0, WIDTH - 20.0);
    // From 10 µs to 100 ms.
    let x = |us: f64| left + ((us.max(10.0).log10() - 1.0) / 4.0).min(1.0) * (right - left);
    let y = |share: f64| bottom - share * (bottom - 20.0);
    for (us, name) in [(10.0, "10 µs"), (100.0, "100 µs"), (1e3, "1 ms"), (1e4, "10 ms"), (1e5, "100 ms")] {
        let _ = write!(svg, r##"<path d="M{:.1} 20V{bottom}" stroke="#ddd"/>"##, x(us));
        text(&mut svg, x(us), bottom + 16.0, "middle", name);
    }
    for share in [0.5, 0.9, 0.99] {
        let _ = write!(svg, r##"<path d="M{left} {:.1}H{right}" stroke="#ddd"/>"##, y(share));
        text(&mut svg, left - 4.0, y(share) + 4.0, "end", &format!("{:.0} %", share * 100.0));
    }
    for (at, (name, list)) in lists.iter().enumerate() {
        let colour = COLOURS.get(at % COLOURS.len()).copied().unwrap_or("#000");
        let mut path = String::new();
        for step in 1..=200 {
            let share = f64::from(step) / 200.0;
            let Some(us) = percentile(list, share) else { continue };
            let _ = write!(path, "{}{:.1} {:.1}", if path.is_empty() { 'M' } else { 'L' }, x(us), y(share));
        }
        let _ = write!(svg, r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>"#);
        let _ = write!(
            svg,
            r#"<rect x="{left}" y="{:.1}" width="10" height="10" fill="{colour}"/>"#,
            24.0 + 16.0 * at as f64
        );
        text(&mut svg, left + 14.0, 33.0 + 16.0 * at as f64, "start", name);
    }
    svg + "</svg>\n"
}

fn open(height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"12\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    )
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let _ = write!(svg, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Unit;

    #[test]
    fn there_is_a_bar_for_each_figure_with_a_limit() {
        let mut row = Row::new("a < b", Unit::Micros);
        (row.ours, row.limit) = (vec![2.0], vec![1.0]);
        let svg = ratios(&[row, Row::new("no limit", Unit::Micros)]);
        assert_eq!(svg.matches("fill=\"#2b6cb0\"").count(), 1);
        assert!(svg.contains("a &lt; b") && svg.contains("2×") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn there_is_a_curve_for_each_list() {
        let svg = latencies(&[("raw".to_owned(), vec![50.0, 60.0]), ("none".to_owned(), Vec::new())]);
        assert_eq!(svg.matches("stroke-width=\"2\"").count(), 2);
        assert!(svg.contains(">raw<"));
    }
}
