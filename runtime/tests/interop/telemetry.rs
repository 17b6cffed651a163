//! All spans of a test, ours and others, as somebody else's decoder reads them.

#![allow(dead_code, reason = "not every feature uses all of it")]

use std::sync::MutexGuard;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::{ScopeSpans, Span};
use prost::Message;
use tracecast::__bench::{Encoder, ExternalSpans};
use tracecast::Sampler;
use tracecast::testing::{Recording, RecordingConfig};

use crate::turn::turn;

pub(crate) struct Telemetry {
    external: ExternalSpans,
    _recording: Recording,
    _turn: MutexGuard<'static, ()>,
}

impl Telemetry {
    pub(crate) fn start(sampler: Sampler, external: impl FnOnce() -> ExternalSpans) -> Self {
        let turn = turn();
        let config = RecordingConfig::default().with_sampler(sampler);
        let recording = Recording::start(config).unwrap();
        // What the test before has left.
        Encoder::new("left").drain();
        Telemetry { external: external(), _recording: recording, _turn: turn }
    }

    /// Ends it. It is nobody else's turn until what is returned is dropped.
    pub(crate) fn stop(self) -> MutexGuard<'static, ()> {
        drop((self.external, self._recording));
        self._turn
    }

    pub(crate) fn counts(&self) -> [u64; 3] {
        self.external.counts()
    }

    /// Every scope with its spans, those that have ended by now.
    pub(crate) fn scopes(&self) -> Vec<ScopeSpans> {
        let mut encoder = Encoder::new("interop");
        encoder.drain();
        encoder.drain_external();
        let request = ExportTraceServiceRequest::decode(&encoder.take(Vec::new())[..]).unwrap();
        request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans).collect()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.scopes().into_iter().flat_map(|scope| scope.spans).collect()
    }

    /// The names of all spans as a tree, siblings by name: `a(b(c),d)`; roots one after the other.
    pub(crate) fn tree(&self) -> String {
        let spans = self.spans();
        tree(&spans)
    }
}

pub(crate) fn tree(spans: &[Span]) -> String {
    let is_known = |id: &[u8]| spans.iter().any(|span| span.span_id == id);
    let roots = spans.iter().filter(|span| !is_known(&span.parent_span_id));
    siblings(spans, roots.collect())
}

fn siblings(spans: &[Span], mut level: Vec<&Span>) -> String {
    level.sort_by(|a, b| a.name.cmp(&b.name));
    let texts: Vec<_> = level
        .into_iter()
        .map(|span| {
            let children: Vec<_> = spans
                .iter()
                .filter(|child| child.parent_span_id == span.span_id)
                .inspect(|child| assert_eq!(child.trace_id, span.trace_id, "one trace"))
                .collect();
            let below = siblings(spans, children);
            if below.is_empty() { span.name.clone() } else { format!("{}({below})", span.name) }
        })
        .collect();
    texts.join(",")
}
