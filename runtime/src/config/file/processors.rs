//! `tracer_provider`, `logger_provider` and limits in a file.

use std::time::Duration;

use super::reading::{At, Map, Reading, Unknown};
use super::{exporter, sampler};
use crate::config::parts::{Batch, Exporter};
use crate::config::problem::{Severity, Wrong};
use crate::config::values::{self, count};

pub(super) fn tracer_provider(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    let mut batch = reading.config.settings.traces.batch;
    let exporters = processors(reading, &mut map, &mut batch);
    reading.config.settings.traces.exporters = Some(exporters);
    reading.config.settings.traces.batch = batch;
    reading.came_from("traces.exporters", at);
    if let Some(at) = map.get("limits") {
        span_limits(reading, &at);
    }
    if let Some(at) = map.get("sampler")
        && let Some(sampler) = sampler::read(reading, &at)
    {
        reading.config.settings.traces.sampler = sampler;
        reading.came_from("traces.sampler", &at);
    }
    map.unsupported(reading, "id_generator");
    map.unsupported(reading, "tracer_configurator/development");
    map.finish(reading, Unknown::Refused);
}

pub(super) fn logger_provider(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    let mut batch = reading.config.settings.logs.batch;
    let exporters = processors(reading, &mut map, &mut batch);
    reading.config.settings.logs.exporters = Some(exporters);
    reading.config.settings.logs.batch = batch;
    reading.came_from("logs.exporters", at);
    if let Some(at) = map.get("limits") {
        let mut map = reading.map(&at);
        log_limits(reading, &mut map);
        map.finish(reading, Unknown::Refused);
    }
    map.unsupported(reading, "logger_configurator/development");
    map.finish(reading, Unknown::Refused);
}

/// Limits of all signals.
pub(super) fn attribute_limits(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    common_span_limits(reading, &mut map);
    // The same keys once more: mistakes in them were reported above.
    let before = reading.problems.len();
    log_limits(reading, &mut map);
    reading.problems.truncate(before);
    map.finish(reading, Unknown::Refused);
}

fn processors(reading: &mut Reading, map: &mut Map<'_>, batch: &mut Batch) -> Vec<Exporter> {
    let list = map.required(reading, "processors", "a list of processors, `batch` or `simple`");
    let (default, mut first) = (*batch, None);
    let mut exporters = Vec::new();
    for item in reading.list(list) {
        let Some((kind, at)) = reading.choice(&item, &["batch", "simple"], Unknown::Ignored) else { continue };
        let mut own = default;
        let exporter = processor(reading, &at, kind == "simple", &mut own);
        if *first.get_or_insert(own) != own {
            let wrong =
                Wrong::new("differs from the first processor", "the same settings of batches in each of a signal");
            reading.report(&at, wrong, Severity::Warning);
        }
        exporters.extend(exporter);
    }
    *batch = first.unwrap_or(default);
    exporters
}

fn processor(reading: &mut Reading, at: &At<'_>, simple: bool, batch: &mut Batch) -> Option<Exporter> {
    let mut map = reading.map(at);
    if simple {
        // Each record on its own, as soon as it is there.
        *batch = Batch { delay: Duration::ZERO, size: 1, ..*batch };
    } else {
        let delay = reading.value(map.get("schedule_delay"), values::milliseconds);
        let timeout = reading.value(map.get("export_timeout"), values::timeout);
        let queue = reading.value(map.get("max_queue_size"), values::positive);
        let at = map.get("max_export_batch_size");
        let size = reading.value(at.clone(), values::positive);
        if let (Some(at), Some(queue), Some(size)) = (&at, queue, size)
            && queue < size
        {
            let wrong =
                Wrong::new("is more than the queue holds", format!("at most {queue}, as `max_queue_size` says"));
            reading.wrong(at, wrong);
        }
        let size = size.unwrap_or(batch.size).min(queue.unwrap_or(u32::MAX));
        let (delay, timeout) = (delay.unwrap_or(batch.delay), timeout.unwrap_or(batch.timeout));
        *batch = Batch { delay, timeout, queue, size };
    }
    let at = map.required(reading, "exporter", "an exporter, `otlp_http`, `otlp_grpc` or `console`");
    map.finish(reading, Unknown::Refused);
    exporter::read(reading, &at?)
}

fn span_limits(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    common_span_limits(reading, &mut map);
    let setting = "traces.limits";
    reading.set(setting, map.get("event_count_limit"), count, |settings, limit| settings.traces.limits.events = limit);
    reading.set(setting, map.get("link_count_limit"), count, |settings, limit| settings.traces.limits.links = limit);
    reading.set(setting, map.get("event_attribute_count_limit"), count, |settings, limit| {
        settings.traces.limits.attributes_per_event = limit;
    });
    reading.set(setting, map.get("link_attribute_count_limit"), count, |settings, limit| {
        settings.traces.attributes_per_link = Some(limit);
    });
    map.finish(reading, Unknown::Refused);
}

fn common_span_limits(reading: &mut Reading, map: &mut Map<'_>) {
    let setting = "traces.limits";
    reading.set(setting, map.get("attribute_value_length_limit"), count, |settings, limit| {
        settings.traces.limits.value_bytes = limit;
    });
    reading.set(setting, map.get("attribute_count_limit"), count, |settings, limit| {
        settings.traces.limits.attributes = limit;
    });
}

fn log_limits(reading: &mut Reading, map: &mut Map<'_>) {
    let setting = "logs.limits";
    reading.set(setting, map.get("attribute_value_length_limit"), count, |settings, limit| {
        settings.logs.limits.value_bytes = limit;
    });
    reading.set(setting, map.get("attribute_count_limit"), count, |settings, limit| {
        settings.logs.limits.attributes = limit;
    });
}
