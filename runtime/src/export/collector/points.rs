//! Metrics on their way from memory to requests.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::counts::Counts;
use super::outbox::{Pool, packed};
use super::way::{Forms, Receiver, Ways};
use crate::config::redact::Redact;
use crate::encode::json;
use crate::encode::metrics::metrics_request;
use crate::encode::resource::EncodedResource;
use crate::encode::views::Views;
use crate::export::own::{Figures, Teller};
use crate::meter::reader::Reader;
use crate::meter::snapshot::Snapshot;

/// What is to be done with metrics.
pub(crate) struct Metrics {
    /// Reads them, if they have just been switched on.
    pub(crate) source: Option<Source>,
    /// Where they go, if that has changed.
    pub(crate) receivers: Option<Vec<Receiver>>,
    pub(crate) interval: Duration,
}

/// Everything that has metrics to read.
pub(crate) struct Source {
    pub(crate) reader: Reader,
    pub(crate) views: Arc<Views>,
    /// Raw instruments of OpenTelemetry.
    #[cfg(feature = "otel")]
    pub(crate) meters: Option<Arc<crate::interop::otel::metrics::Meters>>,
}

impl Source {
    /// All metrics, with no more patience for their callbacks than given.
    fn snapshot(&mut self, patience: Duration) -> Snapshot {
        // Half of it for our callbacks, half for those of others.
        let patience = patience / 2;
        let mut snapshot = self.reader.snapshot_within(patience);
        self.views.apply(&mut snapshot);
        #[cfg(feature = "otel")]
        self.meters.iter().for_each(|meters| snapshot.metrics.extend(meters.collect(patience)));
        snapshot
    }
}

pub(super) struct Points {
    resource: EncodedResource,
    redact: Option<Redact>,
    source: Option<Source>,
    /// Tells what the collector itself has counted.
    teller: Teller,
    ways: Ways,
    pub(super) interval: Duration,
    pub(super) paused: bool,
}

impl Points {
    pub(super) fn new(resource: EncodedResource, redact: Option<Redact>, pool: Rc<Pool>) -> Self {
        Points {
            resource,
            redact,
            source: None,
            teller: Teller::default(),
            ways: Ways::new(pool),
            interval: Duration::MAX,
            paused: false,
        }
    }

    pub(super) fn change(&mut self, metrics: Metrics) {
        if metrics.source.is_some() {
            self.source = metrics.source;
            // All figures count from the start of the collector.
            self.teller = Teller::default();
        }
        metrics.receivers.into_iter().for_each(|receivers| self.ways.replace(receivers, &self.resource));
        self.interval = metrics.interval;
    }

    pub(super) fn is_on(&self) -> bool {
        self.source.is_some() && !self.paused
    }

    /// Brings what the collector has counted to the metrics.
    pub(super) fn tell(&mut self, figures: Figures) {
        if self.is_on() {
            self.teller.tell(figures);
        }
    }

    /// Reads the metrics, with no more patience for their callbacks than given.
    pub(super) fn collect(&mut self, patience: Duration, figures: Figures) {
        let Some(source) = self.source.as_mut().filter(|_| !self.paused) else { return };
        self.teller.tell(figures);
        let mut snapshot = source.snapshot(patience);
        self.redact.iter().for_each(|redact| redact.metrics(&mut snapshot));
        let items = snapshot.points();
        if items == 0 {
            return;
        }
        self.ways.push(&Forms {
            items,
            protobuf: &|| packed(metrics_request(&self.resource, &snapshot)),
            json: &|| packed(json::metrics_request(&self.resource, &snapshot)),
            text: &|| snapshot.to_string(),
            spans: None,
        });
    }

    pub(super) fn hurry(&self) {
        self.ways.hurry();
    }

    pub(super) async fn emptied(&self) {
        self.ways.emptied().await;
    }

    pub(super) fn counts(&self) -> Counts {
        self.ways.counts()
    }

    /// Bytes that wait to be sent.
    pub(super) fn bytes(&self) -> u64 {
        self.ways.bytes()
    }
}
