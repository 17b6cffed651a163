//! Telemetry for people: on standard error, as text.

use std::io::Write;

use crate::finished::FinishedSpan;
use crate::snapshot::Snapshot;
use crate::tree;

/// Spans that were taken together, as trees.
pub(crate) fn spans(spans: &[FinishedSpan]) {
    let mut spans = spans.to_vec();
    spans.sort_by_key(|span| span.start_unix_nanos);
    show(&tree::timed(&spans));
}

/// Metrics, a line for each series.
pub(crate) fn metrics(snapshot: &Snapshot) {
    show(&snapshot.to_string());
}

/// Failing to write is not worth another line.
fn show(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
