//! Checks the declarations of metrics at compile time, also in `cargo check`. The text of a [`Mistake`] is the compile error.

use super::{Buckets, MetricKind, MetricMeta, cardinality};

/// The text of a compile error, built at compile time.
#[derive(Clone, Copy)]
pub struct Mistake {
    bytes: [u8; Mistake::BYTES],
    len: usize,
}

impl Mistake {
    const BYTES: usize = 1024;

    /// Returns the text.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            // Only a text that fills the buffer can be cut within a character.
            Err(_) => "this metric exceeds its budget; it has too many labels to show the arithmetic",
        }
    }

    const fn new() -> Self {
        Mistake { bytes: [0; Mistake::BYTES], len: 0 }
    }

    const fn text(mut self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() && self.len < Mistake::BYTES {
            self.bytes[self.len] = bytes[at];
            self.len += 1;
            at += 1;
        }
        self
    }

    const fn number(mut self, number: usize) -> Self {
        if number >= 10 {
            self = self.number(number / 10);
        }
        let digit = [b'0' + (number % 10) as u8];
        match core::str::from_utf8(&digit) {
            Ok(digit) => self.text(digit),
            Err(_) => self,
        }
    }
}

pub(super) const fn find(meta: &MetricMeta) -> Option<Mistake> {
    if let Some(mistake) = label_twice(meta) {
        return Some(mistake);
    }
    if let (MetricKind::Histogram, Buckets::Explicit(bounds)) = (meta.kind, meta.buckets)
        && !ascending(bounds)
    {
        let text = "its buckets must be finite numbers in increasing order, at least one";
        return Some(Mistake::new().text("metric `").text(meta.name).text("`: ").text(text));
    }
    if meta.series() > meta.budget {
        return Some(over_budget(meta));
    }
    None
}

const fn label_twice(meta: &MetricMeta) -> Option<Mistake> {
    let mut second = 0;
    while second < meta.labels.len() {
        let mut first = 0;
        while first < second {
            let name = meta.labels[second].name;
            if same(meta.labels[first].name, name) {
                let start = Mistake::new().text("metric `").text(meta.name).text("` has the label `").text(name);
                return Some(start.text("` twice; remove one"));
            }
            first += 1;
        }
        let name = meta.labels[second].name;
        let taken = (!meta.outcomes.is_empty() && same(name, "outcome"))
            || (!meta.error_types.is_empty() && same(name, "error.type"));
        if taken {
            let start = Mistake::new().text("metric `").text(meta.name).text("` has the reserved label `").text(name);
            return Some(start.text("`; give the key another name"));
        }
        second += 1;
    }
    None
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

const fn ascending(bounds: &[f64]) -> bool {
    let mut at = 0;
    while at < bounds.len() {
        if !bounds[at].is_finite() || (at > 0 && bounds[at] <= bounds[at - 1]) {
            return false;
        }
        at += 1;
    }
    !bounds.is_empty()
}

/// Builds a text such as `tc.source.type(2) x tc.device.id(17) x 16 (14 buckets, sum, count) = 544 series, budget 500`.
const fn over_budget(meta: &MetricMeta) -> Mistake {
    let mut text = Mistake::new().text("metric `").text(meta.name).text("` can have too many series: ");
    let mut at = 0;
    while at < meta.labels.len() {
        text = factor(text, at == 0, meta.labels[at].name, cardinality(meta.labels[at]));
        at += 1;
    }
    let mut first = meta.labels.is_empty();
    if !meta.outcomes.is_empty() {
        text = factor(text, first, "outcome", meta.outcomes.len());
        first = false;
    }
    if !meta.error_types.is_empty() {
        text = factor(text, first, "error.type", meta.error_type_count());
        first = false;
    }
    if let (MetricKind::Histogram, Buckets::Explicit(bounds)) = (meta.kind, meta.buckets) {
        text = text.text(if first { "" } else { " x " }).number(meta.series_per_set());
        text = text.text(" (").number(bounds.len() + 1).text(" buckets, sum, count)");
    }
    text = text.text(" = ").number(meta.series());
    text = text.text(if meta.series() == usize::MAX { " series or more, budget " } else { " series, budget " });
    text = text.number(meta.budget);
    text.text("; remove a label, use labels with fewer values, or raise `budget`")
}

const fn factor(text: Mistake, first: bool, name: &str, values: usize) -> Mistake {
    text.text(if first { "" } else { " x " }).text(name).text("(").number(values).text(")")
}
