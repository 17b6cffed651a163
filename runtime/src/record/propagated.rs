//! The propagated state of a context, beside its ids: inherited keys, the `tracestate` and baggage received with a request and
//! sent with its outgoing requests, and the sink of a test's capture.

use std::sync::Arc;

use crate::declare::amount::Measurement;
use crate::declare::key::KeyMeta;
use crate::declare::value::{OwnedValue, cut};
use crate::formats::{Baggage, TraceState};
use crate::record::clock::Converter;
use crate::record::finished::FinishedSpan;
use crate::record::limits;

/// The receiver of the spans, measurements and log records of a capture.
pub(crate) trait Sink: Send + Sync {
    fn converter(&self) -> Converter;
    fn finished(&self, span: FinishedSpan);
    fn measured(&self, measurement: Measurement);
    /// Receives a log record. It is passed as `Any`, because its type is defined in `logs`, which this module must not use.
    #[cfg(has_logs)]
    fn logged(&self, record: Box<dyn std::any::Any + Send>);
}

/// The propagated state. It is immutable, and shared by all spans below the span or context that set it.
#[derive(Clone, Default)]
pub(crate) struct Propagated {
    pub(crate) sink: Option<Arc<dyn Sink>>,
    pub(crate) shared: Vec<(&'static KeyMeta, OwnedValue)>,
    pub(crate) state: TraceState,
    pub(crate) baggage: Baggage,
}

impl Propagated {
    /// Returns this state with one more inherited key; an earlier value of the key is replaced. Texts and lists are cut at their
    /// limits. A key declared as `baggage` is also added to the baggage; if there is no room, its earlier value is removed
    /// there.
    pub(crate) fn sharing(&self, key: &'static KeyMeta, mut value: OwnedValue) -> Propagated {
        let mut propagated = self.clone();
        let limit = limits::value_bytes();
        value.change_texts(|text| (text.len() > limit).then(|| cut(text, limit).to_owned()));
        value.truncate(limits::LIST_ELEMENTS);
        if key.baggage {
            // If there is no room for the new value, the old one is removed.
            let with = propagated.baggage.with(key.name, &value.to_string());
            propagated.baggage = with.unwrap_or_else(|| propagated.baggage.without(key.name));
        }
        propagated.shared.retain(|(known, _)| known.name != key.name);
        propagated.shared.push((key, value));
        propagated
    }
}
