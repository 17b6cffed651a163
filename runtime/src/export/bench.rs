//! The encoder, for benches and for tests of whole requests. Not public API: it changes without notice.

use crate::config::redact::Redact;
use crate::declare::value::OwnedValue;
use crate::encode::resource::EncodedResource;
use crate::encode::trace::TraceBatch;
use crate::encode::{json, metrics};
use crate::meter::snapshot::{ExponentialPoint, Snapshot};
use crate::record::clock;
use crate::record::finished::FinishedSpan;
use crate::record::recorder;
use crate::trace::external;

/// Encodes recorded spans as OTLP requests.
#[derive(Debug)]
pub struct Encoder {
    resource: EncodedResource,
    batch: TraceBatch,
    redact: Option<Redact>,
}

impl Encoder {
    /// Creates an encoder for a service of this name.
    pub fn new(service_name: &str) -> Self {
        let attributes = [
            ("service.name".to_owned(), OwnedValue::from(service_name)),
            ("process.pid".to_owned(), OwnedValue::I64(7)),
            ("process.command_args".to_owned(), OwnedValue::StrArray(vec!["a".to_owned(), "b".to_owned()])),
        ];
        let resource = EncodedResource::new(&attributes).with_schema_url("https://opentelemetry.io/schemas/1.42.0");
        Encoder { batch: TraceBatch::new(&resource), resource, redact: None }
    }

    /// Adds a redaction hook.
    #[must_use]
    pub fn with_redaction(mut self, hook: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.redact = Some(Redact::new(hook));
        self
    }

    /// Encodes all spans that have ended, from their records.
    pub fn drain(&mut self) {
        let converter = clock::converter();
        let Encoder { batch, redact, .. } = self;
        match (recorder::get(), redact) {
            (Some(recorder), None) => _ = recorder.drain(|| true, |record| batch.record(record, &converter)),
            (Some(recorder), Some(redact)) => {
                recorder.drain(|| true, |record| batch.redacted(record, &converter, redact));
            }
            (None, _) => {}
        }
    }

    /// Encodes all spans that have ended, from their records, and also returns them as owned data.
    pub fn drain_both(&mut self) -> Vec<FinishedSpan> {
        let converter = clock::converter();
        let mut spans = Vec::new();
        if let Some(recorder) = recorder::get() {
            recorder.drain(
                || true,
                |record| {
                    let mut span = record.finish(&converter);
                    match &self.redact {
                        None => self.batch.record(record, &converter),
                        Some(redact) => {
                            self.batch.redacted(record, &converter, redact);
                            redact.span(&mut span);
                        }
                    }
                    spans.push(span);
                },
            );
        }
        spans
    }

    /// Encodes all third-party spans that have ended.
    pub fn drain_external(&mut self) {
        external::take(|span| self.batch.finished(&span));
    }

    /// Encodes all spans that have ended, ours and third-party ones, as JSON.
    pub fn drain_json(&self) -> Vec<u8> {
        let (converter, mut spans) = (clock::converter(), Vec::new());
        if let Some(recorder) = recorder::get() {
            recorder.drain(|| true, |record| spans.push(record.finish(&converter)));
        }
        external::take(|span| spans.push(span));
        json::trace_request(&self.resource, &spans)
    }

    /// The number of spans encoded for the next request.
    pub fn spans(&self) -> usize {
        self.batch.len()
    }

    /// Returns the encoded request. The next request is written into `buffer`.
    pub fn take(&mut self, buffer: Vec<u8>) -> Vec<u8> {
        self.batch.take(buffer)
    }

    /// Encodes spans that are owned data.
    pub fn finished(&self, spans: &[FinishedSpan]) -> Vec<u8> {
        let mut batch = TraceBatch::new(&self.resource);
        spans.iter().for_each(|span| batch.finished(span));
        batch.take(Vec::new())
    }

    /// Encodes spans that are owned data, as a JSON request.
    pub fn finished_json(&self, spans: &[FinishedSpan]) -> Vec<u8> {
        json::trace_request(&self.resource, spans)
    }

    /// Encodes the points of a snapshot.
    pub fn metrics(&self, snapshot: &Snapshot) -> Vec<u8> {
        metrics::metrics_request(&self.resource, snapshot)
    }

    /// Encodes the points of a snapshot, as a JSON request.
    pub fn metrics_json(&self, snapshot: &Snapshot) -> Vec<u8> {
        json::metrics_request(&self.resource, snapshot)
    }
}

/// The fields of an exponential histogram that only exporters read.
#[derive(Debug)]
pub struct ExponentialParts<'a> {
    pub scale: &'a mut i32,
    pub zero_count: &'a mut u64,
    pub zero_threshold: &'a mut f64,
    pub offset: &'a mut i32,
    pub counts: &'a mut Vec<u64>,
}

impl<'a> ExponentialParts<'a> {
    /// Borrows the fields of a point.
    pub fn of(point: &'a mut ExponentialPoint) -> Self {
        let ExponentialPoint { scale, zero_count, zero_threshold, offset, counts, .. } = point;
        ExponentialParts { scale, zero_count, zero_threshold, offset, counts }
    }
}

/// Collects third-party spans until it is dropped.
#[derive(Debug)]
pub struct ExternalSpans(());

impl ExternalSpans {
    /// Starts to collect up to `limit_bytes` of third-party spans.
    pub fn start(limit_bytes: usize) -> Self {
        external::start(limit_bytes);
        ExternalSpans(())
    }

    /// Starts to collect up to `limit_bytes` of third-party spans, and installs our provider and propagator as
    /// OpenTelemetry's global ones.
    #[cfg(has_otel)]
    pub fn of_otel(
        limit_bytes: usize,
        interop: crate::interop::otel::Interop,
        propagators: &[crate::config::Propagator],
    ) -> Self {
        crate::interop::otel::install(interop, propagators);
        ExternalSpans::start(limit_bytes)
    }

    /// The numbers of spans that have ended, were dropped, and are pending.
    pub fn counts(&self) -> [u64; 3] {
        let external::Counts { ended, dropped, waiting } = external::counts();
        [ended, dropped, waiting]
    }
}

impl Drop for ExternalSpans {
    fn drop(&mut self) {
        #[cfg(has_otel)]
        crate::interop::otel::uninstall();
        external::stop();
    }
}
