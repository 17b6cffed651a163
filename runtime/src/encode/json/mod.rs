//! The same requests as OTLP/JSON: names in lowerCamelCase, ids in hex, integers of 64 bits as text, enums as numbers.
//!
//! It is for collectors that take nothing else, so it is written from plain data and not from records. Metrics and log
//! records are described in `metrics` and `logs`, once for both forms.

#[cfg(not(target_family = "wasm"))]
pub(crate) mod scan;
mod trace;
mod writer;

pub(crate) use self::trace::trace_request;

use self::writer::Json;
use crate::declare::value::Value;
#[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
use crate::encode::logs::LogBatch;
use crate::encode::message::Message;
use crate::encode::metrics;
use crate::encode::resource::{self, EncodedResource};
#[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
use crate::logs::LogRecord;
use crate::meter::snapshot::Snapshot;

/// An `ExportMetricsServiceRequest` with all points of a snapshot.
pub(crate) fn metrics_request(resource: &EncodedResource, snapshot: &Snapshot) -> Vec<u8> {
    metrics::request::<Json>(resource, snapshot)
}

/// An `ExportLogsServiceRequest` with these records: a scope for each target.
#[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
pub(crate) fn logs_request(resource: &EncodedResource, records: &[LogRecord]) -> Vec<u8> {
    let mut batch = LogBatch::<Json>::new(resource);
    records.iter().for_each(|record| batch.add(record));
    batch.take(Vec::new())
}

/// A request of spans: `names` are those of its levels, of which `scopes` writes the second.
fn request_of_scopes(resource: &EncodedResource, names: [&str; 3], scopes: impl FnOnce(&mut Json)) -> Vec<u8> {
    resource.request([names[0], names[1]], Vec::new(), scopes)
}

/// What comes from us.
fn own_scope(json: &mut Json, name: &str, items: impl FnOnce(&mut Json)) {
    json.object(|json| {
        resource::own_scope(json);
        json.array(name, items);
    });
}

fn array_of_scope(json: &mut Json, name: &str, scope: impl FnOnce(&mut Json), items: impl FnOnce(&mut Json)) {
    json.member("scope", |json| json.object(scope));
    json.array(name, items);
}

fn attribute(json: &mut Json, key: &str, value: Value<'_>) {
    json.key_value(0, key, value);
}
