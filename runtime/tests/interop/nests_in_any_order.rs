//! Spans of ours, of the OpenTelemetry API and of `tracing` nest in each other in any order, in functions and in futures.

#![cfg(all(feature = "otel", feature = "tracing"))]

use std::future::Future;
use std::pin::Pin;

use opentelemetry::global;
use opentelemetry::trace::{FutureExt as _, TraceContextExt as _, Tracer as _};
use tracecast::__bench::ExternalSpans;
use tracecast::otel::Interop;
use tracecast::prelude::*;
use tracecast::{Kind, Sampler, Span};
use tracing::Instrument as _;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::telemetry::Telemetry;

/// How a level is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
    Ours,
    /// Of a kind that is attached on the other side too.
    OursClient,
    Raw,
    Tracing,
}

const ALL: [Api; 4] = [Api::Ours, Api::OursClient, Api::Raw, Api::Tracing];

fn telemetry(sampler: Sampler, interop: Interop) -> Telemetry {
    Telemetry::start(sampler, || ExternalSpans::of_otel(1 << 24, interop, &[]))
}

/// With our layer, for this thread.
fn subscribed<R>(f: impl FnOnce() -> R) -> R {
    let subscriber = tracing_subscriber::registry().with(tracecast::tracing_spans::layer());
    tracing::subscriber::with_default(subscriber, f)
}

fn name(depth: usize) -> String {
    format!("L{depth}")
}

/// A span for each level, inside of each other, and beside each a leaf of each API.
fn nested(levels: &[Api], depth: usize) {
    let Some((api, below)) = levels.split_first() else { return };
    let inner = || {
        if below.is_empty() {
            leaves();
        }
        nested(below, depth + 1);
    };
    match api {
        Api::Ours => Span::builder(&name(depth), Kind::Internal).start().in_scope(inner),
        Api::OursClient => Span::builder(&name(depth), Kind::Client).start().in_scope(inner),
        Api::Raw => global::tracer("raw").in_span(name(depth), |_| inner()),
        Api::Tracing => tracing::info_span!("level", otel.name = name(depth)).in_scope(inner),
    }
}

#[tc_span("Leaf/Function")]
fn annotated() {}

fn leaves() {
    annotated();
    drop(tc_scope!("Leaf/Scope"));
    drop(global::tracer("raw").start("Leaf/Raw"));
    drop(tracing::info_span!("Leaf/Tracing"));
}

const LEAVES: &str = "Leaf/Function,Leaf/Raw,Leaf/Scope,Leaf/Tracing";

fn expected(depth: usize) -> String {
    (0..depth).rev().fold(LEAVES.to_owned(), |below, level| format!("L{level}({below})"))
}

/// All sequences of this length.
fn sequences(len: usize) -> Vec<Vec<Api>> {
    (0..len).fold(vec![Vec::new()], |shorter, _| {
        shorter.iter().flat_map(|start| ALL.map(|api| start.iter().copied().chain([api]).collect())).collect()
    })
}

fn six_levels() -> Vec<Vec<Api>> {
    use Api::{Ours, OursClient, Raw, Tracing};
    vec![
        vec![Ours, Raw, Tracing, Ours, Raw, Tracing],
        vec![Tracing, Raw, Ours, Tracing, Raw, Ours],
        vec![Raw, Ours, Raw, Ours, Raw, Ours],
        vec![Ours, Tracing, Ours, Tracing, Ours, Tracing],
        vec![Raw, Tracing, OursClient, Raw, Tracing, OursClient],
        vec![OursClient, OursClient, Raw, Raw, Tracing, Tracing],
        vec![Raw, Raw, Ours, Ours, Raw, Raw],
    ]
}

#[test]
fn in_functions() {
    for interop in [Interop::Boundaries, Interop::Full] {
        let telemetry = telemetry(Sampler::AlwaysOn, interop);
        subscribed(|| {
            for levels in (1..=4).flat_map(sequences).chain(six_levels()) {
                nested(&levels, 0);
                assert_eq!(telemetry.tree(), expected(levels.len()), "{interop:?} {levels:?}");
            }
        });
        let [ended, dropped, waiting] = telemetry.counts();
        assert!(ended > 0 && dropped == 0 && waiting == 0, "{:?}", telemetry.counts());
    }
}

fn nested_async(levels: &'static [Api], depth: usize) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let Some((api, below)) = levels.split_first() else { return Box::pin(async {}) };
    let inner = async move {
        tokio::task::yield_now().await;
        if below.is_empty() {
            leaves();
            annotated_async().await;
        }
        nested_async(below, depth + 1).await;
        tokio::task::yield_now().await;
    };
    // Made inside of a poll of the level around it, as code does.
    Box::pin(async move {
        match api {
            Api::Ours => inner.in_span(Span::builder(&name(depth), Kind::Internal).start()).await,
            Api::OursClient => inner.in_span(Span::builder(&name(depth), Kind::Client).start()).await,
            Api::Raw => {
                let span = global::tracer("raw").start(name(depth));
                inner.with_context(opentelemetry::Context::current_with_span(span)).await;
            }
            Api::Tracing => inner.instrument(tracing::info_span!("level", otel.name = name(depth))).await,
        }
    })
}

#[tc_span("Leaf/Async")]
async fn annotated_async() {
    tokio::task::yield_now().await;
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap()
}

#[test]
fn across_awaits_on_several_threads() {
    let telemetry = telemetry(Sampler::AlwaysOn, Interop::Boundaries);
    // Workers have no subscriber of their own, so it is the global one of this test's process.
    let subscriber = tracing_subscriber::registry().with(tracecast::tracing_spans::layer());
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let runtime = runtime();
    let all: Vec<_> = (1..=4).flat_map(sequences).chain(six_levels()).collect();
    for levels in all {
        let levels: &'static [Api] = levels.leak();
        runtime.block_on(async {
            let tasks: Vec<_> = (0..4).map(|_| tokio::spawn(nested_async(levels, 0))).collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        let one = expected(levels.len()).replace("Leaf/Function,", "Leaf/Async,Leaf/Function,");
        assert_eq!(telemetry.tree(), vec![one; 4].join(","), "{levels:?}");
    }
}

#[test]
fn unsampled_nothing_is_recorded_and_contexts_stay_valid() {
    for interop in [Interop::Boundaries, Interop::Full] {
        let telemetry = telemetry(Sampler::AlwaysOff, interop);
        subscribed(|| {
            for levels in (1..=3).flat_map(sequences).chain(six_levels()) {
                nested(&levels, 0);
                assert_eq!(telemetry.tree(), "", "{levels:?}");
            }
            global::tracer("raw").in_span("raw", |context| {
                let raw = context.span().span_context().clone();
                assert!(raw.is_valid() && !raw.is_sampled());
                let ours = tracecast::Context::current();
                assert_eq!(ours.trace_id().0.to_be_bytes(), raw.trace_id().to_bytes());
                assert!(!ours.is_sampled() && ours.is_valid());
                annotated();
            });
        });
        assert_eq!(telemetry.counts(), [0, 0, 0]);
    }
}

#[test]
fn a_client_span_of_tracing_is_current_on_their_side_too() {
    let _telemetry = telemetry(Sampler::AlwaysOn, Interop::Boundaries);
    subscribed(|| {
        let seen = || opentelemetry::Context::current().span().span_context().span_id().to_bytes();
        let ours = || tracecast::Context::current().span_id().0.to_be_bytes();
        tracing::info_span!("call", otel.kind = "client").in_scope(|| assert_eq!(seen(), ours()));
        tracing::info_span!("internal").in_scope(|| assert_eq!(seen(), [0; 8]));
        assert_eq!(seen(), [0; 8]);
    });
}
