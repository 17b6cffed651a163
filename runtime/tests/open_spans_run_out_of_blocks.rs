//! Too many open spans at once: the surplus is dropped and counted, and the tree of the rest stays right.
//!
//! The first recording of a process fixes its capacity, so this is a program of its own.

use tracecast::Span;
use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig};

#[tc_span("Deep/Level")]
fn level(depth: u32) {
    if depth > 1 {
        level(depth - 1);
    }
}

#[test]
fn spans_without_a_block_are_counted_and_transparent() {
    let recording = Recording::start(RecordingConfig::default().with_capacity(4, 4)).unwrap();
    level(10);
    let spans = recording.drain();
    let accounting = recording.accounting();
    assert_eq!((spans.len(), accounting.dropped.too_many_open_spans), (4, 6), "{accounting:?}");
    assert_eq!((accounting.ended, accounting.open, accounting.taken), (10, 0, 4), "{accounting:?}");
    assert_eq!(spans.iter().filter(|span| span.parent_span_id.is_none()).count(), 1);

    // A span whose own block is full and finds no other one loses attributes, not itself.
    let held: Vec<_> = (0..3).map(|_| Span::builder("Deep/Held", tracecast::Kind::Internal).start()).collect();
    let mut last = Span::builder("Deep/Full", tracecast::Kind::Internal).start();
    last.set(tracecast::keys::tensor::artifact, "x".repeat(1000));
    last.end();
    drop(held);
    let spans = recording.drain();
    let full = spans.iter().find(|span| span.name == "Deep/Full").unwrap();
    assert_eq!((full.attributes.len(), full.dropped_attributes), (0, 1));
}
