//! Defines the streams of an instrument: by views, or by the configuration of its kind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry::{InstrumentationScope, Key};
use opentelemetry_sdk::metrics::{
    Aggregation as SdkAggregation, Instrument, InstrumentKind, MeterProviderBuilder, Stream,
};

use super::provider::names_bounds;
use crate::base::notice;
use crate::config::{Aggregation, CardinalityLimits, HistogramAggregation, InstrumentType, Metrics, ViewStream};
use crate::encode::views::{Subject, Views, leave_out};
use crate::meter::snapshot::MetricPoints;

/// The default bounds of the specification.
const DEFAULT_BOUNDS: [f64; 15] =
    [0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1_000.0, 2_500.0, 5_000.0, 7_500.0, 10_000.0];

/// The configuration of streams.
pub(super) struct Streams {
    views: Views,
    histograms: HistogramAggregation,
    limits: CardinalityLimits,
    /// Streams with attribute filters that the SDK does not support.
    reduced: Mutex<HashMap<Place, ViewStream>>,
}

/// A scope's name and version, and the lower-case name of a stream.
type Place = (String, Option<String>, String);

impl Streams {
    pub(super) fn new(config: &Metrics) -> Self {
        // Problems are reported where the views are applied to our metrics.
        let (views, _) = Views::new(&config.views);
        Streams { views, histograms: config.histograms, limits: config.cardinality, reduced: Mutex::default() }
    }

    /// Registers each configured view with the SDK, and a last view for instruments that no configured view matches.
    pub(super) fn add_to(self: &Arc<Self>, mut builder: MeterProviderBuilder) -> MeterProviderBuilder {
        for view in self.views.iter() {
            let (view, streams) = (view.clone(), self.clone());
            builder = builder.with_view(move |instrument: &Instrument| {
                view.fits(&subject(instrument)).then(|| streams.by_view(&view.stream, instrument)).flatten()
            });
        }
        let streams = self.clone();
        builder.with_view(move |instrument: &Instrument| {
            let subject = subject(instrument);
            let is_default = !streams.views.iter().any(|view| view.fits(&subject));
            is_default.then(|| streams.made(instrument, None, None, Stream::builder())).flatten()
        })
    }

    fn by_view(&self, view: &ViewStream, instrument: &Instrument) -> Option<Stream> {
        let mut builder = Stream::builder();
        if let Some(name) = &view.name {
            builder = builder.with_name((**name).clone());
        }
        if let Some(description) = &view.description {
            builder = builder.with_description((**description).clone());
        }
        match view.exact_keys() {
            Some(keys) => builder = builder.with_allowed_attribute_keys(keys.map(Key::from)),
            None if view.keeps_all() => {}
            None => {
                let name = view.name.as_deref().map_or(instrument.name(), String::as_str);
                let mut reduced = self.reduced.lock().unwrap_or_else(PoisonError::into_inner);
                reduced.insert(place(instrument.scope(), name), view.clone());
            }
        }
        self.made(instrument, view.aggregation.as_ref(), view.cardinality_limit, builder)
    }

    fn made(
        &self,
        instrument: &Instrument,
        aggregation: Option<&Aggregation>,
        limit: Option<u32>,
        mut builder: opentelemetry_sdk::metrics::StreamBuilder,
    ) -> Option<Stream> {
        if let Some(aggregation) = self.aggregation(instrument.kind(), aggregation) {
            builder = builder.with_aggregation(aggregation);
        }
        if let Some(limit) = limit.or_else(|| self.limit(instrument.kind())) {
            builder = builder.with_cardinality_limit(limit.max(1) as usize);
        }
        let stream = builder.build();
        // A stream that cannot be built is treated as if the view did not match.
        stream.map_err(|error| notice::say(format_args!("view of `{}` is ignored: {error}", instrument.name()))).ok()
    }

    /// Returns the aggregation of a view or, by default, of the configuration. `None` leaves the choice to the SDK,
    /// which uses a histogram's own bounds if it has some.
    fn aggregation(&self, kind: InstrumentKind, asked: Option<&Aggregation>) -> Option<SdkAggregation> {
        match asked {
            None | Some(Aggregation::Default) => {
                let exponential = self.histograms == HistogramAggregation::Exponential
                    && kind == InstrumentKind::Histogram
                    && !names_bounds();
                exponential.then_some(SdkAggregation::Base2ExponentialHistogram {
                    max_size: 160,
                    max_scale: 20,
                    record_min_max: true,
                })
            }
            Some(Aggregation::Drop) => Some(SdkAggregation::Drop),
            Some(Aggregation::LastValue) => Some(SdkAggregation::LastValue),
            Some(Aggregation::Sum) => Some(SdkAggregation::Sum),
            Some(Aggregation::ExplicitBuckets { boundaries, record_min_max }) => {
                let boundaries = boundaries.clone().unwrap_or_else(|| DEFAULT_BOUNDS.to_vec());
                Some(SdkAggregation::ExplicitBucketHistogram { boundaries, record_min_max: *record_min_max })
            }
            Some(Aggregation::Exponential { max_scale, max_size, record_min_max }) => {
                let (max_size, max_scale, record_min_max) = (*max_size, *max_scale, *record_min_max);
                Some(SdkAggregation::Base2ExponentialHistogram { max_size, max_scale, record_min_max })
            }
        }
    }

    fn limit(&self, kind: InstrumentKind) -> Option<u32> {
        let limits = &self.limits;
        let own = match kind {
            InstrumentKind::Counter => limits.counter,
            InstrumentKind::UpDownCounter => limits.up_down_counter,
            InstrumentKind::Histogram => limits.histogram,
            InstrumentKind::ObservableCounter => limits.observable_counter,
            InstrumentKind::ObservableUpDownCounter => limits.observable_up_down_counter,
            InstrumentKind::Gauge => limits.gauge,
            InstrumentKind::ObservableGauge => limits.observable_gauge,
        };
        own.or(limits.default)
    }

    /// Removes the attributes that the SDK could not filter.
    pub(super) fn finish(&self, metric: &mut MetricPoints) {
        let Some(scope) = &metric.scope else { return };
        let place = (scope.name.clone(), scope.version.clone(), metric.name.to_ascii_lowercase());
        let view = self.reduced.lock().unwrap_or_else(PoisonError::into_inner).get(&place).cloned();
        if let Some(view) = view {
            leave_out(metric, &view);
        }
    }
}

fn place(scope: &InstrumentationScope, name: &str) -> Place {
    (scope.name().to_owned(), scope.version().map(str::to_owned), name.to_ascii_lowercase())
}

fn subject(instrument: &Instrument) -> Subject<'_> {
    let scope = instrument.scope();
    Subject {
        name: instrument.name(),
        kind: match instrument.kind() {
            InstrumentKind::Counter => InstrumentType::Counter,
            InstrumentKind::UpDownCounter => InstrumentType::UpDownCounter,
            InstrumentKind::Histogram => InstrumentType::Histogram,
            InstrumentKind::ObservableCounter => InstrumentType::ObservableCounter,
            InstrumentKind::ObservableUpDownCounter => InstrumentType::ObservableUpDownCounter,
            InstrumentKind::Gauge => InstrumentType::Gauge,
            InstrumentKind::ObservableGauge => InstrumentType::ObservableGauge,
        },
        unit: instrument.unit(),
        meter_name: scope.name(),
        meter_version: scope.version(),
        meter_schema_url: scope.schema_url(),
    }
}
