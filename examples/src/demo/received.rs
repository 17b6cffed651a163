//! The exports of all processes, as plain data.

use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs};
use opentelemetry_proto::tonic::metrics::v1::ResourceMetrics;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span as WireSpan};

use super::series::{Series, points};
use super::wire::{Attributes, attributes, hex, process, text};

/// Everything received.
#[derive(Default)]
pub(crate) struct Received {
    pub(crate) spans: Vec<Span>,
    pub(crate) series: Vec<Series>,
    pub(crate) lines: Vec<Line>,
}

/// A span.
#[derive(Clone, Default)]
pub(crate) struct Span {
    pub(crate) process: String,
    pub(crate) name: String,
    /// `client`, `server`, `producer` or `consumer`; `None` for an internal span.
    pub(crate) kind: Option<&'static str>,
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    /// Empty for a root.
    pub(crate) parent_id: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) attributes: Attributes,
    pub(crate) events: Vec<String>,
    /// The spans it is linked to.
    pub(crate) links: Vec<String>,
    pub(crate) failed: bool,
}

impl Span {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.attribute("tc.outcome") == Some("cancelled")
    }
}

/// A log record.
#[derive(Default)]
pub(crate) struct Line {
    pub(crate) process: String,
    pub(crate) time: u64,
    pub(crate) severity: String,
    pub(crate) text: String,
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    pub(crate) attributes: Attributes,
}

impl Received {
    pub(crate) fn take_spans(&mut self, resources: Vec<ResourceSpans>) {
        for resource in resources {
            let process = process(resource.resource.as_ref());
            let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
            self.spans.extend(spans.map(|span| from_wire(&process, span)));
        }
    }

    pub(crate) fn take_metrics(&mut self, resources: Vec<ResourceMetrics>) {
        for resource in resources {
            let process = process(resource.resource.as_ref());
            let metrics = resource.scope_metrics.into_iter().flat_map(|scope| scope.metrics);
            metrics.flat_map(|metric| points(&process, metric)).for_each(|series| self.keep(series));
        }
    }

    /// Replaces the last value of a series. A series that is no longer exported keeps its last value.
    fn keep(&mut self, series: Series) {
        match self.series.iter_mut().find(|known| known.is_same(&series)) {
            Some(known) => *known = series,
            None => self.series.push(series),
        }
    }

    pub(crate) fn take_logs(&mut self, resources: Vec<ResourceLogs>) {
        for resource in resources {
            let process = process(resource.resource.as_ref());
            let records = resource.scope_logs.into_iter().flat_map(|scope| scope.log_records);
            self.lines.extend(records.map(|record| line(&process, record)));
        }
    }
}

fn from_wire(process: &str, span: WireSpan) -> Span {
    Span {
        process: process.to_owned(),
        kind: kind(span.kind()),
        trace_id: hex(&span.trace_id),
        span_id: hex(&span.span_id),
        parent_id: hex(&span.parent_span_id),
        start: span.start_time_unix_nano,
        end: span.end_time_unix_nano,
        attributes: attributes(&span.attributes),
        events: span.events.into_iter().map(|event| event.name).collect(),
        links: span.links.iter().map(|link| hex(&link.span_id)).collect(),
        failed: span.status.is_some_and(|status| status.code() == StatusCode::Error),
        name: span.name,
    }
}

fn kind(kind: SpanKind) -> Option<&'static str> {
    match kind {
        SpanKind::Client => Some("client"),
        SpanKind::Server => Some("server"),
        SpanKind::Producer => Some("producer"),
        SpanKind::Consumer => Some("consumer"),
        SpanKind::Internal | SpanKind::Unspecified => None,
    }
}

fn line(process: &str, record: LogRecord) -> Line {
    Line {
        process: process.to_owned(),
        time: record.time_unix_nano.max(record.observed_time_unix_nano),
        severity: record.severity_text,
        text: record.body.as_ref().map(text).unwrap_or_default(),
        trace_id: hex(&record.trace_id),
        span_id: hex(&record.span_id),
        attributes: attributes(&record.attributes).into_iter().filter(|(name, _)| !name.starts_with("code.")).collect(),
    }
}
