//! Spans of OpenTelemetry's API.

use std::borrow::Cow;
use std::time::SystemTime;

use opentelemetry::KeyValue;
use opentelemetry::trace::{Event, Link, Span, SpanContext, Status};

use super::convert;
use crate::record::clock;
use crate::record::finished::FinishedSpan;
use crate::trace::external;

/// A span that was created through OpenTelemetry's API. It ends at `end`, or when it is dropped.
///
/// ```
/// use opentelemetry::KeyValue;
/// use opentelemetry::trace::{Span as _, Tracer as _, TracerProvider as _};
///
/// let mut span: tracecast::otel::TracecastSpan = tracecast::otel::provider().tracer("my_library").start("load");
/// span.set_attribute(KeyValue::new("artifact", "llama"));
/// span.end();
/// assert!(!span.is_recording());
/// ```
#[derive(Debug)]
pub struct TracecastSpan {
    context: SpanContext,
    /// The data of a recorded span until it ends.
    data: Option<Box<FinishedSpan>>,
}

impl TracecastSpan {
    pub(super) fn recording(context: SpanContext, data: FinishedSpan) -> Self {
        TracecastSpan { context, data: Some(Box::new(data)) }
    }

    /// Creates a span that records nothing: because it is unsampled, or only propagates its context.
    pub(super) fn transparent(context: SpanContext) -> Self {
        TracecastSpan { context, data: None }
    }

    fn end_at(&mut self, unix_nanos: impl FnOnce() -> u64) {
        if let Some(data) = self.data.take() {
            external::ended(*data, unix_nanos());
        }
    }
}

impl Span for TracecastSpan {
    fn add_event_with_timestamp<T>(&mut self, name: T, timestamp: SystemTime, attributes: Vec<KeyValue>)
    where
        T: Into<Cow<'static, str>>,
    {
        if let Some(data) = &mut self.data {
            data.event(convert::event(Event::new(name, timestamp, attributes, 0)));
        }
    }

    fn span_context(&self) -> &SpanContext {
        &self.context
    }

    fn is_recording(&self) -> bool {
        self.data.is_some()
    }

    fn set_attribute(&mut self, attribute: KeyValue) {
        if let Some(data) = &mut self.data {
            data.set(convert::attribute(attribute));
        }
    }

    fn set_status(&mut self, status: Status) {
        if let Some(data) = &mut self.data {
            data.set_status(convert::status(status));
        }
    }

    fn update_name<T>(&mut self, new_name: T)
    where
        T: Into<Cow<'static, str>>,
    {
        if let Some(data) = &mut self.data {
            data.name = new_name.into();
        }
    }

    fn add_link(&mut self, span_context: SpanContext, attributes: Vec<KeyValue>) {
        if let Some(data) = self.data.as_mut().filter(|_| span_context.is_valid()) {
            data.link(convert::link(Link::new(span_context, attributes, 0)));
        }
    }

    fn end_with_timestamp(&mut self, timestamp: SystemTime) {
        self.end_at(|| convert::unix_nanos(timestamp));
    }
}

impl Drop for TracecastSpan {
    fn drop(&mut self) {
        self.end_at(clock::unix_now);
    }
}
