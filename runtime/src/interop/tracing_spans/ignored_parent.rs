//! Reports parents set through tracing-opentelemetry, whose `OpenTelemetrySpanExt` works only with its own layer.
//!
//! `OpenTelemetrySpanExt` searches the subscriber for a private type of its layer and does nothing if there is none.
//! Another crate cannot provide that type, but a layer can observe such a search. If there is one between the creation
//! of a root span with fields named `otel.*` and its first entry, which is when a parent must be set, the span was
//! meant to have a parent.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tracing_core::Metadata;

use crate::base::notice;
use crate::trace::context::Context;

thread_local! {
    /// The last span created on this thread, if it may still get a parent.
    static ROOT: Cell<Option<&'static str>> = const { Cell::new(None) };
}

static REPORTED: AtomicBool = AtomicBool::new(false);

/// Remembers a new span if it is a root with fields named `otel.*`; forgets the one before.
pub(super) fn span_made(metadata: &'static Metadata<'static>, parent: &Context) {
    if !REPORTED.load(Relaxed) {
        let is_for_opentelemetry = || metadata.fields().iter().any(|field| field.name().starts_with("otel."));
        let root = (!parent.is_valid() && is_for_opentelemetry()).then(|| metadata.name());
        let _ = ROOT.try_with(|last| last.set(root));
    }
}

/// Forgets the last new span: a parent would have been set before the first entry.
pub(super) fn span_entered() {
    let _ = ROOT.try_with(Cell::take);
}

/// Reports an ignored parent, once per process, if the last new span may still get one. Called when the subscriber is
/// searched for a type that is not ours.
pub(super) fn type_looked_for() {
    if let Ok(Some(name)) = ROOT.try_with(Cell::take)
        && !REPORTED.swap(true, Relaxed)
    {
        notice::say(format_args!(
            "the parent of `{name}` is ignored: `OpenTelemetrySpanExt::set_parent` does nothing under \
             `tracecast::tracing_spans::layer()`; use `tracing_opentelemetry::layer()` with a tracer of \
             `tracecast::otel::provider()` in its place"
        ));
    }
}
