//! The OpenTelemetry API beside ours: one tree of spans, one set of metrics, one way out.
//!
//! While telemetry runs, the global tracer provider of `opentelemetry` is ours. Spans made through its API, by the
//! program or by libraries, are sampled with ours and leave with them, and each is the child of whatever span is current,
//! of theirs or ours. Inside a client, server, producer or consumer span of ours, `opentelemetry::Context::current()` is
//! its context, so that propagators of others inject it; with [`Interop::Full`] it is so inside every span.
//!
//! A span of ours cannot be written to through their API: `Context::current().span()` names it and records nothing. Use
//! [`current()`](crate::current()).
//!
//! A context that is given explicitly and has no span, where none is current on their side either, is taken for the
//! current one: a root inside a span of ours needs [`Context`](crate::Context) or [`Interop::Full`].

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

/// Makes our provider the global one, and the propagators. Spans are kept once `foreign::start` was called.
pub(crate) fn install(interop: Interop, propagators: &[Propagator]) {
    bridge::set(current::BRIDGE, interop);
    global::set_tracer_provider(provider());
    global::set_text_map_propagator(Propagation::new(propagators));
}

/// Takes them away. Tracers that were handed out make spans that record nothing.
pub(crate) fn uninstall() {
    bridge::off();
    global::set_tracer_provider(NoopTracerProvider::new());
    global::set_text_map_propagator(TextMapCompositePropagator::new(Vec::new()));
}
