//! `OpenTelemetrySpanExt::set_parent` of tracing-opentelemetry on spans of our layer: it cannot work, and a warning says so.

#![cfg(feature = "tracing")]

use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState};
use tracecast::__bench::ExternalSpans;
use tracecast::Sampler;
use tracecast::tracing_spans::layer;
use tracing::field::Empty;
use tracing_opentelemetry::{OpenTelemetrySpanExt as _, SetParentError};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::child::{Child, role};
use crate::telemetry::Telemetry;

const WARNING: &str = "OpenTelemetrySpanExt::set_parent";

/// What each program does, in a process of its own: the warning comes once in a process.
#[test]
fn program() {
    let Some(role) = role() else { return };
    let telemetry = Telemetry::start(Sampler::AlwaysOn, || ExternalSpans::start(1 << 24));
    let remote = SpanContext::new(TraceId::from(7), SpanId::from(8), TraceFlags::SAMPLED, true, TraceState::NONE);
    let parent = Context::new().with_remote_span_context(remote);
    let subscriber = tracing_subscriber::registry().with(layer());
    tracing::subscriber::with_default(subscriber, || {
        for _ in 0..3 {
            match role.as_str() {
                // As axum-tracing-opentelemetry makes the span of a request.
                "sets a parent" => {
                    let span = tracing::info_span!("HTTP request", otel.kind = "server", otel.name = Empty);
                    span.record("otel.name", "GET /");
                    assert!(matches!(span.set_parent(parent.clone()), Err(SetParentError::LayerNotFound)));
                    span.in_scope(|| ());
                }
                "sets none" => {
                    let asks = |span: &tracing::Span| drop(span.context());
                    // What is asked after a span is entered may be anything, such as the `SpanTrace` of an error.
                    let span = tracing::info_span!("entered", otel.kind = "server");
                    span.in_scope(|| asks(&span));
                    tracing::info_span!("parent")
                        .in_scope(|| asks(&tracing::info_span!("child", otel.kind = "client")));
                    asks(&tracing::info_span!("plain"));
                }
                other => panic!("{other}"),
            }
        }
    });
    assert!(!telemetry.spans().is_empty());
}

#[test]
fn a_parent_that_is_ignored_is_reported_once() {
    let output = Child::new(module_path!(), "program", "sets a parent").run();
    assert!(output.succeeded, "{}", output.text);
    let warnings: Vec<_> = output.text.lines().filter(|line| line.contains(WARNING)).collect();
    assert_eq!(
        warnings,
        [
            "tracecast: warning: the parent of `HTTP request` is ignored: `OpenTelemetrySpanExt::set_parent` does nothing under \
          `tracecast::tracing_spans::layer()`; use `tracing_opentelemetry::layer()` with a tracer of \
          `tracecast::otel::provider()` in its place"
        ]
    );
}

#[test]
fn nothing_is_reported_where_no_parent_was_set() {
    let output = Child::new(module_path!(), "program", "sets none").run();
    assert!(output.succeeded && !output.text.contains(WARNING), "{}", output.text);
}
