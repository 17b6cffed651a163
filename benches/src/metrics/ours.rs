//! Our metrics that only this table uses.

use tracecast::prelude::*;

use crate::work::{Letter, keys};

tc_metrics! {
    /// Counted by three labels.
    static COUNTED_THREE: Counter<(keys::one, keys::two, keys::three)> = "tc_bench_three_total";
    /// A gauge.
    static GAUGE: Gauge = "tc_bench_plain_bytes";
    /// A gauge by three labels.
    static GAUGE_THREE: Gauge<(keys::one, keys::two, keys::three)> = "tc_bench_three_bytes";
    /// A histogram, with the default buckets.
    static HISTOGRAM: Histogram = "tc_bench_plain_seconds";
    /// A histogram by three labels, with the default buckets.
    static HISTOGRAM_THREE: Histogram<(keys::one, keys::two, keys::three)> = "tc_bench_three_seconds";
}

/// The third label, declared like the others.
pub fn third(x: u64) -> Letter {
    Letter::of(x >> 4)
}

#[inline(never)]
pub fn counter_three(x: u64, one: Letter, two: Letter) {
    COUNTED_THREE.add(x, (one, two, third(x)));
}

#[inline(never)]
pub fn gauge_plain(x: u64, _: Letter, _: Letter) {
    GAUGE.set(x, ());
}

#[inline(never)]
pub fn gauge_three(x: u64, one: Letter, two: Letter) {
    GAUGE_THREE.set(x, (one, two, third(x)));
}

#[inline(never)]
pub fn histogram_plain(x: u64, _: Letter, _: Letter) {
    HISTOGRAM.record(x, ());
}

#[inline(never)]
pub fn histogram_three(x: u64, one: Letter, two: Letter) {
    HISTOGRAM_THREE.record(x, (one, two, third(x)));
}
