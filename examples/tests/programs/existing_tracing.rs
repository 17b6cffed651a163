//! Spans of `tracing` and ours are one tree, and its events have the ids of both.

use tracecast_receiver::attribute;

use crate::support::run;

#[test]
fn old_and_new_spans_are_one_tree() {
    let (text, exported) = run(env!("CARGO_BIN_EXE_existing_tracing"));
    assert!(text.contains("handled: 10 bytes"), "{text}");
    let [request, load, decode] = ["handle_request", "Store/Load", "decode"].map(|name| exported.span(name));
    assert_eq!((&load.parent_span_id, &decode.parent_span_id), (&request.span_id, &load.span_id));
    assert_eq!((&load.trace_id, &decode.trace_id), (&request.trace_id, &request.trace_id));
    assert_eq!(attribute(&request.attributes, "request.id"), "7");
    assert_eq!(attribute(&load.attributes, "tc.artifact.id"), "llama-3-8b");
    let spans: Vec<_> = exported.logs.iter().map(|record| &record.span_id).collect();
    assert_eq!(spans, [&request.span_id, &load.span_id]);
    assert!(exported.has_metric("tc_store_load_total"));
}
