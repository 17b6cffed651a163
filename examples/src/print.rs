//! What the demo shows at its end.

use tracecast::{Accounting, Catalogue, FinishedSpan, Outcome};

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
}
