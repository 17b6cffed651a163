//! Draws bar charts as SVG, readable on light and dark pages.

use std::fmt::Write as _;

/// A group of bars that are compared.
pub struct Chart {
    pub title: &'static str,
    pub unit: &'static str,
    pub bars: Vec<Bar>,
}

pub struct Bar {
    pub label: String,
    pub value: f64,
    /// Whether the bar is highlighted, as ours is.
    pub ours: bool,
}

const WIDTH: f64 = 790.0;
const LABELS: f64 = 330.0;
const FIGURES: f64 = 90.0;
const BAR: f64 = 20.0;
const TITLE: f64 = 34.0;

/// Text has the page's colour where the chart is part of a page, as in the book.
const STYLE: &str = ".bars text{fill:var(--fg,#24292f)}.bars .title{font-weight:bold}.bars .ours{fill:#1f7a4d}\
                     .bars .peer{fill:#9aa4af}@media(prefers-color-scheme:dark){.bars text{fill:var(--fg,#d7dde3)}}";

/// Draws all charts below each other, each to its own scale.
pub fn svg(charts: &[Chart]) -> String {
    let charts: Vec<&Chart> =
        charts.iter().filter(|chart| chart.bars.iter().any(|bar| bar.value.is_finite())).collect();
    let height: f64 = charts.iter().map(|chart| TITLE + BAR * chart.bars.len() as f64).sum::<f64>() + 10.0;
    let mut svg = format!(
        "<svg class=\"bars\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<style>{STYLE}</style>\n"
    );
    let mut top = 0.0;
    for chart in charts {
        draw(&mut svg, chart, top);
        top += TITLE + BAR * chart.bars.len() as f64;
    }
    svg + "</svg>\n"
}

fn draw(svg: &mut String, chart: &Chart, top: f64) {
    let _ = writeln!(
        svg,
        "<text class=\"title\" x=\"8\" y=\"{}\">{} ({})</text>",
        top + 22.0,
        escaped(chart.title),
        chart.unit
    );
    let longest = chart.bars.iter().map(|bar| bar.value).filter(|value| value.is_finite()).fold(0.0, f64::max);
    for (row, bar) in chart.bars.iter().enumerate() {
        let y = top + TITLE + BAR * row as f64;
        let share = if bar.value.is_finite() && longest > 0.0 { bar.value.max(0.0) / longest } else { 0.0 };
        let width = share * (WIDTH - LABELS - FIGURES);
        let (text, class) = (y + 12.0, if bar.ours { "ours" } else { "peer" });
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{text}\" text-anchor=\"end\">{}</text>",
            LABELS - 8.0,
            escaped(&bar.label)
        );
        let _ = writeln!(
            svg,
            "<rect class=\"{class}\" x=\"{LABELS}\" y=\"{y}\" width=\"{width:.1}\" height=\"{}\"/>",
            BAR - 5.0
        );
        let figure = crate::stats::figure(bar.value);
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{text}\">{figure}</text>", LABELS + width + 6.0);
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_has_the_whole_width_and_texts_are_escaped() {
        let bar = |label: &str, value| Bar { label: label.to_owned(), value, ours: value < 2.0 };
        let svg = svg(&[Chart { title: "a < b", unit: "ns", bars: vec![bar("x", 1.0), bar("y & z", 2.0)] }]);
        assert!(svg.contains("width=\"185.0\"") && svg.contains("width=\"370.0\""), "{svg}");
        assert!(svg.contains("a &lt; b") && svg.contains("y &amp; z"), "{svg}");
    }

    #[test]
    fn what_was_not_measured_has_no_chart() {
        let bars = vec![Bar { label: String::new(), value: f64::NAN, ours: false }];
        assert!(!svg(&[Chart { title: "nothing", unit: "ns", bars }]).contains("nothing"));
    }
}
