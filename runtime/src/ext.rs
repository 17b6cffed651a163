//! What a context carries besides its ids, when it carries anything: shared keys, what came with a request and goes on
//! with those it causes, and the sink of a test's capture.

use std::sync::Arc;

use crate::amount::Measurement;
use crate::clock::Converter;
use crate::finished::FinishedSpan;
use crate::formats::{Baggage, TraceState};
use crate::key::KeyMeta;
use crate::value::OwnedValue;

/// Where the spans and measurements of a capture go.
pub(crate) trait Sink: Send + Sync {
    fn converter(&self) -> Converter;
    fn finished(&self, span: FinishedSpan);
    fn measured(&self, measurement: Measurement);
}

/// Shared by all spans below the one that made it; never changed after that.
#[derive(Clone, Default)]
pub(crate) struct Ext {
    pub(crate) sink: Option<Arc<dyn Sink>>,
    pub(crate) shared: Vec<(&'static KeyMeta, OwnedValue)>,
    pub(crate) state: TraceState,
    pub(crate) baggage: Baggage,
}

impl Ext {
    /// The same with one more shared key; an earlier value of the key gives way.
    pub(crate) fn sharing(&self, key: &'static KeyMeta, value: OwnedValue) -> Ext {
        let mut ext = self.clone();
        ext.shared.retain(|(known, _)| known.name != key.name);
        ext.shared.push((key, value));
        ext
    }
}
