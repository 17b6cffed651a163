//! Log records as one OTLP request.
//!
//! Records of one target are one scope: OpenTelemetry has the name of a logger there. So each target has a buffer of its
//! own, and the buffers follow each other in the request.

use crate::declare::value::Value;
use crate::encode::attribute;
use crate::encode::resource::EncodedResource;
use crate::encode::wire::Wire;
use crate::logs::LogRecord;

/// An `ExportLogsServiceRequest` in the making: one resource, a scope for each target, any number of records.
#[derive(Debug)]
pub(crate) struct LogBatch {
    resource: EncodedResource,
    scopes: Vec<Scope>,
    records: usize,
    bytes: usize,
}

/// The records of one target, each a field of its `ScopeLogs`.
#[derive(Debug)]
struct Scope {
    target: String,
    records: Wire,
}

impl LogBatch {
    pub(crate) fn new(resource: &EncodedResource) -> Self {
        LogBatch { resource: resource.clone(), scopes: Vec::new(), records: 0, bytes: 0 }
    }

    /// How many records it holds.
    pub(crate) fn len(&self) -> usize {
        self.records
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// How long the request is by now, but for what all have in common.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: &LogRecord) {
        let at = match self.scopes.iter().position(|scope| scope.target == record.target) {
            Some(at) => at,
            None => {
                self.scopes.push(Scope { target: record.target.to_string(), records: Wire::default() });
                self.bytes += record.target.len() + SCOPE_BYTES;
                self.scopes.len() - 1
            }
        };
        let wire = &mut self.scopes[at].records;
        let before = wire.len();
        wire.nested(2, |wire| write_record(wire, record));
        self.bytes += wire.len() - before;
        self.records += 1;
    }

    /// The request; the batch begins anew. It is written into `buffer`, which may have been used before.
    pub(crate) fn take(&mut self, buffer: Vec<u8>) -> Vec<u8> {
        let mut wire = Wire::reusing(buffer);
        let resource = wire.open_long(1);
        wire.push(&self.resource.bytes);
        for scope in self.scopes.drain(..) {
            let opened = wire.open_long(2);
            wire.nested(1, |wire| wire.text_unless_empty(1, &scope.target));
            wire.push(&scope.records.bytes);
            wire.close(opened);
        }
        wire.close(resource);
        (self.records, self.bytes) = (0, 0);
        wire.bytes
    }
}

/// What a scope takes besides its name and its records: two tags with their lengths.
const SCOPE_BYTES: usize = 11;

/// The flags are a fixed number of four bytes, in field 8.
const FLAGS: u8 = 8 << 3 | 5;

fn write_record(wire: &mut Wire, record: &LogRecord) {
    wire.fixed(1, record.unix_nanos);
    wire.number(2, u64::from(record.severity()));
    wire.text_unless_empty(3, record.severity_text());
    if !record.body.is_empty() {
        wire.nested(5, |wire| attribute::any_value(wire, Value::Str(&record.body)));
    }
    for (name, value) in &record.attributes {
        attribute::field(wire, 6, name, value.as_value());
    }
    if record.dropped_attributes > 0 {
        wire.number(7, u64::from(record.dropped_attributes));
    }
    if record.trace_id != 0 {
        wire.push(&[FLAGS, u8::from(record.sampled), 0, 0, 0]);
        wire.field_of_bytes(9, &record.trace_id.to_be_bytes());
        wire.field_of_bytes(10, &record.span_id.to_be_bytes());
    }
    wire.fixed(11, record.unix_nanos);
}
