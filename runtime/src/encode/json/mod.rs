//! Requests as OTLP/JSON: names in lowerCamelCase, ids in hexadecimal, 64-bit integers as text, enums as numbers.
//!
//! JSON is for backends that accept nothing else, so speed matters less: spans are written from owned data and not directly
//! from records. `finished`, `metrics` and `logs` describe the messages once for both encodings.

pub(crate) mod scan;
mod writer;

use self::writer::Json;
use crate::encode::finished;
#[cfg(has_logs)]
use crate::encode::logs::LogBatch;
use crate::encode::message::Message;
use crate::encode::metrics;
use crate::encode::resource::{self, EncodedResource, Of};
#[cfg(has_logs)]
use crate::logs::LogRecord;
use crate::meter::snapshot::Snapshot;
use crate::record::finished::FinishedSpan;

/// Encodes an `ExportTraceServiceRequest` with these spans. The scopes are in the order of their first spans.
pub(crate) fn trace_request(resource: &EncodedResource, spans: &[FinishedSpan]) -> Vec<u8> {
    resource.request(["resourceSpans", "scopeSpans"], Vec::new(), |m: &mut Json| {
        resource::scopes(m, spans, Of::span, |m, spans| {
            m.list("spans", |m| spans.for_each(|span| finished::write_span(m, span)));
        });
    })
}

/// Encodes an `ExportMetricsServiceRequest` with all points of a snapshot.
pub(crate) fn metrics_request(resource: &EncodedResource, snapshot: &Snapshot) -> Vec<u8> {
    metrics::request::<Json>(resource, snapshot)
}

/// Encodes an `ExportLogsServiceRequest` with these records, one scope per target.
#[cfg(has_logs)]
pub(crate) fn logs_request(resource: &EncodedResource, records: &[LogRecord]) -> Vec<u8> {
    let mut batch = LogBatch::<Json>::new(resource);
    records.iter().for_each(|record| batch.add(record));
    batch.take(Vec::new())
}
