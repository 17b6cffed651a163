//! The global meter provider: it returns the SDK's instruments and keeps their callbacks.

use std::cell::Cell;
use std::sync::Arc;

use opentelemetry::InstrumentationScope;
use opentelemetry::metrics::{
    AsyncInstrumentBuilder, Counter, Gauge, Histogram, HistogramBuilder, InstrumentBuilder, InstrumentProvider, Meter,
    MeterProvider, ObservableCounter, ObservableGauge, ObservableUpDownCounter, UpDownCounter,
};
use opentelemetry_sdk::metrics::SdkMeterProvider;

use super::callbacks::Callbacks;

thread_local! {
    /// Whether the histogram that this thread is creating has its own bounds, which the SDK does not pass to views.
    static NAMES_BOUNDS: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn names_bounds() -> bool {
    NAMES_BOUNDS.get()
}

pub(super) struct Provider {
    sdk: SdkMeterProvider,
    callbacks: Arc<Callbacks>,
}

impl Provider {
    pub(super) fn new(sdk: SdkMeterProvider, callbacks: Arc<Callbacks>) -> Self {
        Provider { sdk, callbacks }
    }
}

impl MeterProvider for Provider {
    fn meter_with_scope(&self, scope: InstrumentationScope) -> Meter {
        let sdk = self.sdk.meter_with_scope(scope);
        Meter::new(Arc::new(Instruments { sdk, callbacks: self.callbacks.clone() }))
    }
}

struct Instruments {
    sdk: Meter,
    callbacks: Arc<Callbacks>,
}

macro_rules! recorded {
    ($($name:ident: $instrument:ty),+ $(,)?) => {$(
        fn $name(&self, asked: InstrumentBuilder<'_, $instrument>) -> $instrument {
            let mut builder = self.sdk.$name(asked.name);
            (builder.description, builder.unit) = (asked.description, asked.unit);
            builder.build()
        }
    )+};
}

macro_rules! distributed {
    ($($name:ident: $instrument:ty),+ $(,)?) => {$(
        fn $name(&self, asked: HistogramBuilder<'_, $instrument>) -> $instrument {
            let mut builder = self.sdk.$name(asked.name);
            (builder.description, builder.unit) = (asked.description, asked.unit);
            builder.boundaries = asked.boundaries;
            NAMES_BOUNDS.set(builder.boundaries.is_some());
            let instrument = builder.build();
            NAMES_BOUNDS.set(false);
            instrument
        }
    )+};
}

macro_rules! observed {
    ($($name:ident: $instrument:ty, $number:ty);+ $(;)?) => {$(
        fn $name(&self, asked: AsyncInstrumentBuilder<'_, $instrument, $number>) -> $instrument {
            let mut builder = self.sdk.$name(asked.name.clone());
            (builder.description, builder.unit) = (asked.description, asked.unit);
            for callback in asked.callbacks {
                builder = builder.with_callback(self.callbacks.keep(&asked.name, callback));
            }
            builder.build()
        }
    )+};
}

impl InstrumentProvider for Instruments {
    recorded! {
        u64_counter: Counter<u64>,
        f64_counter: Counter<f64>,
        i64_up_down_counter: UpDownCounter<i64>,
        f64_up_down_counter: UpDownCounter<f64>,
        u64_gauge: Gauge<u64>,
        i64_gauge: Gauge<i64>,
        f64_gauge: Gauge<f64>,
    }

    distributed! {
        u64_histogram: Histogram<u64>,
        f64_histogram: Histogram<f64>,
    }

    observed! {
        u64_observable_counter: ObservableCounter<u64>, u64;
        f64_observable_counter: ObservableCounter<f64>, f64;
        i64_observable_up_down_counter: ObservableUpDownCounter<i64>, i64;
        f64_observable_up_down_counter: ObservableUpDownCounter<f64>, f64;
        u64_observable_gauge: ObservableGauge<u64>, u64;
        i64_observable_gauge: ObservableGauge<i64>, i64;
        f64_observable_gauge: ObservableGauge<f64>, f64;
    }
}

/// The provider while telemetry is off.
pub(super) struct Off;

impl MeterProvider for Off {
    fn meter_with_scope(&self, _: InstrumentationScope) -> Meter {
        Meter::new(Arc::new(Nothing))
    }
}

/// Instruments that do nothing: the defaults of the trait.
struct Nothing;

impl InstrumentProvider for Nothing {}
