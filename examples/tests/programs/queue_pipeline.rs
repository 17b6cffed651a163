//! An event is one trace through workers that never call each other, and polling leaves none.

use tracecast_receiver::attribute;

use crate::support::{example, run};

#[test]
fn an_event_is_one_trace_through_all_workers() {
    let (text, exported) = run(&example("queue_pipeline"));
    assert!(text.contains("2 of 2 nodes were repaired"), "{text}");
    let steps = ["Detector/ReportFault", "Quarantine/Cordon", "Drainer/DrainNode"].map(|name| exported.named(name));
    assert!(steps.iter().all(|spans| spans.len() == 2), "{:?}", exported.names());
    for pair in steps.windows(2) {
        for after in &pair[1] {
            let before = pair[0].iter().find(|before| before.span_id == after.parent_span_id).unwrap();
            assert_eq!(before.trace_id, after.trace_id);
            assert_eq!(attribute(&before.attributes, "k8s.node.name"), attribute(&after.attributes, "k8s.node.name"));
        }
    }
    let [.., drained] = &steps;
    let repair = exported.span("Repairer/RebootBatch");
    assert!(drained.iter().all(|drain| repair.links.iter().any(|link| link.span_id == drain.span_id)));
    assert!(drained.iter().all(|drain| drain.trace_id != repair.trace_id));

    // While a drain was open, a marker said so.
    assert!(exported.names().contains(&"Drainer/DrainNode/open"), "{:?}", exported.names());
    // Workers polled all the time.
    assert_eq!(exported.named("health_events.select").len(), 0);
    assert_eq!(exported.named("health_events.update").len(), 6);
    assert_eq!(attribute(&exported.named("health_events.insert")[0].attributes, "db.system.name"), "sqlite");
}
