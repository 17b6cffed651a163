//! Raw OpenTelemetry instruments of the program: the SDK aggregates them, and the results are read together with our
//! metrics.
//!
//! The global meter provider is ours and returns the SDK's instruments. It keeps the callbacks of observable
//! instruments: the SDK would call them under a lock that every new instrument needs, and would never recover from a
//! panic there.

mod callbacks;
mod convert;
mod delta;
mod provider;
mod streams;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use opentelemetry::global;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::reader::MetricReader;
use opentelemetry_sdk::metrics::{InstrumentKind, ManualReader, Pipeline, SdkMeterProvider, Temporality};

use self::callbacks::Callbacks;
use self::delta::Deltas;
use self::provider::{Off, Provider};
use self::streams::Streams;
use crate::base::notice;
use crate::config::{Metrics, TemporalityPreference as Preference};
use crate::meter::snapshot::MetricPoints;

/// The time limit for callbacks in one collection, as for our observable gauges. Later values are missing from the
/// collection.
const PATIENCE: Duration = Duration::from_secs(1);

/// The raw OpenTelemetry instruments of the process. While it lives, instruments of `opentelemetry::global::meter` are
/// recorded.
pub(crate) struct Meters {
    provider: SdkMeterProvider,
    callbacks: Arc<Callbacks>,
    streams: Arc<Streams>,
    export: Arc<ManualReader>,
    /// A cumulative reader for scraping, if exports are not cumulative.
    scrape: Option<Arc<ManualReader>>,
    /// The values of observed counters at the last export, if exports are deltas.
    deltas: Option<Mutex<Deltas>>,
    /// The longest time that a collection waits for callbacks.
    patience: Duration,
    /// The process that started the instruments. A forked child does not stop them, because locks of the SDK may be
    /// held there for ever.
    process: u32,
}

impl Meters {
    /// Creates the provider for `config` and makes it global. Instruments created earlier stay off.
    pub(crate) fn start(config: &Metrics) -> Self {
        let (callbacks, streams) = (Arc::new(Callbacks::default()), Arc::new(Streams::new(config)));
        let export = Arc::new(ManualReader::builder().build());
        let cumulative = config.temporality == Preference::Cumulative;
        let scrape = (!cumulative).then(|| Arc::new(ManualReader::builder().build()));
        let mut builder = SdkMeterProvider::builder()
            .with_resource(opentelemetry_sdk::Resource::builder_empty().build())
            .with_reader(Reader { inner: export.clone(), preference: config.temporality });
        if let Some(scrape) = &scrape {
            let preference = Preference::Cumulative;
            builder = builder.with_reader(Reader { inner: scrape.clone(), preference });
        }
        let provider = streams.add_to(builder).build();
        global::set_meter_provider(Provider::new(provider.clone(), callbacks.clone()));
        let deltas = (config.temporality == Preference::Delta).then(Mutex::default);
        let (patience, process) = (PATIENCE, std::process::id());
        Meters { provider, callbacks, streams, export, scrape, deltas, patience, process }
    }

    /// Reads all points for an export. Waits at most `patience` for callbacks.
    pub(crate) fn collect(&self, patience: Duration) -> Vec<MetricPoints> {
        let mut metrics = self.read(&self.export, patience);
        if let Some(deltas) = &self.deltas {
            deltas.lock().unwrap_or_else(PoisonError::into_inner).apply(&mut metrics);
        }
        metrics
    }

    /// Reads all cumulative points, for scraping. Exports are not affected.
    pub(crate) fn scrape(&self, patience: Duration) -> Vec<MetricPoints> {
        self.read(self.scrape.as_ref().unwrap_or(&self.export), patience)
    }

    fn read(&self, reader: &ManualReader, patience: Duration) -> Vec<MetricPoints> {
        let answers = self.callbacks.ask(patience.min(self.patience));
        let mut read = ResourceMetrics::default();
        let collected = callbacks::with(answers, || catch_unwind(AssertUnwindSafe(|| reader.collect(&mut read))));
        match collected {
            Ok(Ok(())) => {
                let mut metrics = convert::metrics(&read);
                metrics.iter_mut().for_each(|metric| self.streams.finish(metric));
                metrics
            }
            // The provider was stopped.
            Ok(Err(_)) => Vec::new(),
            Err(_) => {
                notice::say(format_args!(
                    "the OpenTelemetry SDK panicked while it was read; this collection omits its metrics"
                ));
                Vec::new()
            }
        }
    }

    /// Stops the instruments: from now on those of `opentelemetry::global::meter` do nothing. Has no effect in a forked
    /// child.
    pub(crate) fn stop(&self) {
        if self.process != std::process::id() || !self.callbacks.stop() {
            return;
        }
        global::set_meter_provider(Off);
        // Fails only if the provider was already shut down.
        let _ = self.provider.shutdown();
    }
}

impl Drop for Meters {
    fn drop(&mut self) {
        self.stop();
    }
}

impl std::fmt::Debug for Meters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meters").finish_non_exhaustive()
    }
}

/// A manual reader with the configured temporality for each kind of instrument.
#[derive(Debug)]
struct Reader {
    inner: Arc<ManualReader>,
    preference: Preference,
}

impl MetricReader for Reader {
    fn register_pipeline(&self, pipeline: Weak<Pipeline>) {
        self.inner.register_pipeline(pipeline);
    }

    fn collect(&self, metrics: &mut ResourceMetrics) -> OTelSdkResult {
        self.inner.collect(metrics)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn temporality(&self, kind: InstrumentKind) -> Temporality {
        match (self.preference, kind) {
            (Preference::Cumulative, _) => Temporality::Cumulative,
            (_, InstrumentKind::Counter | InstrumentKind::Histogram) => Temporality::Delta,
            // The SDK's deltas of observed counters wrap around when a counter restarts, so `Deltas` computes them.
            (_, InstrumentKind::ObservableCounter) => Temporality::Cumulative,
            (_, InstrumentKind::UpDownCounter | InstrumentKind::ObservableUpDownCounter) => Temporality::Cumulative,
            // With delta temporality, gauges that were not set since the last export are omitted.
            (Preference::Delta, InstrumentKind::Gauge | InstrumentKind::ObservableGauge) => Temporality::Delta,
            (_, InstrumentKind::Gauge | InstrumentKind::ObservableGauge) => Temporality::Cumulative,
        }
    }
}

#[cfg(test)]
mod tests;
