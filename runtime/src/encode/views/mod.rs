//! Selects the views of each metric, and applies them to our metrics; for raw instruments the OpenTelemetry SDK applies
//! them.
//!
//! Each view that matches a metric produces a separate stream. Our metrics are aggregated as declared before a view is
//! applied, so a view can drop or rename a metric or remove labels, but cannot change buckets.

mod merge;
mod pattern;

use std::borrow::Cow;

pub(crate) use self::merge::leave_out;

use self::pattern::{fits, fits_ignoring_case, is_pattern};
use crate::base::secret::Masked;
use crate::config::{Aggregation, InstrumentType, View, ViewSelector, ViewStream};
use crate::declare::cells::Metric;
use crate::declare::metric::{Buckets, MetricKind, MetricMeta};
use crate::declare::registry;
use crate::meter::snapshot::{MetricPoints, PointValue, Snapshot};

/// All views of a configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Views(Vec<View>);

/// The properties of a metric that a view can select.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: InstrumentType,
    pub(crate) unit: &'a str,
    pub(crate) meter_name: &'a str,
    pub(crate) meter_version: Option<&'a str>,
    pub(crate) meter_schema_url: Option<&'a str>,
}

impl Views {
    /// Returns the views, and a warning for each view whose name or aggregation cannot be applied.
    pub(crate) fn new(configured: &[View]) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let mut views = Vec::new();
        for (at, configured) in configured.iter().enumerate() {
            let mut view = configured.clone();
            if view.stream.name.is_some() && view.selects_several() {
                view.stream.name = None;
                warnings.push(format!(
                    "view {}: its name is ignored, because it selects several instruments; to rename, select one \
                     instrument by its name, without `*` and `?`",
                    at + 1
                ));
            }
            warnings.extend(view.without_effect().map(|text| format!("view {}: {text}", at + 1)));
            views.push(view);
        }
        (Views(views), warnings)
    }

    #[cfg(has_otel)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &View> {
        self.0.iter()
    }

    /// Returns the names of our metrics that all their views drop, so that these metrics can be switched off.
    pub(crate) fn off(&self) -> Vec<String> {
        let dropped = |meta: &MetricMeta| {
            let mut fitting = self.fitting(meta).peekable();
            fitting.peek().is_some() && fitting.all(View::drops)
        };
        let metas = registry::metrics().map(Metric::meta);
        let mut names: Vec<_> = metas.filter(|meta| dropped(meta)).map(|meta| meta.name.to_owned()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Applies the views to our metrics. The OpenTelemetry SDK has already applied the views to raw instruments.
    pub(crate) fn apply(&self, snapshot: &mut Snapshot) {
        if self.0.is_empty() {
            return;
        }
        for metric in std::mem::take(&mut snapshot.metrics) {
            let fitting: Vec<_> = metric.meta.into_iter().flat_map(|meta| self.fitting(meta)).collect();
            match fitting[..] {
                [] => snapshot.metrics.push(metric),
                _ => {
                    let streams = fitting.into_iter().filter(|view| !view.drops());
                    snapshot.metrics.extend(streams.map(|view| view.stream.of(metric.clone())));
                }
            }
        }
    }

    fn fitting(&self, meta: &MetricMeta) -> impl Iterator<Item = &View> {
        let subject = Subject::of(meta);
        self.0.iter().filter(move |view| view.fits(&subject))
    }
}

impl View {
    /// Returns whether the metric has all the properties that the view selects.
    pub(crate) fn fits(&self, subject: &Subject<'_>) -> bool {
        let ViewSelector { instrument_name, instrument_type, unit, meter_name, meter_version, meter_schema_url } =
            &self.selector;
        instrument_name.as_deref().is_none_or(|pattern| fits_ignoring_case(pattern, subject.name))
            && instrument_type.is_none_or(|kind| kind == subject.kind)
            && unit.as_deref().is_none_or(|unit| unit == subject.unit)
            && meter_name.as_deref().is_none_or(|name| name == subject.meter_name)
            && meter_version.as_deref().is_none_or(|version| Some(version.as_str()) == subject.meter_version)
            && meter_schema_url.as_deref().is_none_or(|url| Some(url.as_str()) == subject.meter_schema_url)
    }

    fn selects_several(&self) -> bool {
        self.selector.instrument_name.as_deref().is_none_or(|name| is_pattern(name))
    }

    fn drops(&self) -> bool {
        self.stream.aggregation == Some(Aggregation::Drop)
    }

    /// Returns a warning if the view requests an aggregation that one of our selected metrics does not have.
    fn without_effect(&self) -> Option<String> {
        let aggregation = self.stream.aggregation.as_ref()?;
        let subjects = registry::metrics().map(Metric::meta).filter(|meta| self.fits(&Subject::of(meta)));
        let mut names: Vec<_> = subjects.filter(|meta| !is_as_declared(meta, aggregation)).map(|m| m.name).collect();
        names.sort_unstable();
        names.dedup();
        let (first, others) = (names.first()?, names.len() - 1);
        let others = if others > 0 { format!(" and {others} others") } else { String::new() };
        Some(format!(
            "the aggregation of `{first}`{others} is declared in code and does not change; a view may drop or rename a \
             metric of Tracecast, or remove labels"
        ))
    }
}

/// Returns whether a view can request this aggregation of our metric: the default, dropping it, or its declared one.
fn is_as_declared(meta: &MetricMeta, aggregation: &Aggregation) -> bool {
    match (aggregation, meta.kind, meta.buckets) {
        (Aggregation::Default | Aggregation::Drop, ..) => true,
        (Aggregation::LastValue, kind, _) => kind == MetricKind::Gauge,
        (Aggregation::Sum, kind, _) => matches!(kind, MetricKind::Counter | MetricKind::UpDownCounter),
        (Aggregation::ExplicitBuckets { boundaries, .. }, MetricKind::Histogram, Buckets::Explicit(bounds)) => {
            boundaries.as_deref().is_none_or(|asked| asked == bounds)
        }
        (Aggregation::Exponential { .. }, MetricKind::Histogram, buckets) => buckets == Buckets::Exponential,
        _ => false,
    }
}

fn forget_extremes(value: &mut PointValue) {
    match value {
        PointValue::Histogram(point) => (point.min, point.max) = (None, None),
        PointValue::Exponential(point) => (point.min, point.max) = (None, None),
        PointValue::U64(_) | PointValue::I64(_) | PointValue::F64(_) => {}
    }
}

impl ViewStream {
    /// Applies the view to one of our metrics.
    fn of(&self, mut metric: MetricPoints) -> MetricPoints {
        if let Some(name) = &self.name {
            metric.name = Cow::Owned((**name).clone());
        }
        if let Some(description) = &self.description {
            metric.description = Cow::Owned((**description).clone());
        }
        if !self.keeps_all() {
            leave_out(&mut metric, self);
        }
        if let Some(
            Aggregation::ExplicitBuckets { record_min_max: false, .. }
            | Aggregation::Exponential { record_min_max: false, .. },
        ) = self.aggregation
        {
            metric.points.iter_mut().for_each(|point| forget_extremes(&mut point.value));
        }
        metric
    }

    /// Returns whether the view keeps an attribute.
    pub(crate) fn keeps(&self, key: &str) -> bool {
        let among = |patterns: &[Masked<String>]| patterns.iter().any(|pattern| fits(pattern, key));
        self.included.as_deref().is_none_or(among) && !among(&self.excluded)
    }

    pub(crate) fn keeps_all(&self) -> bool {
        self.included.is_none() && self.excluded.is_empty()
    }

    /// Returns the keys that the view keeps; `None` if it does not list them, uses patterns, or also excludes keys.
    #[cfg(has_otel)]
    pub(crate) fn exact_keys(&self) -> Option<impl Iterator<Item = String>> {
        let included = self.included.as_ref()?;
        let plain = self.excluded.is_empty() && !included.iter().any(|key| is_pattern(key));
        plain.then(|| included.iter().map(|key| (**key).clone()))
    }
}

impl<'a> Subject<'a> {
    fn of(meta: &'a MetricMeta) -> Self {
        Subject {
            name: meta.name,
            kind: match (meta.kind, meta.observable) {
                (MetricKind::Counter, false) => InstrumentType::Counter,
                (MetricKind::Counter, true) => InstrumentType::ObservableCounter,
                (MetricKind::UpDownCounter, false) => InstrumentType::UpDownCounter,
                (MetricKind::UpDownCounter, true) => InstrumentType::ObservableUpDownCounter,
                (MetricKind::Gauge, false) => InstrumentType::Gauge,
                (MetricKind::Gauge, true) => InstrumentType::ObservableGauge,
                (MetricKind::Histogram, _) => InstrumentType::Histogram,
            },
            unit: meta.unit,
            meter_name: meta.crate_name,
            meter_version: Some(meta.crate_version),
            meter_schema_url: None,
        }
    }
}

#[cfg(test)]
mod tests;
