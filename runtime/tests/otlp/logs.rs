//! What is sent of logs is read back by a decoder of others, field by field, also as JSON.

#![cfg(feature = "logs")]

use std::borrow::Cow;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::logs::v1::{LogRecord as Decoded, ScopeLogs};
use prost::Message;
use tracecast::__logs::{LogRecord, requests};
use tracecast::OwnedValue;
use tracecast::config::Level;

use crate::kit::{Random, key_value};

/// Of a text.
const LONGEST: usize = 20_000;

impl Random {
    fn value(&mut self) -> OwnedValue {
        match self.below(6) {
            0 => OwnedValue::Bool(self.one_in(2)),
            1 => OwnedValue::I64((self.number() as i64).wrapping_neg()),
            2 => OwnedValue::U64(self.number()),
            3 => OwnedValue::F64(self.double()),
            4 => OwnedValue::Str(Cow::Borrowed("static")),
            _ => OwnedValue::Str(Cow::Owned(self.text(LONGEST))),
        }
    }

    fn record(&mut self) -> LogRecord {
        let has_ids = self.below(3) > 0;
        LogRecord {
            unix_nanos: self.number(),
            level: [Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace][self.below(5) as usize],
            target: ["", "a", "a::b", "store"][self.below(4) as usize].into(),
            body: self.text(LONGEST).into(),
            attributes: (0..self.below(12)).map(|at| (Cow::Owned(format!("k{at}")), self.value())).collect(),
            dropped_attributes: [0, 1, 300][self.below(3) as usize],
            trace_id: if has_ids { u128::from(self.next()) << 64 | u128::from(self.next()) } else { 0 },
            span_id: if has_ids { self.next() | 1 } else { 0 },
            sampled: has_ids && self.one_in(2),
        }
    }
}

/// What OTLP says of a record, by hand.
fn expected(record: &LogRecord) -> Decoded {
    let (severity_number, severity_text) = match record.level {
        Level::Trace => (1, "TRACE"),
        Level::Debug => (5, "DEBUG"),
        Level::Info => (9, "INFO"),
        Level::Warn => (13, "WARN"),
        Level::Error => (17, "ERROR"),
        other => panic!("no event has the level {other:?}"),
    };
    let has_ids = record.trace_id != 0;
    Decoded {
        time_unix_nano: record.unix_nanos,
        observed_time_unix_nano: record.unix_nanos,
        severity_number,
        severity_text: severity_text.to_owned(),
        body: if record.body.is_empty() { None } else { key_value("", &OwnedValue::Str(record.body.clone())).value },
        attributes: record.attributes.iter().map(|(key, value)| key_value(key, value)).collect(),
        dropped_attributes_count: record.dropped_attributes,
        flags: u32::from(record.sampled),
        trace_id: if has_ids { record.trace_id.to_be_bytes().to_vec() } else { Vec::new() },
        span_id: if has_ids { record.span_id.to_be_bytes().to_vec() } else { Vec::new() },
        event_name: String::new(),
    }
}

/// A scope for each target, in the order in which they were first met.
fn expected_scopes(records: &[LogRecord]) -> Vec<ScopeLogs> {
    let mut scopes: Vec<ScopeLogs> = Vec::new();
    for record in records {
        let is_of = |scope: &ScopeLogs| scope.scope.as_ref().is_some_and(|scope| scope.name == record.target);
        match scopes.iter_mut().find(|scope| is_of(scope)) {
            Some(scope) => scope.log_records.push(expected(record)),
            None => scopes.push(ScopeLogs {
                scope: Some(InstrumentationScope { name: record.target.to_string(), ..Default::default() }),
                log_records: vec![expected(record)],
                schema_url: String::new(),
            }),
        }
    }
    scopes
}

fn check(records: &[LogRecord]) {
    let (protobuf, json) = requests(records);
    let protobuf = ExportLogsServiceRequest::decode(&protobuf[..]).expect("protocol buffers");
    let json: ExportLogsServiceRequest = serde_json::from_slice(&json).expect("JSON");
    let expected = expected_scopes(records);
    for (way, request) in [("protobuf", protobuf), ("JSON", json)] {
        let [resource] = <[_; 1]>::try_from(request.resource_logs).expect("one resource");
        let attributes = resource.resource.expect("a resource").attributes;
        assert_eq!(attributes, [key_value("service.name", &"tested".into())], "{way}");
        assert_eq!(resource.schema_url, "https://opentelemetry.io/schemas/1.42.0", "{way}");
        assert_eq!(resource.scope_logs, expected, "{way}");
    }
}

#[test]
fn random_records_are_the_same_each_way() {
    let mut random = Random(1);
    for count in 0..150 {
        let records: Vec<_> = (0..count % 20).map(|_| random.record()).collect();
        check(&records);
    }
}

#[test]
fn a_record_of_an_event_is_the_same_each_way() {
    use tracecast::__logs::{Options, TestLogs};
    use tracing_subscriber::layer::SubscriberExt;
    let logs = TestLogs::start(Options::default());
    let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
    let line = line!() + 2;
    tracing::subscriber::with_default(subscriber, || {
        tracing::warn!(target: "store", bytes = 5_u64, big = u64::MAX, ok = true, ratio = 0.5, text = "t", "message");
    });
    let records = logs.records();
    let named = |name: &'static str, value: OwnedValue| (Cow::Borrowed(name), value);
    assert_eq!(
        records[0].attributes,
        [
            named("bytes", OwnedValue::U64(5)),
            named("big", OwnedValue::U64(u64::MAX)),
            named("ok", OwnedValue::Bool(true)),
            named("ratio", OwnedValue::F64(0.5)),
            named("text", "t".into()),
            named("code.file.path", file!().into()),
            named("code.line.number", OwnedValue::I64(i64::from(line))),
        ]
    );
    assert_eq!((&*records[0].target, &*records[0].body, records[0].level), ("store", "message", Level::Warn));
    check(&records);
}
