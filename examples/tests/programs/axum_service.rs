//! A request is one trace from the client to the handler, named by its route.

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use tracecast_receiver::attribute;

use crate::support::run;

fn failed(span: &Span) -> bool {
    span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error)
}

#[test]
fn a_request_is_one_trace_named_by_its_route() {
    let (text, exported) = run(env!("CARGO_BIN_EXE_axum_service"));
    for line in ["models/llama-3-8b: 200 OK, 21 bytes", "models/unknown: 404 Not Found", "broken: 500 Internal"] {
        assert!(text.contains(line), "{text}");
    }
    let served = exported.named("GET /models/{id}");
    assert_eq!(served.len(), 2, "{:?}", exported.names());
    let (called, fetched) = (exported.named("GET"), exported.named("Dashboard/Fetch"));
    assert_eq!((called.len(), fetched.len()), (3, 3));
    assert_eq!(served[0].parent_span_id, called[0].span_id);
    assert_eq!(called[0].parent_span_id, fetched[0].span_id);
    let found = exported.named("models.select");
    assert_eq!(found[0].parent_span_id, served[0].span_id);
    assert_eq!(attribute(&served[0].attributes, "tc.artifact.id"), "llama-3-8b");

    // A client's mistake is no error of the server.
    assert_eq!(attribute(&served[1].attributes, "http.response.status_code"), "404");
    assert!(!failed(served[1]) && failed(called[1]));
    let broken = exported.span("GET /broken");
    assert!(failed(broken));
    assert_eq!(exported.logs[0].span_id, broken.span_id);
    assert!(exported.has_metric("tc_http_server_duration_seconds"));
}
