//! All work of a session has its identifiers, on both sides of the boundary to the actor; metrics have none of them.

use tracecast_receiver::attribute;

use crate::support::run;

#[test]
fn every_span_says_whose_it_is_and_no_metric_does() {
    let (text, exported) = run(env!("CARGO_BIN_EXE_training_controller"));
    assert!(text.contains("two sessions trained"), "{text}");
    // For each session a run with two steps, and in the actor two spans for each.
    for (session, run) in [("session-ada", "run-1"), ("session-bob", "run-7")] {
        let of = |name: &str| {
            let spans = exported.named(name).into_iter();
            spans.filter(|span| attribute(&span.attributes, "tc.session.id") == session).collect::<Vec<_>>()
        };
        let counts =
            ["Controller/Train", "Controller/SubmitStep", "ModelActor/ForwardBackward", "ModelActor/OptimizerStep"];
        assert_eq!(counts.map(|name| of(name).len()), [1, 2, 2, 2], "{session}");
        let below = of("ModelActor/OptimizerStep");
        assert!(below.iter().all(|span| attribute(&span.attributes, "tc.training_run.id") == run));
        // The request was not declared to travel.
        assert!(below.iter().all(|span| attribute(&span.attributes, "tc.request.id").is_empty()));
        assert!(below.iter().all(|span| span.trace_id == of("Controller/Train")[0].trace_id));
    }
    assert!(exported.has_metric("tc_train_tokens_total") && exported.has_metric("tc_queue_wait_seconds"));
    let ours = exported.metrics.iter().filter(|metric| metric.name.starts_with("tc_train_"));
    assert!(ours.map(|metric| format!("{metric:?}")).all(|metric| !metric.contains("session-")));
}
