//! The source of metric points.

use std::sync::Arc;
use std::time::Duration;

use super::outbox::packed;
use super::route::{Forms, Routes};
use super::signal_pipeline::{Batcher, Content, Found, Pipeline, Source};
use crate::config::Signal;
use crate::config::redact::Redact;
use crate::encode::json;
use crate::encode::metrics::metrics_request;
use crate::encode::resource::EncodedResource;
use crate::encode::views::Views;
use crate::export::scrape::Scraped;
use crate::export::self_metrics::{Figures, SelfMetrics, sdk_names};
use crate::meter::reader::Reader;
use crate::meter::snapshot::Snapshot;

/// The sources of metrics.
pub(crate) struct Readings {
    pub(crate) reader: Reader,
    pub(crate) views: Arc<Views>,
    /// True if metrics about telemetry itself are also exported under the names of OpenTelemetry's conventions.
    pub(crate) sdk_names: bool,
    /// Raw instruments of OpenTelemetry.
    #[cfg(has_otel)]
    pub(crate) meters: Option<Arc<crate::interop::otel::metrics::Meters>>,
    /// All metrics, for scrapers.
    pub(crate) scraped: Arc<Scraped>,
}

impl Readings {
    /// Reads all metrics. Callbacks that take longer than `patience` are left out.
    fn snapshot(&mut self, patience: Duration) -> Snapshot {
        // Half of the time for our callbacks, half for those of raw instruments.
        let patience = patience / 2;
        let mut snapshot = self.reader.snapshot_within(patience);
        sdk_names::apply(self.sdk_names, &self.views, &mut snapshot);
        #[cfg(has_otel)]
        self.meters.iter().for_each(|meters| snapshot.metrics.extend(meters.collect(patience)));
        snapshot
    }
}

/// The source of metric points, which are read in intervals instead of taken as they are recorded.
pub(super) struct Points {
    redact: Option<Redact>,
    readings: Option<Readings>,
    self_metrics: SelfMetrics,
    pub(super) paused: bool,
}

impl Points {
    pub(super) fn new(redact: Option<Redact>) -> Self {
        Points { redact, readings: None, self_metrics: SelfMetrics::default(), paused: false }
    }

    pub(super) fn is_on(&self) -> bool {
        self.readings.is_some() && !self.paused
    }

    /// Updates the metrics about telemetry itself.
    pub(super) fn update(&mut self, figures: Figures) {
        if self.is_on() {
            self.self_metrics.record(figures);
        }
    }
}

impl Source for Points {
    const SIGNAL: Signal = Signal::Metrics;
    type Feed = Readings;
    type Content = Option<Snapshot>;

    fn start(&mut self, readings: Readings) {
        self.readings = Some(readings);
        // These metrics have counted no figures yet.
        self.self_metrics = SelfMetrics::default();
    }

    fn is_polled(&self) -> bool {
        false
    }

    fn take(&mut self, _: &Routes, _: &mut Batcher<Option<Snapshot>>) -> Found {
        Found::Nothing
    }
}

impl Pipeline<Points> {
    /// True if metrics are sent to a receiver. Metrics that are only scraped are read for each scrape.
    pub(super) fn is_pushed(&self) -> bool {
        self.source.is_on() && !self.routes.is_empty()
    }

    /// Reads the metrics and passes them to the routes, if metrics are sent to a receiver. Callbacks that take longer
    /// than `patience` are left out.
    pub(super) fn collect(&mut self, patience: Duration, figures: Figures) {
        if !self.is_pushed() {
            return;
        }
        let Points { redact, readings: Some(readings), self_metrics, .. } = &mut self.source else { return };
        self_metrics.record(figures);
        let mut snapshot = readings.snapshot(patience);
        redact.iter().for_each(|redact| redact.metrics(&mut snapshot));
        let points = snapshot.points();
        if points > 0 {
            self.batcher.send(&self.routes, points, Some(snapshot));
        }
    }
}

impl Content for Option<Snapshot> {
    fn want(&mut self, _: bool, _: bool) {}

    fn bytes(&self) -> usize {
        0
    }

    fn hand_over(&mut self, items: u64, resource: &EncodedResource, routes: &Routes) {
        let Some(snapshot) = self.take() else { return };
        routes.push(&Forms {
            items,
            protobuf: &|| packed(metrics_request(resource, &snapshot)),
            json: &|| packed(json::metrics_request(resource, &snapshot)),
            text: &|| snapshot.to_string(),
            spans: None,
        });
    }
}
