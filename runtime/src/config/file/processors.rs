//! `tracer_provider`, `logger_provider` and limits in a file.

use std::time::Duration;

use super::reading::{At, Map, Reading, Unknown};
use super::{exporter, sampler};
use crate::config::parts::{Batch, Exporter};
use crate::config::problem::{Severity, Wrong};
use crate::config::values;

pub(super) fn tracer_provider(reading: &mut Reading, at: &At<'_>) {
    let mut map = reading.map(at);
    let mut batch = reading.config.settings.traces.batch;
    let exporters = processors(reading, &mut map, &mut batch);
    reading.config.settings.traces.exporters = Some(exporters);
    reading.config.settings.traces.batch = batch;
    reading.came_from("traces.exporters", at);
    if let Some(at) = map.get("limits") {
        reading.map_of_settings(&at, "tracer_provider.limits");
    }
    if let Some(at) = map.get("sampler")
        && let Some(sampler) = sampler::read(reading, &at)
    {
        reading.config.settings.traces.sampler = sampler;
        reading.came_from("traces.sampler", &at);
    }
    // Ids are always random.
    if let Some(at) = map.get("id_generator") {
        reading.choice(&at, &["random"], Unknown::Ignored);
    }
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
        reading.map_of_settings(&at, "logger_provider.limits");
    }
    map.unsupported(reading, "logger_configurator/development");
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
            let wrong = Wrong::with_help(
                "differs from the first processor, whose batch settings are used",
                "give all processors of a signal the same",
            );
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
        // A simple processor exports each record as soon as it is recorded.
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
                Wrong::new("is larger than the queue", format!("at most {queue}, the value of `max_queue_size`"));
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
