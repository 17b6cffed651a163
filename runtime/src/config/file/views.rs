//! Views in a file.

use super::reading::{At, Map, Reading, Unknown};
use crate::base::secret::Masked;
use crate::config::problem::Wrong;
use crate::config::values::{self, Parsed, positive};
use crate::config::views::{Aggregation, InstrumentType, View, ViewSelector, ViewStream};

pub(super) fn read(reading: &mut Reading, at: Option<At<'_>>) -> Vec<View> {
    let mut views = Vec::new();
    for item in reading.list(at) {
        let mut map = reading.map(&item);
        let selector = map.required(reading, "selector", "the instruments that the view selects");
        let stream = map.required(reading, "stream", "the changes that the view makes");
        map.finish(reading, Unknown::Refused);
        if let (Some(selector), Some(stream)) = (selector, stream) {
            views.push(View { selector: self::selector(reading, &selector), stream: self::stream(reading, &stream) });
        }
    }
    views
}

fn selector(reading: &mut Reading, at: &At<'_>) -> ViewSelector {
    let mut map = reading.map(at);
    let selector = ViewSelector {
        instrument_name: reading.text(map.get("instrument_name")),
        instrument_type: reading.value(map.get("instrument_type"), instrument_type),
        unit: reading.text(map.get("unit")),
        meter_name: reading.text(map.get("meter_name")),
        meter_version: reading.text(map.get("meter_version")),
        meter_schema_url: reading.text(map.get("meter_schema_url")),
    };
    map.finish(reading, Unknown::Refused);
    selector
}

fn instrument_type(text: &str) -> Parsed<InstrumentType> {
    let names = [
        ("counter", InstrumentType::Counter),
        ("gauge", InstrumentType::Gauge),
        ("histogram", InstrumentType::Histogram),
        ("observable_counter", InstrumentType::ObservableCounter),
        ("observable_gauge", InstrumentType::ObservableGauge),
        ("observable_up_down_counter", InstrumentType::ObservableUpDownCounter),
        ("up_down_counter", InstrumentType::UpDownCounter),
    ];
    let accepted = "counter, gauge, histogram, observable_counter, observable_gauge, observable_up_down_counter or \
                    up_down_counter";
    values::one_of(text, &names, "is not an instrument type", accepted)
}

fn stream(reading: &mut Reading, at: &At<'_>) -> ViewStream {
    let mut map = reading.map(at);
    let aggregation = map.get("aggregation").and_then(|at| aggregation(reading, &at));
    let (included, excluded) = match map.get("attribute_keys") {
        Some(at) => {
            let mut map = reading.map(&at);
            let patterns = (texts(reading, map.get("included")), texts(reading, map.get("excluded")));
            map.finish(reading, Unknown::Refused);
            patterns
        }
        None => (None, None),
    };
    let stream = ViewStream {
        name: reading.text(map.get("name")),
        description: reading.text(map.get("description")),
        aggregation,
        cardinality_limit: reading.value(map.get("aggregation_cardinality_limit"), positive),
        included,
        excluded: excluded.unwrap_or_default(),
    };
    map.finish(reading, Unknown::Refused);
    stream
}

fn texts(reading: &mut Reading, at: Option<At<'_>>) -> Option<Vec<Masked<String>>> {
    let items = reading.list(Some(at?));
    Some(items.into_iter().filter_map(|item| reading.text(Some(item))).collect())
}

const AGGREGATIONS: &[&str] =
    &["default", "drop", "explicit_bucket_histogram", "base2_exponential_bucket_histogram", "last_value", "sum"];

fn aggregation(reading: &mut Reading, at: &At<'_>) -> Option<Aggregation> {
    let (kind, at) = reading.choice(at, AGGREGATIONS, Unknown::Refused)?;
    let mut map = reading.map(&at);
    let aggregation = match kind {
        "drop" => Aggregation::Drop,
        "last_value" => Aggregation::LastValue,
        "sum" => Aggregation::Sum,
        "explicit_bucket_histogram" => explicit(reading, &mut map),
        "base2_exponential_bucket_histogram" => exponential(reading, &mut map),
        _ => Aggregation::Default,
    };
    map.finish(reading, Unknown::Refused);
    Some(aggregation)
}

fn explicit(reading: &mut Reading, map: &mut Map<'_>) -> Aggregation {
    let at = map.get("boundaries");
    let items = reading.list(at.clone());
    let boundaries: Vec<f64> = items.into_iter().filter_map(|item| reading.value(Some(item), number)).collect();
    if let Some(at) = &at
        && !boundaries.is_sorted_by(|a, b| a < b)
    {
        reading.wrong(at, Wrong::new("is not increasing", "numbers, each greater than the one before"));
    }
    let record_min_max = reading.value(map.get("record_min_max"), values::truth).unwrap_or(true);
    Aggregation::ExplicitBuckets { boundaries: at.is_some().then_some(boundaries), record_min_max }
}

fn exponential(reading: &mut Reading, map: &mut Map<'_>) -> Aggregation {
    let scale = |text: &str| {
        let scale = text.parse::<i8>().ok().filter(|scale| (-10..=20).contains(scale));
        scale.ok_or_else(|| Wrong::new("is not a scale", "a whole number from -10 to 20"))
    };
    let size = |text: &str| {
        let size = text.parse::<u32>().ok().filter(|size| *size >= 2);
        size.ok_or_else(|| Wrong::new("is not a number of buckets", "a whole number from 2"))
    };
    Aggregation::Exponential {
        max_scale: reading.value(map.get("max_scale"), scale).unwrap_or(20),
        max_size: reading.value(map.get("max_size"), size).unwrap_or(160),
        record_min_max: reading.value(map.get("record_min_max"), values::truth).unwrap_or(true),
    }
}

/// Parses a finite number.
fn number(text: &str) -> Parsed<f64> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| Wrong::new("is not a number", "a number"))
}
