//! The declaration of a metric: its name, kind, labels and buckets. The values are in `cells`.

mod bounds;
mod labels;
mod mistake;
mod prometheus;

use std::borrow::Cow;
use std::panic::Location;

use crate::declare::key::KeyMeta;
use crate::declare::label::LabelText;
use crate::declare::scope::CrateScope;
use crate::declare::sections::Source;
use crate::declare::value::OwnedValue;

pub use self::labels::{LabelSet, LabelValues, Labels, OrNone};
pub(crate) use self::labels::{appended, ordinal};
pub(crate) use self::mistake::Mistake;
pub(crate) use self::prometheus::{label_name, plain, translate, unit_name};

/// The default budget: the largest number of series of a metric.
pub(crate) const DEFAULT_BUDGET: usize = 2_000;

/// The kind of a metric.
///
/// ```
/// use tracecast::catalogue::MetricKind;
/// use tracecast::prelude::*;
///
/// tc_metrics! {
///     /// The temperature.
///     static HEAT: Gauge = "tc_example_heat_celsius";
/// }
///
/// assert_eq!(HEAT.declaration().kind, MetricKind::Gauge);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricKind {
    /// A sum that only grows.
    Counter,
    /// A sum that grows and shrinks.
    UpDownCounter,
    /// The last value.
    Gauge,
    /// A distribution over buckets.
    Histogram,
}

/// The number type of a metric.
///
/// ```
/// use tracecast::catalogue::NumberType;
/// use tracecast::prelude::*;
///
/// tc_metrics! {
///     /// Time spent waiting.
///     static WAITED: Counter<(), f64> = "tc_example_waited_seconds_total";
/// }
///
/// assert_eq!(WAITED.declaration().number, NumberType::F64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberType {
    /// Unsigned integers.
    U64,
    /// Signed integers.
    I64,
    /// Floating-point numbers.
    F64,
}

/// The buckets of a histogram.
///
/// ```
/// use tracecast::catalogue::Buckets;
/// use tracecast::prelude::*;
///
/// tc_metrics! {
///     /// How long a seek takes.
///     static SEEK: Histogram = "tc_example_seek_seconds" { buckets: [0.1, 1] };
///     /// How large a chunk is.
///     static CHUNK: Histogram<(), u64> = "tc_example_chunk_bytes" { exponential };
/// }
///
/// assert_eq!(SEEK.declaration().buckets, Buckets::Explicit(&[0.1, 1.0]));
/// assert_eq!(CHUNK.declaration().buckets, Buckets::Exponential);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Buckets {
    /// Inclusive upper bounds in increasing order. One more bucket takes values above the last bound.
    Explicit(&'static [f64]),
    /// Eight buckets per power of two; fewer are exported if the values are spread wide. The buckets cover 64 powers of two:
    /// whole numbers and bytes from 1 on, seconds and ratios from 2^-32, other fractions from 2^-20. Smaller values count as
    /// zero; larger values count in the last bucket.
    Exponential,
}

/// The declaration of one metric.
///
/// ```
/// use tracecast::keys::tensor::source;
/// use tracecast::prelude::*;
///
/// tc_metrics! {
///     /// Bytes written.
///     static BYTES: Counter<(source,)> = "tc_example_written_bytes_total";
/// }
///
/// let meta = BYTES.declaration();
/// assert_eq!((meta.unit, meta.series()), ("By", 2));
/// assert_eq!(meta.labels[0].name, "tc.source.type");
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MetricMeta {
    /// The name.
    pub name: &'static str,
    /// The kind.
    pub kind: MetricKind,
    /// The number type.
    pub number: NumberType,
    /// The UCUM unit, or an empty text.
    pub unit: &'static str,
    /// The description.
    pub description: &'static str,
    /// The declared labels. Metrics of annotated functions may also have an outcome and an error type.
    pub labels: &'static [&'static KeyMeta],
    /// The buckets of a histogram; unused for other kinds.
    pub buckets: Buckets,
    /// The largest number of series that the metric may have.
    pub budget: usize,
    /// Whether callbacks supply the value when metrics are collected.
    pub observable: bool,
    /// The place of the declaration.
    pub location: &'static Location<'static>,
    /// The crate that declares the metric.
    pub crate_name: &'static str,
    /// The version of that crate.
    pub crate_version: &'static str,
    outcomes: &'static [&'static str],
    error_types: &'static [&'static str],
}

/// The outcomes of calls, by ordinal.
pub(crate) const OUTCOMES: &[&str] = &["ok", "error", "cancelled", "panicked"];
/// The outcomes of failed calls, by ordinal.
pub(crate) const FAILURES: &[&str] = &["error", "panicked"];

/// One dimension of a metric: a label and its possible values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dimension {
    /// The label's name.
    pub(crate) name: &'static str,
    /// The number of its values.
    pub(crate) cardinality: usize,
    texts: Texts,
}

#[derive(Clone, Copy, Debug)]
enum Texts {
    Key(&'static KeyMeta),
    /// Values with these texts. If there is one more value than texts, the last one means "no value".
    Closed(&'static [&'static str]),
}

impl Dimension {
    /// Returns whether this ordinal means "no value". A series with such an ordinal lacks the label.
    pub(crate) fn is_none(&self, ordinal: usize) -> bool {
        match self.texts {
            Texts::Key(key) => key.none == Some(ordinal),
            Texts::Closed(texts) => ordinal >= texts.len(),
        }
    }

    /// Returns the text of the value with this ordinal.
    pub(crate) fn text(&self, ordinal: usize) -> LabelText {
        match self.texts {
            Texts::Key(key) => key.label_text(ordinal),
            Texts::Closed(texts) => LabelText::Borrowed(texts.get(ordinal).unwrap_or(&"none")),
        }
    }
}

impl MetricMeta {
    /// Declares a metric at the place of the call.
    #[doc(hidden)]
    #[track_caller]
    pub const fn declare<L: LabelSet>(
        kind: MetricKind,
        number: NumberType,
        name: &'static str,
        unit: &'static str,
        description: &'static str,
    ) -> Self {
        MetricMeta {
            name,
            kind,
            number,
            unit,
            description,
            labels: L::KEYS,
            buckets: Buckets::Explicit(bounds::of_unit(unit)),
            budget: DEFAULT_BUDGET,
            observable: false,
            location: Location::caller(),
            // `Metric::new` replaces name and version by those of the crate that declares the static.
            crate_name: CrateScope::OWN.name,
            crate_version: CrateScope::OWN.version,
            outcomes: &[],
            error_types: &[],
        }
    }

    /// Sets the crate that declares the metric.
    pub(crate) const fn declared_in(mut self, source: &Source) -> Self {
        (self.crate_name, self.crate_version) = (source.crate_name, source.crate_version);
        self
    }

    /// The crate that declares the metric.
    #[cfg(has_otlp)]
    pub(crate) fn scope(&self) -> CrateScope {
        CrateScope { name: self.crate_name, version: self.crate_version }
    }

    /// Replaces the labels.
    #[doc(hidden)]
    pub const fn labelled(mut self, labels: &'static [&'static KeyMeta]) -> Self {
        self.labels = labels;
        self
    }

    /// Sets the upper bounds of the buckets.
    #[doc(hidden)]
    pub const fn buckets(mut self, bounds: &'static [f64]) -> Self {
        self.buckets = Buckets::Explicit(bounds);
        self
    }

    /// Sets exponential buckets.
    #[doc(hidden)]
    pub const fn exponential(mut self) -> Self {
        self.buckets = Buckets::Exponential;
        self
    }

    /// Sets the budget.
    #[doc(hidden)]
    pub const fn budget(mut self, series: usize) -> Self {
        self.budget = series;
        self
    }

    /// Adds the outcome of calls as a label.
    #[doc(hidden)]
    pub const fn outcomes(mut self) -> Self {
        self.outcomes = OUTCOMES;
        self
    }

    /// Adds the outcome of failed calls as a label.
    #[doc(hidden)]
    pub const fn failures(mut self) -> Self {
        self.outcomes = FAILURES;
        self
    }

    /// Adds the error type as a label, unless `types` is empty.
    #[doc(hidden)]
    pub const fn error_types(mut self, types: &'static [&'static str]) -> Self {
        self.error_types = types;
        self
    }

    pub(crate) const fn observable(mut self) -> Self {
        self.observable = true;
        self
    }

    /// Returns the error in the declaration, if there is one. Evaluated at compile time.
    #[doc(hidden)]
    pub const fn mistake(&self) -> Option<Mistake> {
        mistake::find(self)
    }

    /// Returns the number of values of `error.type`, which are the types and `none`; 1 if the metric lacks this label.
    pub(crate) const fn error_type_count(&self) -> usize {
        if self.error_types.is_empty() { 1 } else { self.error_types.len() + 1 }
    }

    /// Returns the ordinal of an error type. Without an error type, or if the metric does not list this one, returns the
    /// ordinal of `none`.
    pub(crate) fn error_type_ordinal(&self, error_type: Option<&str>) -> usize {
        let types = self.error_types;
        error_type.and_then(|given| types.iter().position(|known| *known == given)).unwrap_or(types.len())
    }

    /// Returns the dimensions: the labels, the outcome and the error type. In the index of a label set the first one is the most
    /// significant.
    pub(crate) fn dimensions(&self) -> Vec<Dimension> {
        self.each_dimension().collect()
    }

    fn each_dimension(&self) -> impl Iterator<Item = Dimension> {
        let of_key = |key: &&'static KeyMeta| Dimension {
            name: key.name,
            cardinality: key.cardinality.unwrap_or(1),
            texts: Texts::Key(key),
        };
        let closed = |name, cardinality, texts: &'static [&'static str]| {
            (!texts.is_empty()).then_some(Dimension { name, cardinality, texts: Texts::Closed(texts) })
        };
        let outcome = closed("outcome", self.outcomes.len(), self.outcomes);
        let error_type = closed("error.type", self.error_type_count(), self.error_types);
        self.labels.iter().map(of_key).chain(outcome).chain(error_type)
    }

    /// Returns the largest number of label sets.
    pub(crate) const fn sets(&self) -> usize {
        let mut sets: usize = 1;
        let mut at = 0;
        while at < self.labels.len() {
            sets = sets.saturating_mul(cardinality(self.labels[at]));
            at += 1;
        }
        if !self.outcomes.is_empty() {
            sets = sets.saturating_mul(self.outcomes.len());
        }
        sets.saturating_mul(self.error_type_count())
    }

    /// Returns the number of series per label set: 1, or for a histogram with explicit buckets the number of buckets plus 2, for
    /// the sum and the count.
    pub(crate) const fn series_per_set(&self) -> usize {
        match (self.kind, self.buckets) {
            (MetricKind::Histogram, Buckets::Explicit(bounds)) => bounds.len() + 3,
            _ => 1,
        }
    }

    /// Returns the largest number of series that the metric can have. An exponential histogram has one series per label set.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// tc_metrics! {
    ///     /// How long a sync takes.
    ///     static SYNC: Histogram = "tc_example_sync_seconds" { buckets: [0.1, 1] };
    /// }
    ///
    /// // Two buckets and one above them, the sum and the count.
    /// assert_eq!(SYNC.declaration().series(), 5);
    /// ```
    pub const fn series(&self) -> usize {
        self.sets().saturating_mul(self.series_per_set())
    }

    /// Returns the names and values of the label set with this index, without labels that have no value. Called for each series
    /// at each collection.
    pub(crate) fn labels_of(&self, index: usize) -> Vec<(Cow<'static, str>, OwnedValue)> {
        let label = |(name, text): (&'static str, LabelText)| (Cow::Borrowed(name), OwnedValue::Str(text));
        let more = usize::from(!self.outcomes.is_empty()) + usize::from(!self.error_types.is_empty());
        let mut labels = Vec::with_capacity(self.labels.len() + more);
        let (mut sets, mut rest) = (self.sets(), index);
        for dimension in self.each_dimension() {
            sets /= dimension.cardinality;
            let ordinal = rest / sets;
            rest %= sets;
            match dimension.texts {
                _ if dimension.is_none(ordinal) => {}
                Texts::Key(key) if key.is_joint() => labels.extend(key.attributes(ordinal).map(label)),
                _ => labels.push(label((dimension.name, dimension.text(ordinal)))),
            }
        }
        labels
    }

    /// Returns whether two declarations of the same name describe the same metric.
    pub(crate) fn same_shape(&self, other: &MetricMeta) -> bool {
        let (mine, theirs) = (self.dimensions(), other.dimensions());
        self.kind == other.kind
            && self.number == other.number
            && self.unit == other.unit
            && self.observable == other.observable
            && (self.kind != MetricKind::Histogram || self.buckets == other.buckets)
            && mine.len() == theirs.len()
            && mine.iter().zip(&theirs).all(|(mine, theirs)| mine.same_values(theirs))
    }
}

impl Dimension {
    fn same_values(&self, other: &Dimension) -> bool {
        let same_texts = || match (self.texts, other.texts) {
            (Texts::Key(mine), Texts::Key(theirs)) => mine.same_texts(theirs),
            (Texts::Closed(mine), Texts::Closed(theirs)) => mine == theirs,
            _ => false,
        };
        self.name == other.name && self.cardinality == other.cardinality && same_texts()
    }
}

const fn cardinality(key: &KeyMeta) -> usize {
    match key.cardinality {
        Some(cardinality) => cardinality,
        None => 1,
    }
}
