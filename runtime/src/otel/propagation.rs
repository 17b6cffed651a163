//! The formats in which context travels, as OpenTelemetry's global propagator.

use opentelemetry::Context as Theirs;
use opentelemetry::propagation::text_map_propagator::FieldIter;
use opentelemetry::propagation::{Extractor, Injector, TextMapCompositePropagator, TextMapPropagator};
use opentelemetry::trace::TraceContextExt;
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};

use super::b3::B3;
use super::{convert, tracer};
use crate::config::Propagator;

/// Injects the span that is current, of ours or theirs, also where ours is not attached on their side.
#[derive(Debug)]
pub(super) struct Propagation(TextMapCompositePropagator);

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
        Propagation(TextMapCompositePropagator::new(propagators.iter().map(boxed).collect()))
    }
}

impl TextMapPropagator for Propagation {
    fn inject_context(&self, context: &Theirs, injector: &mut dyn Injector) {
        let (parent, trace_state) = tracer::parent_of(context);
        if !parent.is_valid() || parent.span_id().0 == convert::span_number(context.span().span_context().span_id()) {
            return self.0.inject_context(context, injector);
        }
        let ours = context.with_remote_span_context(convert::span_context(&parent, trace_state));
        self.0.inject_context(&ours, injector);
    }

    fn extract_with_context(&self, context: &Theirs, extractor: &dyn Extractor) -> Theirs {
        self.0.extract_with_context(context, extractor)
    }

    fn fields(&self) -> FieldIter<'_> {
        self.0.fields()
    }
}
