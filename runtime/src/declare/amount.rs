//! Converts Rust numbers to the number types of metrics.

use crate::declare::metric::MetricMeta;

/// The value of a measurement outside of the metric's cells: from a gauge callback, or in a captured test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    U64(u64),
    I64(i64),
    F64(f64),
    /// Removes the value of a gauge.
    Gone,
}

/// A measurement in a captured test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    pub(crate) meta: &'static MetricMeta,
    pub(crate) set: usize,
    pub(crate) amount: Amount,
}

/// Rust numbers that a metric with values of type `V` accepts. Sealed: these numbers only.
///
/// ```
/// use tracecast::IntoAmount;
/// use tracecast::prelude::*;
///
/// tc_metrics! {
///     /// Energy that was used.
///     static ENERGY: Counter<(), f64> = "tc_example_energy_joules_total";
/// }
///
/// fn used(energy: impl IntoAmount<f64>) {
///     ENERGY.add(energy, ());
/// }
///
/// let captured = tracecast::testing::capture(|| (used(1_u8), used(0.5)));
/// captured.assert_metrics("tc_example_energy_joules_total 1.5");
/// ```
#[diagnostic::on_unimplemented(
    message = "a `{V}` metric does not accept `{Self}`",
    label = "not a number for a `{V}` metric",
    note = "a `u64` metric takes unsigned integers and `i32` (for literals; negative values are rejected and counted at run time), an `i64` metric any integer that fits, an `f64` metric any number",
    note = "to measure fractions, declare the metric with `f64` as its second argument, as in `Counter<(), f64>`"
)]
pub trait IntoAmount<V>: sealed::Sealed {
    /// Converts the number to the type of the metric.
    #[doc(hidden)]
    fn amount(self) -> V;
}

mod sealed {
    pub trait Sealed {}

    macro_rules! sealed {
        ($($number:ty),+) => { $(impl Sealed for $number {})+ };
    }

    sealed!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64);
}

macro_rules! amounts {
    ($target:ty: $($source:ty),+ => |$value:ident| $converted:expr) => {$(
        #[diagnostic::do_not_recommend]
        impl IntoAmount<$target> for $source {
            #[inline(always)]
            fn amount(self) -> $target {
                let $value = self;
                $converted
            }
        }
    )+};
}

amounts!(u64: u8, u16, u32 => |value| u64::from(value));
amounts!(u64: u64 => |value| value);
amounts!(u64: usize => |value| value as u64);
// `i32` is the type of literals without a suffix. A negative number has its top bit set, so that the cell rejects it.
amounts!(u64: i32 => |value| i64::from(value) as u64);
amounts!(i64: i8, i16, i32, u8, u16, u32 => |value| i64::from(value));
amounts!(i64: i64 => |value| value);
amounts!(i64: isize => |value| value as i64);
amounts!(f64: f32, i8, i16, i32, u8, u16, u32 => |value| f64::from(value));
amounts!(f64: f64 => |value| value);
// Integers beyond 2^53 lose their last digits.
amounts!(f64: i64, u64, isize, usize => |value| value as f64);
