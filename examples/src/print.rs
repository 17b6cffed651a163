//! What the demo shows at its end.

use tracecast::{Accounting, Catalogue, ExemplarPoint, FinishedSpan, Outcome, PointValue, Snapshot};

/// Every trace as a tree, by start.
pub(crate) fn traces(spans: &[FinishedSpan]) {
    println!("\nspans");
    let mut spans: Vec<_> = spans.iter().collect();
    spans.sort_by_key(|span| span.start_unix_nanos);
    for root in spans.iter().filter(|span| span.parent_span_id.is_none()) {
        println!("\n  trace {}", root.trace_id);
        below(&spans, root, 2);
    }
}

fn below(spans: &[&FinishedSpan], span: &FinishedSpan, depth: usize) {
    let indent = "  ".repeat(depth);
    let outcome = if span.outcome == Outcome::Ok { "" } else { span.outcome.as_str() };
    let attributes: Vec<_> =
        span.attributes.iter().map(|known| format!("{}={}", known.key.name, known.value)).collect();
    let name = format!("{indent}{}", span.name);
    println!("{name:<44} {:>9.2?} {outcome:<9} {}", span.duration, attributes.join(" "));
    for event in &span.events {
        println!("{indent}  - {}", event.name);
    }
    for link in &span.links {
        let name = spans.iter().find(|known| known.span_id == link.span_id).map_or("another span", |known| &known.name);
        println!("{indent}  ~ linked to {name} in trace {}", link.trace_id);
    }
    for child in spans.iter().filter(|child| child.parent_span_id == Some(span.span_id)) {
        below(spans, child, depth + 1);
    }
}

/// Every series, with its value or what its distribution says.
pub(crate) fn metrics(snapshot: &Snapshot) {
    println!("\nmetrics\n");
    for metric in &snapshot.metrics {
        for point in &metric.points {
            let labels: Vec<_> = point.labels.iter().map(|(name, text)| format!("{name}={text}")).collect();
            println!("  {:<24} {:<64} {}", metric.meta.name, labels.join(" "), value(&point.value, metric.meta.unit));
        }
    }
}

fn value(value: &PointValue, unit: &str) -> String {
    let distribution = |count: u64, sum: f64, max: Option<f64>, exemplars: &[ExemplarPoint]| {
        let trace = exemplars.last().map_or(String::new(), |exemplar| format!(", as in trace {}", exemplar.trace_id));
        format!("{count} x {:.4} {unit}, at most {:.4}{trace}", sum / count as f64, max.unwrap_or(sum))
    };
    match value {
        PointValue::Histogram(point) => distribution(point.count, point.sum, point.max, &point.exemplars),
        PointValue::Exponential(point) => distribution(point.count, point.sum, point.max, &point.exemplars),
        number => format!("{} {unit}", number.as_f64()),
    }
}

/// What became of every span.
pub(crate) fn account(accounting: &Accounting) {
    let Accounting { ended, taken, buffered, dropped, open, .. } = accounting;
    let total = dropped.total();
    println!("\naccount\n\n  ended {ended} = shown {taken} + buffered {buffered} + dropped {total}; open {open}");
}

/// What the program can emit.
pub(crate) fn catalogue(catalogue: &Catalogue) {
    println!("\ncatalogue\n");
    for span in &catalogue.spans {
        println!("  {:<34} {}:{}", span.name(), span.file(), span.line());
    }
    for metric in &catalogue.metrics {
        println!("  {:<34} {}  at most {} series", metric.name, metric.location, metric.series());
    }
}
