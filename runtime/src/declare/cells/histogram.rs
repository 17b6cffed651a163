//! The rows of a histogram: buckets, sum, minimum and maximum for each label set in each used stripe.
//!
//! A row stores no count: the count is the sum of the buckets, so both always agree.

use std::sync::atomic::AtomicPtr;

use super::exemplar::Taking;
use super::exponential;
use super::sum::{Sum, update, update_last};
use super::table;
use crate::base::sync::{Acquire, AtomicU64, Relaxed};
use crate::declare::metric::{Buckets, MetricMeta, NumberType};

/// The number of words before the buckets of a row.
const HEADER: usize = 5;
const _: () = assert!(size_of::<Header>() == HEADER * size_of::<AtomicU64>() || cfg!(loom));

/// Returns the number of buckets in a row.
pub(crate) const fn buckets(meta: &MetricMeta) -> usize {
    match meta.buckets {
        Buckets::Explicit(bounds) => bounds.len() + 1,
        Buckets::Exponential => exponential::BUCKETS,
    }
}

/// Returns the number of words in a row.
pub(crate) const fn row_words(meta: &MetricMeta) -> usize {
    HEADER + buckets(meta)
}

/// A number that a histogram can record.
pub(crate) trait Sample: Sum {
    fn as_f64(self) -> f64;

    /// Returns an integer that is ordered as the number is. The bits of floating-point numbers that are not negative have the
    /// order of the numbers, so one comparison of integers serves both types.
    fn order(self) -> u64;

    /// Returns the sum of a row after adding the value.
    fn summed(self, sum: u64) -> u64;

    /// Converts the sum of a row to a number.
    fn of_sum(sum: u64) -> Self;
}

impl Sample for u64 {
    #[inline(always)]
    fn as_f64(self) -> f64 {
        self as f64
    }

    #[inline(always)]
    fn order(self) -> u64 {
        self
    }

    #[inline(always)]
    fn summed(self, sum: u64) -> u64 {
        sum.wrapping_add(self)
    }

    fn of_sum(sum: u64) -> Self {
        sum
    }
}

impl Sample for f64 {
    #[inline(always)]
    fn as_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn order(self) -> u64 {
        self.to_bits()
    }

    #[inline(always)]
    fn summed(self, sum: u64) -> u64 {
        (f64::from_bits(sum) + self).to_bits()
    }

    fn of_sum(sum: u64) -> Self {
        f64::from_bits(sum)
    }
}

/// Returns the bucket of a value. `first_exponent` is the result of [`first_exponent`] for `meta`.
pub(crate) fn bucket_of(meta: &MetricMeta, first_exponent: i32, value: f64) -> usize {
    match meta.buckets {
        Buckets::Explicit(bounds) => explicit_bucket(bounds, value),
        Buckets::Exponential => exponential::bucket(value, first_exponent),
    }
}

/// Returns the number of bounds below the value, which is the index of its bucket. For few bounds counting is faster than a
/// binary search, because it has no branches.
#[inline]
fn explicit_bucket(bounds: &[f64], value: f64) -> usize {
    bounds.iter().map(|bound| usize::from(value > *bound)).sum()
}

pub(crate) const fn first_exponent(meta: &MetricMeta) -> i32 {
    exponential::first_exponent(matches!(meta.number, NumberType::U64), meta.unit)
}

/// A row of a histogram.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    header: &'a Header,
    buckets: &'a [AtomicU64],
}

/// The `HEADER` words before the buckets.
#[repr(C)]
struct Header {
    taking: Taking,
    sum: AtomicU64,
    /// The smallest value, as `Sample::order`.
    least: AtomicU64,
    /// The largest value, as `Sample::order` + 1; 0 for none.
    most: AtomicU64,
    /// The bucket of the last value, in a thread's own row: the next value is probably in the same bucket.
    last: AtomicU64,
}

impl<'a> Row<'a> {
    /// Returns the row at this address.
    ///
    /// # Safety
    /// `row` was made by `make` for a metric of this shape.
    #[inline(always)]
    pub(crate) unsafe fn of(row: *const AtomicU64, meta: &MetricMeta) -> Self {
        // SAFETY: by the contract the row has `row_words` words, is aligned, and is never freed.
        unsafe {
            let buckets = std::slice::from_raw_parts(row.add(HEADER), buckets(meta));
            Row { header: &*row.cast::<Header>(), buckets }
        }
    }

    /// Returns the bucket of a value in the calling thread's row.
    #[inline(always)]
    pub(crate) fn bucket(self, meta: &MetricMeta, first_exponent: i32, value: f64) -> usize {
        let Buckets::Explicit(bounds) = meta.buckets else { return exponential::bucket(value, first_exponent) };
        let last = self.header.last.load(Relaxed) as usize;
        let is_below = bounds.get(last).is_none_or(|bound| value <= *bound);
        let is_above = last == 0 || bounds.get(last - 1).is_some_and(|bound| value > *bound);
        if is_below && is_above { last } else { self.other_bucket(bounds, value) }
    }

    #[inline(never)]
    fn other_bucket(self, bounds: &[f64], value: f64) -> usize {
        let bucket = explicit_bucket(bounds, value);
        self.header.last.store(bucket as u64, Relaxed);
        bucket
    }

    /// Records a value. `own` is true if the row is in the calling thread's own stripe. Returns true if the bucket has taken no
    /// exemplar since the last collection.
    #[inline(always)]
    pub(crate) fn record<N: Sample>(self, bucket: usize, own: bool, value: N) -> bool {
        let Header { taking, sum, least, most, .. } = self.header;
        update(sum, own, |sum| value.summed(sum));
        let order = value.order();
        if order < least.load(Relaxed) {
            update(least, own, |least| least.min(order));
        }
        if order >= most.load(Relaxed) {
            update(most, own, |most| most.max(order + 1));
        }
        // The count must be updated last: a reader that sees the count also sees the sum, minimum and maximum. A reader that
        // sees only the sum gets the count in its next reading.
        update_last(&self.buckets[bucket], own, |count| count + 1);
        !taking.has(bucket)
    }

    /// Returns the marks of buckets that have taken an exemplar.
    #[inline(always)]
    pub(crate) fn taking(self) -> &'a Taking {
        &self.header.taking
    }

    /// Adds the row to `total`.
    pub(crate) fn add_to<N: Sample>(self, total: &mut Total) {
        for (total, count) in total.counts.iter_mut().zip(self.buckets) {
            *total += count.load(Acquire);
        }
        total.sum = N::of_sum(self.header.sum.load(Relaxed)).summed(total.sum);
        total.least = total.least.min(self.header.least.load(Relaxed));
        total.most = total.most.max(self.header.most.load(Relaxed));
    }
}

/// The total of all rows of one label set. Sum, minimum and maximum have the same representation as in a row (`Header`).
#[derive(Clone, Debug)]
pub(crate) struct Total {
    pub(crate) counts: Vec<u64>,
    pub(crate) sum: u64,
    pub(crate) least: u64,
    pub(crate) most: u64,
}

impl Total {
    pub(crate) fn new(buckets: usize) -> Self {
        Total { counts: vec![0; buckets], sum: 0, least: u64::MAX, most: 0 }
    }

    /// Records a value in the same way as a row.
    pub(crate) fn record<N: Sample>(&mut self, meta: &MetricMeta, value: N) {
        self.counts[bucket_of(meta, first_exponent(meta), value.as_f64())] += 1;
        self.sum = value.summed(self.sum);
        self.least = self.least.min(value.order());
        self.most = self.most.max(value.order() + 1);
    }
}

/// Returns the row at `place`, which is created if there is none.
pub(crate) fn row(place: &AtomicPtr<AtomicU64>, meta: &MetricMeta) -> *mut AtomicU64 {
    // SAFETY: the pointer was returned by `make` and not shared.
    table::publish(place, || make(meta), |made| unsafe { table::free_cells(made, row_words(meta)) })
}

/// Creates an empty row.
fn make(meta: &MetricMeta) -> *mut AtomicU64 {
    let row = table::cells(row_words(meta));
    // SAFETY: `row` has that many words and is not shared yet.
    unsafe { &*row.cast::<Header>() }.least.store(u64::MAX, Relaxed);
    row
}

/// Returns the pointer to the row of `set` in a stripe of a histogram.
///
/// # Safety
/// `stripe` was made by `table::pointers` for more sets than `set`.
#[inline(always)]
pub(crate) unsafe fn row_place<'a>(stripe: *mut (), set: usize) -> &'a AtomicPtr<AtomicU64> {
    // SAFETY: in bounds and never freed, by the contract.
    unsafe { &*stripe.cast::<AtomicPtr<AtomicU64>>().add(set) }
}
