//! What requests hold, as somebody else's decoder reads it.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric, number_data_point};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use crate::{Receiver, Request};

/// All that came.
#[derive(Clone, Debug, Default)]
pub struct Exported {
    /// Spans of all requests.
    pub spans: Vec<Span>,
    /// Metrics of all requests: one that came twice is here twice.
    pub metrics: Vec<Metric>,
    /// Log records of all requests.
    pub logs: Vec<LogRecord>,
}

impl Receiver {
    /// All that came as protobuf, in its order.
    pub fn exported(&self) -> Exported {
        Exported::of(&self.all())
    }

    /// All spans that came as protobuf, in their order.
    pub fn spans(&self) -> Vec<Span> {
        Exported::of(&self.at("/v1/traces")).spans
    }

    /// Their names.
    pub fn span_names(&self) -> Vec<String> {
        self.spans().into_iter().map(|span| span.name).collect()
    }

    /// The value of a counter without labels, in the last request that had it.
    pub fn last_sum(&self, name: &str) -> Option<i64> {
        let metrics = Exported::of(&self.at("/v1/metrics")).metrics;
        let metric = metrics.into_iter().rfind(|metric| metric.name == name)?;
        let Some(metric::Data::Sum(sum)) = metric.data else { return None };
        match sum.data_points[0].value? {
            number_data_point::Value::AsInt(value) => Some(value),
            number_data_point::Value::AsDouble(_) => None,
        }
    }
}

impl Exported {
    pub(crate) fn of(requests: &[Request]) -> Self {
        let mut all = Exported::default();
        requests.iter().for_each(|request| all.keep(&request.path, &request.body));
        all
    }

    fn keep(&mut self, path: &str, body: &[u8]) {
        match path {
            "/v1/traces" => {
                let resources = ExportTraceServiceRequest::decode(body).unwrap().resource_spans;
                let scopes = resources.into_iter().flat_map(|resource| resource.scope_spans);
                self.spans.extend(scopes.flat_map(|scope| scope.spans));
            }
            "/v1/metrics" => {
                let resources = ExportMetricsServiceRequest::decode(body).unwrap().resource_metrics;
                let scopes = resources.into_iter().flat_map(|resource| resource.scope_metrics);
                self.metrics.extend(scopes.flat_map(|scope| scope.metrics));
            }
            "/v1/logs" => {
                let resources = ExportLogsServiceRequest::decode(body).unwrap().resource_logs;
                let scopes = resources.into_iter().flat_map(|resource| resource.scope_logs);
                self.logs.extend(scopes.flat_map(|scope| scope.log_records));
            }
            other => panic!("nobody is at {other}"),
        }
    }

    /// The spans of a name, by their start.
    pub fn named(&self, name: &str) -> Vec<&Span> {
        let mut spans: Vec<_> = self.spans.iter().filter(|span| span.name == name).collect();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        spans
    }

    /// The only span of a name.
    pub fn span(&self, name: &str) -> &Span {
        let spans = self.named(name);
        assert_eq!(spans.len(), 1, "{name} among {:?}", self.names());
        spans[0]
    }

    /// The names of all spans.
    pub fn names(&self) -> Vec<&str> {
        self.spans.iter().map(|span| span.name.as_str()).collect()
    }

    /// Whether a metric came at all.
    pub fn has_metric(&self, name: &str) -> bool {
        self.metrics.iter().any(|metric| metric.name == name)
    }
}

/// The text or number of an attribute; empty if there is none.
pub fn attribute(attributes: &[KeyValue], name: &str) -> String {
    let found = attributes.iter().find(|pair| pair.key == name);
    match found.and_then(|pair| pair.value.as_ref()).and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(other) => format!("{other:?}"),
        None => String::new(),
    }
}
