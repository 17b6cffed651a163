//! Exports our spans, and those of the OpenTelemetry API, with exporters of OpenTelemetry's SDK.

use std::time::Duration;

use opentelemetry::context::FutureExt as _;
use opentelemetry::trace::{Event, Link, SpanContext};
use opentelemetry::{Context as Theirs, InstrumentationScope, KeyValue, SpanId, TraceId};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter, SpanLinks};

use super::convert;
use crate::config::Config;
use crate::declare::value::OwnedValue;
use crate::encode::finished::outcome;
use crate::encode::resource::Of;
use crate::encode::span::OUTCOME_KEY;
use crate::record::finished::FinishedSpan;
use crate::trace::external::{Exported, ExternalExporter};

impl Config {
    /// Adds an exporter of OpenTelemetry's SDK for all spans, ours and those of the OpenTelemetry API, in addition to
    /// the configured destinations. Several exporters can be added. Clones of a configuration share the exporters, and
    /// the first clone that starts telemetry takes them.
    ///
    /// The exporter runs on its own thread, in a tokio runtime. The exporter must retry by itself: spans of a failed
    /// export count as lost.
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
        self.custom_exporters.add(boxed(exporter));
        self
    }
}

/// Wraps the exporter for the export thread.
pub(crate) fn boxed(exporter: impl SpanExporter + 'static) -> Box<dyn ExternalExporter> {
    Box::new(Plugged { exporter })
}

struct Plugged<E> {
    exporter: E,
}

impl<E: SpanExporter> ExternalExporter for Plugged<E> {
    fn set_resource(&mut self, attributes: &[(String, OwnedValue)], schema_url: Option<&str>) {
        let attributes =
            attributes.iter().map(|(name, value)| KeyValue::new(name.clone(), convert::their_value(value)));
        let resource = match schema_url {
            Some(url) => Resource::builder_empty().with_schema_url(attributes, url.to_owned()),
            None => Resource::builder_empty().with_attributes(attributes),
        };
        self.exporter.set_resource(&resource.build());
    }

    fn export(&mut self, spans: &[FinishedSpan]) -> Exported<'_> {
        let batch = spans.iter().map(data).collect();
        // Suppresses spans of the exporter's own work.
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

/// Converts a span to the SDK's data.
fn data(span: &FinishedSpan) -> SpanData {
    let mut attributes = convert::their_attributes(&span.attributes);
    attributes.extend(outcome(span).map(|outcome| KeyValue::new(OUTCOME_KEY, outcome)));
    let (trace_id, span_id) = (TraceId::from(span.trace_id.0), SpanId::from(span.span_id.0));
    let trace_state = convert::their_trace_state(&span.trace_state);
    SpanData {
        span_context: SpanContext::new(trace_id, span_id, convert::flags(true), false, trace_state),
        parent_span_id: SpanId::from(span.parent_span_id.map_or(0, |id| id.0)),
        parent_span_is_remote: span.parent_is_remote,
        span_kind: convert::their_kind(span.kind),
        name: span.name.clone(),
        start_time: span.start_time(),
        end_time: span.end_time(),
        attributes,
        dropped_attributes_count: span.dropped_attributes,
        events: events(span.events.iter().map(convert::their_event).collect(), span.dropped_events),
        links: links(span.links.iter().map(convert::their_link).collect(), span.dropped_links),
        status: convert::their_status(span),
        instrumentation_scope: match Of::span(span) {
            Of::Crate(of) => InstrumentationScope::builder(of.name).with_version(of.version).build(),
            Of::External(scope) => convert::their_scope(scope),
        },
    }
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
