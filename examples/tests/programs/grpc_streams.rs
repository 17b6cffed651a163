//! A long stream is one span on each side, its messages have spans, and the work on them is in the trace of who asked.

use tracecast_receiver::attribute;

use crate::support::run;

#[test]
fn messages_have_spans_and_work_is_in_the_trace_of_who_asked() {
    let (text, exported) = run(env!("CARGO_BIN_EXE_grpc_streams"));
    assert!(text.contains("llama-3-8b: 4096 bytes"), "{text}");
    // The client's and the server's span of the stream.
    let streams = exported.named("Backend/Connect");
    assert_eq!(streams.len(), 2, "{:?}", exported.names());
    let commands = exported.named("Agent/Command");
    assert_eq!((commands.len(), exported.named("Backend/Outcome").len()), (3, 3));
    let session = exported.span("Agent/Session");
    assert!(commands.iter().chain(&streams[..1]).all(|span| span.parent_span_id == session.span_id));
    let outcomes = exported.named("Backend/Outcome");
    assert!(outcomes.iter().all(|outcome| outcome.parent_span_id == streams[1].span_id));

    let (asked, executed) = (exported.named("Dashboard/Prefetch"), exported.named("Agent/Execute"));
    assert_eq!((asked.len(), executed.len()), (3, 3));
    for (asked, executed) in asked.iter().zip(&executed) {
        assert_eq!((&executed.trace_id, &executed.parent_span_id), (&asked.trace_id, &asked.span_id));
        assert_eq!(attribute(&executed.attributes, "tc.artifact.id"), attribute(&asked.attributes, "tc.artifact.id"));
        let link = &executed.links[0];
        assert!(commands.iter().any(|command| command.span_id == link.span_id), "{link:?}");
    }
}
