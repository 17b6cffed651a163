//! The metrics that `tc_metrics!` declares: one static each, with typed labels.

use std::fmt;
use std::marker::PhantomData;

use crate::declare::amount::{Amount, IntoAmount};
use crate::declare::cells::{Last, Metric};
use crate::declare::metric::{LabelSet, LabelValues, MetricKind, MetricMeta, NumberType};
use crate::declare::observe::{self, Observation};
use crate::declare::sections::Source;
use crate::meter::capture;
use crate::meter::exemplar;

/// Defines a typed metric.
macro_rules! instrument {
    ($(#[$doc:meta])* $name:ident<$default:ty> is $kind:ident $($observable:ident)?) => {
        $(#[$doc])*
        // The linker collects these statics, and the registry reads them as `Metric`.
        #[repr(transparent)]
        pub struct $name<L, V = $default> {
            metric: Metric,
            types: PhantomData<fn() -> (L, V)>,
        }

        impl<L: LabelSet, V: Number> $name<L, V> {
            /// Declares a metric of this type.
            #[doc(hidden)]
            #[track_caller]
            pub const fn meta(name: &'static str, unit: &'static str, description: &'static str) -> MetricMeta {
                MetricMeta::declare::<L>(MetricKind::$kind, V::TYPE, name, unit, description) $(.$observable())?
            }

            /// Creates a metric that is switched off.
            #[doc(hidden)]
            pub const fn new(meta: MetricMeta, source: &'static Source) -> Self {
                // Cells are written with the number type of the Rust type and read with that of the declaration.
                assert!(meta.kind as u8 == MetricKind::$kind as u8 && meta.number as u8 == V::TYPE as u8);
                $name { metric: Metric::new(meta, source), types: PhantomData }
            }
        }

        impl<L, V> $name<L, V> {
            /// Returns the declaration: everything that is known at compile time.
            pub fn declaration(&self) -> &MetricMeta {
                self.metric.meta()
            }

            /// Returns whether measurements are recorded: metrics are on and this one is not switched off, or a test
            /// captures.
            pub fn is_on(&'static self) -> bool {
                capture::state(&self.metric) != 0
            }
        }

        impl<L, V> fmt::Debug for $name<L, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.metric.fmt(f)
            }
        }
    };
}

instrument! {
    /// A sum that only grows: `P2P_BYTES.add(n, (source, device))`.
    ///
    /// Counts in `u64` or, if declared so, in `f64`. Negative, infinite and NaN amounts are rejected and counted.
    ///
    /// ```
    /// use tracecast::keys::tensor::{SourceType, source};
    /// use tracecast::prelude::*;
    ///
    /// tc_metrics! {
    ///     /// Bytes read.
    ///     static BYTES: Counter<(source,)> = "tc_example_read_bytes_total";
    /// }
    ///
    /// let captured = tracecast::testing::capture(|| BYTES.add(7_u64, (SourceType::Disk,)));
    /// captured.assert_metrics("tc_example_read_bytes_total{tc.source.type=disk} 7");
    /// ```
    Counter<u64> is Counter
}

instrument! {
    /// A sum that grows and shrinks, such as the number of calls in progress: `ACTIVE.add(1, ())`, `ACTIVE.add(-1,
    /// ())`.
    ///
    /// Counts in `i64` or, if declared so, in `f64`. Infinite and NaN amounts are rejected and counted.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// tc_metrics! {
    ///     /// Reads in progress.
    ///     static ACTIVE: UpDownCounter = "tc_example_reads_active";
    /// }
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     ACTIVE.add(2, ());
    ///     ACTIVE.add(-1, ());
    /// });
    /// captured.assert_metrics("tc_example_reads_active 1");
    /// ```
    UpDownCounter<i64> is UpDownCounter
}

instrument! {
    /// The last value that was set: `POOL_USED.set(bytes, (device,))`. Call `clear` when the value is no longer known.
    ///
    /// Holds an `f64` or, if declared so, a `u64` or an `i64`. Infinite and NaN values are rejected and counted.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// tc_metrics! {
    ///     /// Bytes of the pool in use.
    ///     static USED: Gauge<(), u64> = "tc_example_used_bytes";
    /// }
    ///
    /// let captured = tracecast::testing::capture(|| USED.set(4096_u64, ()));
    /// captured.assert_metrics("tc_example_used_bytes 4096");
    /// ```
    Gauge<f64> is Gauge
}

instrument! {
    /// A distribution: `LOAD_SECONDS.record(elapsed.as_secs_f64(), (source,))`.
    ///
    /// Takes `f64` or, if declared so, `u64`. Negative, infinite and NaN values are rejected and counted.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// tc_metrics! {
    ///     /// How long a read takes.
    ///     static READ: Histogram = "tc_example_read_seconds" { buckets: [0.1, 1, 10] };
    /// }
    ///
    /// let captured = tracecast::testing::capture(|| READ.record(0.25, ()));
    /// captured.assert_metrics("tc_example_read_seconds count=1");
    /// ```
    Histogram<f64> is Histogram
}

instrument! {
    /// A value that a callback returns when metrics are collected: `POOL_FREE.observe((device,), move ||
    /// Some(pool.free()))`.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// tc_metrics! {
    ///     /// Bytes of the pool that are free.
    ///     static FREE: ObservableGauge<(), u64> = "tc_example_free_bytes";
    /// }
    ///
    /// let observation = FREE.observe((), || Some(4096));
    /// drop(observation); // the callback is no longer called
    /// ```
    ObservableGauge<f64> is Gauge observable
}

macro_rules! counter {
    ($($number:ident => $variant:ident),+) => {$(
        impl<L: LabelSet> Counter<L, $number> {
            /// Adds to the sum.
            #[inline(always)]
            pub fn add(&'static self, amount: impl IntoAmount<$number>, labels: impl LabelValues<L>) {
                let state = self.metric.state();
                if state == 0 {
                    return;
                }
                let (cell, amount) = (labels.index(), amount.amount());
                if state >= 0 {
                    self.metric.add(cell, amount);
                } else {
                    self.add_elsewhere(cell, amount);
                }
            }

            // Takes its arguments in registers, so that callers prepare nothing while the metric is off.
            #[cold]
            #[inline(never)]
            fn add_elsewhere(&'static self, cell: usize, amount: $number) {
                capture::measured(&self.metric, cell, Amount::$variant(amount));
            }
        }
    )+};
}

counter!(u64 => U64, f64 => F64);

macro_rules! up_down {
    ($($number:ident => $variant:ident, |$amount:ident| $down:expr, $size:expr);+) => {$(
        impl<L: LabelSet> UpDownCounter<L, $number> {
            /// Adds a positive or negative amount to the sum.
            #[inline(always)]
            pub fn add(&'static self, amount: impl IntoAmount<$number>, labels: impl LabelValues<L>) {
                let state = self.metric.state();
                if state == 0 {
                    return;
                }
                let (set, $amount) = (labels.index(), amount.amount());
                if state >= 0 {
                    self.metric.move_by(set, $down, $size);
                } else {
                    self.add_elsewhere(set, $amount);
                }
            }

            #[cold]
            #[inline(never)]
            fn add_elsewhere(&'static self, set: usize, amount: $number) {
                capture::measured(&self.metric, set, Amount::$variant(amount));
            }
        }
    )+};
}

up_down!(i64 => I64, |amount| amount < 0, amount.unsigned_abs(); f64 => F64, |amount| amount < 0.0, amount.abs());

macro_rules! gauge {
    ($($number:ident => $variant:ident),+) => {$(
        impl<L: LabelSet> Gauge<L, $number> {
            /// Sets the value.
            #[inline(always)]
            pub fn set(&'static self, value: impl IntoAmount<$number>, labels: impl LabelValues<L>) {
                let state = self.metric.state();
                if state == 0 {
                    return;
                }
                let (cell, value) = (labels.index(), value.amount());
                if state >= 0 {
                    self.metric.set(cell, Some(value));
                } else {
                    self.set_elsewhere(cell, value);
                }
            }

            #[cold]
            #[inline(never)]
            fn set_elsewhere(&'static self, cell: usize, value: $number) {
                capture::measured(&self.metric, cell, Amount::$variant(value));
            }

            /// Removes the value, so that the series has a gap and does not repeat the last value for ever.
            pub fn clear(&'static self, labels: impl LabelValues<L>) {
                match self.metric.state() {
                    0 => {}
                    1.. => self.metric.set::<$number>(labels.index(), None),
                    _ => capture::measured(&self.metric, labels.index(), Amount::Gone),
                }
            }
        }
    )+};
}

gauge!(f64 => F64, u64 => U64, i64 => I64);

macro_rules! histogram {
    ($($number:ident => $variant:ident),+) => {$(
        impl<L: LabelSet> Histogram<L, $number> {
            /// Records a value.
            #[inline(always)]
            pub fn record(&'static self, value: impl IntoAmount<$number>, labels: impl LabelValues<L>) {
                let state = self.metric.state();
                if state == 0 {
                    return;
                }
                self.record_on(state, labels.index(), value.amount());
            }

            // A separate function, so that callers save nothing on the stack while the metric is off.
            #[inline(never)]
            fn record_on(&'static self, state: i8, set: usize, value: $number) {
                if state >= 0 {
                    exemplar::record(&self.metric, set, value);
                } else {
                    self.record_elsewhere(set, value);
                }
            }

            #[cold]
            #[inline(never)]
            fn record_elsewhere(&'static self, set: usize, value: $number) {
                capture::measured(&self.metric, set, Amount::$variant(value));
            }
        }
    )+};
}

histogram!(f64 => F64, u64 => U64);

/// The number types of metrics: `u64`, `i64` and `f64`. The trait is sealed.
///
/// ```
/// use tracecast::{Number, ObservableGauge};
///
/// fn observed_once<V: Number>(gauge: &'static ObservableGauge<(), V>, value: V) {
///     drop(gauge.observe((), move || Some(value)));
/// }
/// # let _ = observed_once::<u64>;
/// ```
pub trait Number: Copy + Send + Sync + sealed::Sealed + 'static {
    /// The number type.
    #[doc(hidden)]
    const TYPE: NumberType;
}

mod sealed {
    use crate::declare::amount::Amount;

    /// The result of `Sealed::held`, which only this crate can read: `None` if a gauge cannot hold the value.
    #[derive(Debug)]
    pub struct Held(pub(crate) Option<Amount>);

    pub trait Sealed {
        /// Returns the value in the form in which a gauge holds it.
        fn held(self) -> Held;
    }
}

macro_rules! number {
    ($($number:ident => $variant:ident),+) => {$(
        impl Number for $number {
            const TYPE: NumberType = NumberType::$variant;
        }

        impl sealed::Sealed for $number {
            fn held(self) -> sealed::Held {
                sealed::Held(Last::is_settable(self).then_some(Amount::$variant(self)))
            }
        }
    )+};
}

number!(f64 => F64, u64 => U64, i64 => I64);

impl<L: LabelSet, V: Number> ObservableGauge<L, V> {
    /// Registers `read` as the callback for one label set: it is called whenever metrics are collected, until the
    /// returned guard is dropped.
    ///
    /// If the callback returns `None` or panics, the series has a gap. A callback that hangs is not waited for, and is
    /// called again after it has returned. If several callbacks have the same labels, the newest one that returns a
    /// value is used.
    pub fn observe(
        &'static self,
        labels: impl LabelValues<L>,
        read: impl Fn() -> Option<V> + Send + Sync + 'static,
    ) -> Observation {
        let read = move || {
            let value = read()?;
            let held = value.held().0;
            if held.is_none() {
                self.metric.refuse();
            }
            held
        };
        // Registers the metric if there are no link sections.
        capture::state(&self.metric);
        observe::register(&self.metric, labels.index(), Box::new(read))
    }
}
