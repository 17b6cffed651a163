//! Exporters of OpenTelemetry's SDK: any of them may bring out our spans, and those of the API.

use std::time::{Duration, SystemTime};

use opentelemetry::context::FutureExt as _;
use opentelemetry::trace::{Event, Link, SpanContext, Status, TraceState};
use opentelemetry::{Context as Theirs, InstrumentationScope, KeyValue, SpanId, TraceId};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter, SpanLinks};

use super::convert;
use crate::config::Config;
use crate::declare::value::OwnedValue;
use crate::encode::resource::{SCOPE_NAME, SCOPE_VERSION};
use crate::encode::span::{MESSAGE_KEY, OUTCOME_KEY, status_message};
use crate::record::finished::{Attribute, FinishedSpan, Outcome};
use crate::trace::foreign::{Exported, ForeignExporter, ForeignLink, ForeignSpan};

impl Config {
    /// Has an exporter of OpenTelemetry's SDK bring out all spans, ours and those of the OpenTelemetry API, beside what
    /// else is configured. It may be called several times. Of a configuration and its clones, the one that starts first
    /// gets the exporters.
    ///
    /// It runs on a thread of its own, with a tokio runtime around it. Trying again is its own affair: what it fails to
    /// bring out is counted as lost.
    ///
    /// ```
    /// use std::time::Duration;
    /// use opentelemetry_sdk::trace::InMemorySpanExporter;
    /// use tracecast::config::Config;
    ///
    /// #[tracecast::tc_span("Store/Load")]
    /// fn load() {}
    ///
    /// let exporter = InMemorySpanExporter::default();
    /// let telemetry = Config::new().with_span_exporter(exporter.clone()).init()?;
    /// load();
    /// assert_eq!(telemetry.flush(Duration::from_secs(10)).spans_exported, 1);
    /// assert_eq!(exporter.get_finished_spans()?[0].name, "Store/Load");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_span_exporter(self, exporter: impl SpanExporter + 'static) -> Self {
        self.plugged.add(boxed(exporter));
        self
    }
}

/// The exporter, as the collector uses it.
pub(crate) fn boxed(exporter: impl SpanExporter + 'static) -> Box<dyn ForeignExporter> {
    Box::new(Plugged { exporter, scope: InstrumentationScope::builder(SCOPE_NAME).with_version(SCOPE_VERSION).build() })
}

struct Plugged<E> {
    exporter: E,
    scope: InstrumentationScope,
}

impl<E: SpanExporter> ForeignExporter for Plugged<E> {
    fn set_resource(&mut self, attributes: &[(String, OwnedValue)], schema_url: Option<&str>) {
        let attributes =
            attributes.iter().map(|(name, value)| KeyValue::new(name.clone(), convert::their_value(value)));
        let resource = match schema_url {
            Some(url) => Resource::builder_empty().with_schema_url(attributes, url.to_owned()),
            None => Resource::builder_empty().with_attributes(attributes),
        };
        self.exporter.set_resource(&resource.build());
    }

    fn export(&mut self, spans: &[FinishedSpan], foreign: &[ForeignSpan]) -> Exported<'_> {
        let ours = spans.iter().map(|span| own_data(span, &self.scope));
        let batch = ours.chain(foreign.iter().map(foreign_data)).collect();
        // What the exporter does is nobody's span.
        let suppressed = Theirs::new().with_telemetry_suppressed();
        let exporter = &self.exporter;
        Box::pin(async move { told(exporter.export(batch).await) }.with_context(suppressed))
    }

    fn flush(&mut self) -> Result<(), String> {
        told(self.exporter.force_flush())
    }

    fn shutdown(&mut self, timeout: Duration) -> Result<(), String> {
        told(self.exporter.shutdown_with_timeout(timeout))
    }
}

fn told(result: OTelSdkResult) -> Result<(), String> {
    result.map_err(|error| error.to_string())
}

/// One of our spans.
fn own_data(span: &FinishedSpan, scope: &InstrumentationScope) -> SpanData {
    let mut attributes = own_attributes(&span.attributes);
    if span.outcome == Outcome::Cancelled && span.attribute(OUTCOME_KEY).is_none() {
        attributes.push(KeyValue::new(OUTCOME_KEY, span.outcome.as_str()));
    }
    let event = |event: &crate::record::finished::Event| {
        Event::new(event.name, convert::time(event.unix_nanos), own_attributes(&event.attributes), 0)
    };
    let link = |link: &crate::record::finished::Link| {
        let flags = convert::flags(link.sampled);
        let (trace_id, span_id) = (TraceId::from(link.trace_id.0), SpanId::from(link.span_id.0));
        Link::with_context(SpanContext::new(trace_id, span_id, flags, false, TraceState::NONE))
    };
    SpanData {
        span_context: context(span.trace_id.0, span.span_id.0, trace_state(&span.trace_state)),
        parent_span_id: SpanId::from(span.parent_span_id.map_or(0, |id| id.0)),
        parent_span_is_remote: span.parent_is_remote,
        span_kind: convert::their_kind(span.kind),
        name: span.name.clone(),
        start_time: span.start_time(),
        end_time: span.end_time(),
        attributes,
        dropped_attributes_count: span.dropped_attributes,
        events: events(span.events.iter().map(event).collect(), span.dropped_events),
        links: links(span.links.iter().map(link).collect(), span.dropped_links),
        status: own_status(span),
        instrumentation_scope: scope.clone(),
    }
}

fn own_status(span: &FinishedSpan) -> Status {
    if !span.outcome.is_error() {
        return Status::Unset;
    }
    match span.attribute(MESSAGE_KEY) {
        Some(OwnedValue::Str(text)) => Status::error(text.clone()),
        _ => Status::error(status_message(span.outcome)),
    }
}

fn own_attributes(attributes: &[Attribute]) -> Vec<KeyValue> {
    attributes
        .iter()
        .map(|attribute| KeyValue::new(attribute.key.name, convert::their_value(&attribute.value)))
        .collect()
}

/// One of the API's own.
fn foreign_data(span: &ForeignSpan) -> SpanData {
    let event = |event: &crate::trace::foreign::ForeignEvent| {
        let attributes = event.attributes.iter().map(convert::their_attribute).collect();
        Event::new(event.name.clone(), time(event.unix_nanos), attributes, event.dropped_attributes)
    };
    SpanData {
        span_context: context(span.trace_id.0, span.span_id.0, trace_state(&span.trace_state)),
        parent_span_id: SpanId::from(span.parent_span_id.map_or(0, |id| id.0)),
        parent_span_is_remote: span.parent_is_remote,
        span_kind: convert::their_kind(span.kind),
        name: span.name.clone(),
        start_time: time(span.start_unix_nanos),
        end_time: time(span.end_unix_nanos),
        attributes: span.attributes.iter().map(convert::their_attribute).collect(),
        dropped_attributes_count: span.dropped_attributes,
        events: events(span.events.iter().map(event).collect(), span.dropped_events),
        links: links(span.links.iter().map(foreign_link).collect(), span.dropped_links),
        status: convert::their_status(&span.status),
        instrumentation_scope: convert::their_scope(&span.scope),
    }
}

fn foreign_link(link: &ForeignLink) -> Link {
    let (trace_id, span_id) = (TraceId::from(link.trace_id.0), SpanId::from(link.span_id.0));
    let flags = convert::flags(link.sampled);
    let to = SpanContext::new(trace_id, span_id, flags, link.is_remote, trace_state(&link.trace_state));
    Link::new(to, link.attributes.iter().map(convert::their_attribute).collect(), link.dropped_attributes)
}

fn context(trace_id: u128, span_id: u64, trace_state: TraceState) -> SpanContext {
    SpanContext::new(TraceId::from(trace_id), SpanId::from(span_id), convert::flags(true), false, trace_state)
}

fn trace_state(header: &str) -> TraceState {
    header.parse().unwrap_or_default()
}

fn time(unix_nanos: u64) -> SystemTime {
    convert::time(unix_nanos)
}

fn events(events: Vec<Event>, dropped: u32) -> SpanEvents {
    let mut all = SpanEvents::default();
    (all.events, all.dropped_count) = (events, dropped);
    all
}

fn links(links: Vec<Link>, dropped: u32) -> SpanLinks {
    let mut all = SpanLinks::default();
    (all.links, all.dropped_count) = (links, dropped);
    all
}
