//! OpenTelemetry's global propagator for the configured formats.

use opentelemetry::Context as Theirs;
use opentelemetry::baggage::BaggageExt;
use opentelemetry::propagation::text_map_propagator::FieldIter;
use opentelemetry::propagation::{Extractor, Injector, TextMapCompositePropagator, TextMapPropagator};
use opentelemetry::trace::TraceContextExt;
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};

use super::b3::B3;
use super::{convert, tracer};
use crate::config::Propagator;
use crate::formats::BAGGAGE;

/// Injects the current span, ours or OpenTelemetry's, even if ours is not attached to OpenTelemetry's context.
///
/// An injector can set headers but not remove them. So a caller's header that must not be forwarded is set to an empty
/// value.
#[derive(Debug)]
pub(super) struct Propagation {
    all: TextMapCompositePropagator,
    writes_baggage: bool,
}

impl Propagation {
    pub(super) fn new(propagators: &[Propagator]) -> Self {
        let boxed = |propagator: &Propagator| -> Box<dyn TextMapPropagator + Send + Sync> {
            match propagator {
                Propagator::TraceContext => Box::new(TraceContextPropagator::new()),
                Propagator::Baggage => Box::new(BaggagePropagator::new()),
                Propagator::B3 => Box::new(B3::single()),
                Propagator::B3Multi => Box::new(B3::multiple()),
            }
        };
        let all = TextMapCompositePropagator::new(propagators.iter().map(boxed).collect());
        Propagation { all, writes_baggage: propagators.contains(&Propagator::Baggage) }
    }

    fn inject(&self, context: &Theirs, injector: &mut dyn Injector) {
        self.all.inject_context(context, injector);
        if self.writes_baggage && context.baggage().is_empty() && context.span().span_context().is_valid() {
            injector.set(BAGGAGE, String::new());
        }
    }
}

impl TextMapPropagator for Propagation {
    fn inject_context(&self, context: &Theirs, injector: &mut dyn Injector) {
        let (parent, trace_state) = tracer::parent_of(context);
        if !parent.is_valid() || parent.span_id().0 == convert::span_number(context.span().span_context().span_id()) {
            return self.inject(context, injector);
        }
        let ours = context.with_remote_span_context(convert::span_context(&parent, trace_state));
        self.inject(&ours, injector);
    }

    fn extract_with_context(&self, context: &Theirs, extractor: &dyn Extractor) -> Theirs {
        self.all.extract_with_context(context, extractor)
    }

    fn fields(&self) -> FieldIter<'_> {
        self.all.fields()
    }
}
