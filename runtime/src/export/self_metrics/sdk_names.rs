//! The metrics about telemetry itself under a second set of names, which OpenTelemetry's semantic conventions define
//! for SDKs.
//!
//! These metrics are derived from the points of our metrics at each export, so they cost nothing while they are off,
//! and always agree with ours. Queue sizes and open spans are gauges, like ours; the conventions define them as up-down
//! counters.

use std::borrow::Cow;

use crate::declare::value::OwnedValue;
use crate::encode::views::Views;
use crate::meter::snapshot::{MetricPoints, Point, PointValue, Snapshot};

/// Applies the views, and adds the metrics of the conventions if `is_on`. Views do not affect the added metrics: they
/// are derived from the points before the views, and views select our names only.
pub(crate) fn apply(is_on: bool, views: &Views, snapshot: &mut Snapshot) {
    let added = if is_on { of(&snapshot.metrics) } else { Vec::new() };
    views.apply(snapshot);
    snapshot.metrics.extend(added);
}

/// The name, unit and attribute of one of our points in the conventions.
struct Target {
    name: String,
    unit: &'static str,
    attribute: Option<(&'static str, &'static str)>,
}

/// Returns the metrics of the conventions. If several of our points become the same point there, they are added up.
fn of(ours: &[MetricPoints]) -> Vec<MetricPoints> {
    let mut all: Vec<MetricPoints> = Vec::new();
    for metric in ours {
        for point in &metric.points {
            let Some(Target { name, unit, attribute }) = target(&metric.name, point) else { continue };
            let at = all.iter().position(|known| known.name == name).unwrap_or_else(|| {
                all.push(MetricPoints { name: name.into(), unit: unit.into(), points: Vec::new(), ..metric.clone() });
                all.len() - 1
            });
            let labels =
                attribute.map(|(key, value)| (Cow::from(key), OwnedValue::Str(value.into()))).into_iter().collect();
            add(&mut all[at].points, Point { labels, value: point.value.clone() });
        }
    }
    all
}

fn add(points: &mut Vec<Point>, more: Point) {
    match (points.iter_mut().find(|point| point.labels == more.labels), &more.value) {
        (Some(Point { value: PointValue::U64(value), .. }), PointValue::U64(more)) => *value += more,
        _ => points.push(more),
    }
}

fn target(name: &str, point: &Point) -> Option<Target> {
    let sampled = Some(("otel.span.sampling_result", "RECORD_AND_SAMPLE"));
    let (items, what) = match name {
        "tc_spans_open" => {
            return Some(Target { name: "otel.sdk.span.live".to_owned(), unit: "{span}", attribute: sampled });
        }
        "tc_spans_created_total" => {
            return Some(Target { name: "otel.sdk.span.started".to_owned(), unit: "{span}", attribute: sampled });
        }
        "tc_export_queue_items" => (Items::of_signal(label(point, "signal")?)?, "size"),
        "tc_export_queue_capacity_items" => (Items::of_signal(label(point, "signal")?)?, "capacity"),
        _ => Items::of_metric(name)?,
    };
    let queue = |what| match items {
        // Metrics have no processor queue: the exporter holds the points that were read.
        Items::Points => "exporter.metric_data_point.inflight".to_owned(),
        _ => format!("processor.{}.queue.{what}", items.name()),
    };
    let exported = |error_type| (format!("exporter.{}.exported", items.name()), error_type);
    let (name, error_type) = match what {
        "size" | "capacity" => (queue(what), None),
        "exported_total" => exported(None),
        "unconfirmed_total" => exported(Some("unconfirmed")),
        "dropped_total" => match (items, error_type(label(point, "reason")?)?) {
            (Items::Points, (_, error_type)) | (_, (true, error_type)) => exported(Some(error_type)),
            (_, (false, error_type)) => (format!("processor.{}.processed", items.name()), Some(error_type)),
        },
        _ => return None,
    };
    let attribute = error_type.map(|error_type| ("error.type", error_type));
    Some(Target { name: format!("otel.sdk.{name}"), unit: items.unit(), attribute })
}

/// Returns whether items lost for this reason had reached an exporter, and the `error.type` of the loss; `None` if the
/// reason is unknown.
pub(super) fn error_type(reason: &str) -> Option<(bool, &'static str)> {
    Some(match reason {
        "span_buffer_full" | "queue_full" | "export_queue_full" => (false, "queue_full"),
        "too_many_open_spans" => (false, "too_many_open_spans"),
        "thread_exit" => (false, "thread_exit"),
        "refused" => (true, "refused"),
        "rejected" => (true, "rejected"),
        "spool" => (true, "spool"),
        "lost_on_disk" => (true, "lost_on_disk"),
        _ => return None,
    })
}

fn label<'a>(point: &'a Point, name: &str) -> Option<&'a str> {
    point.labels.iter().find_map(|(key, value)| match value {
        OwnedValue::Str(text) if key == name => Some(&**text),
        _ => None,
    })
}

#[derive(Clone, Copy)]
enum Items {
    Spans,
    Points,
    Records,
}

impl Items {
    fn of_signal(signal: &str) -> Option<Self> {
        Some(match signal {
            "traces" => Items::Spans,
            "metrics" => Items::Points,
            "logs" => Items::Records,
            _ => return None,
        })
    }

    /// Returns the kind of items that a metric counts, and the rest of its name after the prefix; `None` for metrics
    /// with other prefixes.
    fn of_metric(name: &str) -> Option<(Self, &str)> {
        let prefixes =
            [("tc_spans_", Items::Spans), ("tc_metric_points_", Items::Points), ("tc_logs_", Items::Records)];
        prefixes.into_iter().find_map(|(prefix, items)| Some((items, name.strip_prefix(prefix)?)))
    }

    fn name(self) -> &'static str {
        match self {
            Items::Spans => "span",
            Items::Points => "metric_data_point",
            Items::Records => "log",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Items::Spans => "{span}",
            Items::Points => "{data_point}",
            Items::Records => "{log_record}",
        }
    }
}
