//! Translates metric names as Prometheus does when it receives them over OTLP.
//!
//! The compatibility rules of OpenTelemetry append the unit in words, `_total` to counters and `_ratio` to gauges of unit `1`,
//! unless the name already has the suffix. Our names have these suffixes, so Prometheus stores them unchanged.

use super::{MetricKind, MetricMeta};

/// UCUM units and their names in Prometheus.
const UNITS: [(&str, &str); 26] = [
    ("d", "days"),
    ("h", "hours"),
    ("min", "minutes"),
    ("s", "seconds"),
    ("ms", "milliseconds"),
    ("us", "microseconds"),
    ("ns", "nanoseconds"),
    ("By", "bytes"),
    ("KiBy", "kibibytes"),
    ("MiBy", "mebibytes"),
    ("GiBy", "gibibytes"),
    ("TiBy", "tibibytes"),
    ("KBy", "kilobytes"),
    ("MBy", "megabytes"),
    ("GBy", "gigabytes"),
    ("TBy", "terabytes"),
    ("m", "meters"),
    ("V", "volts"),
    ("A", "amperes"),
    ("J", "joules"),
    ("W", "watts"),
    ("g", "grams"),
    ("Cel", "celsius"),
    ("Hz", "hertz"),
    ("1", ""),
    ("%", "percent"),
];
/// UCUM units after a slash, as in `By/s`, and their names in Prometheus.
const PER: [(&str, &str); 7] =
    [("s", "second"), ("m", "minute"), ("h", "hour"), ("d", "day"), ("w", "week"), ("mo", "month"), ("y", "year")];

impl MetricMeta {
    /// Returns the name under which Prometheus stores a metric that arrives over OTLP. The macros accept only names that stay
    /// unchanged, and names of the semantic conventions.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// tc_metrics! {
    ///     /// Files that were synced.
    ///     static SYNCED: Counter = "tc_example_synced_total";
    /// }
    ///
    /// assert_eq!(SYNCED.declaration().prometheus_name(), "tc_example_synced_total");
    /// ```
    pub fn prometheus_name(&self) -> String {
        translate(self.name, self.unit, self.kind)
    }
}

pub(crate) fn translate(name: &str, unit: &str, kind: MetricKind) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != ':').filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    let (main, per) = unit.split_once('/').unwrap_or((unit, ""));
    let main = spelled(main, &UNITS);
    if !main.is_empty() && !words.contains(&main) {
        words.push(main);
    }
    let per = spelled(per, &PER);
    // Prometheus searches for `per_second` among words that it has split at underscores. It never finds `per_second`, so it
    // always appends it.
    if !per.is_empty() {
        words.push(format!("per_{per}"));
    }
    if kind == MetricKind::Counter {
        move_to_end(&mut words, "total");
    }
    if unit == "1" && kind == MetricKind::Gauge {
        move_to_end(&mut words, "ratio");
    }
    let name = words.join("_");
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// Returns the unit, in words, that OpenMetrics declares for a metric; empty if the metric has no unit.
pub(crate) fn unit_name(unit: &str, kind: MetricKind) -> String {
    if unit == "1" && kind == MetricKind::Gauge { "ratio".to_owned() } else { spelled(unit, &UNITS) }
}

/// Returns the name of a unit in `table`, or the unit itself if the table lacks it; empty for an annotation such as `{request}`.
fn spelled(unit: &str, table: &[(&str, &str)]) -> String {
    let unit = unit.trim();
    if unit.contains(['{', '}']) {
        return String::new();
    }
    table.iter().find(|(short, _)| *short == unit).map_or(unit, |(_, word)| word).to_owned()
}

fn move_to_end(words: &mut Vec<String>, word: &str) {
    words.retain(|other| other != word);
    words.push(word.to_owned());
}

/// Converts an attribute's name to a label name that Prometheus accepts: replaces other characters by `_`, and adds `_` before a
/// digit at the start. Prometheus reserves names that begin with two underscores, so several underscores at the start become one.
pub(crate) fn label_name(name: &str) -> String {
    let name: String = name.chars().map(plain).collect();
    match name.strip_prefix("__") {
        Some(rest) => format!("_{}", rest.trim_start_matches('_')),
        None if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) => format!("_{name}"),
        None => name,
    }
}

/// Returns the character if Prometheus accepts it in names of both metrics and labels, otherwise `_`.
pub(crate) fn plain(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MetricKind::{Counter, Gauge, Histogram, UpDownCounter};

    #[track_caller]
    fn check(name: &str, unit: &str, kind: MetricKind, expected: &str) {
        assert_eq!(translate(name, unit, kind), expected);
    }

    #[test]
    fn names_that_follow_the_rules_are_unchanged() {
        for (name, unit, kind) in [
            ("tc_p2p_bytes_total", "By", Counter),
            ("tc_loads_total", "", Counter),
            ("tc_loads_total", "{load}", Counter),
            ("tc_load_seconds", "s", Histogram),
            ("tc_pool_used_bytes", "By", Gauge),
            ("tc_pool_used_ratio", "1", Gauge),
            ("tc_p2p_bytes_per_second", "", Gauge),
            ("tc_nvml_available", "", Gauge),
            ("tc_load_active", "", UpDownCounter),
        ] {
            check(name, unit, kind, name);
        }
    }

    #[test]
    fn names_that_break_the_rules_change() {
        check("http.server.request.duration", "s", Histogram, "http_server_request_duration_seconds");
        check("tc_loads", "", Counter, "tc_loads_total");
        check("tc_total_loads_total", "", Counter, "tc_loads_total");
        check("tc_p2p_bytes_per_second", "By/s", Gauge, "tc_p2p_bytes_per_second_per_second");
        check("tc_nvml_available", "1", Gauge, "tc_nvml_available_ratio");
        check("tc__load_", "", Gauge, "tc_load");
        check("9_lives", "", Gauge, "_9_lives");
    }
}
