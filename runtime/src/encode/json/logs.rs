//! Log records as OTLP/JSON.

use super::writer::Json;
use super::{any_value, array_of_scope, attribute, request_of_scopes};
use crate::declare::value::Value;
use crate::encode::resource::EncodedResource;
use crate::logs::LogRecord;
use crate::record::ids::{SpanId, TraceId};

/// An `ExportLogsServiceRequest` with these records: a scope for each target.
pub(crate) fn logs_request(resource: &EncodedResource, records: &[LogRecord]) -> Vec<u8> {
    request_of_scopes(resource, ["resourceLogs", "scopeLogs", "logRecords"], |json| scopes(json, records))
}

fn scopes(json: &mut Json, records: &[LogRecord]) {
    let mut scopes: Vec<(&str, Vec<&LogRecord>)> = Vec::new();
    for record in records {
        match scopes.iter_mut().find(|(target, _)| *target == record.target) {
            Some((_, records)) => records.push(record),
            None => scopes.push((&record.target, vec![record])),
        }
    }
    for (target, records) in scopes {
        let name = |json: &mut Json| json.text_unless_empty("name", target);
        let all = |json: &mut Json| records.iter().for_each(|record| json.object(|json| write_record(json, record)));
        json.object(|json| array_of_scope(json, "logRecords", name, all));
    }
}

fn write_record(json: &mut Json, record: &LogRecord) {
    json.long("timeUnixNano", record.unix_nanos);
    json.long("observedTimeUnixNano", record.unix_nanos);
    json.number("severityNumber", record.severity());
    json.text_unless_empty("severityText", record.severity_text());
    if !record.body.is_empty() {
        json.member("body", |json| any_value(json, Value::Str(&record.body)));
    }
    json.array("attributes", |json| {
        for (name, value) in &record.attributes {
            attribute(json, name, value.as_value());
        }
    });
    json.number("droppedAttributesCount", record.dropped_attributes);
    if record.trace_id != 0 {
        json.number("flags", u8::from(record.sampled));
        json.plain("traceId", TraceId(record.trace_id));
        json.plain("spanId", SpanId(record.span_id));
    }
}
