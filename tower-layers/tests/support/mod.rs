//! Services over real sockets that end their calls in every way, and what became of their spans.
//!
//! What is recorded and measured belongs to the process: a test runs alone, in a runtime of its own, and what it left behind is
//! dropped with that.

#![allow(dead_code, unreachable_pub, reason = "each program uses what it needs")]

pub mod grpc;
pub mod http;

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracecast::__layers::conventions::Conventions;
use tracecast::testing::{
    FinishedSpan, MetricsConfig, MetricsGuard, PointValue, Reader, Recording, RecordingConfig, Snapshot, Temporality,
};
use tracecast::{Context, Kind, OwnedValue, propagation};

pub const BOTH: [Kind; 2] = [Kind::Server, Kind::Client];

/// The trace of a caller elsewhere, and its span.
pub const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
pub const SPAN: &str = "b7ad6b7169203331";

/// The context of a caller elsewhere.
pub fn caller(flags: &str, baggage: &str) -> Context {
    let headers = [
        ("traceparent", format!("00-{TRACE}-{SPAN}-{flags}")),
        ("tracestate", "a=1".to_owned()),
        ("baggage", baggage.to_owned()),
    ];
    propagation::extract(&headers.map(|(name, value)| (name.to_owned(), value)).to_vec())
}

/// The same as `context` shows it.
pub fn unchanged(flags: &str, baggage: &str) -> String {
    format!("traceparent: 00-{TRACE}-{SPAN}-{flags}\ntracestate: a=1\nbaggage: {baggage}\n")
}

/// What is current, so that tests can look at it from outside.
pub fn context() -> String {
    let mut headers = Vec::new();
    propagation::inject(&Context::current(), &mut headers);
    headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
}

static HANGING: AtomicUsize = AtomicUsize::new(0);

/// What a handler does that never answers.
pub async fn hang<T>() -> T {
    HANGING.fetch_add(1, SeqCst);
    std::future::pending().await
}

/// Waits until a handler hangs that did not when this was called.
pub fn hangs() -> impl Future<Output = ()> {
    let before = HANGING.load(SeqCst);
    async move {
        while HANGING.load(SeqCst) == before {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

static TURN: Mutex<()> = Mutex::new(());

/// Runs a test alone, as what is recorded belongs to the process.
pub fn alone<F: Future<Output = ()>>(test: impl FnOnce() -> F) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(180), test()).await.expect("the test hangs") });
}

/// Runs a test alone. After it, no call is in flight, by the metric of this name; what was measured then is returned.
pub fn alone_until_idle<F: Future<Output = ()>>(active: &str, test: impl FnOnce() -> F) -> Snapshot {
    let mut measured = None;
    alone(async || {
        let (_metering, mut reader) = meter();
        test().await;
        let limit = Instant::now() + Duration::from_secs(20);
        measured = loop {
            let snapshot = reader.snapshot();
            let count = snapshot.value(active, &[]).map_or(0.0, PointValue::as_f64);
            if count == 0.0 {
                break Some(snapshot);
            }
            assert!(Instant::now() < limit, "{active} is {count}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        };
    });
    measured.unwrap()
}

/// Conventions are those of the process. Tests rely on the default, which this restores.
pub struct Restored(fn(Conventions));

impl Restored {
    pub fn after(set: fn(Conventions), conventions: Conventions) -> Self {
        set(conventions);
        Restored(set)
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        self.0(Conventions::default());
    }
}

pub fn meter() -> (MetricsGuard, Reader) {
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let reader = metering.reader(Temporality::Cumulative);
    (metering, reader)
}

pub fn record() -> Recording {
    let recording = Recording::start(RecordingConfig::default()).unwrap();
    // What an earlier test left.
    recording.drain();
    recording
}

/// What was recorded, once it holds spans of all these kinds.
pub async fn spans_of(recording: &Recording, kinds: &[Kind]) -> Vec<FinishedSpan> {
    let mut spans: Vec<FinishedSpan> = Vec::new();
    let limit = Instant::now() + Duration::from_secs(20);
    loop {
        spans.extend(recording.drain());
        if kinds.iter().all(|kind| spans.iter().any(|span| span.kind == *kind)) {
            // What ended before on another thread may have been looked for too early.
            spans.extend(recording.drain());
            return spans;
        }
        assert!(Instant::now() < limit, "of {kinds:?} only these ended: {spans:#?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub fn of_kind(spans: &[FinishedSpan], kind: Kind) -> &FinishedSpan {
    let found: Vec<_> = spans.iter().filter(|span| span.kind == kind).collect();
    assert_eq!(found.len(), 1, "{spans:#?}");
    found[0]
}

/// The text of an attribute.
#[track_caller]
pub fn text(span: &FinishedSpan, key: &str) -> Option<String> {
    span.attribute(key).map(OwnedValue::to_string)
}
