//! Encodes log records as one OTLP request.
//!
//! The scope of a record is its target, like the name of an OpenTelemetry logger. Each target has its own buffer; the
//! request is a concatenation of these buffers.

use crate::encode::message::{self, Message, pairs, text_value};
use crate::encode::resource::{self, EncodedResource};
use crate::encode::wire::Wire;
use crate::logs::LogRecord;

/// Builds an `ExportLogsServiceRequest` with one resource and a scope for each target.
#[derive(Debug)]
pub(crate) struct LogBatch<M = Wire> {
    resource: EncodedResource,
    scopes: Vec<Scope<M>>,
    records: usize,
    bytes: usize,
}

/// The records of one target, each as a field of `ScopeLogs`.
#[derive(Debug)]
struct Scope<M> {
    target: String,
    records: M,
}

impl<M: Message> LogBatch<M> {
    pub(crate) fn new(resource: &EncodedResource) -> Self {
        LogBatch { resource: resource.clone(), scopes: Vec::new(), records: 0, bytes: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Returns the length of the request so far, without the resource.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: &LogRecord) {
        let at = match self.scopes.iter().position(|scope| scope.target == record.target) {
            Some(at) => at,
            None => {
                self.scopes.push(Scope { target: record.target.to_string(), records: M::default() });
                self.bytes += record.target.len() + SCOPE_BYTES;
                self.scopes.len() - 1
            }
        };
        let records = &mut self.scopes[at].records;
        let before = records.len();
        records.element(2, |m| log_record(m, record));
        self.bytes += records.len() - before;
        self.records += 1;
    }

    /// Returns the request and empties the batch. The request is written into `buffer`, whose old content is discarded.
    pub(crate) fn take(&mut self, mut buffer: Vec<u8>) -> Vec<u8> {
        buffer.clear();
        // Enough for JSON as well: a buffer that is slightly too small would be copied when it grows.
        buffer.reserve(self.bytes + 64 * (1 + self.scopes.len()) + 4 * self.resource.bytes.len());
        (self.records, self.bytes) = (0, 0);
        let scopes = std::mem::take(&mut self.scopes);
        self.resource.request(["resourceLogs", "scopeLogs"], buffer, |m: &mut M| {
            for Scope { target, records } in scopes {
                m.long_element(2, |m| {
                    resource::scope(m, &target, None, &[]);
                    m.list("logRecords", |m| m.elements(&records));
                });
            }
        })
    }
}

/// The size in bytes that a scope adds besides its name and records: tags and length prefixes.
const SCOPE_BYTES: usize = 11;

fn log_record(m: &mut impl Message, record: &LogRecord) {
    m.fixed64(1, "timeUnixNano", record.unix_nanos);
    m.uint32(2, "severityNumber", u32::from(record.severity()));
    m.string_unless_empty(3, "severityText", record.severity_text());
    if !record.body.is_empty() {
        m.message(5, "body", |m| text_value(m, &record.body));
    }
    message::attributes(m, 6, pairs(&record.attributes));
    if record.dropped_attributes > 0 {
        m.uint32(7, "droppedAttributesCount", record.dropped_attributes);
    }
    if record.trace_id != 0 {
        m.fixed32(8, "flags", u32::from(record.sampled));
        m.id(9, "traceId", &record.trace_id.to_be_bytes());
        m.id(10, "spanId", &record.span_id.to_be_bytes());
    }
    m.fixed64(11, "observedTimeUnixNano", record.unix_nanos);
}
