//! `#[tc_metric]` and `#[tc_span]` on one function: each goes on where the other is off.

use std::future::Future;
use std::time::Duration;

use futures::channel::oneshot;
use futures::executor::block_on;
use tracecast::keys::tensor::artifact;
use tracecast::prelude::*;
use tracecast::testing::{MetricsConfig, MetricsGuard, PointValue, Recording, RecordingConfig, Temporality};
use tracecast::{Filter, Sampler};

use crate::metered::StoreError;
use crate::turn::{start_recording, turn};

#[tc_span("Turns/Work", attrs(artifact = id))]
#[tc_metric(calls = "tc_both_works_total", duration = "tc_both_work_seconds", in_flight = "tc_both_works_active")]
fn work(id: &str) -> Result<(), StoreError> {
    if id.is_empty() { Err(StoreError::Gone) } else { Ok(()) }
}

#[tc_metric(calls = "tc_both_later_works_total")]
#[tc_span("Turns/Later")]
async fn work_later() {
    let _ = work("");
}

const WORKED: &str = "tc_both_later_works_total{outcome=ok} 1\ntc_both_work_seconds count=2\ntc_both_works_active 0\n\
    tc_both_works_total{outcome=ok} 1\ntc_both_works_total{outcome=error, error.type=Gone} 1\n";

/// Runs all work, and gives the names of its spans and its metrics.
fn run(recording: Option<&Recording>, metering: Option<&MetricsGuard>) -> (Vec<String>, String) {
    assert_eq!((work("ab"), block_on(work_later())), (Ok(()), ()));
    let mut spans = recording.map_or_else(Vec::new, Recording::drain);
    spans.sort_by_key(|span| span.start_unix_nanos);
    let lines = metering.map(|metering| metering.reader(Temporality::Cumulative).snapshot().to_string());
    let lines = lines.unwrap_or_default();
    let ours = lines.lines().filter(|line| line.contains("work")).map(|line| format!("{line}\n")).collect();
    let names = spans.iter().map(|span| span.name.to_string()).filter(|name| name.starts_with("Turns/"));
    (names.collect(), ours)
}

#[test]
fn metrics_go_on_without_spans() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    assert_eq!(run(None, Some(&metering)), (vec![], WORKED.to_owned()), "nothing is recorded");
    drop(metering);

    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let filter = "Turns=off".parse::<Filter>().unwrap();
    let recording = start_recording(RecordingConfig::default().with_filter(filter));
    assert_eq!(run(Some(&recording), Some(&metering)), (vec![], WORKED.to_owned()), "the spans are filtered out");
    drop((recording, metering));

    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let config = RecordingConfig::default().with_sampler(Sampler::Ratio(0.0));
    let recording = start_recording(config);
    assert_eq!(run(Some(&recording), Some(&metering)), (vec![], WORKED.to_owned()), "nothing is sampled");
}

#[test]
fn spans_go_on_without_metrics() {
    let _turn = turn();
    let names = ["Turns/Work", "Turns/Later", "Turns/Work"].map(str::to_owned).to_vec();
    let recording = start_recording(RecordingConfig::default());
    assert_eq!(run(Some(&recording), None), (names.clone(), String::new()), "metrics are off");
    let off = vec!["tc_both_*".to_owned()];
    let metering = MetricsGuard::start(MetricsConfig::default().with_off(off)).unwrap();
    assert_eq!(run(Some(&recording), Some(&metering)), (names.clone(), String::new()), "each of them is off");
    drop(metering);
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    assert_eq!(run(Some(&recording), Some(&metering)), (names, WORKED.to_owned()), "both are on");
}

#[tc_metric(calls = "tc_both_waits_total", in_flight = "tc_both_waits_active", duration = "tc_both_waits_seconds")]
async fn wait(gate: oneshot::Receiver<()>) {
    gate.await.unwrap();
}

fn poll_once<F: Future + Unpin>(future: &mut F) {
    assert!(block_on(async { futures::poll!(future).is_pending() }));
}

#[test]
fn calls_are_in_flight_from_the_first_poll_to_the_end() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    let mut active = || reader.snapshot().value("tc_both_waits_active", &[]).map(PointValue::as_f64);
    let ((open, gate), (_closed, other)) = (oneshot::channel(), oneshot::channel());
    let (mut first, mut second) = (Box::pin(wait(gate)), Box::pin(wait(other)));
    assert_eq!(active(), None, "made, and not polled");
    poll_once(&mut first);
    poll_once(&mut second);
    poll_once(&mut second);
    assert_eq!(active(), Some(2.0));
    drop(second);
    assert_eq!(active(), Some(1.0));
    std::thread::sleep(Duration::from_millis(2));
    open.send(()).unwrap();
    block_on(first);
    assert_eq!(active(), Some(0.0));
    let snapshot = reader.snapshot();
    assert_eq!(snapshot.value("tc_both_waits_total", &[("outcome", "ok")]), Some(&PointValue::U64(1)));
    assert_eq!(snapshot.value("tc_both_waits_total", &[("outcome", "cancelled")]), Some(&PointValue::U64(1)));
    let Some(PointValue::Histogram(waits)) = snapshot.value("tc_both_waits_seconds", &[]) else { panic!("{snapshot}") };
    assert!(waits.count == 2 && waits.max >= Some(0.002) && waits.min <= waits.max, "{waits:?}");
}
