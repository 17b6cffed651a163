//! What a context carries besides its ids, when it carries anything: shared keys, what came with a request and goes on
//! with those it causes, and the sink of a test's capture.

use std::sync::Arc;

use crate::declare::amount::Measurement;
use crate::declare::key::KeyMeta;
use crate::declare::value::{OwnedValue, cut};
use crate::formats::{Baggage, TraceState};
use crate::record::clock::Converter;
use crate::record::finished::FinishedSpan;
use crate::record::limits;

/// Where the spans, measurements and log records of a capture go.
pub(crate) trait Sink: Send + Sync {
    fn converter(&self) -> Converter;
    fn finished(&self, span: FinishedSpan);
    fn measured(&self, measurement: Measurement);
    /// Takes a log record, whose type belongs to the room `logs`, above this one.
    #[cfg(has_logs)]
    fn logged(&self, record: Box<dyn std::any::Any + Send>);
}

/// Shared by all spans below the one that made it; never changed after that.
#[derive(Clone, Default)]
pub(crate) struct Propagated {
    pub(crate) sink: Option<Arc<dyn Sink>>,
    pub(crate) shared: Vec<(&'static KeyMeta, OwnedValue)>,
    pub(crate) state: TraceState,
    pub(crate) baggage: Baggage,
}

impl Propagated {
    /// The same with one more shared key; an earlier value of the key gives way. Text is cut at the limit, and so are the texts
    /// of a list. One that is declared as `baggage` goes along with requests too, as far as there is room.
    pub(crate) fn sharing(&self, key: &'static KeyMeta, mut value: OwnedValue) -> Propagated {
        let mut propagated = self.clone();
        let limit = limits::value_bytes();
        value.change_texts(|text| (text.len() > limit).then(|| cut(text, limit).to_owned()));
        value.truncate(limits::LIST_ELEMENTS);
        if key.baggage {
            // Without room for the new value, none is better than the old one.
            let with = propagated.baggage.with(key.name, &value.to_string());
            propagated.baggage = with.unwrap_or_else(|| propagated.baggage.without(key.name));
        }
        propagated.shared.retain(|(known, _)| known.name != key.name);
        propagated.shared.push((key, value));
        propagated
    }
}
