//! Reports that a parent was set by tracing-opentelemetry, whose `OpenTelemetrySpanExt` works with its own layer only.
//!
//! It asks the subscriber for a private type of its layer and does nothing if it finds none. Another crate cannot provide that type,
//! but a layer is told that some type is looked for. If that happens between the creation of a root span with fields of
//! OpenTelemetry and its first entry, where a parent has to be set, the span was meant to have one.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tracing_core::Metadata;

use crate::base::notice;
use crate::trace::context::Context;

thread_local! {
    /// The last span that was made on this thread, if it may still get a parent.
    static ROOT: Cell<Option<&'static str>> = const { Cell::new(None) };
}

static REPORTED: AtomicBool = AtomicBool::new(false);

/// Notes that a span was made.
pub(super) fn span_made(metadata: &'static Metadata<'static>, parent: &Context) {
    if !REPORTED.load(Relaxed) {
        let is_for_opentelemetry = || metadata.fields().iter().any(|field| field.name().starts_with("otel."));
        let root = (!parent.is_valid() && is_for_opentelemetry()).then(|| metadata.name());
        let _ = ROOT.try_with(|last| last.set(root));
    }
}

/// Notes that a span was entered.
pub(super) fn span_entered() {
    let _ = ROOT.try_with(Cell::take);
}

/// Notes that the subscriber was asked for a type that is not ours.
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
