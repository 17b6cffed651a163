//! The tracer provider of OpenTelemetry's API, and its tracers.

use std::borrow::Cow;
use std::sync::Arc;

use opentelemetry::trace::{SpanBuilder, TraceContextExt, TraceState, Tracer, TracerProvider};
use opentelemetry::{Context as Theirs, InstrumentationScope};

use super::span::TracecastSpan;
use super::{convert, current};
use crate::declare::callsite::Kind;
use crate::declare::scope::ExternalScope;
use crate::record::finished::FinishedSpan;
use crate::record::{bridge, clock};
use crate::trace::context::Context;
use crate::trace::external;

/// Creates spans of OpenTelemetry's API in the same traces as ours; they are sampled and exported together.
///
/// While telemetry runs, it is the global provider. Before and afterwards, its spans record nothing and only propagate
/// the context that they were given.
///
/// ```
/// use opentelemetry::trace::{Span as _, Tracer as _, TracerProvider as _};
///
/// let provider: tracecast::otel::TracecastTracerProvider = tracecast::otel::provider();
/// let span = provider.tracer("my_library").start("load");
/// assert!(!span.is_recording()); // telemetry does not run here
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TracecastTracerProvider {
    _private: (),
}

/// Returns the provider, for code that does not use `opentelemetry::global`.
///
/// ```
/// use opentelemetry::trace::{Tracer as _, TracerProvider as _};
///
/// let tracer = tracecast::otel::provider().tracer("my_library");
/// let bytes = tracer.in_span("load", |_context| 5);
/// assert_eq!(bytes, 5);
/// ```
pub const fn provider() -> TracecastTracerProvider {
    TracecastTracerProvider { _private: () }
}

impl TracerProvider for TracecastTracerProvider {
    type Tracer = TracecastTracer;

    fn tracer_with_scope(&self, scope: InstrumentationScope) -> TracecastTracer {
        TracecastTracer { scope: Arc::new(convert::scope(&scope)) }
    }
}

/// Creates the spans of one instrumentation scope.
///
/// ```
/// use opentelemetry::trace::{Tracer as _, TracerProvider as _};
///
/// let tracer: tracecast::otel::TracecastTracer = tracecast::otel::provider().tracer("my_library");
/// assert_eq!(tracer.in_span("load", |_context| 5), 5);
/// ```
#[derive(Clone, Debug)]
pub struct TracecastTracer {
    scope: Arc<ExternalScope>,
}

impl Tracer for TracecastTracer {
    type Span = TracecastSpan;

    fn build_with_context(&self, builder: SpanBuilder, given: &Theirs) -> TracecastSpan {
        let (parent, trace_state) = parent_of(given);
        // Captures record only our spans; spans of OpenTelemetry's API are transparent there.
        if !external::is_on() || parent.is_captured() || given.is_telemetry_suppressed() {
            return TracecastSpan::transparent(convert::span_context(&parent, trace_state));
        }
        let kind = builder.span_kind.as_ref().map_or(Kind::Internal, convert::kind);
        let own = external::begin(&parent, &builder.name, kind);
        let context = convert::span_context(&own, trace_state);
        if !own.is_sampled() {
            return TracecastSpan::transparent(context);
        }
        let mut data = FinishedSpan::begun(&self.scope, Cow::Borrowed(""), kind, &own, &parent);
        data.trace_state = context.trace_state().header();
        fill(&mut data, builder);
        TracecastSpan::recording(context, data)
    }
}

/// Returns the parent of a span that is created with the context `given`, and the parent's trace state.
///
/// Most callers pass the current context or a copy of it, so `given` and the current context are compared by their
/// spans. If the spans are equal, the parent is the span that is current here, ours or OpenTelemetry's. Any other
/// context was chosen explicitly, and is the parent.
pub(super) fn parent_of(given: &Theirs) -> (Context, TraceState) {
    let span = given.span();
    let theirs = span.span_context();
    let is_current = Some(convert::span_number(theirs.span_id())) == current::span_id();
    let parent = if is_current && (bridge::is_on() || !theirs.is_valid()) {
        Context::current()
    } else {
        convert::context(theirs)
    };
    let trace_state = current::trace_state_of(theirs, &parent);
    (parent, trace_state)
}

fn fill(data: &mut FinishedSpan, builder: SpanBuilder) {
    data.name = builder.name;
    data.start_unix_nanos = builder.start_time.map_or_else(clock::unix_now, clock::unix_nanos);
    builder.attributes.into_iter().flatten().for_each(|attribute| data.set(convert::attribute(attribute)));
    builder.events.into_iter().flatten().for_each(|event| data.event(convert::event(event)));
    builder.links.into_iter().flatten().for_each(|link| data.link(convert::link(link)));
}
