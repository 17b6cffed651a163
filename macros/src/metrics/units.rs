//! Units of metrics. The unit follows from the last word of the name, before `_total`; the words are Prometheus's.

use super::kind::Kind;

/// The last words of names, each with its unit in UCUM.
const UNITS: [(&str, &str); 26] = [
    ("seconds", "s"),
    ("milliseconds", "ms"),
    ("microseconds", "us"),
    ("nanoseconds", "ns"),
    ("minutes", "min"),
    ("hours", "h"),
    ("days", "d"),
    ("bytes", "By"),
    ("kibibytes", "KiBy"),
    ("mebibytes", "MiBy"),
    ("gibibytes", "GiBy"),
    // Prometheus's spelling of tebibytes: its exporters would append this word to a name that ends in any other.
    ("tibibytes", "TiBy"),
    ("kilobytes", "KBy"),
    ("megabytes", "MBy"),
    ("gigabytes", "GBy"),
    ("terabytes", "TBy"),
    ("meters", "m"),
    ("volts", "V"),
    ("amperes", "A"),
    ("joules", "J"),
    ("watts", "W"),
    ("grams", "g"),
    ("celsius", "Cel"),
    ("hertz", "Hz"),
    ("percent", "%"),
    ("ratio", "1"),
];

/// Returns the unit of a metric with this name; empty if the name does not end in a unit.
pub(crate) fn of(kind: Kind, name: &str) -> &'static str {
    suffix(kind, name).map_or("", |(_, unit)| unit)
}

/// Returns the name without the word of its unit; unchanged if the name has no unit.
pub(crate) fn without(kind: Kind, name: &str) -> String {
    let base = base(kind, name);
    let stem = suffix(kind, name).and_then(|(word, _)| base.strip_suffix(word)?.strip_suffix('_'));
    format!("{}{}", stem.unwrap_or(base), ending(kind))
}

/// Returns the name with `word` as its unit, in place of the word of another unit.
pub(crate) fn with(kind: Kind, name: &str, word: &str) -> String {
    let name = without(kind, name);
    format!("{}_{word}{}", base(kind, &name), ending(kind))
}

/// Returns the error for a declared unit that does not match the name; `None` if it matches.
pub(super) fn mistake(kind: Kind, name: &str, unit: &str) -> Option<String> {
    if unit == of(kind, name) {
        return None;
    }
    if is_rate(name) {
        return Some(format!("a name that contains `_per_`, such as `{name}`, has no unit; remove `unit`"));
    }
    if let Some((word, right)) = suffix(kind, name) {
        return Some(format!(
            "the suffix `_{word}` means the unit `{right}`, not `{unit}`; remove `unit` or rename the metric"
        ));
    }
    if is_annotation(unit) {
        return None;
    }
    Some(match UNITS.iter().find(|(word, known)| unit == *known || unit == *word) {
        Some(("ratio", _)) if !kind.is_gauge() => {
            "unit `1` is for gauges that end in `_ratio`; remove `unit`".to_owned()
        }
        Some((word, _)) => format!("unit `{unit}` needs the suffix `_{word}`: write `{}`", with(kind, name, word)),
        None => {
            format!("no suffix means the unit `{unit}`; remove `unit`, or write the counted thing in braces: {}", {
                let word: String = unit.chars().filter(char::is_ascii_alphanumeric).collect();
                format!("`\"{{{}}}\"`", if word.is_empty() { "request" } else { &word })
            })
        }
    })
}

/// Returns whether `unit` is a known UCUM unit, an annotation such as `{request}`, or a rate of these, such as `By/s`.
pub(super) fn is_known(unit: &str) -> bool {
    let is_one = |unit: &str| is_annotation(unit) || UNITS.iter().any(|(_, known)| unit == *known);
    match unit.split_once('/') {
        Some((amount, per)) => is_one(amount) && is_one(per),
        None => is_one(unit),
    }
}

/// Returns the last word of a name and its unit; `None` if the word is no unit, or the name is that of a rate.
fn suffix(kind: Kind, name: &str) -> Option<(&'static str, &'static str)> {
    if is_rate(name) {
        return None;
    }
    let last = base(kind, name).rsplit('_').next()?;
    let found = UNITS.iter().find(|(word, _)| *word == last)?;
    // Prometheus uses ratios for gauges only.
    (found.0 != "ratio" || kind.is_gauge()).then_some(*found)
}

/// Returns whether the name contains `_per_`, as in `_bytes_per_second`: Prometheus has no units for rates.
fn is_rate(name: &str) -> bool {
    name.contains("_per_")
}

/// Returns whether `unit` is an annotation such as `{request}`, which names the counted thing and is not a unit.
fn is_annotation(unit: &str) -> bool {
    let word = unit.strip_prefix('{').and_then(|unit| unit.strip_suffix('}'));
    word.is_some_and(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_graphic() && c != '{' && c != '}'))
}

fn base(kind: Kind, name: &str) -> &str {
    name.strip_suffix(ending(kind)).unwrap_or(name)
}

/// Returns the end of names of this kind, after the unit: `_total` for counters, else empty.
fn ending(kind: Kind) -> &'static str {
    if kind == Kind::Counter { "_total" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suffix() {
        for (word, unit) in UNITS {
            let of_counter = if word == "ratio" { "" } else { unit };
            assert_eq!(of(Kind::Gauge, &format!("tc_a_{word}")), unit);
            assert_eq!(of(Kind::ObservableGauge, &format!("tc_a_{word}")), unit);
            assert_eq!(of(Kind::Counter, &format!("tc_a_{word}_total")), of_counter);
            assert_eq!(of(Kind::Histogram, &format!("tc_a_{word}")), of_counter);
            assert_eq!(of(Kind::Gauge, &format!("tc_{word}_a")), "");
            assert_eq!(of(Kind::Gauge, &format!("tc_{word}_per_second")), "");
        }
    }

    #[test]
    fn suffixes_come_and_go() {
        assert_eq!(with(Kind::Counter, "tc_p2p_total", "bytes"), "tc_p2p_bytes_total");
        assert_eq!(with(Kind::Histogram, "tc_load_milliseconds", "seconds"), "tc_load_seconds");
        assert_eq!(without(Kind::Counter, "tc_p2p_bytes_total"), "tc_p2p_total");
        assert_eq!(without(Kind::UpDownCounter, "tc_loads"), "tc_loads");
    }

    #[track_caller]
    fn check(kind: Kind, name: &str, unit: &str, expected: &str) {
        let found = mistake(kind, name, unit).unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{found}");
    }

    #[test]
    fn units_that_are_right() {
        check(Kind::Counter, "tc_p2p_bytes_total", "By", "");
        check(Kind::Counter, "tc_requests_total", "{request}", "");
        check(Kind::Gauge, "tc_hit_ratio", "1", "");
        check(Kind::Gauge, "tc_loads", "", "");
        check(Kind::Gauge, "tc_bytes_per_second", "", "");
    }

    #[test]
    fn units_that_are_wrong() {
        check(Kind::Counter, "tc_p2p_total", "By", "unit `By` needs the suffix `_bytes`: write `tc_p2p_bytes_total`");
        check(Kind::Histogram, "tc_load", "seconds", "needs the suffix `_seconds`: write `tc_load_seconds`");
        check(
            Kind::Histogram,
            "tc_load_seconds",
            "ms",
            "suffix `_seconds` means the unit `s`, not `ms`; remove `unit` or",
        );
        check(Kind::Histogram, "tc_load_seconds", "{a}", "suffix `_seconds` means the unit `s`");
        check(Kind::Gauge, "tc_bytes_per_second", "By/s", "has no unit; remove `unit`");
        check(Kind::Gauge, "tc_bytes_per_second", "{a}", "has no unit");
        check(Kind::Gauge, "tc_hits", "1", "unit `1` needs the suffix `_ratio`: write `tc_hits_ratio`");
        check(Kind::Counter, "tc_hits_total", "1", "is for gauges");
        check(Kind::Counter, "tc_hits_total", "requests", "in braces: `\"{requests}\"`");
        check(Kind::Counter, "tc_hits_total", "{}", "in braces: `\"{request}\"`");
    }
}
