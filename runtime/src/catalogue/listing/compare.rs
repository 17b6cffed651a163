//! Compares two catalogues: finds changes that break dashboards, alerts and budgets, and other changes.

use std::cmp::Ordering;
use std::fmt;

use super::format::Word as _;
use super::{CatalogueData, Key, Label, Metric, Span};
use crate::declare::key::KeyKind;

/// The differences between a catalogue and an earlier one.
///
/// ```
/// let data = tracecast::catalogue().data();
/// let comparison = data.compare(&data, 0);
/// assert!(comparison.passes() && comparison.to_string().starts_with("nothing has changed"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    breaking: Vec<String>,
    others: Vec<String>,
    series: [u64; 2],
}

impl Comparison {
    /// Returns whether there are no breaking changes.
    pub fn passes(&self) -> bool {
        self.breaking.is_empty()
    }

    /// Returns the changes that break users of the telemetry: spans, keys, metrics or values of labels that were removed
    /// or renamed, changed kinds, units and labels, and more series than allowed.
    ///
    /// ```
    /// use tracecast::catalogue::CatalogueData;
    ///
    /// let before = tracecast::catalogue().data();
    /// let comparison = CatalogueData::default().compare(&before, 0);
    /// assert!(!comparison.breaking().is_empty());
    /// ```
    pub fn breaking(&self) -> &[String] {
        &self.breaking
    }

    /// Returns the changes that break nothing, such as new spans and metrics.
    ///
    /// ```
    /// use tracecast::catalogue::CatalogueData;
    ///
    /// let now = tracecast::catalogue().data();
    /// assert!(!now.compare(&CatalogueData::default(), u64::MAX).others().is_empty());
    /// ```
    pub fn others(&self) -> &[String] {
        &self.others
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.breaking.iter().try_for_each(|change| writeln!(f, "broken: {change}"))?;
        self.others.iter().try_for_each(|change| writeln!(f, "changed: {change}"))?;
        let [before, now] = self.series;
        match self.breaking.is_empty() && self.others.is_empty() {
            true => writeln!(f, "nothing has changed: at most {now} series"),
            false => writeln!(f, "at most {before} series before, {now} now"),
        }
    }
}

impl CatalogueData {
    /// Compares this catalogue with an earlier one. New and growing metrics may add up to `allowed` series in total;
    /// shrinking metrics do not compensate for growing ones.
    ///
    /// If a name was removed and a similar one was added, they are reported as renamed, which is a breaking change.
    ///
    /// ```
    /// use tracecast::catalogue::CatalogueData;
    ///
    /// let now = tracecast::catalogue().data();
    /// assert!(now.compare(&CatalogueData::default(), u64::MAX).passes()); // everything was added, nothing was removed
    /// assert!(!CatalogueData::default().compare(&now, 0).passes());
    /// ```
    pub fn compare(&self, before: &CatalogueData, allowed: u64) -> Comparison {
        let mut found = Found::default();
        found.names("span", &before.spans, &self.spans);
        found.names("key", &before.keys, &self.keys);
        found.names("metric", &before.metrics, &self.metrics);
        found.growth(&before.metrics, &self.metrics, allowed);
        Comparison { breaking: found.breaking, others: found.others, series: [before.series(), self.series()] }
    }
}

/// A catalogue entry that is compared with entries of the same name.
trait Named {
    fn name(&self) -> &str;
    /// Returns whether `self` may be `other` under a new name.
    fn is_like(&self, other: &Self) -> bool;
    /// True if an additional entry of the same name is a breaking change. For keys it is not; for spans and metrics it is,
    /// because queries select them by name.
    const MORE_BREAKS: bool = true;
    /// Adds the changes from `before`, an entry of the same name, to `found`.
    fn changes(&self, before: &Self, found: &mut Found);
}

#[derive(Default)]
struct Found {
    breaking: Vec<String>,
    others: Vec<String>,
}

impl Found {
    fn broken(&mut self, change: String) {
        self.breaking.push(change);
    }

    fn other(&mut self, change: String) {
        self.others.push(change);
    }

    fn names<'a, T: Named>(&mut self, what: &str, before: &'a [T], now: &'a [T]) {
        let is_in = |all: &[T], name: &str| all.iter().any(|item| item.name() == name);
        let mut new: Vec<&T> = now.iter().filter(|item| !is_in(before, item.name())).collect();
        for old in before.iter().filter(|item| !is_in(now, item.name())) {
            let name = old.name();
            match new.iter().position(|item| item.is_like(old)) {
                Some(at) => self.broken(format!("{what} `{name}` was renamed to `{}`", new.remove(at).name())),
                None => self.broken(format!("{what} `{name}` was removed")),
            }
        }
        new.iter().for_each(|item| self.other(format!("{what} `{}` was added", item.name())));
        let mut kept: Vec<&str> = now.iter().map(T::name).filter(|name| is_in(before, name)).collect();
        kept.sort_unstable();
        kept.dedup();
        for name in kept {
            let same = |all: &'a [T]| all.iter().filter(|item| item.name() == name).collect::<Vec<_>>();
            self.variants(what, name, &same(before), &same(now));
        }
    }

    /// Compares the variants of a name, such as two spans of different kinds: each with the variant at the same index, and
    /// their numbers.
    fn variants<T: Named>(&mut self, what: &str, name: &str, before: &[&T], now: &[&T]) {
        before.iter().zip(now).for_each(|(before, now)| now.changes(before, self));
        let (now, before) = (now.len(), before.len());
        match now.cmp(&before) {
            Ordering::Greater if T::MORE_BREAKS => {
                self.broken(format!("{what} `{name}` has more variants: {now}, was {before}"));
            }
            Ordering::Greater => self.other(format!("{what} `{name}` has more variants: {now}, was {before}")),
            Ordering::Less => self.broken(format!("{what} `{name}` has fewer variants: {now}, was {before}")),
            Ordering::Equal => {}
        }
    }

    fn changed<T: PartialEq + fmt::Display>(&mut self, what: &str, of: &str, before: T, now: T) {
        if before != now {
            self.broken(format!("{what} `{of}` changed from {before} to {now}"));
        }
    }

    /// Compares two sets of names. Removed names are breaking changes; added ones only if `added_breaks`.
    fn set(&mut self, whose: &str, before: &[String], now: &[String], added_breaks: bool) {
        for gone in before.iter().filter(|name| !now.contains(name)) {
            self.broken(format!("{whose} no longer has `{gone}`"));
        }
        for new in now.iter().filter(|name| !before.contains(name)) {
            let change = format!("{whose} now has `{new}`");
            if added_breaks { self.broken(change) } else { self.other(change) }
        }
    }

    fn growth(&mut self, before: &[Metric], now: &[Metric], allowed: u64) {
        let sum = |all: &[Metric], name: &str| {
            let same = all.iter().filter(|metric| metric.name == name);
            same.fold(0, |sum: u64, metric| sum.saturating_add(metric.series))
        };
        let mut names: Vec<&str> = now.iter().map(|metric| metric.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let counts = names.iter().map(|name| (*name, sum(before, name), sum(now, name)));
        let grown: Vec<_> = counts.filter(|(_, before, now)| now > before).collect();
        let growth = grown.iter().fold(0, |total: u64, (_, before, now)| total.saturating_add(now - before));
        if growth == 0 {
            return;
        }
        let each: Vec<String> = grown.iter().map(|(name, before, now)| format!("`{name}` {before} -> {now}")).collect();
        let change = format!("up to {growth} more series ({allowed} allowed): {}", each.join(", "));
        if growth > allowed { self.broken(change) } else { self.other(change) }
    }
}

impl Named for Span {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_like(&self, other: &Self) -> bool {
        let parts = |name: &str| {
            name.split_once('/').map(|(component, operation)| [component.to_owned(), operation.to_owned()])
        };
        let shares_a_part = match (parts(&self.name), parts(&other.name)) {
            (Some(mine), Some(theirs)) => mine[0] == theirs[0] || mine[1] == theirs[1],
            _ => false,
        };
        shares_a_part && self.kind == other.kind && self.keys == other.keys
    }

    fn changes(&self, before: &Self, found: &mut Found) {
        found.changed("the kind of span", &self.name, before.kind.word(), self.kind.word());
        found.set(&format!("span `{}`", self.name), &before.keys, &self.keys, false);
        if before.places != self.places {
            // Not a breaking change, because methods of a trait share a name. Reported to reveal names reused by mistake.
            let (name, now, before) = (&self.name, self.places, before.places);
            found.other(format!("span `{name}` is created in {now} places, was {before}"));
        }
    }
}

impl Named for Key {
    const MORE_BREAKS: bool = false;

    fn name(&self) -> &str {
        &self.name
    }

    fn is_like(&self, other: &Self) -> bool {
        let shape = |key: &Key| (key.kind, key.value_type, key.values);
        shape(self) == shape(other) && !self.description.is_empty() && self.description == other.description
    }

    fn changes(&self, before: &Self, found: &mut Found) {
        let kind = |key: &Key| match key.kind {
            KeyKind::Label => "label".to_owned(),
            kind => format!("{} of {}", kind.word(), key.value_type.word()),
        };
        found.changed("key", &self.name, kind(before), kind(self));
        if before.baggage != self.baggage {
            let now = if self.baggage { "now" } else { "no longer" };
            found.other(format!("key `{}` is {now} sent as baggage", self.name));
        }
    }
}

impl Named for Metric {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_like(&self, other: &Self) -> bool {
        let shape = |metric: &Metric| (metric.kind, metric.unit.clone(), metric.labels.clone());
        let is_said_alike = !self.description.is_empty() && self.description == other.description;
        let is_grouped_alike = self.group == other.group && self.buckets == other.buckets;
        shape(self) == shape(other) && (is_said_alike || is_grouped_alike)
    }

    fn changes(&self, before: &Self, found: &mut Found) {
        let name = &self.name;
        let unit =
            |metric: &Metric| if metric.unit.is_empty() { "none".to_owned() } else { format!("`{}`", metric.unit) };
        found.changed("the kind of metric", name, before.kind.word(), self.kind.word());
        found.changed("the unit of metric", name, unit(before), unit(self));
        let attributes = |metric: &Metric| metric.attributes().map(str::to_owned).collect::<Vec<_>>();
        found.set(&format!("metric `{name}`"), &attributes(before), &attributes(self), true);
        if before.buckets != self.buckets {
            found.other(format!("the buckets of metric `{name}` changed from {} to {}", before.buckets, self.buckets));
        }
        if before.number != self.number {
            let (before, now) = (before.number, self.number);
            found.other(format!("the number type of metric `{name}` changed from {before:?} to {now:?}"));
        }
        for label in &self.labels {
            let same = before.labels.iter().find(|old| old.attributes == label.attributes);
            same.iter().for_each(|old| label.changes(old, name, found));
        }
    }
}

impl Label {
    /// Compares the texts of the values, which queries use, if both catalogues list them.
    fn changes(&self, before: &Label, metric: &str, found: &mut Found) {
        if !before.texts.is_empty() && !self.texts.is_empty() {
            let whose = format!("label `{}` of metric `{metric}`", self.attributes.join(", "));
            found.set(&whose, &before.texts, &self.texts, false);
        }
    }
}
