//! `tracing-opentelemetry` over our provider, between spans of ours.

#![cfg(feature = "otel")]

use opentelemetry::global;
use opentelemetry::trace::{Tracer as _, TracerProvider as _};
use tracecast::__bench::ExternalSpans;
use tracecast::otel::{Interop, provider};
use tracecast::prelude::*;
use tracecast::{Kind, Sampler, Span};
use tracing::Instrument as _;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::telemetry::Telemetry;

fn telemetry(interop: Interop) -> Telemetry {
    Telemetry::start(Sampler::AlwaysOn, || ExternalSpans::of_otel(1 << 24, interop, &[]))
}

fn with<R>(f: impl FnOnce() -> R) -> R {
    let layer = tracing_opentelemetry::layer().with_tracer(provider().tracer("tracing-opentelemetry"));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), f)
}

#[tc_span("Ours/Leaf")]
fn leaf() {}

fn ours<R>(name: &str, kind: Kind, f: impl FnOnce() -> R) -> R {
    Span::builder(name, kind).start().in_scope(f)
}

#[test]
fn spans_nest_in_each_other() {
    for (interop, kind) in
        [(Interop::Boundaries, Kind::Internal), (Interop::Boundaries, Kind::Client), (Interop::Full, Kind::Internal)]
    {
        let telemetry = telemetry(interop);
        with(|| {
            ours("a", kind, || {
                tracing::info_span!("b").in_scope(|| {
                    ours("c", kind, || {
                        tracing::info_span!("d").in_scope(|| {
                            tracing::info_span!("e").in_scope(|| {
                                global::tracer("raw").in_span("f", |_| leaf());
                            });
                        });
                    });
                });
            });
        });
        assert_eq!(telemetry.tree(), "a(b(c(d(e(f(Ours/Leaf))))))", "{interop:?} {kind:?}");
    }
}

#[test]
fn across_awaits() {
    let telemetry = telemetry(Interop::Boundaries);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    with(|| {
        runtime.block_on(async {
            let inner = async {
                tokio::task::yield_now().await;
                leaf();
                tokio::task::yield_now().await;
                tracing::info_span!("c").in_scope(leaf);
            };
            let middle = async { inner.instrument(tracing::info_span!("b")).await };
            let outer = |name: &str| Span::builder(name, Kind::Internal).start();
            middle.in_span(outer("a")).await;
        });
    });
    assert_eq!(telemetry.tree(), "a(b(Ours/Leaf,c(Ours/Leaf)))");
}

#[test]
fn made_here_and_entered_elsewhere() {
    // Its layer takes their context when a span is made, and begins it when it is entered first: what is not attached
    // there is not seen.
    for (interop, kind) in [(Interop::Boundaries, Kind::Server), (Interop::Full, Kind::Internal)] {
        let telemetry = telemetry(interop);
        with(|| {
            let span = ours("a", kind, || tracing::info_span!("b"));
            ours("other", kind, || span.in_scope(leaf));
        });
        assert_eq!(telemetry.tree(), "a(b(Ours/Leaf)),other", "{interop:?}");
    }
}

#[test]
fn a_parent_that_was_set_is_the_parent() {
    let telemetry = telemetry(Interop::Boundaries);
    with(|| {
        let parent = opentelemetry::Context::new();
        let parent = {
            use opentelemetry::trace::TraceContextExt as _;
            parent.with_span(global::tracer("raw").start("parent"))
        };
        let span = tracing::info_span!("child");
        span.set_parent(parent).unwrap();
        ours("a", Kind::Internal, || span.in_scope(leaf));
    });
    assert_eq!(telemetry.tree(), "a,parent(child(Ours/Leaf))");
}
