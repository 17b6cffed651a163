//! A handler that blocks is named by a line, an event and a counter; one that moves the work is not.

use opentelemetry_proto::tonic::trace::v1::Span;
use tracecast_receiver::{Receiver, attribute};

use crate::support::command;

/// The threads of a machine that is busy may wait for a processor, so a stall elsewhere is no mistake: what is looked for is there.
#[test]
fn the_function_that_blocks_is_named() {
    let receiver = Receiver::start();
    let endpoint: String = receiver.endpoint();
    let output = command(env!("CARGO_BIN_EXE_stalls"), &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]).output().unwrap();
    let [text, lines] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{text}\n{lines}");
    assert!(lines.contains("a thread stalls in `Archive/Compress`: one poll has lasted for"), "{lines}");
    for line in [
        "/here: 200 OK",
        "/elsewhere: 200 OK",
        "tc_stalls_total{span=\"Archive/Compress\"} 1",
        "tc_runtime_tasks_alive{runtime=\"main\"} 0",
    ] {
        assert!(text.contains(line), "{line} is missing: {text}");
    }
    let exported = receiver.exported();
    let parent = |name: &str| exported.span(name).span_id.clone();
    let below = |name: &str| {
        let is_below = |span: &&Span| span.parent_span_id == parent(name);
        exported.named("Archive/Compress").into_iter().find(is_below).expect("a span of the work")
    };
    let event = &below("Archive/PackHere").events[0];
    assert_eq!(event.name, "tc.stall");
    assert!(below("Archive/PackElsewhere").events.is_empty());
    let polls = |name: &str| attribute(&exported.span(name).attributes, "tc.polls");
    assert_eq!((polls("Archive/PackHere").as_str(), polls("Archive/PackElsewhere").as_str()), ("1", "2"));
    assert!(exported.has_metric("tc_stall_duration_seconds") && exported.has_metric("tc_runtime_workers"));
}
