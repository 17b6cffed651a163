//! Splits an encoded request that is too large into smaller ones.
//!
//! Spans, metrics and log records have the same shape: a request holds resources, these hold scopes, and these hold items.
//! The items of a metric are its points, two levels further down. Each part repeats the levels above its items.

use super::outbox::Batch;
use crate::encode::json::scan;
use crate::encode::wire::{Opened, Wire};
use crate::export::transport::proto::{self, Value};

/// The encoding and nesting of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) json: bool,
    /// The request holds metrics, whose items are two levels deeper.
    pub(super) metrics: bool,
}

/// Splits a request into parts of at most `longest` bytes. A part with a single item may be larger. Returns the request
/// itself if it is small enough or cannot be parsed.
pub(super) fn split(batch: Batch, layout: Layout, longest: usize) -> Vec<Batch> {
    if batch.bytes.len() <= longest || batch.items <= 1 {
        return vec![batch];
    }
    let mut parts = Parts {
        depth: if layout.metrics { 5 } else { 3 },
        longest,
        levels: Vec::new(),
        wire: Wire::default(),
        items: 0,
        done: Vec::new(),
    };
    let read = if layout.json { parts.add_json(&batch.bytes) } else { parts.add_protobuf(&batch.bytes, 0) };
    parts.finish();
    match read {
        Some(()) if parts.done.iter().map(|part| part.items).sum::<u64>() == batch.items => parts.done,
        _ => vec![batch],
    }
}

struct Parts {
    /// The number of levels above an item.
    depth: usize,
    longest: usize,
    /// The levels of the next item, the outermost first.
    levels: Vec<Level>,
    /// The part being written; `items` is the number of its items.
    wire: Wire,
    items: u64,
    done: Vec<Batch>,
}

/// A protobuf message or JSON object that contains the levels or items below it.
struct Level {
    begin: Begin,
    /// `Some` if the level is open in the part being written; the inner value is its open message in protobuf.
    /// `children` is the number of its children in that part.
    opened: Option<Option<Opened>>,
    children: usize,
}

enum Begin {
    /// Protobuf: the field number, and the fields that are not children.
    Message(u8, Vec<u8>),
    /// JSON: the text before the children, and the text after them.
    Object(String, &'static str),
}

impl Parts {
    fn add_protobuf(&mut self, message: &[u8], depth: usize) -> Option<()> {
        let is_child = |number: u64| match depth {
            0 | 4 => number == 1,
            1 | 2 => number == 2,
            // The data of a metric: gauge, sum, histogram, exponential histogram, summary.
            _ => matches!(number, 5 | 7 | 9 | 10 | 11),
        };
        let mut own = Vec::new();
        let mut children = Vec::new();
        for (number, value, raw) in proto::raw_fields(message) {
            match value {
                Value::Bytes(content) if is_child(number) => children.push((number, content, raw)),
                _ => own.extend_from_slice(raw),
            }
        }
        if let Some(level) = self.levels.last_mut().filter(|_| depth > 0)
            && let Begin::Message(_, fields) = &mut level.begin
        {
            *fields = own;
        }
        for (number, content, raw) in children {
            if depth + 1 == self.depth {
                self.add_item(raw);
            } else {
                self.enter(Begin::Message(u8::try_from(number).ok()?, Vec::new()));
                self.add_protobuf(content, depth + 1)?;
                self.leave();
            }
        }
        Some(())
    }

    fn add_json(&mut self, request: &[u8]) -> Option<()> {
        self.add_object(std::str::from_utf8(request).ok()?, 0)
    }

    fn add_object(&mut self, object: &str, depth: usize) -> Option<()> {
        // The data of a metric is one object; all other children are in arrays.
        let (start, end) = if depth == 3 { ('{', "}") } else { ('[', "]}") };
        let (children, own): (Vec<_>, Vec<_>) =
            scan::members(object)?.into_iter().partition(|(_, value)| value.starts_with(start));
        let Some((name, child)) = children.first().copied() else { return Some(()) };
        let mut begin = String::from('{');
        own.iter().for_each(|(name, value)| begin.extend([*name, ":", *value, ","]));
        begin.extend([name, ":", if depth == 3 { "" } else { "[" }]);
        self.enter(Begin::Object(begin, end));
        let children = if depth == 3 { vec![child] } else { scan::elements(child)? };
        for child in children {
            if depth + 1 == self.depth {
                self.add_item(child.as_bytes());
            } else {
                self.add_object(child, depth + 1)?;
            }
        }
        self.leave();
        Some(())
    }

    fn enter(&mut self, begin: Begin) {
        self.levels.push(Level { begin, opened: None, children: 0 });
    }

    fn leave(&mut self) {
        self.close(self.levels.len() - 1);
        self.levels.pop();
    }

    fn add_item(&mut self, item: &[u8]) {
        let closing: usize = self.levels.iter().map(Level::closing_bytes).sum();
        let opening: usize = self.levels.iter().filter(|level| level.opened.is_none()).map(Level::opening_bytes).sum();
        if self.items > 0 && self.wire.len() + opening + item.len() + closing > self.longest {
            self.finish();
        }
        (0..self.levels.len())
            .filter(|at| self.levels[*at].opened.is_none())
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|at| self.open(at));
        self.separate(self.levels.len());
        self.wire.push(item);
        self.items += 1;
    }

    /// Counts a child of the level above `at`, and writes a comma before it if needed.
    fn separate(&mut self, at: usize) {
        let Some(parent) = at.checked_sub(1).map(|at| &mut self.levels[at]) else { return };
        if parent.children > 0 && matches!(parent.begin, Begin::Object(..)) {
            self.wire.push(b",");
        }
        parent.children += 1;
    }

    fn open(&mut self, at: usize) {
        self.separate(at);
        let Level { begin, opened, .. } = &mut self.levels[at];
        *opened = Some(match begin {
            Begin::Message(field, own) => {
                let message = self.wire.open_long(*field);
                self.wire.push(own);
                Some(message)
            }
            Begin::Object(text, _) => {
                self.wire.push(text.as_bytes());
                None
            }
        });
    }

    fn close(&mut self, at: usize) {
        let level = &mut self.levels[at];
        let Some(opened) = level.opened.take() else { return };
        level.children = 0;
        opened.into_iter().for_each(|message| self.wire.close(message));
        if let Begin::Object(_, end) = &level.begin {
            self.wire.push(end.as_bytes());
        }
    }

    /// Completes the part being written.
    fn finish(&mut self) {
        (0..self.levels.len()).rev().for_each(|at| self.close(at));
        let bytes = std::mem::take(&mut self.wire.bytes);
        let items = std::mem::take(&mut self.items);
        if items > 0 {
            self.done.push(Batch { bytes: bytes.into(), items });
        }
    }
}

impl Level {
    fn opening_bytes(&self) -> usize {
        match &self.begin {
            // One byte of tag and five of length.
            Begin::Message(_, own) => 6 + own.len(),
            Begin::Object(text, _) => 1 + text.len(),
        }
    }

    fn closing_bytes(&self) -> usize {
        match &self.begin {
            Begin::Message(..) => 0,
            Begin::Object(_, end) => end.len(),
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::collections::BTreeMap;

    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
    use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
    use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
    use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
    use opentelemetry_proto::tonic::metrics::v1::metric::Data;
    use opentelemetry_proto::tonic::metrics::v1::{
        Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum,
    };
    use opentelemetry_proto::tonic::resource::v1::Resource;
    use prost::Message;
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::*;

    const LONGEST: usize = 2_000;

    fn text(text: &str) -> Option<AnyValue> {
        Some(AnyValue { value: Some(any_value::Value::StringValue(text.to_owned())) })
    }

    fn resource() -> Option<Resource> {
        let attribute = KeyValue { key: "service.name".to_owned(), value: text("a, \"b\" ]}"), ..KeyValue::default() };
        Some(Resource { attributes: vec![attribute], ..Resource::default() })
    }

    fn scope(name: &str) -> Option<InstrumentationScope> {
        Some(InstrumentationScope { name: name.to_owned(), version: "1".to_owned(), ..InstrumentationScope::default() })
    }

    /// Splits a request in both encodings, checks the sizes, and returns the decoded parts.
    fn parts<R: Message + Default + Serialize + DeserializeOwned>(
        request: &R,
        items: u64,
        metrics: bool,
    ) -> [Vec<R>; 2] {
        let split = |bytes: Vec<u8>, json| {
            assert!(bytes.len() > 4 * LONGEST);
            split(Batch { bytes: bytes.into(), items }, Layout { json, metrics }, LONGEST)
        };
        let (protobuf, json) =
            (split(request.encode_to_vec(), false), split(serde_json::to_vec(request).unwrap(), true));
        for parts in [&protobuf, &json] {
            assert_eq!(parts.iter().map(|part| part.items).sum::<u64>(), items);
            assert!(
                parts.iter().all(|part| part.bytes.len() <= LONGEST && part.bytes.len() > LONGEST / 2
                    || part == parts.last().unwrap())
            );
        }
        let read_json = |part: &Batch| serde_json::from_slice(&part.bytes).expect("a part of JSON is JSON");
        [
            protobuf.iter().map(|part| R::decode(&part.bytes[..]).unwrap()).collect(),
            json.iter().map(read_json).collect(),
        ]
    }

    #[test]
    fn log_records_keep_their_scopes_and_their_order() {
        let records = |from: u64| {
            let record = |time| LogRecord { time_unix_nano: time, body: text("\\\" [{"), ..LogRecord::default() };
            (from..from + 200).map(record).collect()
        };
        let scopes = [("one", 0), ("two", 200)].map(|(name, from)| ScopeLogs {
            scope: scope(name),
            log_records: records(from),
            schema_url: "https://example.org".to_owned(),
        });
        let request = ExportLogsServiceRequest {
            resource_logs: vec![ResourceLogs {
                resource: resource(),
                scope_logs: scopes.to_vec(),
                ..ResourceLogs::default()
            }],
        };
        for parts in parts(&request, 400, false) {
            let mut seen: Vec<(String, LogRecord)> = Vec::new();
            for logs in parts.into_iter().flat_map(|part| part.resource_logs) {
                assert_eq!(logs.resource, resource());
                for scope in logs.scope_logs {
                    assert_eq!(scope.schema_url, "https://example.org");
                    let name = scope.scope.unwrap().name;
                    seen.extend(scope.log_records.into_iter().map(|record| (name.clone(), record)));
                }
            }
            let expected = scopes.iter().flat_map(|scope| {
                scope.log_records.iter().map(|record| (scope.scope.as_ref().unwrap().name.clone(), record.clone()))
            });
            assert_eq!(seen, expected.collect::<Vec<_>>());
        }
    }

    /// Separates a metric from its points, both as text.
    fn taken_apart(mut metric: Metric) -> (String, Vec<String>) {
        fn texts<T: std::fmt::Debug>(points: &mut Vec<T>) -> Vec<String> {
            points.drain(..).map(|point| format!("{point:?}")).collect()
        }
        let points = match metric.data.as_mut().unwrap() {
            Data::Gauge(data) => texts(&mut data.data_points),
            Data::Sum(data) => texts(&mut data.data_points),
            Data::Histogram(data) => texts(&mut data.data_points),
            other => panic!("{other:?}"),
        };
        (format!("{metric:?}"), points)
    }

    fn points_by_metric(
        requests: impl IntoIterator<Item = ExportMetricsServiceRequest>,
    ) -> BTreeMap<String, Vec<String>> {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for metrics in requests.into_iter().flat_map(|request| request.resource_metrics) {
            assert_eq!(metrics.resource, resource());
            for scope in metrics.scope_metrics {
                let name = scope.scope.unwrap().name;
                for (metric, points) in scope.metrics.into_iter().map(taken_apart) {
                    all.entry(format!("{name} {metric}")).or_default().extend(points);
                }
            }
        }
        all
    }

    #[test]
    fn the_points_of_one_metric_go_to_several_requests() {
        let number = |time| NumberDataPoint { time_unix_nano: time, ..NumberDataPoint::default() };
        let histogram = |time| HistogramDataPoint {
            time_unix_nano: time,
            bucket_counts: vec![1, 2],
            ..HistogramDataPoint::default()
        };
        let numbers: Vec<_> = (0..300).map(number).collect();
        let data = [
            Data::Gauge(Gauge { data_points: numbers.clone() }),
            Data::Sum(Sum { data_points: numbers, aggregation_temporality: 2, is_monotonic: true }),
            Data::Histogram(Histogram { data_points: (0..300).map(histogram).collect(), aggregation_temporality: 1 }),
        ];
        let metric =
            |data| Metric { name: "tc_x".to_owned(), unit: "s".to_owned(), data: Some(data), ..Metric::default() };
        let scopes = data.map(|data| ScopeMetrics {
            scope: scope("of"),
            metrics: vec![metric(data)],
            ..ScopeMetrics::default()
        });
        let request = ExportMetricsServiceRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: resource(),
                scope_metrics: scopes.to_vec(),
                ..ResourceMetrics::default()
            }],
        };
        let expected = points_by_metric([request.clone()]);
        assert_eq!(expected.values().map(Vec::len).collect::<Vec<_>>(), [300, 300, 300]);
        for parts in parts(&request, 900, true) {
            assert!(points_by_metric(parts) == expected);
        }
    }

    #[test]
    fn what_cannot_be_read_stays_whole() {
        for json in [false, true] {
            let batch = Batch { bytes: vec![b'x'; 3 * LONGEST].into(), items: 7 };
            let [whole] = &split(batch, Layout { json, metrics: false }, LONGEST)[..] else { panic!("one") };
            assert_eq!((whole.items, whole.bytes.len()), (7, 3 * LONGEST));
        }
    }
}
