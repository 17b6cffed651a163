//! Collects metrics by their names in Prometheus, and writes each name once, with one type, and each series once.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::Labels;
use crate::declare::metric::MetricKind;
use crate::meter::snapshot::ExemplarPoint;

/// The format of the exposed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The text format of Prometheus, version 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.0: the same samples with units and exemplars.
    OpenMetrics,
}

/// All metric families of one exposed text.
pub(super) struct Families {
    pub(super) form: Form,
    all: Vec<Family>,
    /// The index of the family that uses a name, for itself or for its samples.
    by_name: HashMap<String, usize>,
    left_out: Vec<String>,
}

/// The metadata of a family.
#[derive(Clone, Copy)]
pub(super) struct Described<'a> {
    pub(super) help: &'a str,
    /// The unit in words; may be empty.
    pub(super) unit: &'a str,
    /// The name of the metric in the program.
    pub(super) called: &'a str,
}

/// A metric family: one name and its samples.
pub(super) struct Family {
    name: String,
    kind: &'static str,
    unit: String,
    help: String,
    samples: String,
    series: HashSet<Labels>,
}

impl Families {
    pub(super) fn new(form: Form) -> Self {
        Families { form, all: Vec::new(), by_name: HashMap::new(), left_out: Vec::new() }
    }

    /// Returns the family of this name and creates it if necessary. If another family uses the name, returns `None` and
    /// notes that the metric is omitted.
    pub(super) fn family(&mut self, name: &str, kind: MetricKind, described: Described<'_>) -> Option<&mut Family> {
        match (kind, self.form) {
            (MetricKind::Counter, Form::Prometheus) => self.of_type(name, "counter", &[""], described),
            // In OpenMetrics the samples of a counter have the suffix `_total`, and its family does not.
            (MetricKind::Counter, Form::OpenMetrics) => {
                let name = name.strip_suffix("_total").unwrap_or(name);
                self.of_type(name, "counter", &["", "_total"], described)
            }
            (MetricKind::UpDownCounter | MetricKind::Gauge, _) => self.of_type(name, "gauge", &[""], described),
            (MetricKind::Histogram, _) => {
                self.of_type(name, "histogram", &["", "_bucket", "_sum", "_count"], described)
            }
        }
    }

    /// Returns the family of the metric `target_info`: of type `info` in OpenMetrics, otherwise a gauge. `None` if
    /// another family uses the name.
    #[cfg(has_otlp)]
    pub(super) fn target_info(&mut self) -> Option<&mut Family> {
        let described = Described { help: "Target metadata.", unit: "", called: "target_info" };
        match self.form {
            Form::Prometheus => self.of_type("target_info", "gauge", &[""], described),
            Form::OpenMetrics => self.of_type("target", "info", &["", "_info"], described),
        }
    }

    fn of_type(
        &mut self,
        name: &str,
        kind: &'static str,
        suffixes: &[&str],
        Described { help, unit, called }: Described<'_>,
    ) -> Option<&mut Family> {
        let names = suffixes.iter().map(|suffix| format!("{name}{suffix}"));
        let taken = names.clone().find_map(|name| self.by_name.get(&name).copied());
        let place = match taken {
            Some(place) if self.all[place].name == name && self.all[place].kind == kind => place,
            Some(place) => {
                let Family { name: other, kind: is, .. } = &self.all[place];
                let called = escaped(called, false);
                self.left_out
                    .push(format!("# The {kind} {called} is omitted: its name conflicts with the {is} {other}."));
                return None;
            }
            None => {
                let place = self.all.len();
                self.by_name.extend(names.map(|name| (name, place)));
                let help = if help.trim().is_empty() { called } else { help };
                self.all.push(Family::new(name, kind, escaped(help.trim(), self.form == Form::OpenMetrics), unit));
                place
            }
        };
        self.all.get_mut(place)
    }

    pub(super) fn into_text(self) -> String {
        let mut text = String::new();
        for Family { name, kind, unit, help, samples, .. } in &self.all {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
            // OpenMetrics allows a unit only if the name ends with it.
            if self.form == Form::OpenMetrics && name.strip_suffix(unit).is_some_and(|rest| rest.ends_with('_')) {
                let _ = writeln!(text, "# UNIT {name} {unit}");
            }
            text.push_str(samples);
        }
        match self.form {
            Form::Prometheus => self.left_out.iter().for_each(|line| _ = writeln!(text, "{line}")),
            // OpenMetrics has no comments.
            Form::OpenMetrics => text.push_str("# EOF\n"),
        }
        text
    }
}

impl Family {
    fn new(name: &str, kind: &'static str, help: String, unit: &str) -> Self {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        Family { name, kind, unit, help, samples: String::new(), series: HashSet::new() }
    }

    /// Returns the suffix of the sample's name, for families other than histograms.
    pub(super) fn plain_suffix(&self, form: Form) -> &'static str {
        match (form, self.kind) {
            (Form::OpenMetrics, "counter") => "_total",
            (Form::OpenMetrics, "info") => "_info",
            _ => "",
        }
    }

    /// Begins a series. Returns false if the family already has this series.
    pub(super) fn begin(&mut self, labels: &Labels) -> bool {
        let mut labels = labels.clone();
        labels.sort();
        self.series.insert(labels)
    }

    pub(super) fn sample(&mut self, suffix: &str, labels: &[(String, String)], value: &str) {
        self.sample_with(suffix, labels, value, None);
    }

    /// Adds a sample with an optional exemplar.
    pub(super) fn sample_with(
        &mut self,
        suffix: &str,
        labels: &[(String, String)],
        value: &str,
        exemplar: Option<&ExemplarPoint>,
    ) {
        let name = &self.name;
        let labels: Vec<_> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value, true))).collect();
        let _ = match labels.is_empty() {
            true => write!(self.samples, "{name}{suffix} {value}"),
            false => write!(self.samples, "{name}{suffix}{{{}}} {value}", labels.join(",")),
        };
        if let Some(ExemplarPoint { value, time_unix_nanos, trace_id, span_id }) = exemplar {
            let ids = match trace_id.0 {
                0 => String::new(),
                _ => format!("trace_id=\"{trace_id}\",span_id=\"{span_id}\""),
            };
            let (seconds, millis) = (time_unix_nanos / 1_000_000_000, time_unix_nanos / 1_000_000 % 1_000);
            let _ = write!(self.samples, " # {{{ids}}} {} {seconds}.{millis:03}", number(*value));
        }
        self.samples.push('\n');
    }
}

/// Formats a number as both formats require.
pub(super) fn number(number: f64) -> String {
    match number {
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        number => number.to_string(),
    }
}

/// Escapes backslashes and line breaks, and also quotes if `quotes` is set, as for values of labels.
fn escaped(text: &str, quotes: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    if quotes { text.replace('"', "\\\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escaped("a\"b\\c\nd", true), "a\\\"b\\\\c\\nd");
        assert_eq!(escaped("a\"b\nc", false), "a\"b\\nc");
    }
}
