//! Interoperation with the OpenTelemetry API: one tree of spans, one set of metrics, one export.
//!
//! While telemetry runs, the global tracer provider of `opentelemetry` is ours. Spans that the program or its libraries
//! create through that API are sampled and exported together with ours. The parent of a span is the current span,
//! whichever API created that one. Inside a client, server, producer or consumer span of ours,
//! `opentelemetry::Context::current()` contains our span's context, so that third-party propagators inject it; with
//! [`Interop::Full`] this holds inside every span.
//!
//! The OpenTelemetry API cannot write to our spans: `Context::current().span()` has the ids of our span, but records
//! nothing. Use [`current()`](crate::current()).
//!
//! A context without a span that is passed explicitly, while OpenTelemetry has no current span, is treated as the
//! current context. To create a root inside of our span, use [`Context`](crate::Context) or [`Interop::Full`].

mod b3;
mod convert;
mod current;
pub(crate) mod exporter;
pub(crate) mod metrics;
mod propagation;
mod span;
#[cfg(test)]
mod tests;
mod tracer;

use opentelemetry::global;
use opentelemetry::propagation::TextMapCompositePropagator;
use opentelemetry::trace::noop::NoopTracerProvider;

pub use self::span::TracecastSpan;
pub use self::tracer::{TracecastTracer, TracecastTracerProvider, provider};

use self::propagation::Propagation;
pub use crate::config::Interop;
use crate::config::Propagator;
use crate::record::bridge;

/// Makes our provider and propagators the global ones. Spans are recorded after `external::start`.
pub(crate) fn install(interop: Interop, propagators: &[Propagator]) {
    bridge::set(current::BRIDGE, interop);
    global::set_tracer_provider(provider());
    global::set_text_map_propagator(Propagation::new(propagators));
}

/// Removes the global provider and propagators. Existing tracers then create spans that record nothing.
pub(crate) fn uninstall() {
    bridge::off();
    global::set_tracer_provider(NoopTracerProvider::new());
    global::set_text_map_propagator(TextMapCompositePropagator::new(Vec::new()));
}
