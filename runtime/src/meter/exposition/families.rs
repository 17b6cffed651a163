//! Metrics by the names that Prometheus knows them by: each name once, with one type, and each series once.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::Labels;
use crate::declare::metric::MetricKind;

/// All names of a text.
#[derive(Default)]
pub(super) struct Families {
    all: Vec<Family>,
    /// Which one has a name, or has samples of that name.
    by_name: HashMap<String, usize>,
    left_out: Vec<String>,
}

/// One name and its samples.
pub(super) struct Family {
    name: String,
    kind: &'static str,
    help: String,
    samples: String,
    series: HashSet<Labels>,
}

impl Families {
    /// The family of this name, unless the name is taken by one of another type. `called` is what the program calls it.
    pub(super) fn family(&mut self, name: &str, kind: MetricKind, help: &str, called: &str) -> Option<&mut Family> {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::UpDownCounter | MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        let suffixes: &[&str] = if kind == "histogram" { &["", "_bucket", "_sum", "_count"] } else { &[""] };
        let names = suffixes.iter().map(|suffix| format!("{name}{suffix}"));
        let taken = names.clone().find_map(|name| self.by_name.get(&name).copied());
        let place = match taken {
            Some(place) if self.all[place].name == name && self.all[place].kind == kind => place,
            Some(place) => {
                let Family { name: other, kind: is, .. } = &self.all[place];
                let called = escaped(called, false);
                self.left_out
                    .push(format!("# The {kind} {called} is left out: its name would clash with the {is} {other}."));
                return None;
            }
            None => {
                let place = self.all.len();
                self.by_name.extend(names.map(|name| (name, place)));
                self.all.push(Family::new(name, kind, if help.trim().is_empty() { called } else { help }));
                place
            }
        };
        self.all.get_mut(place)
    }

    pub(super) fn into_text(self) -> String {
        let mut text = String::new();
        for Family { name, kind, help, samples, .. } in &self.all {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{samples}");
        }
        for line in self.left_out {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}

impl Family {
    fn new(name: &str, kind: &'static str, help: &str) -> Self {
        let (name, help) = (name.to_owned(), escaped(help.trim(), false));
        Family { name, kind, help, samples: String::new(), series: HashSet::new() }
    }

    /// Begins a series; false if it is there already.
    pub(super) fn begin(&mut self, labels: &Labels) -> bool {
        let mut labels = labels.clone();
        labels.sort();
        self.series.insert(labels)
    }

    pub(super) fn sample(&mut self, suffix: &str, labels: &[(String, String)], value: &str) {
        let name = &self.name;
        let labels: Vec<_> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value, true))).collect();
        let _ = match labels.is_empty() {
            true => writeln!(self.samples, "{name}{suffix} {value}"),
            false => writeln!(self.samples, "{name}{suffix}{{{}}} {value}", labels.join(",")),
        };
    }
}

/// Backslashes and line ends, and in the values of labels quotes too, have to be escaped.
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
