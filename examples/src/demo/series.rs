//! Metrics as the processes exported them: the last value of each series.

use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{Metric, NumberDataPoint};

use super::wire::{Attributes, attributes};

/// One series of one process.
pub(crate) struct Series {
    pub(crate) process: String,
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) labels: Attributes,
    pub(crate) value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Distribution { count: u64, sum: f64, max: Option<f64> },
}

impl Series {
    /// Whether the other is the same series, possibly at another time.
    pub(crate) fn is_same(&self, other: &Series) -> bool {
        (&self.process, &self.name, &self.labels) == (&other.process, &other.name, &other.labels)
    }

    /// Formats the value with its unit.
    pub(crate) fn shown(&self) -> String {
        let unit = if self.name.ends_with("_bytes_per_second") { "By/s" } else { &self.unit };
        match self.value {
            Value::Number(number) => amount(number, unit),
            Value::Distribution { count, sum, max } => {
                let mean = amount(sum / count.max(1) as f64, unit);
                let max = max.map_or(String::new(), |max| format!(", at most {}", amount(max, unit)));
                format!("{count} x {mean}{max}")
            }
        }
    }
}

/// Formats a number with a readable unit.
pub(crate) fn amount(number: f64, unit: &str) -> String {
    match unit {
        "s" if number < 1.0 => format!("{:.2} ms", number * 1e3),
        "s" => format!("{number:.2} s"),
        "By" if number >= 1e9 => format!("{:.1} GiB", number / f64::from(1 << 30)),
        "By" => format!("{:.1} MiB", number / f64::from(1 << 20)),
        "By/s" => format!("{:.1} MiB/s", number / f64::from(1 << 20)),
        _ if number.fract() == 0.0 => format!("{number} {}", short(unit)).trim_end().to_owned(),
        _ => format!("{number:.1} {}", short(unit)).trim_end().to_owned(),
    }
}

fn short(unit: &str) -> &str {
    match unit {
        "Cel" => "°C",
        "1" => "",
        unit if unit.starts_with('{') => "",
        unit => unit,
    }
}

/// Returns the series of one metric.
pub(crate) fn points(process: &str, metric: Metric) -> Vec<Series> {
    let points: Vec<(Attributes, Value)> = match metric.data {
        Some(Data::Gauge(gauge)) => gauge.data_points.iter().map(number).collect(),
        Some(Data::Sum(sum)) => sum.data_points.iter().map(number).collect(),
        Some(Data::Histogram(all)) => {
            let value = |count, sum: Option<f64>, max| Value::Distribution { count, sum: sum.unwrap_or_default(), max };
            all.data_points.iter().map(|at| (attributes(&at.attributes), value(at.count, at.sum, at.max))).collect()
        }
        Some(Data::ExponentialHistogram(all)) => {
            let value = |count, sum: Option<f64>, max| Value::Distribution { count, sum: sum.unwrap_or_default(), max };
            all.data_points.iter().map(|at| (attributes(&at.attributes), value(at.count, at.sum, at.max))).collect()
        }
        _ => Vec::new(),
    };
    let series = |(labels, value)| Series {
        process: process.to_owned(),
        name: metric.name.clone(),
        unit: metric.unit.clone(),
        labels,
        value,
    };
    points.into_iter().map(series).collect()
}

fn number(point: &NumberDataPoint) -> (Attributes, Value) {
    let value = match point.value {
        Some(Number::AsInt(number)) => number as f64,
        Some(Number::AsDouble(number)) => number,
        None => f64::NAN,
    };
    (attributes(&point.attributes), Value::Number(value))
}

/// The metric families that the demo shows, with the prefixes of their names.
pub(crate) const FAMILIES: [(&str, &[&str]); 5] = [
    ("memory pool", &["tc_pool_"]),
    ("P2P", &["tc_p2p_"]),
    ("loads", &["tc_load_"]),
    ("RPC", &["tc_rpc_server_duration_seconds", "tc_rpc_client_duration_seconds"]),
    (
        "GPU",
        &[
            "tc_gpu_up",
            "tc_gpu_utilization_percent",
            "tc_gpu_memory_used_bytes",
            "tc_gpu_temperature_celsius",
            "tc_gpu_power_watts",
            "tc_gpu_xid_errors_total",
        ],
    ),
];

/// Returns the series of a family, sorted by name, process and labels.
pub(crate) fn family<'a>(all: &'a [Series], starts: &[&str]) -> Vec<&'a Series> {
    let belongs = |series: &&Series| starts.iter().any(|start| series.name.starts_with(start));
    let mut family: Vec<_> = all.iter().filter(belongs).collect();
    family.sort_by_key(|series| (&series.name, &series.process, &series.labels));
    family
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_a_size_that_people_read() {
        let shown = [(0.0042, "s"), (1.5, "s"), (3145728.0, "By"), (61.0, "Cel"), (2.0, "{call}"), (0.25, "")];
        let shown = shown.map(|(number, unit)| amount(number, unit));
        assert_eq!(shown, ["4.20 ms", "1.50 s", "3.0 MiB", "61 °C", "2", "0.2"]);
    }
}
