//! A span that works on a GPU has an event for each XID that came meanwhile.

use tracecast::testing::capture;
use tracecast::{OwnedValue, tc_span};

use crate::kit::{Bench, xids};

#[tc_span("Worker/Run")]
fn run(gpu: u32, work: impl FnOnce()) {
    let _on_device = tracecast_nvml::on_device(gpu);
    work();
}

#[test]
fn an_xid_during_the_work_is_an_event_of_its_span() {
    let mut bench = Bench::new("");
    let first = bench.until_watched(1, "");
    let captured = capture(|| {
        run(1, || {
            bench.fake.script(&format!("xid = {first}:1:79 {}:1:4711", first + 1)).unwrap();
            bench.until("both are counted", |now| xids(now, "1", "79").is_some() && xids(now, "1", "other").is_some());
        });
    });
    let span = captured.span("Worker/Run");
    assert_eq!(captured.outline().trim(), "Worker/Run");
    let numbers: Vec<_> = span.events.iter().map(|event| (&*event.name, number(event, "tc.gpu.xid"))).collect();
    assert_eq!(numbers, [("gpu.xid", Some(79.0)), ("gpu.xid", Some(4711.0))]);
    for event in &span.events {
        let time = number(event, "tc.gpu.xid.timestamp_seconds").unwrap();
        let (start, end) =
            (span.start_unix_nanos as f64 / 1e9, span.start_unix_nanos as f64 / 1e9 + span.duration.as_secs_f64());
        // To a millisecond, and the two clocks may differ by as much.
        assert!((start - 1.0..=end + 1.0).contains(&time), "{time} is not in {start}..{end}");
    }
    let tree = captured.tree();
    assert!(
        tree.contains("Worker/Run tc.device.id=1\n") && tree.contains("- gpu.xid tc.device.id=1 tc.gpu.xid=79 "),
        "{tree}"
    );
}

fn number(event: &tracecast::testing::Event, key: &str) -> Option<f64> {
    match event.attributes.iter().find(|attribute| attribute.key == key)?.value {
        OwnedValue::U64(value) => Some(value as f64),
        OwnedValue::F64(value) => Some(value),
        ref other => panic!("{key} is {other:?}"),
    }
}

#[test]
fn xids_of_other_gpus_and_other_times_are_no_events() {
    let mut bench = Bench::new("");
    let first = bench.until_watched(0, "");
    let captured = capture(|| {
        run(0, || {});
        run(1, || {
            bench.fake.script(&format!("xid = {first}:0:79")).unwrap();
            bench.until("it is counted", |now| xids(now, "0", "79").is_some());
        });
        run(0, || {});
    });
    assert_eq!(captured.spans.len(), 3);
    assert!(captured.spans.iter().all(|span| span.events.is_empty()), "{captured:?}");
}

#[test]
fn without_a_span_or_a_gpu_nothing_happens() {
    drop(tracecast_nvml::on_device(0));
    let captured = capture(|| run(u32::MAX, || {}));
    captured.assert_tree("Worker/Run tc.device.id=other");
}
