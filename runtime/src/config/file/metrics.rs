//! `meter_provider` in a file.

use super::reading::{At, Map, Reading, Unknown};
use super::{exporter, views};
use crate::config::parts::{
    CardinalityLimits, Exporter, HistogramAggregation, Metrics, ScrapeAddress, TemporalityPreference,
};
use crate::config::problem::{Severity, Wrong};
use crate::config::values::{self, positive};

pub(super) fn meter_provider(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    let list = map.required(reading, "readers", "a list of readers, `periodic` or `pull`");
    let (mut first, mut exporters, mut prometheus) = (None, Vec::new(), ScrapeAddress::default());
    for item in reading.list(list) {
        let Some((kind, at)) = reading.choice(&item, &["periodic", "pull"], Unknown::Refused) else { continue };
        if kind == "pull" {
            exporters.extend(pull(reading, &at, &mut prometheus));
            continue;
        }
        let (own, exporter) = periodic(reading, &at);
        if *first.get_or_insert(own) != own {
            let wrong =
                Wrong::with_help("differs from the first reader, whose settings are used", "give all readers the same");
            reading.report(&at, wrong, Severity::Warning);
        }
        exporters.extend(exporter);
    }
    let Periodic { interval, timeout, temporality, histograms, cardinality } = first.unwrap_or_default();
    let views = views::read(reading, map.get("views"));
    let metrics = &mut reading.config.settings.metrics;
    let exporters = Some(exporters);
    let (exemplars, sdk_names, otlp) = (metrics.exemplars, metrics.sdk_names, std::mem::take(&mut metrics.otlp));
    *metrics = Metrics {
        exporters,
        otlp,
        prometheus,
        interval,
        timeout,
        temporality,
        histograms,
        exemplars,
        cardinality,
        sdk_names,
        views,
    };
    reading.came_from("metrics.exporters", at);
    reading.settings(&mut map, "meter_provider");
    map.unsupported(reading, "view_matching_mode/development");
    map.unsupported(reading, "meter_configurator/development");
    map.finish(reading, Unknown::Refused);
}

/// The settings of a periodic reader.
#[derive(Clone, Copy, PartialEq)]
struct Periodic {
    interval: std::time::Duration,
    timeout: std::time::Duration,
    temporality: TemporalityPreference,
    histograms: HistogramAggregation,
    cardinality: CardinalityLimits,
}

impl Default for Periodic {
    fn default() -> Self {
        let Metrics { interval, timeout, temporality, histograms, cardinality, .. } = Metrics::default();
        Periodic { interval, timeout, temporality, histograms, cardinality }
    }
}

fn periodic(reading: &mut Reading, at: &At<'_>) -> (Periodic, Option<Exporter>) {
    let mut map = reading.map(at);
    let mut own = Periodic::default();
    own.interval = reading.value(map.get("interval"), values::interval).unwrap_or(own.interval);
    own.timeout = reading.value(map.get("timeout"), values::timeout).unwrap_or(own.timeout);
    if let Some(at) = map.get("cardinality_limits") {
        own.cardinality = cardinality(reading, &at);
    }
    map.unsupported(reading, "producers");
    map.unsupported(reading, "max_export_batch_size/development");
    let at = map.required(reading, "exporter", "an exporter, `otlp_http`, `otlp_grpc` or `console`");
    map.finish(reading, Unknown::Refused);
    let exporter =
        at.and_then(|at| exporter::read_with(reading, &at, |reading, map| of_metrics(reading, map, &mut own)));
    (own, exporter)
}

/// Reads a pull reader, which serves scrapers.
fn pull(reading: &mut Reading, at: &At<'_>, address: &mut ScrapeAddress) -> Option<Exporter> {
    let mut map = reading.map(at);
    for key in ["producers", "cardinality_limits"] {
        map.unsupported(reading, key);
    }
    let at = map.required(reading, "exporter", "an exporter, `prometheus/development`");
    map.finish(reading, Unknown::Refused);
    let (_, at) = reading.choice(&at?, &["prometheus/development"], Unknown::Ignored)?;
    let mut map = reading.map(&at);
    address.host = reading.text(map.get("host")).unwrap_or_else(|| address.host.clone());
    address.port = reading.value(map.get("port"), values::port).unwrap_or(address.port);
    map.always(reading, "scope_info_enabled", true);
    map.always(reading, "target_info_enabled/development", true);
    map.unsupported(reading, "resource_constant_labels");
    map.unsupported(reading, "translation_strategy");
    // Keys of schema 1.0 that have other names in schema 1.1.
    map.always(reading, "without_scope_info", false);
    map.always(reading, "without_target_info/development", false);
    map.unsupported(reading, "with_resource_constant_labels");
    map.finish(reading, Unknown::Ignored);
    Some(Exporter::Prometheus)
}

/// Reads the keys that only exporters of metrics have.
fn of_metrics(reading: &mut Reading, map: &mut Map<'_>, own: &mut Periodic) {
    let temporality = reading.value(map.get("temporality_preference"), values::temporality);
    own.temporality = temporality.unwrap_or(own.temporality);
    let histograms = reading.value(map.get("default_histogram_aggregation"), values::histograms);
    own.histograms = histograms.unwrap_or(own.histograms);
}

fn cardinality(reading: &mut Reading, at: &At<'_>) -> CardinalityLimits {
    let mut map = reading.map(at);
    let mut limit = |reading: &mut Reading, key| reading.value(map.get(key), positive);
    let limits = CardinalityLimits {
        default: limit(reading, "default"),
        counter: limit(reading, "counter"),
        gauge: limit(reading, "gauge"),
        histogram: limit(reading, "histogram"),
        observable_counter: limit(reading, "observable_counter"),
        observable_gauge: limit(reading, "observable_gauge"),
        observable_up_down_counter: limit(reading, "observable_up_down_counter"),
        up_down_counter: limit(reading, "up_down_counter"),
    };
    map.finish(reading, Unknown::Refused);
    limits
}
