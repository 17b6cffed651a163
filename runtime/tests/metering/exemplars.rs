//! Exemplars lead from a bucket to a trace: one per bucket and collection, only of sampled spans unless asked for others.

use tracecast::Sampler;
use tracecast::prelude::*;
use tracecast::testing::{
    ExemplarPoint, Exemplars, MetricsConfig, MetricsGuard, PointValue, Reader, RecordingConfig, Temporality,
};

use crate::turn::{start_recording, turn};

tc_metrics! {
    /// Times.
    static TIMES: Histogram = "tc_exemplars_times_seconds" { buckets: [0.1, 1] };
    /// Sizes.
    static SIZES: Histogram<(), u64> = "tc_exemplars_sizes_bytes" { exponential };
}

#[tc_span("Store/Load")]
fn load(seconds: &[f64]) {
    for value in seconds {
        TIMES.record(*value, ());
    }
}

#[tc_span("Store/Measured")]
#[tc_metric(duration = "tc_exemplars_measured_seconds")]
fn measured() {}

#[tc_metric(duration = "tc_exemplars_measured_async_seconds")]
#[tc_span("Store/MeasuredAsync")]
async fn measured_async() {}

fn exemplars(reader: &mut Reader, name: &str) -> Vec<ExemplarPoint> {
    match reader.snapshot().value(name, &[]) {
        Some(PointValue::Histogram(point)) => point.exemplars.clone(),
        Some(PointValue::Exponential(point)) => point.exemplars.clone(),
        _ => Vec::new(),
    }
}

#[test]
fn each_bucket_takes_one_per_collection() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default());
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let (mut reader, mut other) = (metering.reader(Temporality::Cumulative), metering.reader(Temporality::Delta));
    // What other tests left.
    recording.drain();
    load(&[0.05, 0.07, 3.0, 4.0]);
    let span = recording.drain().remove(0);
    let taken = exemplars(&mut reader, "tc_exemplars_times_seconds");
    assert_eq!(taken.iter().map(|exemplar| exemplar.value).collect::<Vec<_>>(), [0.05, 3.0]);
    for exemplar in &taken {
        assert_eq!((exemplar.trace_id, exemplar.span_id), (span.trace_id, span.span_id));
        let end = span.start_unix_nanos + span.duration.as_nanos() as u64;
        let within = span.start_unix_nanos.saturating_sub(1_000_000)..=end + 1_000_000;
        assert!(within.contains(&exemplar.time_unix_nanos), "{} is not in {within:?}", exemplar.time_unix_nanos);
    }
    assert_eq!(exemplars(&mut reader, "tc_exemplars_times_seconds"), [], "they were told once");
    let values = |taken: Vec<ExemplarPoint>| taken.iter().map(|exemplar| exemplar.value).collect::<Vec<_>>();
    assert_eq!(values(exemplars(&mut other, "tc_exemplars_times_seconds")), [0.05, 3.0], "each reader sees them");
    load(&[0.06]);
    assert_eq!(values(exemplars(&mut reader, "tc_exemplars_times_seconds")), [0.06]);
    assert_eq!(values(exemplars(&mut other, "tc_exemplars_times_seconds")), [0.06]);
}

#[test]
fn unsampled_spans_and_no_span_give_none() {
    let _turn = turn();
    let config = RecordingConfig::default().with_sampler(Sampler::AlwaysOff);
    let _recording = start_recording(config);
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    load(&[0.05]);
    TIMES.record(0.05, ());
    assert_eq!(exemplars(&mut reader, "tc_exemplars_times_seconds"), []);
    assert_eq!(reader.snapshot().value("tc_exemplars_times_seconds", &[]).unwrap().as_f64(), 2.0);
}

#[test]
fn exponential_buckets_and_measured_functions_have_them_too() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default());
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let (mut reader, mut other) = (metering.reader(Temporality::Cumulative), metering.reader(Temporality::Delta));
    {
        let _scope = tc_scope!("Store/Sizes");
        SIZES.record(1_u64, ());
        SIZES.record(1000_u64, ());
        SIZES.record(1001_u64, ());
    }
    measured();
    futures::executor::block_on(measured_async());
    let taken = exemplars(&mut reader, "tc_exemplars_sizes_bytes");
    assert_eq!(taken.iter().map(|exemplar| exemplar.value).collect::<Vec<_>>(), [1.0, 1000.0]);
    let spans = recording.drain();
    for (metric, span) in [
        ("tc_exemplars_measured_seconds", "Store/Measured"),
        ("tc_exemplars_measured_async_seconds", "Store/MeasuredAsync"),
    ] {
        let span = spans.iter().find(|known| known.name == span).unwrap();
        let taken = match other.snapshot().value(metric, &[]) {
            Some(PointValue::Histogram(point)) => point.exemplars.clone(),
            value => panic!("{value:?}"),
        };
        assert_eq!(taken.len(), 1, "{metric}");
        assert_eq!((taken[0].trace_id, taken[0].span_id), (span.trace_id, span.span_id), "{metric}");
        other = metering.reader(Temporality::Delta);
    }
}

#[tc_span("Store/Panics")]
#[tc_metric(duration = "tc_exemplars_panics_seconds")]
fn panics() {
    panic!("on purpose");
}

#[tc_span("Store/Cancelled")]
#[tc_metric(duration = "tc_exemplars_cancelled_seconds")]
async fn cancelled() {
    std::future::pending::<()>().await;
}

#[test]
fn calls_that_end_otherwise_are_their_own_exemplars_too() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default());
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    assert!(std::panic::catch_unwind(panics).is_err());
    {
        let mut future = std::pin::pin!(cancelled());
        let mut task = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(future.as_mut().poll(&mut task).is_pending());
    }
    let spans = recording.drain();
    for (metric, name) in
        [("tc_exemplars_panics_seconds", "Store/Panics"), ("tc_exemplars_cancelled_seconds", "Store/Cancelled")]
    {
        let span = spans.iter().find(|span| span.name == name).unwrap();
        let taken = exemplars(&mut metering.reader(Temporality::Cumulative), metric);
        let ids: Vec<_> = taken.iter().map(|exemplar| (exemplar.trace_id, exemplar.span_id)).collect();
        assert_eq!(ids, [(span.trace_id, span.span_id)], "{metric}");
    }
}

#[test]
fn a_busy_histogram_tells_one_at_each_collection() {
    let _turn = turn();
    let recording = start_recording(RecordingConfig::default());
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Delta);
    let done = std::sync::atomic::AtomicBool::new(false);
    let rounds = if cfg!(miri) { 3 } else { 100 };
    std::thread::scope(|scope| {
        let done = &done;
        scope.spawn(move || {
            let _scope = tc_scope!("Store/Busy");
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                TIMES.record(0.05, ());
            }
        });
        let (mut told, mut last) = (0, 0);
        while told < rounds {
            for exemplar in exemplars(&mut reader, "tc_exemplars_times_seconds") {
                assert!(exemplar.time_unix_nanos >= last, "told twice");
                last = exemplar.time_unix_nanos;
                told += 1;
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    drop(recording);
}

#[test]
fn the_filter_says_which_measurements_become_exemplars() {
    let _turn = turn();
    for (exemplars_of, sampler, expected) in [
        (Exemplars::Off, Sampler::AlwaysOn, [0, 0]),
        (Exemplars::InSampledSpans, Sampler::AlwaysOn, [1, 0]),
        (Exemplars::InSampledSpans, Sampler::AlwaysOff, [0, 0]),
        (Exemplars::Everywhere, Sampler::AlwaysOn, [1, 1]),
        (Exemplars::Everywhere, Sampler::AlwaysOff, [1, 1]),
    ] {
        let recording = start_recording(RecordingConfig::default().with_sampler(sampler.clone()));
        let metering = MetricsGuard::start(MetricsConfig::default().with_exemplars(exemplars_of)).unwrap();
        let mut reader = metering.reader(Temporality::Cumulative);
        load(&[0.05]);
        let inside = exemplars(&mut reader, "tc_exemplars_times_seconds");
        TIMES.record(0.05, ());
        let outside = exemplars(&mut reader, "tc_exemplars_times_seconds");
        assert_eq!([inside.len(), outside.len()], expected, "{exemplars_of:?} {sampler:?}");
        let sampled = matches!(sampler, Sampler::AlwaysOn);
        assert!(inside.iter().all(|exemplar| !sampled || exemplar.trace_id.0 != 0), "{inside:?}");
        assert!(outside.iter().all(|exemplar| exemplar.trace_id.0 == 0 && exemplar.span_id.0 == 0), "{outside:?}");
        drop(recording);
    }
    // Whoever starts metrics next has what the default is.
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    TIMES.record(0.05, ());
    assert_eq!(exemplars(&mut metering.reader(Temporality::Cumulative), "tc_exemplars_times_seconds"), []);
}
