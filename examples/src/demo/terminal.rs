//! The summary in the terminal.

use super::fleet::Outcome;
use super::received::{Received, Span};
use super::series::{self, FAMILIES, family};
use super::trace::Trace;
use super::wire::Attributes;

/// The column of durations.
const NAME_WIDTH: usize = 52;
/// Every span has this attribute, so it is printed once.
const SESSION: &str = "tc.session.id";

/// Prints one request across all processes.
pub(crate) fn trace(trace: &Trace<'_>) {
    let processes = trace.processes();
    heading(&format!("one request across {} processes", processes.len()));
    let Some(root) = trace.root() else { return };
    let session = root.attribute(SESSION).unwrap_or_default();
    println!("  trace {}; on all spans {SESSION}={session}\n", root.trace_id);
    for row in &trace.rows {
        let indent = "  ".repeat(row.depth + 1);
        let kind = row.span.kind.map_or(String::new(), |kind| format!(" [{kind}]"));
        let (span, name) = (row.span, format!("{indent}{}{kind}", row.span.name));
        println!("{name:<NAME_WIDTH$} {:>10}  {:<12} {}", duration(span), span.process, details(span));
        for event in &span.events {
            println!("{indent}  - event {event}");
        }
        for link in &span.links {
            let linked = trace.span(link).map_or("a span of another trace", |linked| &linked.name);
            println!("{indent}  ~ linked to {linked} {link}");
        }
    }
}

/// Prints one line per trace.
pub(crate) fn other_traces(traces: &[Trace<'_>]) {
    heading("all traces");
    for trace in traces {
        let Some(root) = trace.root() else { continue };
        let artifact = root.attribute("tc.artifact.id").unwrap_or_default();
        let (spans, processes) = (trace.rows.len(), trace.processes().join(", "));
        println!(
            "  {:<26} {artifact:<16} {:>10} {:<9} {spans:>3} spans in {processes}",
            root.name,
            duration(root),
            outcome(root)
        );
    }
}

/// Prints the metrics by which a store is monitored.
pub(crate) fn metrics(received: &Received) {
    heading("metrics");
    for (name, starts) in FAMILIES {
        println!("  {name}");
        for series in family(&received.series, starts) {
            println!("    {:<36} {:<12} {:<34} {}", series.name, series.process, series.shown(), pairs(&series.labels));
        }
    }
}

/// Prints the log lines of a trace.
pub(crate) fn lines(trace: &Trace<'_>, received: &Received) {
    heading("log lines of that request");
    for line in trace.lines(received) {
        let after = series::amount(line.time.saturating_sub(trace.start) as f64 / 1e9, "s");
        println!("  {after:>10}  {:<5} {:<12} {} {}", line.severity, line.process, line.text, pairs(&line.attributes));
        println!("{:>14}trace_id={} span_id={}", "", line.trace_id, line.span_id);
    }
}

/// Prints the span account of each process.
pub(crate) fn account(outcome: &Outcome) {
    heading("account");
    for (name, account) in outcome.accounts() {
        println!("  {name:<12} {}", account.map_or("no account".to_owned(), |account| account.to_string()));
    }
    println!("  {:<12} {}", "all", outcome.total());
}

fn heading(text: &str) {
    println!("\n{text}\n{}", "-".repeat(text.chars().count()));
}

fn duration(span: &Span) -> String {
    series::amount(span.end.saturating_sub(span.start) as f64 / 1e9, "s")
}

fn outcome(span: &Span) -> &'static str {
    match span {
        _ if span.is_cancelled() => "cancelled",
        _ if span.failed => "error",
        _ => "",
    }
}

/// Formats the outcome, then the attributes that add to the name.
fn details(span: &Span) -> String {
    let hidden = ["rpc.", "network.", "server.", "tc.rpc.", "tc.outcome", SESSION];
    let is_told = |name: &str| !hidden.iter().any(|start| name.starts_with(start));
    let told = span.attributes.iter().filter(|(name, _)| is_told(name)).cloned().collect();
    format!("{:<6}{}", outcome(span), pairs(&told)).trim_start().to_owned()
}

fn pairs(attributes: &Attributes) -> String {
    let shown = |(name, value): &(String, String)| {
        if value.contains(' ') { format!("{name}={value:?}") } else { format!("{name}={value}") }
    };
    attributes.iter().map(shown).collect::<Vec<_>>().join(" ")
}
