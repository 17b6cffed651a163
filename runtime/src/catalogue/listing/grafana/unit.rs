//! Translates UCUM units to Grafana's.

use super::super::Metric;

/// A unit, Grafana's name for it, and Grafana's name for its rate per second.
const UNITS: [(&str, &str, &str); 25] = [
    ("s", "s", "short"),
    ("ms", "ms", "short"),
    ("us", "µs", "short"),
    ("ns", "ns", "short"),
    ("min", "m", "short"),
    ("h", "h", "short"),
    ("d", "d", "short"),
    ("By", "bytes", "binBps"),
    ("KiBy", "kbytes", "KiBs"),
    ("MiBy", "mbytes", "MiBs"),
    ("GiBy", "gbytes", "GiBs"),
    ("TiBy", "tbytes", "TiBs"),
    ("KBy", "deckbytes", "KBs"),
    ("MBy", "decmbytes", "MBs"),
    ("GBy", "decgbytes", "GBs"),
    ("TBy", "dectbytes", "TBs"),
    ("By/s", "binBps", "short"),
    ("Cel", "celsius", "short"),
    ("W", "watt", "short"),
    ("J", "joule", "watt"),
    ("Hz", "hertz", "short"),
    ("V", "volt", "short"),
    ("A", "amp", "short"),
    ("%", "percent", "short"),
    ("{request}", "short", "reqps"),
];

/// Returns the unit of a metric's values.
pub(super) fn of(metric: &Metric) -> &'static str {
    let name = &metric.prometheus;
    match &*metric.unit {
        _ if name.ends_with("_timestamp_seconds") => "dateTimeAsIso",
        "1" if name.ends_with("_ratio") => "percentunit",
        "" if name.ends_with("_bytes_per_second") => "binBps",
        unit => find(unit).map_or("short", |(_, unit, _)| unit),
    }
}

/// Returns the unit of a metric's rate.
pub(super) fn of_rate(metric: &Metric) -> &'static str {
    find(&metric.unit).map_or("cps", |(_, _, rate)| rate)
}

fn find(unit: &str) -> Option<(&'static str, &'static str, &'static str)> {
    UNITS.into_iter().find(|(known, ..)| *known == unit)
}
