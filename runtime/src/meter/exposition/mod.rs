//! Metrics in the text formats that Prometheus scrapes.
//!
//! Names of raw OpenTelemetry instruments are translated by OpenTelemetry's rules for Prometheus; the names of our metrics
//! already follow these rules. Characters that Prometheus does not accept in names are replaced.

mod families;

pub(crate) use self::families::Form;
use self::families::{Described, Families, Family, number};
use crate::declare::metric::{MetricKind, label_name, plain, translate, unit_name};
use crate::declare::scope::ExternalScope;
use crate::declare::value::OwnedValue;
use crate::meter::snapshot::{ExemplarPoint, ExponentialPoint, HistogramPoint, MetricPoints, PointValue, Snapshot};

/// Names and values of labels.
type Labels = Vec<(String, String)>;

impl Snapshot {
    /// Returns the points in the text format of Prometheus. Use a cumulative reader, because Prometheus expects sums
    /// that are not reset between scrapes.
    ///
    /// Dots in the names of labels become underscores. An exponential histogram is written with explicit bounds. If two
    /// metrics have the same name and different types, the second one is omitted, and a comment in the text reports it.
    ///
    /// ```standalone_crate
    /// use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality};
    ///
    /// tracecast::tc_metrics! {
    ///     /// Files that were found.
    ///     static FOUND: Counter = "tc_files_found_total";
    /// }
    ///
    /// let metering = MetricsGuard::start(MetricsConfig::default())?;
    /// FOUND.add(2, ());
    /// let text = metering.reader(Temporality::Cumulative).snapshot().to_prometheus();
    /// assert!(text.contains("tc_files_found_total"));
    /// # Ok::<(), tracecast::MetricsError>(())
    /// ```
    pub fn to_prometheus(&self) -> String {
        let mut families = Families::new(Form::Prometheus);
        self.write(&mut families);
        families.into_text()
    }

    /// Returns the points in one of the formats that Prometheus scrapes. The metric `target_info` comes first, with the
    /// resource attributes as labels.
    #[cfg(has_otlp)]
    pub(crate) fn to_scraped(&self, form: Form, resource: &[(String, OwnedValue)]) -> String {
        let mut families = Families::new(form);
        if let Some(family) = families.target_info() {
            write_point(form, family, joined(texts(resource)), &PointValue::U64(1));
        }
        self.write(&mut families);
        families.into_text()
    }

    fn write(&self, families: &mut Families) {
        let with_points = self.metrics.iter().filter(|metric| !metric.points.is_empty());
        with_points.for_each(|metric| write_metric(families, metric));
    }
}

fn write_metric(families: &mut Families, metric: &MetricPoints) {
    let name = translated(&metric.name, &metric.unit, metric.kind);
    let (form, unit) = (families.form, unit_name(&metric.unit, metric.kind));
    let described = Described { help: &metric.description, unit: &unit, called: &metric.name };
    let Some(family) = families.family(&name, metric.kind, described) else { return };
    for point in &metric.points {
        let labels = texts(&point.labels).chain(metric.scope.iter().flat_map(|scope| of_scope(scope)));
        write_point(form, family, joined(labels), &point.value);
    }
}

fn texts<K: AsRef<str>>(labels: &[(K, OwnedValue)]) -> impl Iterator<Item = (String, String)> {
    labels.iter().map(|(name, value)| (label_name(name.as_ref()), value.to_string()))
}

/// Returns the scope of a raw instrument as labels, because two libraries may have instruments of the same name.
fn of_scope(scope: &ExternalScope) -> impl Iterator<Item = (String, String)> {
    let given = [("name", Some(&scope.name)), ("version", scope.version.as_ref())];
    let given = given.into_iter().chain([("schema_url", scope.schema_url.as_ref())]);
    let own = given.filter_map(|(name, text)| Some((format!("otel_scope_{name}"), text?.clone())));
    own.chain(
        scope.attributes.iter().map(|(name, value)| (label_name(&format!("otel_scope_{name}")), value.to_string())),
    )
}

/// Returns the name of a metric in Prometheus. Characters that Prometheus does not accept are replaced.
fn translated(name: &str, unit: &str, kind: MetricKind) -> String {
    let name: String = translate(name, unit, kind).chars().map(plain_or_colon).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

fn plain_or_colon(c: char) -> char {
    if c == ':' { c } else { plain(c) }
}

/// Joins labels whose names are equal after the translation into one label with all their values.
fn joined(labels: impl Iterator<Item = (String, String)>) -> Labels {
    let mut joined = Labels::new();
    for (name, value) in labels {
        match joined.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => {
                values.push(';');
                values.push_str(&value);
            }
            None => joined.push((name, value)),
        }
    }
    joined
}

fn write_point(form: Form, family: &mut Family, mut labels: Labels, value: &PointValue) {
    if matches!(value, PointValue::Histogram(_) | PointValue::Exponential(_)) {
        // The buckets of a histogram use the label `le`.
        labels.iter_mut().filter(|(name, _)| name == "le").for_each(|(name, _)| *name = "exported_le".to_owned());
    }
    if !family.begin(&labels) {
        return;
    }
    let plain = family.plain_suffix(form);
    match value {
        PointValue::U64(value) => family.sample(plain, &labels, &value.to_string()),
        PointValue::I64(value) => family.sample(plain, &labels, &value.to_string()),
        PointValue::F64(value) => family.sample(plain, &labels, &number(*value)),
        PointValue::Histogram(point) => {
            let HistogramPoint { bounds, counts, count, sum, exemplars, .. } = point;
            let totals = Totals { count: *count, sum: *sum, exemplars: with_examples(form, exemplars) };
            buckets(family, &labels, bounds.iter().copied().zip(counts.iter().copied()), &totals);
        }
        PointValue::Exponential(point) => {
            let exemplars = with_examples(form, &point.exemplars);
            let totals = Totals { count: point.count, sum: point.sum, exemplars };
            buckets(family, &labels, exponential_buckets(point), &totals);
        }
    }
}

/// Returns the exemplars for OpenMetrics, and none for the text format of Prometheus, which cannot represent them.
fn with_examples(form: Form, exemplars: &[ExemplarPoint]) -> &[ExemplarPoint] {
    if form == Form::OpenMetrics { exemplars } else { &[] }
}

/// The data of a histogram besides its buckets.
struct Totals<'a> {
    count: u64,
    sum: f64,
    exemplars: &'a [ExemplarPoint],
}

/// Returns the upper bounds of exponential buckets in increasing order, each with the number of its values.
fn exponential_buckets(point: &ExponentialPoint) -> impl Iterator<Item = (f64, u64)> {
    // The bound is computed as one power of two, so that whole powers are exact.
    let step = 2_f64.powi(-point.scale);
    let bound = move |power: i64| (power as f64 * step).exp2();
    let offset = i64::from(point.offset);
    // The bucket farthest below zero comes first. The upper bound of a negative bucket is its bound towards zero.
    let negative = point.negative.iter().flat_map(move |side| {
        let offset = i64::from(side.offset);
        side.counts.iter().enumerate().rev().map(move |(at, count)| (-bound(offset + at as i64), *count))
    });
    let zero = (point.zero_count > 0).then_some((point.zero_threshold, point.zero_count));
    let above = point.counts.iter().enumerate().map(move |(at, count)| (bound(offset + at as i64 + 1), *count));
    negative.chain(zero).chain(above)
}

/// Writes each bucket with the count of all values up to its bound, then the sum and the count.
fn buckets(family: &mut Family, labels: &Labels, buckets: impl Iterator<Item = (f64, u64)>, totals: &Totals<'_>) {
    let Totals { count, sum, exemplars } = *totals;
    let mut above = f64::NEG_INFINITY;
    let mut bucket = |bound: f64, below: u64| {
        let labels: Vec<_> = labels.iter().cloned().chain([("le".to_owned(), number(bound))]).collect();
        let within = |exemplar: &&ExemplarPoint| exemplar.value > above && exemplar.value <= bound;
        family.sample_with("_bucket", &labels, &below.to_string(), exemplars.iter().find(within));
        above = bound;
    };
    let (mut below, mut buckets) = (0, buckets.peekable());
    while let Some((bound, here)) = buckets.next() {
        below += here;
        // Buckets whose bounds round to the same number are joined.
        let same = buckets.peek().is_some_and(|(next, _)| *next == bound);
        if bound.is_finite() && !same {
            bucket(bound, below);
        }
    }
    bucket(f64::INFINITY, count);
    family.sample("_sum", labels, &number(sum));
    family.sample("_count", labels, &count.to_string());
}

#[cfg(test)]
mod tests;
