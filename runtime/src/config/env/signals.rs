//! Variables of single signals: exporters, sampler, limits, batches and intervals.

use super::Variables;
use crate::config::Config;
use crate::config::origin::Origin;
use crate::config::parts::{Batch, Exporter};
use crate::config::problem::Wrong;
use crate::config::values::{self, count, positive};
use crate::record::sampling::Sampler;

/// The variables of a batch, and the settings that they fill.
struct BatchNames {
    delay: &'static str,
    timeout: &'static str,
    queue: &'static str,
    size: &'static str,
    setting: &'static str,
    of: fn(&mut Config) -> &mut Batch,
}

const SPANS: BatchNames = BatchNames {
    delay: "OTEL_BSP_SCHEDULE_DELAY",
    timeout: "OTEL_BSP_EXPORT_TIMEOUT",
    queue: "OTEL_BSP_MAX_QUEUE_SIZE",
    size: "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
    setting: "traces.batch",
    of: |config| &mut config.traces.batch,
};

const RECORDS: BatchNames = BatchNames {
    delay: "OTEL_BLRP_SCHEDULE_DELAY",
    timeout: "OTEL_BLRP_EXPORT_TIMEOUT",
    queue: "OTEL_BLRP_MAX_QUEUE_SIZE",
    size: "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE",
    setting: "logs.batch",
    of: |config| &mut config.logs.batch,
};

impl Variables<'_> {
    pub(super) fn traces(&mut self) {
        self.exporters("traces.exporters", "OTEL_TRACES_EXPORTER", |config| &mut config.traces.exporters);
        self.sampler();
        self.span_limits();
        self.batch(&SPANS);
    }

    pub(super) fn metrics(&mut self) {
        self.exporters("metrics.exporters", "OTEL_METRICS_EXPORTER", |config| &mut config.metrics.exporters);
        self.set("metrics.interval", "OTEL_METRIC_EXPORT_INTERVAL", values::interval, |config, interval| {
            config.metrics.interval = interval;
        });
        self.set("metrics.timeout", "OTEL_METRIC_EXPORT_TIMEOUT", values::timeout, |config, timeout| {
            config.metrics.timeout = timeout;
        });
        let name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
        self.set("metrics.temporality", name, values::temporality, |config, temporality| {
            config.metrics.temporality = temporality;
        });
        let name = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION";
        self.set("metrics.histograms", name, values::histograms, |config, histograms| {
            config.metrics.histograms = histograms;
        });
        self.set("metrics.exemplars", "OTEL_METRICS_EXEMPLAR_FILTER", values::exemplars, |config, exemplars| {
            config.metrics.exemplars = exemplars;
        });
    }

    pub(super) fn logs(&mut self) {
        self.exporters("logs.exporters", "OTEL_LOGS_EXPORTER", |config| &mut config.logs.exporters);
        let setting = "logs.limits";
        for name in ["OTEL_ATTRIBUTE_COUNT_LIMIT", "OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT"] {
            self.quietly(name, setting, |config, limit| config.logs.limits.attributes = limit);
        }
        for name in ["OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT"] {
            self.quietly(name, setting, |config, limit| config.logs.limits.value_bytes = limit);
        }
        self.batch(&RECORDS);
    }

    /// A list: those that are wrong are left out, and if nothing is left, the variable is as good as not set.
    fn exporters(
        &mut self,
        setting: &'static str,
        name: &'static str,
        of: fn(&mut Config) -> &mut Option<Vec<Exporter>>,
    ) {
        let Some(text) = self.text(name) else { return };
        let (mut exporters, mut understood) = (Vec::new(), false);
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            match exporter(item) {
                Ok(Some(exporter)) if !exporters.contains(&exporter) => exporters.push(exporter),
                Ok(_) => {}
                Err(wrong) => {
                    self.complain(name, text.clone(), wrong.part(item));
                    continue;
                }
            }
            understood = true;
        }
        if understood {
            *of(&mut self.config) = Some(exporters);
            self.came_from(setting, name);
        }
    }

    fn sampler(&mut self) {
        let (name, argument) = ("OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG");
        self.set("traces.sampler", name, values::sampler, |config, sampler| config.traces.sampler = sampler);
        if matches!(self.config.traces.sampler, Sampler::Ratio(_)) {
            let ratio = |text: &str| values::ratio(text).map_err(|wrong| wrong.using("1"));
            if let Some(ratio) = self.read(argument, ratio) {
                self.config.traces.sampler = Sampler::Ratio(ratio);
            }
        } else if let (Some(text), None) = (self.text(argument), self.text(name)) {
            let wrong =
                Wrong::new("has no sampler to go with", "OTEL_TRACES_SAMPLER=parentbased_traceidratio beside it");
            self.complain(argument, text, wrong.using("parentbased_always_on"));
        }
    }

    fn span_limits(&mut self) {
        let setting = "traces.limits";
        self.set(setting, "OTEL_ATTRIBUTE_COUNT_LIMIT", count, |config, limit| config.traces.limits.attributes = limit);
        self.set(setting, "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", count, |config, limit| {
            config.traces.limits.value_bytes = limit;
        });
        self.set(setting, "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", count, |config, limit| {
            config.traces.limits.attributes = limit;
        });
        self.set(setting, "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", count, |config, limit| {
            config.traces.limits.value_bytes = limit;
        });
        self.set(setting, "OTEL_SPAN_EVENT_COUNT_LIMIT", count, |config, limit| config.traces.limits.events = limit);
        self.set(setting, "OTEL_SPAN_LINK_COUNT_LIMIT", count, |config, limit| config.traces.limits.links = limit);
        self.set(setting, "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", count, |config, limit| {
            config.traces.limits.attributes_per_event = limit;
        });
        self.set(setting, "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", count, |config, limit| {
            config.traces.attributes_per_link = Some(limit);
        });
    }

    /// A limit of logs; what is wrong with one for all signals was said with the spans.
    fn quietly(&mut self, name: &'static str, setting: &'static str, put: fn(&mut Config, u32)) {
        if name.starts_with("OTEL_LOGRECORD_") {
            self.set(setting, name, count, put);
        } else if let Some(Ok(limit)) = self.text(name).map(|text| count(&text)) {
            put(&mut self.config, limit);
            self.config.origins.set(setting, Origin::Variable(name));
        }
    }

    fn batch(&mut self, names: &BatchNames) {
        let (setting, of) = (names.setting, names.of);
        self.set(setting, names.delay, values::milliseconds, |config, delay| of(config).delay = delay);
        self.set(setting, names.timeout, values::timeout, |config, timeout| of(config).timeout = timeout);
        self.set(setting, names.queue, positive, |config, queue| of(config).queue = Some(queue));
        self.set(setting, names.size, positive, |config, size| of(config).size = size);
        let Batch { queue, size, .. } = *of(&mut self.config);
        let Some(queue) = queue.filter(|queue| *queue < size) else { return };
        of(&mut self.config).size = queue;
        // A small queue alone is no mistake; the default size just follows it.
        if let Some(text) = self.text(names.size) {
            let wrong = Wrong::new("is more than the queue holds", format!("at most {queue}, as {} says", names.queue));
            self.complain(names.size, text, wrong.using(queue.to_string()));
        }
    }
}

/// An exporter, or `none`.
fn exporter(name: &str) -> values::Parsed<Option<Exporter>> {
    match name.to_ascii_lowercase().as_str() {
        "otlp" => Ok(Some(Exporter::Otlp(Box::default()))),
        // The name that `console` had before.
        "console" | "logging" => Ok(Some(Exporter::Console)),
        "none" => Ok(None),
        _ => Err(Wrong::new("is not an exporter that Tracecast has", "otlp, console or none")),
    }
}
